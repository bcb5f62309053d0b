/* Structural features: degrees and projected random walks. */
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
    int64_t n = graph->rows;
    float *now = NULL, *next = NULL;
    TRY(NEW(now, n * W));
    TRY(NEW(next, n * W));
    begin(out, now, graph, key, 0, n);
    for (int step = 0; step < STRUCTURAL_STEPS; step++) {
        walk(next, now, graph, 0, n);
        add_step(out, next, 0, n);
        float *swap = now;
        now = next;
        next = swap;
    }
done:
    mem_free(now);
    mem_free(next);
    return st;
}

/* ---- of a partition ---------------------------------------------------------- */

/* Rows of other processes that this process's edges name, and own rows that others name. */
struct halo {
    const struct partition *partition;
    int64_t *need, *give, *came; /* (parts+1 each) ranges by process */
    int32_t *row;                /* (need[parts]) ascending */
    void *theirs;                /* (give[parts]) of int32_t */
};

static void halo_free(struct halo *h)
{
    mem_free(h->need);
    mem_free(h->row);
    mem_free(h->theirs);
}

static consm_status halo_find(struct halo *h, const struct csr *graph)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = graph->partition;
    int64_t places = partition->parts + 1, count = 0;
    bool *seen = NULL;
    *h = (struct halo){.partition = partition};
    TRY(ZNEW(h->need, 3 * places));
    h->give = h->need + places;
    h->came = h->give + places;
    TRY(ZNEW(seen, graph->rows));
    for (int64_t k = graph->start[partition->low]; k < graph->start[partition->high]; k++)
        seen[graph->col[k]] = true;
    memset(seen + partition->low, 0, (size_t)(partition->high - partition->low) * sizeof *seen);
    for (int64_t i = 0; i < graph->rows; i++)
        count += seen[i];
    TRY(NEW(h->row, count + 1));
    count = 0;
    for (int p = 0; p < partition->parts; p++) {
        for (int64_t i = partition->cut[p]; i < partition->cut[p + 1]; i++)
            if (seen[i])
                h->row[count++] = (int32_t)i;
        h->need[p + 1] = count;
    }
    TRY(partition->swap(&h->theirs, h->give, h->row, h->need, sizeof *h->row));
done:
    mem_free(seen);
    return st;
}

/* Fetches rows of others from the processes that just computed them. */
static consm_status halo_fetch(float *now, struct halo *h)
{
    consm_status st = CONSM_OK;
    int parts = h->partition->parts;
    const int32_t *wanted = h->theirs;
    float *packed = NULL;
    void *rows = NULL;
    TRY(NEW(packed, (h->give[parts] + 1) * W));
    for (int64_t k = 0; k < h->give[parts]; k++)
        memcpy(packed + k * W, now + (int64_t)wanted[k] * W, W * sizeof *now);
    TRY(h->partition->swap(&rows, h->came, packed, h->give, W * sizeof *now));
    for (int64_t k = 0; k < h->need[parts]; k++)
        memcpy(now + (int64_t)h->row[k] * W, (const float *)rows + k * W, W * sizeof *now);
done:
    mem_free(packed);
    mem_free(rows);
    return st;
}

consm_status structural_in_parts(float *out, const struct csr *graph, const uint64_t *key)
{
    consm_status st = CONSM_OK;
    int64_t low = graph->partition->low, high = graph->partition->high;
    struct halo halo = {0};
    float *now = mem_sparse_alloc((size_t)(graph->rows * W), sizeof *now);
    float *next = mem_sparse_alloc((size_t)(graph->rows * W), sizeof *next);
    if (!now || !next)
        TRY(CONSM_ENOMEM);
    TRY(halo_find(&halo, graph));
    begin(out, now, graph, key, low, high);
    for (int64_t k = 0; k < halo.need[graph->partition->parts]; k++)
        draw(now + (int64_t)halo.row[k] * W, key[halo.row[k]]);
    for (int step = 0; step < STRUCTURAL_STEPS; step++) {
        walk(next, now, graph, low, high);
        add_step(out, next, low, high);
        float *swap = now;
        now = next;
        next = swap;
        if (step + 1 < STRUCTURAL_STEPS)
            TRY(halo_fetch(now, &halo));
    }
done:
    halo_free(&halo);
    mem_sparse_free(now);
    mem_sparse_free(next);
    return st;
}
