/* What the machine can do: copy and triad bandwidth over arrays far larger than any cache, and the
 * peak of multiply-adds held in registers. Everything else is measured against these. */
#include "bench.h"

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

enum { FMA_ROUNDS = 1 << 14 };

static void fma_peak(void *arg, struct worker who)
{
    const struct bench *b = arg;
    float out[32] = {0.25f, 0.5f};
    (void)who;
    b->simd->fma_peak(out, FMA_ROUNDS);
}

consm_status bench_machine(struct bench *b)
{
    consm_status st = CONSM_OK;
    struct stream s = {0};
    const char *filter = b->filter;
    const double bytes = (double)STREAM * sizeof(float);
    double flops = 2.0 * FMA_ROUNDS * b->simd->peak_chains * b->simd->lanes * b->threads, time;
    TRY(NEW(s.a, STREAM));
    TRY(NEW(s.b, STREAM));
    TRY(NEW(s.c, STREAM));
    team_run(b->team, stream_touch, &s);
    b->filter = NULL; /* the ceiling is always needed */
    b->ceiling = (struct ceiling){0, 0};
    bench_title(b, "machine");
    time = bench_run(b, "copy", "64 MB", stream_copy, &s, (struct work){.bytes = 2 * bytes});
    bench_run(b, "triad", "64 MB", stream_triad, &s,
              (struct work){.bytes = 3 * bytes, .flops = 2.0 * STREAM});
    double peak = bench_run(b, "fma", "registers", fma_peak, b, (struct work){.flops = flops});
    b->ceiling = (struct ceiling){2 * bytes / time, flops / peak};
done:
    b->filter = filter;
    mem_free(s.a);
    mem_free(s.b);
    mem_free(s.c);
    return st;
}
