/* Degrees and projected random walks. */
#include "graph/structural.h"

#include "base/rng.h"
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

/* next = D^-1 A now, rows brought to length sqrt(width): one step of the walks. */
static void walk(float *next, const float *now, const struct csr *graph)
{
    enum { W = STRUCTURAL_WALK };
    for (int64_t i = 0; i < graph->rows; i++) {
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

consm_status structural_features(float *out, const struct csr *graph, const uint64_t *key)
{
    consm_status st = CONSM_OK;
    enum { W = STRUCTURAL_WALK, F = STRUCTURAL_FEATURES };
    int64_t n = graph->rows;
    float *now = NULL, *next = NULL;
    TRY(NEW(now, n * W));
    TRY(NEW(next, n * W));
    for (int64_t i = 0; i < n; i++) {
        struct rng r;
        degree_features(out + i * F, graph, i);
        memset(out + i * F + STRUCTURAL_DEGREES, 0, W * sizeof *out);
        rng_init(&r, 0, key[i]);
        for (int c = 0; c < W; c++)
            now[i * W + c] = (float)rng_normal(&r);
    }
    for (int step = 0; step < STRUCTURAL_STEPS; step++) {
        walk(next, now, graph);
        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < W; c++)
                out[i * F + STRUCTURAL_DEGREES + c] += next[i * W + c] / STRUCTURAL_STEPS;
        float *swap = now;
        now = next;
        next = swap;
    }
done:
    mem_free(now);
    mem_free(next);
    return st;
}
