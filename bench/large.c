/* A training epoch of GCN on graphs that fit no cache, beside the cost of its bytes at the
 * machine's copy bandwidth. */

/*
 * It counts what each operation reads and writes: every matrix once, and gathered rows as often as
 * they are gathered, because they come from memory at random. It prints two sums. "Written out" is
 * the epoch by its equations, Â·(X·W) in every layer. "As run" leaves out the first layer's sparse
 * products, which the program computes once, in the first epoch; the rest is mostly dense products,
 * so its ceiling also counts multiply-adds.
 */
#include "bench.h"

#include "app/prepare.h"
#include "base/clock.h"
#include "base/rng.h"
#include "data/generate/generate.h"
#include "program/internal.h"
#include "train/session.h"
#include <stdio.h>

struct large_shape {
    const char *name, *csbm; /* in the words of the command */
    int64_t layers, hidden;
    double trained; /* share of labelled nodes */
};

/* Sums up the program. The bytes "written out" add the first layer's products, forwards and
 * backwards, and subtract the pass for its activation, which would be part of them. */
static void add_up(const struct bench *b, const struct program *p, int64_t hidden, double *run,
                   double *written, double *flops, double *least)
{
    *run = *written = *flops = *least = 0;
    for (int32_t i = 0; i < p->plan.instrs; i++) {
        const struct instr *in = &p->plan.instr[i];
        struct work work = bench_instr_work(in);
        if (in->once && in->attr.csr) {
            work = bench_product_work((double)in->attr.csr->nnz, (double)in->rows, (double)hidden);
            *written += 2 * work.bytes - 8.0 * (double)(in->rows * hidden);
        }
        if (in->once)
            continue;
        *run += work.bytes;
        *flops += work.flops;
        work.least = work.bytes;
        *least += bench_least(b, work);
    }
    *written += *run;
}

static void print_epoch(const struct bench *b, const struct large_shape *shape, double time,
                        const struct program *p)
{
    double run, written, flops, least;
    add_up(b, p, shape->hidden, &run, &written, &flops, &least);
    double copied = written / b->ceiling.bytes_per_second;
    double gathered = written / b->ceiling.far_per_second;
    if (b->json)
        printf(
            "{\"epoch\": \"%s\", \"threads\": %d, \"ms\": %.4f, \"gb_written_out\": %.4g, "
            "\"copy_ms\": %.4f, \"of_copy\": %.4g, \"gather_ms\": %.4f, \"of_gather\": %.4g, "
            "\"gb_run\": %.4g, \"gflop_run\": %.4g, \"ceiling_ms\": %.4f, \"of_ceiling\": %.4g}\n",
            shape->name, b->threads, 1e3 * time, written * 1e-9, 1e3 * copied, time / copied,
            1e3 * gathered, time / gathered, run * 1e-9, flops * 1e-9, 1e3 * least, time / least);
    else
        printf(
            "%-18s %8.1f ms\n"
            "  written out: %6.2f GB, %7.1f ms at copy bandwidth; the epoch takes %.2f x that\n"
            "                         %7.1f ms at gather bandwidth; the epoch takes %.2f x that\n"
            "  as run:      %6.2f GB, %.1f GFLOP, at least %.1f ms; the epoch takes %.2f x that\n",
            shape->name, 1e3 * time, written * 1e-9, 1e3 * copied, time / copied, 1e3 * gathered,
            time / gathered, run * 1e-9, flops * 1e-9, 1e3 * least, time / least);
    fflush(stdout);
}

static consm_status time_epochs(struct bench *b, const struct large_shape *shape,
                                const struct problem *problem)
{
    consm_status st = CONSM_OK;
    struct session *s = NULL;
    struct train_options options = {.seed = 1};
    double best = 1e9, loss, begin;
    TRY(model_find(&options.model, "gcn"));
    model_defaults(options.model, &options.config);
    options.config.layers = shape->layers;
    options.config.hidden = shape->hidden;
    TRY(session_new(&s, problem, &options, b->backend));
    TRY(session_step(s, &loss));
    begin = clock_seconds();
    for (int i = 0; i < 5 || clock_seconds() - begin < 10 * b->seconds; i++) {
        double first = clock_seconds();
        TRY(session_step(s, &loss));
        double taken = clock_seconds() - first;
        best = taken < best ? taken : best;
    }
    print_epoch(b, shape, best, s->learner.train.program);
    TRY(bench_operations(b, s->learner.train.program, 0.02 * best));
done:
    session_free(s);
    return st;
}

static consm_status bench_shape(struct bench *b, const struct large_shape *shape)
{
    consm_status st = CONSM_OK;
    struct dataset *d = NULL;
    struct prepared prepared = {0};
    uint8_t *role = NULL;
    struct rng r;
    TRY(generate_named(&d, shape->csbm));
    TRY(prepare(&prepared, d));
    TRY(NEW(role, d->nodes));
    rng_init(&r, 1, 2);
    for (int64_t i = 0; i < d->nodes; i++)
        role[i] = rng_uniform(&r) < shape->trained ? SPLIT_TRAIN : SPLIT_TEST;
    struct problem problem = prepare_problem(&prepared, role);
    TRY(time_epochs(b, shape, &problem));
done:
    mem_free(role);
    prepare_free(&prepared);
    dataset_free(d);
    return st;
}

consm_status bench_large(struct bench *b)
{
    static const struct large_shape shapes[] = {
        {"large epoch 1M/20M", "csbm:nodes=1000000,degree=20,features=64,homophily=0.8", 2, 64,
         0.6},
        {"large epoch arxiv",
         "csbm:nodes=169343,degree=13.7,features=128,classes=40,homophily=0.65", 3, 256, 0.54}};
    consm_status st = CONSM_OK;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (!bench_wants(b, shapes[i].name))
            continue;
        if (!b->json)
            printf("\n");
        TRY(bench_shape(b, &shapes[i]));
    }
done:
    return st;
}
