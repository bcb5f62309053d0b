/* Epochs on the public sets, and how many times as long PyTorch Geometric takes. Its times below
 * were measured on a 2-core Neoverse-V1 with 2 threads, so the ratios are only valid on such a
 * machine; bench/beside_pyg.py measures both in one run. Each case is a process with its own peak
 * memory. */

/* PyTorch Geometric 2.9 with torch 1.13.1: two layers, hidden width 64, the fastest of edge_index
 * or SparseTensor with dense or sparse features. */
#include "bench.h"

#include "app/prepare.h"
#include "base/child.h"
#include "data/open.h"
#include "data/split.h"
#include "study/sets.h"
#include "train/session.h"
#include <stdio.h>

enum { SETS = 6, MODELS = 6 };

static const char *const sets[SETS] = {"cora",     "citeseer", "chameleon",
                                       "squirrel", "actor",    "pubmed"};

static const struct peer {
    const char *model;
    double ms[SETS]; /* 0: not measured */
} peers[MODELS] = {
    {"mlp", {7.4, 12.2, 6.0, 13.2, 12.2}},     {"gcn", {8.9, 13.9, 11.0, 67.1, 17.3}},
    {"gat", {23.8, 28.8, 64.7, 467, 72.5}},    {"appnp", {11.3, 16.0, 14.0, 68.6, 20.6}},
    {"gcnii", {17.9, 23.8, 22.1, 84.8, 40.6}}, {"gin", {40.8, 95, 112, 548, 85.8}},
};

struct outcome {
    double train, eval; /* seconds, the shortest */
    double peak_mb;
};

struct job {
    const struct bench *bench;
    const char *set, *model;
};

static consm_status measure(void *result, void *arg)
{
    consm_status st = CONSM_OK;
    struct outcome *out = result;
    const struct job *job = arg;
    struct dataset *d = NULL;
    struct prepared prepared = {0};
    struct session *s = NULL;
    struct backend *backend = NULL;
    uint8_t *role = NULL;
    struct train_options options = {.seed = 1};
    *out = (struct outcome){0};
    TRY(model_find(&options.model, job->model));
    TRY(data_open(&d, job->set, NULL));
    TRY(prepare(&prepared, d));
    TRY(NEW(role, d->nodes));
    TRY(split_make(role, d, "paper", 0, NULL));
    struct problem problem = prepare_problem(&prepared, role);
    model_defaults(options.model, &options.config);
    TRY(backend_open(&backend, NULL, job->bench->threads));
    TRY(session_new(&s, &problem, &options, backend));
    TRY(bench_epochs(job->bench, s, &out->train, &out->eval));
    if (job->bench->operations) {
        struct bench own = *job->bench;
        own.backend = backend;
        TRY(bench_operations(&own, s->learner.train.program, 0));
    }
done:
    session_free(s);
    backend_close(backend);
    mem_free(role);
    prepare_free(&prepared);
    dataset_free(d);
    return st;
}

static void print_line(const struct bench *b, const char *set, const char *model,
                       const struct outcome *o, double peer)
{
    double ms = 1e3 * o->train;
    if (b->json)
        printf("{\"model\": \"%s\", \"dataset\": \"%s\", \"threads\": %d, \"train_ms\": %.4f, "
               "\"eval_ms\": %.4f, \"peak_mb\": %.1f, \"pyg_ms\": %g, \"ratio\": %.3g}\n",
               model, set, b->threads, ms, 1e3 * o->eval, o->peak_mb, peer, peer / ms);
    else
        printf("%-8s %-10s %10.3f %10.3f %9.1f %9.1f %7.1fx\n", model, set, ms, 1e3 * o->eval,
               o->peak_mb, peer, peer / ms);
    fflush(stdout);
}

consm_status bench_peers(struct bench *b)
{
    consm_status st = CONSM_OK;
    bool titled = b->json;
    for (int m = 0; m < MODELS; m++)
        for (int k = 0; k < SETS; k++) {
            struct job job = {b, sets[k], peers[m].model};
            struct outcome o;
            double peak_mb;
            char label[64];
            snprintf(label, sizeof label, "peers %s %s", peers[m].model, sets[k]);
            if ((b->threads != 2 && !b->busy) || !bench_wants(b, label))
                continue;
            if (!sets_at_hand(sets[k], NULL)) {
                if (m == 0)
                    fprintf(stderr, "not here, so not timed: %s\n", sets[k]);
                continue;
            }
            if (!titled)
                printf("\n%-8s %-10s %10s %10s %9s %9s %8s   PyG's best, as measured elsewhere\n",
                       "model", "set", "train ms", "eval ms", "peak MB", "PyG ms", "ratio");
            titled = true;
            TRY(child_run(&o, sizeof o, &peak_mb, &(struct child){.work = measure, .arg = &job}));
            o.peak_mb = peak_mb;
            print_line(b, sets[k], peers[m].model, &o, peers[m].ms[k]);
        }
done:
    return st;
}
