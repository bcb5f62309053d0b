/* Training on as many edges as a large machine holds: time, peak memory, and the forecast of `consm
 * info`. Runs only if --filter asks for "scale", because it needs tens of GB. */
#include "bench.h"

#include "app/cost.h"
#include "app/objects.h"
#include "base/child.h"
#include "base/clock.h"
#include "train/portfolio_work.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEGREE = 60, FEATURES = 16, CLASSES = 4 };

struct setting {
    const char *name, *value;
};

/* A few updates: memory reaches its peak in the first ones, and time is one of them times all. */
static const struct scale_case {
    const char *name, *model;
    double edges; /* without --edges */
    struct setting setting[6];
} cases[] = {
    {"scale gcn", "gcn", 3e8, {{"epochs", "5"}}},
    {"scale consm",
     "consm",
     1e8,
     {{"warmup", "6"}, {"rounds", "1"}, {"gnn_steps", "1"}, {"match_steps", "2"}}},
};

struct job {
    const struct scale_case *what;
    const struct bench *bench;
    double edges;
};

struct outcome {
    double opened, prepared, trained; /* seconds */
    double data_mb, prepared_mb;      /* peaks so far */
    int64_t nodes, edges;
    double forecast_mb;
};

static consm_status forecast(struct outcome *out, const struct job *job, const struct csr *graph,
                             const struct roles *roles)
{
    consm_status st = CONSM_OK;
    struct cost_range range;
    struct cost_sizes sizes = {.nodes = (double)graph->rows,
                               .edges = (double)graph->nnz / 2,
                               .columns = FEATURES,
                               .features = FEATURES,
                               .classes = CLASSES,
                               .labels = (double)roles->count[SPLIT_TRAIN],
                               .two_hop = portfolio_two_hop(graph),
                               .threads = job->bench->threads};
    TRY(strcmp(job->what->model, "gcn") == 0 ? cost_forecast(&range, COST_GCN_BYTES, &sizes)
                                             : cost_forecast_consm(&range, &sizes));
    out->forecast_mb = range.usual / 1e6;
    out->nodes = graph->rows;
    out->edges = graph->nnz / 2;
done:
    return st;
}

static consm_status run(void *result, void *arg)
{
    consm_status st = CONSM_OK;
    const struct job *job = arg;
    struct outcome *out = result;
    struct consm_options *options = NULL;
    struct consm_dataset *d = NULL;
    struct consm_model *model = NULL;
    struct roles roles = {0};
    struct training_request r = {.roles = &roles, .threads = job->bench->threads};
    char name[128];
    snprintf(name, sizeof name, "csbm:nodes=%.0f,degree=%d,features=%d,classes=%d,homophily=0.5",
             ceil(2 * job->edges / DEGREE), DEGREE, FEATURES, CLASSES);
    TRY(consm_options_new(&options, job->what->model));
    for (const struct setting *s = job->what->setting; s->name; s++)
        TRY(consm_options_set(options, s->name, s->value));
    double begin = clock_seconds();
    TRY(consm_dataset_open(&d, name, NULL));
    out->opened = clock_seconds() - begin;
    out->data_mb = clock_peak_rss_mb();
    TRY(dataset_prepared(&r.prepared, d));
    out->prepared = clock_seconds() - begin - out->opened;
    out->prepared_mb = clock_peak_rss_mb();
    TRY(roles_make(&roles, d->data, "random", 0, NULL));
    TRY(forecast(out, job, r.prepared->graph, &roles));
    r.options = (struct train_options){.model = options->model, .config = options->config};
    begin = clock_seconds();
    TRY(model_train(&model, NULL, &r));
    out->trained = clock_seconds() - begin;
done:
    consm_model_free(model);
    roles_free(&roles);
    consm_dataset_free(d);
    consm_options_free(options);
    return st;
}

static void print_line(const struct bench *b, const char *name, const struct outcome *o,
                       double peak_mb)
{
    if (b->json)
        printf("{\"scale\": \"%s\", \"nodes\": %lld, \"edges\": %lld, \"threads\": %d, "
               "\"generate_s\": %.2f, \"prepare_s\": %.2f, \"train_s\": %.2f, "
               "\"generated_mb\": %.0f, \"prepared_mb\": %.0f, \"peak_mb\": %.0f, "
               "\"forecast_mb\": %.0f}\n",
               name, (long long)o->nodes, (long long)o->edges, b->threads, o->opened, o->prepared,
               o->trained, o->data_mb, o->prepared_mb, peak_mb, o->forecast_mb);
    else
        printf("%-12s %11lld %11lld %9.1f %9.1f %9.1f %9.0f %9.0f %9.0f %9.0f %7.2f\n", name,
               (long long)o->nodes, (long long)o->edges, o->opened, o->prepared, o->trained,
               o->data_mb, o->prepared_mb, peak_mb, o->forecast_mb, peak_mb / o->forecast_mb);
    fflush(stdout);
}

consm_status bench_scale(struct bench *b)
{
    consm_status st = CONSM_OK;
    bool titled = b->json;
    if (b->threads < b->most_threads)
        return CONSM_OK;
    if (!b->filter)
        fprintf(stderr, "skipped: GCN on 300M edges, ConSM on 100M; run them with --filter scale, "
                        "smaller ones also with --edges N\n");
    if (!b->filter || strncmp(b->filter, "scale", 5) != 0)
        return CONSM_OK;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job = {&cases[i], b, b->edges > 0 ? b->edges : cases[i].edges};
        struct outcome o = {0};
        double peak_mb;
        if (!bench_wants(b, cases[i].name))
            continue;
        if (!titled)
            printf("\n%-12s %11s %11s %9s %9s %9s %9s %9s %9s %9s %7s\n", "scale", "nodes", "edges",
                   "generate", "prepare", "train s", "data MB", "+prepare", "peak MB", "forecast",
                   "ratio");
        titled = true;
        TRY(child_run(&o, sizeof o, &peak_mb, &(struct child){.work = run, .arg = &job}));
        print_line(b, cases[i].name, &o, peak_mb);
    }
done:
    return st;
}
