/* Whole epochs: the cost of a training step and an evaluation of each model, on a generated graph
 * with Cora's shape (2,708 nodes, 10,556 directed edges, 49,216 feature non-zeros, 7 classes, 20
 * labels each), so that no file is needed. */
#include "bench.h"

#include "app/prepare.h"
#include "base/clock.h"
#include "base/rng.h"
#include "train/session.h"
#include <stdio.h>

enum { NODES = 2708, EDGES = 5278, FEATURES = 1433, NONZEROS = 49216, CLASSES = 7, PER_CLASS = 20 };

/* A random graph with random bags of words of that shape. */
static consm_status make_dataset(struct dataset **out)
{
    consm_status st = CONSM_OK;
    struct dataset *d = NULL;
    struct rng r;
    int32_t *row = NULL, *col = NULL;
    rng_init(&r, 1, 1);
    TRY(dataset_new(&d, "cora's shape"));
    d->nodes = NODES;
    d->edges = EDGES;
    d->features = FEATURES;
    d->classes = CLASSES;
    TRY(NEW(d->from, EDGES));
    TRY(NEW(d->to, EDGES));
    TRY(NEW(d->label, NODES));
    TRY(NEW(row, NONZEROS));
    TRY(NEW(col, NONZEROS));
    for (int e = 0; e < EDGES; e++) {
        d->from[e] = (int32_t)rng_below(&r, NODES);
        d->to[e] = (int32_t)rng_below(&r, NODES);
    }
    for (int i = 0; i < NODES; i++)
        d->label[i] = i % CLASSES;
    for (int k = 0; k < NONZEROS; k++) {
        row[k] = k % NODES;
        col[k] = (int32_t)rng_below(&r, FEATURES);
    }
    TRY(csr_from_edges(&d->sparse, NODES, FEATURES, NONZEROS, row, col, NULL, CSR_DIRECTED, NULL));
    *out = d;
    d = NULL;
done:
    mem_free(row);
    mem_free(col);
    dataset_free(d);
    return st;
}

static void print_line(const struct bench *b, const char *model, double train, double eval)
{
    if (b->json)
        printf("{\"model\": \"%s\", \"shape\": \"cora\", \"threads\": %d, \"train_ms\": %.4f, "
               "\"eval_ms\": %.4f}\n",
               model, b->threads, 1e3 * train, 1e3 * eval);
    else
        printf("  %-10s %10.3f %10.3f\n", model, 1e3 * train, 1e3 * eval);
    fflush(stdout);
}

consm_status bench_epochs(const struct bench *b, struct session *s, double *train, double *eval)
{
    consm_status st = CONSM_OK;
    double loss, begin = clock_seconds();
    const float *logits;
    *train = *eval = 1e9;
    for (int i = 0; i < 5 || clock_seconds() - begin < 3 * b->seconds; i++) {
        double first = clock_seconds();
        TRY(session_step(s, &loss));
        double middle = clock_seconds();
        TRY(session_logits(&logits, s));
        double last = clock_seconds();
        *train = middle - first < *train ? middle - first : *train;
        *eval = last - middle < *eval ? last - middle : *eval;
    }
done:
    return st;
}

static consm_status time_model(struct bench *b, const struct problem *problem,
                               const struct model_def *model)
{
    consm_status st = CONSM_OK;
    struct session *s = NULL;
    struct train_options options = {.model = model, .seed = 1};
    double train, eval;
    model_defaults(model, &options.config);
    options.config.backbone =
        BACKBONE_GCN; /* ConSM: the cost of a step with the propagation loss */
    TRY(session_new(&s, problem, &options, b->backend));
    TRY(bench_epochs(b, s, &train, &eval));
    print_line(b, model->name, train, eval);
done:
    session_free(s);
    return st;
}

consm_status bench_models(struct bench *b)
{
    consm_status st = CONSM_OK;
    struct dataset *d = NULL;
    struct prepared prepared = {0};
    uint8_t *role = NULL;
    if (!bench_wants(b, "model epoch"))
        return CONSM_OK;
    if (!b->json)
        printf("\n%-12s %10s %10s   an epoch on Cora's shape\n", "model", "train ms", "eval ms");
    TRY(make_dataset(&d));
    TRY(prepare(&prepared, d));
    TRY(NEW(role, NODES));
    for (int i = 0; i < NODES; i++)
        role[i] = i < PER_CLASS * CLASSES ? SPLIT_TRAIN : i % 2 ? SPLIT_VAL : SPLIT_TEST;
    struct problem problem = prepare_problem(&prepared, role);
    for (const struct model_def *const *m = model_list(); *m; m++)
        TRY(time_model(b, &problem, *m));
done:
    mem_free(role);
    prepare_free(&prepared);
    dataset_free(d);
    return st;
}
