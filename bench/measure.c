/* The clock, the table, and what the measurements share. */
#include "bench.h"

#include "base/clock.h"
#include "base/rng.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

bool bench_wants(const struct bench *b, const char *text)
{
    return !b->filter || strstr(text, b->filter) != NULL;
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_time(struct bench *b, team_fn fn, void *arg)
{
    double (*now)(void) = b->busy ? processor_seconds : clock_seconds;
    double best = 1e30, begin = clock_seconds();
    for (int runs = 0; runs < 3 || clock_seconds() - begin < b->seconds; runs++) {
        double start = now();
        team_run(b->team, fn, arg);
        double taken = now() - start;
        best = taken < best ? taken : best;
    }
    return best;
}

void bench_title(struct bench *b, const char *title)
{
    b->title = title;
}

/* The head of a section, above its first line. */
static void print_title(struct bench *b)
{
    if (b->title && !b->json)
        printf("\n%-18s %-28s %11s %9s %9s %11s %9s\n", b->title, "shape", "time", "GB/s",
               "GFLOP/s", "ceiling", "takes");
    b->title = NULL;
}

/* A time in the most readable unit. */
static void time_text(char *text, size_t size, double seconds)
{
    if (seconds < 1e-3)
        snprintf(text, size, "%.2f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(text, size, "%.3f ms", seconds * 1e3);
    else
        snprintf(text, size, "%.3f s", seconds);
}

double bench_least(const struct bench *b, struct work work)
{
    const struct ceiling *c = &b->ceiling;
    const bool near = work.table <= 8 * (double)GATHER_NEAR;
    const double by_flops = work.flops / c->flops_per_second;
    const double by_bytes = work.least / c->bytes_per_second;
    const double by_rows = work.gathered / (near ? c->near_per_second : c->far_per_second);
    const double least = by_bytes > by_flops ? by_bytes : by_flops;
    return by_rows > least ? by_rows : least;
}

void bench_line(struct bench *b, const char *kernel, const char *shape, double time,
                struct work work)
{
    const double least = b->ceiling.bytes_per_second > 0 ? bench_least(b, work) : 0;
    const double share = least / time;
    print_title(b);
    if (b->json) {
        printf("{\"kernel\":\"%s\",\"shape\":\"%s\",\"threads\":%d,\"ms\":%.6g,\"gb_per_s\":%.4g,"
               "\"gflop_per_s\":%.4g,\"ceiling_ms\":%.6g,\"of_ceiling\":%.4g,\"simd\":\"%s\"}\n",
               kernel, shape, b->threads, time * 1e3, work.bytes / time * 1e-9,
               work.flops / time * 1e-9, least * 1e3, share, b->simd->name);
    } else {
        char text[32], ceiling[32] = "", times[16] = "";
        time_text(text, sizeof text, time);
        if (least > 0) {
            time_text(ceiling, sizeof ceiling, least);
            snprintf(times, sizeof times, "%.2f x", time / least);
        }
        printf("%-18s %-28s %11s %9.1f %9.1f %11s %9s\n", kernel, shape, text,
               work.bytes / time * 1e-9, work.flops / time * 1e-9, ceiling, times);
    }
    fflush(stdout);
}

double bench_run(struct bench *b, const char *kernel, const char *shape, team_fn fn, void *arg,
                 struct work work)
{
    char label[128];
    snprintf(label, sizeof label, "%s %s", kernel, shape);
    if (!bench_wants(b, label))
        return 0;
    double time = bench_time(b, fn, arg);
    bench_line(b, kernel, shape, time, work);
    return time;
}

/* The first row that begins at this entry or later. */
static int64_t row_of_entry(const struct csr *a, int64_t entry)
{
    int64_t low = 0, high = a->rows;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (a->start[middle] < entry)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void bench_rows(const struct csr *a, struct worker who, int64_t *from, int64_t *to)
{
    *from = row_of_entry(a, a->nnz * who.id / who.size);
    *to = who.id + 1 == who.size ? a->rows : row_of_entry(a, a->nnz * (who.id + 1) / who.size);
}

consm_status bench_floats(float **out, int64_t count)
{
    struct rng r;
    rng_init(&r, 1, (uint64_t)count);
    if (NEW(*out, count) < 0)
        return CONSM_ENOMEM;
    for (int64_t i = 0; i < count; i++)
        (*out)[i] = (float)rng_u32(&r) * 0x1p-31f - 1;
    return CONSM_OK;
}
