/* The machine's limits: copy and triad bandwidth over arrays far larger than any cache, rows
 * gathered at random from a near and from a far array, and the peak of multiply-adds in registers
 * for every vector width. Everything else is compared with these. */
#include "bench.h"

#include "base/rng.h"
#include <stdio.h>
#include <string.h>

enum { STREAM = 16 << 20 }; /* floats per array: 64 MB */

struct stream {
    float *a, *b, *c;
};

static void stream_touch(void *arg, struct worker who)
{
    struct stream *s = arg;
    int64_t from, to;
    team_range(who, STREAM, 1024, &from, &to);
    for (int64_t i = from; i < to; i++)
        s->a[i] = s->b[i] = s->c[i] = 1;
}

static void stream_copy(void *arg, struct worker who)
{
    struct stream *s = arg;
    int64_t from, to;
    team_range(who, STREAM, 1024, &from, &to);
    memcpy(s->a + from, s->b + from, (size_t)(to - from) * sizeof(float));
}

static void stream_triad(void *arg, struct worker who)
{
    struct stream *s = arg;
    int64_t from, to;
    team_range(who, STREAM, 1024, &from, &to);
    for (int64_t i = from; i < to; i++)
        s->a[i] = s->b[i] + 3 * s->c[i];
}

/* ---- rows in no order ---- */

enum { PICKS = 1 << 18 };

struct picks {
    const struct simd *simd;
    float *table;
    int32_t *row; /* (PICKS) */
};

static void gather_rows(void *arg, struct worker who)
{
    const struct picks *p = arg;
    float sum[PEAK_ROW];
    int64_t from, to;
    team_range(who, PICKS, 1, &from, &to);
    p->simd->gather_peak(sum, p->table, p->row, from, to);
}

/* Bytes per second of rows picked from an array of that size. */
static consm_status gather_from(double *speed, struct bench *b, const char *shape, int64_t bytes)
{
    consm_status st = CONSM_OK;
    struct picks p = {.simd = b->simd};
    struct rng r;
    const int64_t rows = bytes / (int64_t)(PEAK_ROW * sizeof(float));
    const double moved = (double)PICKS * PEAK_ROW * sizeof(float);
    rng_init(&r, 3, 0);
    TRY(NEW(p.table, rows * PEAK_ROW));
    TRY(NEW(p.row, PICKS));
    for (int64_t i = 0; i < rows * PEAK_ROW; i++)
        p.table[i] = 1;
    for (int64_t k = 0; k < PICKS; k++)
        p.row[k] = (int32_t)rng_below(&r, (uint32_t)rows);
    *speed = moved / bench_run(b, "gather", shape, gather_rows, &p, (struct work){.bytes = moved});
done:
    mem_free(p.table);
    mem_free(p.row);
    return st;
}

/* ---- multiply-adds ---- */

enum { FMA_ROUNDS = 1 << 14 };

static void fma_peak(void *arg, struct worker who)
{
    const struct simd *set = arg;
    float out[PEAK_ROW];
    (void)who;
    for (int i = 0; i < PEAK_ROW; i++)
        out[i] = 0.001f * (float)(i + 1);
    set->fma_peak(out, FMA_ROUNDS);
}

/* The peak of every instruction set that runs here; returns that of the one in use. */
static double fma_peaks(struct bench *b)
{
    const struct simd *set;
    double used = 0;
    for (int i = 0; (set = simd_table(i)) != NULL; i++) {
        const double flops = 2.0 * FMA_ROUNDS * set->peak_chains * set->lanes * b->threads;
        char shape[64];
        snprintf(shape, sizeof shape, "%s, %d lanes", set->name, set->lanes);
        double time =
            bench_run(b, "fma", shape, fma_peak, (void *)set, (struct work){.flops = flops});
        used = set == b->simd ? flops / time : used;
    }
    return used;
}

consm_status bench_machine(struct bench *b)
{
    consm_status st = CONSM_OK;
    struct stream s = {0};
    const char *filter = b->filter;
    const double bytes = (double)STREAM * sizeof(float);
    struct ceiling found;
    TRY(NEW(s.a, STREAM));
    TRY(NEW(s.b, STREAM));
    TRY(NEW(s.c, STREAM));
    team_run(b->team, stream_touch, &s);
    b->filter = NULL; /* the ceiling is always needed */
    b->ceiling = (struct ceiling){0};
    bench_title(b, "machine");
    found.bytes_per_second =
        2 * bytes /
        bench_run(b, "copy", "64 MB", stream_copy, &s, (struct work){.bytes = 2 * bytes});
    bench_run(b, "triad", "64 MB", stream_triad, &s,
              (struct work){.bytes = 3 * bytes, .flops = 2.0 * STREAM});
    TRY(gather_from(&found.near_per_second, b, "rows of 256 B from 1 MB", GATHER_NEAR));
    TRY(gather_from(&found.far_per_second, b, "rows of 256 B from 256 MB", GATHER_FAR));
    found.flops_per_second = fma_peaks(b);
    b->ceiling = found;
done:
    b->filter = filter;
    mem_free(s.a);
    mem_free(s.b);
    mem_free(s.c);
    return st;
}
