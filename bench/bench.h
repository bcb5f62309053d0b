/*
 * consm-bench: what this machine can do, and how near to it the kernels come.
 *
 * A measurement runs a function on a team of threads again and again for a fraction of a second and
 * keeps the shortest time: the others tell about other processes. Beside the time stand the rates,
 * and the share of the ceiling: the time the machine's own copy bandwidth and multiply-add peak,
 * measured first, would need for the bytes and operations that cannot be avoided.
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
    double least; /* bytes that must come from memory when nothing is cached, for the ceiling */
    double flops; /* a multiply-add counts two */
    double gathered, table; /* bytes of rows read in no order, and of what they are picked from */
};

/* Gathering is measured twice: rows of an array that a core's own caches hold, and of one that no
 * cache holds. */
enum { GATHER_NEAR = 1 << 20, GATHER_FAR = 256 << 20 }; /* bytes of the array */

struct ceiling {
    double bytes_per_second, flops_per_second, near_per_second, far_per_second;
};

struct bench {
    struct backend *backend;
    struct team *team;         /* its threads */
    int threads, most_threads; /* of this pass, of the last */
    double seconds;            /* spent on each measurement */
    const char *device;        /* time models on that one and nothing else; NULL: not */
    char *sets;                /* for that: datasets, between semicolons */
    const char *filter;        /* only lines "kernel shape" that contain it; NULL: all */
    bool json, busy, alone, operations, kernels; /* as the flags say */
    const char *title;                           /* of the section, until printed */
    struct ceiling ceiling;                      /* of this team */
    const struct simd *simd;
};

/* Runs fn(arg) on the team and prints a line "kernel  shape  time …". Returns the shortest time, or
 * 0 when the filter leaves it out. */
double bench_run(struct bench *b, const char *kernel, const char *shape, team_fn fn, void *arg,
                 struct work work);
/* The least seconds the work takes on this team: the longest of what its bytes, its gathered rows
 * and its multiply-adds need. */
double bench_least(const struct bench *b, struct work work);
/* Prints such a line for a time that was taken elsewhere. */
void bench_line(struct bench *b, const char *kernel, const char *shape, double time,
                struct work work);
bool bench_wants(const struct bench *b, const char *text); /* the filter is part of text */
/* The shortest time of one run, without printing. */
double bench_time(struct bench *b, team_fn fn, void *arg);
/* Steps and epochs of whole models on a device. */
consm_status bench_device(struct bench *b, const char *device, char *sets);
/* Names the section that begins; printed when one of its lines is. */
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
/* Every operation of a step that takes at least so many seconds alone. */
struct program;
consm_status bench_operations(struct bench *b, const struct program *p, double least);
/* What an operation moves and computes; a sparse product with m entries, n rows out, w columns. */
struct instr;
struct work bench_instr_work(const struct instr *in);
struct work bench_product_work(double m, double n, double w);
consm_status bench_peers(struct bench *b);
consm_status bench_consm(struct bench *b);

/* Calls measure(out, arg) in a child process and brings back the bytes of out and the child's peak
 * of memory. */
consm_status bench_own_process(consm_status (*measure)(void *out, void *arg), void *out,
                               size_t bytes, void *arg, double *peak_mb);

/* This worker's rows [*from, *to), shared out by non-zeros. */
void bench_rows(const struct csr *a, struct worker who, int64_t *from, int64_t *to);

/* count floats in [-1, 1) */
consm_status bench_floats(float **out, int64_t count);

#endif
