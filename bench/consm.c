/* ConSM as a whole: time of training and scoring, and peak memory. */
#include "bench.h"

#include "app/objects.h"
#include "base/child.h"
#include "base/clock.h"
#include "study/sets.h"
#include "train/edge_trust.h"
#include <stdio.h>
#include <string.h>

struct setting {
    const char *name, *value;
};

/* What is timed: training, or the trust scores of all edges with the trained model. */
static const struct consm_case {
    const char *name, *set, *split;
    bool scores;
    struct setting setting[6];
    const char *says;
} cases[] = {
    {"consm default", "cora", "paper", false, {{0}}, "default profile, backbone chosen"},
    {"consm authors",
     "cora",
     "paper",
     false,
     {{"profile", "authors"}, {"round_patience", "0"}},
     "their schedule: 300 rounds, 140 + 500 updates each"},
    {"consm score",
     "squirrel",
     "paper",
     true,
     {{"backbone", "gcn"}, {"warmup", "20"}, {"rounds", "1"}, {"gnn_steps", "5"}},
     "trust scores of all edges"},
    {"consm large",
     "csbm:nodes=1000000,degree=20,features=16,homophily=0.5",
     "random",
     false,
     {{"backbone", "gcn"}, {"warmup", "20"}, {"rounds", "1"}, {"gnn_steps", "5"}},
     "one round on 1M nodes, 10M edges, and their trust scores"},
};

struct job {
    const struct consm_case *what;
    const struct bench *bench;
};

struct outcome {
    double seconds, val_acc;
    int64_t edges;
};

/* The shortest of a few scorings, each with a fresh session. */
static consm_status time_scores(struct outcome *out, const struct consm_model *model,
                                const struct prepared *prepared, const struct bench *b)
{
    consm_status st = CONSM_OK;
    struct backend *backend = NULL;
    struct session *s = NULL;
    struct edge_trust trust = {0};
    struct problem problem = prepare_problem(prepared, NULL);
    TRY(backend_open(&backend, NULL, b->threads));
    out->seconds = 1e9;
    for (int i = 0; i < 5; i++) {
        double begin = clock_seconds();
        TRY(model_session(&s, model, &problem, backend));
        TRY(session_trust(&trust, s));
        double taken = clock_seconds() - begin;
        out->seconds = taken < out->seconds ? taken : out->seconds;
        edge_trust_free(&trust);
        session_free(s);
        s = NULL;
    }
done:
    session_free(s);
    backend_close(backend);
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
    TRY(consm_options_new(&options, "consm"));
    for (const struct setting *s = job->what->setting; s->name; s++)
        TRY(consm_options_set(options, s->name, s->value));
    TRY(consm_dataset_open(&d, job->what->set, NULL));
    TRY(dataset_prepared(&r.prepared, d));
    TRY(roles_make(&roles, d->data, job->what->split, 0, NULL));
    r.options = (struct train_options){.model = options->model, .config = options->config};
    double begin = clock_seconds();
    TRY(model_train(&model, NULL, &r));
    out->seconds = clock_seconds() - begin;
    out->val_acc = model->result.val_acc;
    out->edges = r.prepared->graph->nnz / 2;
    if (job->what->scores)
        TRY(time_scores(out, model, r.prepared, job->bench));
done:
    consm_model_free(model);
    roles_free(&roles);
    consm_dataset_free(d);
    consm_options_free(options);
    return st;
}

static void print_line(const struct bench *b, const struct consm_case *what,
                       const struct outcome *o, double peak_mb)
{
    if (b->json)
        printf("{\"consm\": \"%s\", \"set\": \"%s\", \"edges\": %lld, \"threads\": %d, "
               "\"seconds\": %.4f, \"val_acc\": %.4f, \"peak_mb\": %.1f}\n",
               what->name, what->set, (long long)o->edges, b->threads, o->seconds, o->val_acc,
               peak_mb);
    else
        printf("%-14s %-10.10s %9lld %9.3f s %9.1f   %s\n", what->name, what->set,
               (long long)o->edges, o->seconds, peak_mb, what->says);
    fflush(stdout);
}

consm_status bench_consm(struct bench *b)
{
    consm_status st = CONSM_OK;
    bool titled = b->json;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job = {&cases[i], b};
        struct outcome o = {0};
        double peak_mb;
        if (b->threads < b->most_threads || !bench_wants(b, cases[i].name))
            continue; /* minutes each, so only with all threads */
        if (!sets_at_hand(cases[i].set, NULL)) {
            fprintf(stderr, "not here, so not timed: %s on %s\n", cases[i].name, cases[i].set);
            continue;
        }
        if (!titled)
            printf("\n%-14s %-10s %9s %11s %9s\n", "ConSM", "set", "edges", "time", "peak MB");
        titled = true;
        TRY(child_run(&o, sizeof o, &peak_mb, &(struct child){.work = run, .arg = &job}));
        print_line(b, &cases[i], &o, peak_mb);
    }
done:
    return st;
}
