/* consm-bench: measures this machine's limits, and how close the kernels come to them. */

/*
 * A measurement runs a function on a team of threads repeatedly for a fraction of a second and
 * keeps the shortest time; longer times are caused by other processes. With the time it prints
 * rates and the share of the ceiling: the time that the machine's copy bandwidth and multiply-add
 * peak, measured first, would need for the unavoidable bytes and operations.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "backends/open.h"
#include "base/threads.h"
#include "cpu/simd.h"
#include "graph/csr.h"

/* What one run of a kernel moves and computes. */
struct work {
    double bytes; /* read and written by instructions, for GB/s */
    double least; /* bytes that must come from memory if nothing is cached, for the ceiling */
    double flops; /* a multiply-add counts two */
    double gathered, table; /* bytes of rows read at random, and of the array they come from */
};

/* Gathering is measured twice: rows of an array that fits a core's caches, and of one that fits no
 * cache. */
enum { GATHER_NEAR = 1 << 20, GATHER_FAR = 256 << 20 }; /* bytes of the array */

struct ceiling {
    double bytes_per_second, flops_per_second, near_per_second, far_per_second;
};

struct bench {
    struct backend *backend;
    struct team *team;         /* its threads */
    int threads, most_threads; /* of this pass, of the last */
    double seconds;            /* spent on each measurement */
    double edges;              /* of the cases "scale"; 0: as many as they are for */
    const char *device;        /* time models on that device and nothing else; NULL: not */
    char *sets;                /* for that: datasets, between semicolons */
    const char *filter;        /* only lines "kernel shape" that contain it; NULL: all */
    bool json, busy, alone, operations, kernels; /* as the flags say */
    const char *title;                           /* of the section, until printed */
    struct ceiling ceiling;                      /* of this team */
    const struct simd *simd;
};

/* Runs fn(arg) on the team and prints a line "kernel shape time …". Returns the shortest time, or 0
 * if the filter leaves it out. */
double bench_run(struct bench *b, const char *kernel, const char *shape, team_fn fn, void *arg,
                 struct work work);
/* The least seconds that the work takes on this team: the longest of the times for its bytes, its
 * gathered rows and its multiply-adds. */
double bench_least(const struct bench *b, struct work work);
/* Prints such a line for a time measured elsewhere. */
void bench_line(struct bench *b, const char *kernel, const char *shape, double time,
                struct work work);
bool bench_wants(const struct bench *b, const char *text); /* the filter is part of text */
/* The shortest time of one run, without printing. */
double bench_time(struct bench *b, team_fn fn, void *arg);
/* Steps and epochs of whole models on a device. */
consm_status bench_device(struct bench *b, const char *device, char *sets);
/* Names the next section; printed with the first of its lines. */
void bench_title(struct bench *b, const char *title);

/* Copy, triad and gather bandwidth, multiply-add peak of every width; fills b->ceiling. */
consm_status bench_machine(struct bench *b);
consm_status bench_sparse(struct bench *b);
consm_status bench_dense(struct bench *b);
consm_status bench_gemm(struct bench *b);
consm_status bench_reading(struct bench *b);
/* The shortest training step and the shortest evaluation within the measuring time, in seconds. */
struct session;
consm_status bench_epochs(const struct bench *b, struct session *s, double *train, double *eval);
consm_status bench_models(struct bench *b);
consm_status bench_large(struct bench *b);
/* Every operation of a step that takes at least this many seconds alone. */
struct program;
consm_status bench_operations(struct bench *b, const struct program *p, double least);
/* The bytes and operations of an operation; a sparse product with m entries, n rows out, w columns.
 */
struct instr;
struct work bench_instr_work(const struct instr *in);
struct work bench_product_work(double m, double n, double w);
consm_status bench_peers(struct bench *b);
consm_status bench_consm(struct bench *b);
consm_status bench_scale(struct bench *b);

/* This worker's rows [*from, *to), divided by non-zeros. */
void bench_rows(const struct csr *a, struct worker who, int64_t *from, int64_t *to);

/* count floats in [-1, 1) */
consm_status bench_floats(float **out, int64_t count);

#endif
