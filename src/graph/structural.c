/* Structural features: degrees and projected random walks. */
#include "graph/structural.h"

#include "base/rng.h"
#include "graph/partition.h"
#include <math.h>
#include <string.h>

uint64_t structural_key(const char *id)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *id; id++)
        hash = (hash ^ (uint8_t)*id) * 0x100000001b3u;
    return hash;
}

static double log_degree(const struct csr *graph, int64_t i)
{
    return log1p((double)(graph->start[i + 1] - graph->start[i]));
}

static void degree_features(float *row, const struct csr *graph, int64_t i)
{
    int64_t from = graph->start[i], to = graph->start[i + 1];
    double sum = 0, squares = 0, least = INFINITY, most = 0;
    memset(row, 0, STRUCTURAL_DEGREES * sizeof *row);
    row[0] = (float)log_degree(graph, i);
    if (from == to)
        return;
    for (int64_t k = from; k < to; k++) {
        double d = log_degree(graph, graph->col[k]);
        sum += d;
        squares += d * d;
        least = fmin(least, d);
        most = fmax(most, d);
    }
    double n = (double)(to - from), mean = sum / n;
    row[1] = (float)mean;
    row[2] = (float)sqrt(fmax(0, squares / n - mean * mean));
    row[3] = (float)least;
    row[4] = (float)most;
}

enum { W = STRUCTURAL_WALK, F = STRUCTURAL_FEATURES };

static void draw(float *row, uint64_t key)
{
    struct rng r;
    rng_init(&r, 0, key);
    for (int c = 0; c < W; c++)
        row[c] = (float)rng_normal(&r);
}

/* next = D^-1 A now, rows scaled to length sqrt(width): one step of the walks. */
static void walk(float *next, const float *now, const struct csr *graph, int64_t low, int64_t high)
{
    for (int64_t i = low; i < high; i++) {
        double sum[W] = {0}, squares = 0;
        for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
            for (int c = 0; c < W; c++)
                sum[c] += (double)now[(int64_t)graph->col[k] * W + c];
        for (int c = 0; c < W; c++)
            squares += sum[c] * sum[c];
        double scale = squares > 0 ? sqrt(W / squares) : 0;
        for (int c = 0; c < W; c++)
            next[i * W + c] = (float)(sum[c] * scale);
    }
}

/* Adds the walks after a step to rows low … high-1 of out; `now` must hold their neighbours. */
static void add_step(float *out, const float *next, int64_t low, int64_t high)
{
    for (int64_t i = low; i < high; i++)
        for (int c = 0; c < W; c++)
            out[i * F + STRUCTURAL_DEGREES + c] += next[i * W + c] / STRUCTURAL_STEPS;
}

static void begin(float *out, float *now, const struct csr *graph, const uint64_t *key, int64_t low,
                  int64_t high)
{
    for (int64_t i = low; i < high; i++) {
        degree_features(out + i * F, graph, i);
        memset(out + i * F + STRUCTURAL_DEGREES, 0, W * sizeof *out);
        draw(now + i * W, key[i]);
    }
}

consm_status structural_features(float *out, const struct csr *graph, const uint64_t *key)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = graph->partition;
    int64_t low = csr_low(graph), high = csr_high(graph), cells = graph->rows * W;
    struct row_halo *halo = NULL;
    float *now = partition_room(partition, cells, sizeof *now);
    float *next = partition_room(partition, cells, sizeof *next);
    if (!now || !next)
        TRY(CONSM_ENOMEM);
    begin(out, now, graph, key, low, high);
    if (partition) {
        TRY(partition_neighbours(&halo, graph));
        for (int64_t k = 0; k < halo->asks[partition->parts]; k++)
            draw(now + (int64_t)halo->ask[k] * W, key[halo->ask[k]]);
    }
    for (int step = 0; step < STRUCTURAL_STEPS; step++) {
        walk(next, now, graph, low, high);
        add_step(out, next, low, high);
        float *swap = now;
        now = next;
        next = swap;
        if (halo && step + 1 < STRUCTURAL_STEPS)
            TRY(row_halo_fetch(halo, now, W * sizeof *now));
    }
done:
    row_halo_free(halo);
    partition_room_free(partition, now);
    partition_room_free(partition, next);
    return st;
}
