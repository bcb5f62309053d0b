/* The operations of a training step, each timed as its own program beside its ceiling: where an
 * epoch's time goes. */
#include "bench.h"

#include "base/clock.h"
#include "program/internal.h"
#include <stdio.h>

static bool is_product(enum op op)
{
    return op == OP_SPMM || op == OP_SPMM_FUSED || op == OP_SPMM_ADD;
}

struct work bench_product_work(double m, double n, double w)
{
    return (struct work){.bytes = m * (8 + 4 * w) + n * (8 + 4 * w), .flops = 2 * m * w};
}

struct work bench_instr_work(const struct instr *in)
{
    struct work work = {.bytes = 4.0 * (double)(in->rows * in->cols)};
    if (is_product(in->op))
        return bench_product_work((double)in->attr.csr->nnz, (double)in->rows, (double)in->cols);
    for (int i = 0; i < NODE_SOURCES; i++)
        work.bytes += 4.0 * (double)(in->src_rows[i] * in->src_cols[i]);
    if (in->op == OP_MATMUL)
        work.flops = 2.0 * (double)(in->rows * in->cols) *
                     (double)(in->attr.transposed ? in->src_rows[0] : in->src_cols[0]);
    return work;
}

/* The shortest time of one operation as its own program; its inputs are what the last epoch left.
 */
static consm_status time_alone(double *best, const struct bench *b, const struct program *p,
                               const struct instr *in)
{
    consm_status st = CONSM_OK;
    struct planned one = p->plan;
    struct compiled *ready = NULL;
    double begin = clock_seconds();
    one.instr = in;
    one.instrs = 1;
    *best = 1e9;
    TRY(b->backend->kind->compile(b->backend, &ready, &one));
    for (int runs = 0; runs < 3 || clock_seconds() - begin < b->seconds; runs++) {
        double start = clock_seconds();
        TRY(b->backend->kind->run(ready, &(struct step){1, 1}, 1));
        double taken = clock_seconds() - start;
        *best = taken < *best ? taken : *best;
    }
done:
    b->backend->kind->discard(ready);
    return st;
}

consm_status bench_operations(struct bench *b, const struct program *p, double least)
{
    consm_status st = CONSM_OK;
    char shape[64];
    double time;
    bench_title(b, "operation");
    for (int32_t i = 0; i < p->plan.instrs; i++) {
        const struct instr *in = &p->plan.instr[i];
        struct work work = bench_instr_work(in);
        work.least = work.bytes;
        if (in->once)
            continue;
        TRY(time_alone(&time, b, p, in));
        if (time < least)
            continue;
        snprintf(shape, sizeof shape, "%lld x %lld from %lld x %lld", (long long)in->rows,
                 (long long)in->cols, (long long)in->src_rows[0], (long long)in->src_cols[0]);
        bench_line(b, op_name(in->op), shape, time, work);
    }
done:
    return st;
}
