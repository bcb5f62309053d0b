/* `consm train`: trains a model over some seeds and says how good it is. One JSON object per run
 * and one summary with --json, an aligned table without. */
#include "commands.h"
#include "config_args.h"
#include "data_args.h"
#include "progress.h"

#include "api/prepare.h"
#include "base/clock.h"
#include "stats/stats.h"
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {
    {"model", "NAME", "what to train (gcn); `consm models` lists them", 'm'},
    SPLIT_FLAGS,
    {"seed", "N", "the first seed (0)", 0},
    {"seeds", "K", "how many runs, with seeds N, N+1, … (1)", 0},
    {"threads", "N", "threads of one run (the processors shared among the jobs)", 0},
    {"jobs", "N", "runs side by side (as many as there are processors)", 'j'},
    {"json", NULL, "one JSON object per run and one summary", 0},
    DATA_FLAGS,
    {0}};

/* What the runs share, and where they leave their results. */
struct training {
    const struct args *args;
    const struct prepared *prepared;
    const struct model_def *model;
    const char *split;
    struct split_options split_options;
    struct config config;
    uint64_t first_seed;
    int64_t runs;
    struct train_result *result; /* (runs) */
    bool *finished;              /* (runs) */
    int64_t printed;
    bool json;
    pthread_mutex_t lock;
};

static bool on_epoch(void *ctx, const struct progress *progress)
{
    char note[64];
    (void)ctx;
    snprintf(note, sizeof note, "loss %.3f  val %.3f", progress->loss, progress->best_val);
    progress_add(1, note);
    return progress_stopped();
}

static void print_run(const struct training *t, const struct train_result *r)
{
    if (!t->json) {
        printf("  %6llu %8.4f %8.4f %10lld %8lld %9.3f %9.3f\n", (unsigned long long)r->seed,
               r->val_acc, r->test_acc, (long long)r->best_epoch, (long long)r->epochs, r->train_ms,
               r->eval_ms);
        return;
    }
    json_t *line =
        json_pack("{s:s, s:s, s:s, s:I, s:f, s:f, s:I, s:I, s:f, s:f, s:f, s:I, s:f}", "dataset",
                  t->prepared->data->name, "model", t->model->name, "split", t->split, "seed",
                  (json_int_t)r->seed, "val_acc", r->val_acc, "test_acc", r->test_acc, "best_epoch",
                  (json_int_t)r->best_epoch, "epochs", (json_int_t)r->epochs, "train_ms",
                  r->train_ms, "eval_ms", r->eval_ms, "seconds", r->seconds, "params",
                  (json_int_t)r->params, "peak_rss_mb", clock_peak_rss_mb());
    json_dumpf(line, stdout, JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(line);
}

/* Prints the runs that are finished, in the order of their seeds. */
static void print_finished(struct training *t, int64_t number)
{
    pthread_mutex_lock(&t->lock);
    t->finished[number] = true;
    for (; t->printed < t->runs && t->finished[t->printed]; t->printed++) {
        progress_clear();
        print_run(t, &t->result[t->printed]);
        fflush(stdout);
    }
    pthread_mutex_unlock(&t->lock);
}

static consm_status train_run(void *ctx, int64_t number, int threads)
{
    struct training *t = ctx;
    consm_status st = CONSM_OK;
    const struct dataset *d = t->prepared->data;
    uint8_t *role = NULL;
    struct train_options options = {.model = t->model,
                                    .config = t->config,
                                    .seed = t->first_seed + (uint64_t)number,
                                    .progress = on_epoch};
    TRY(NEW(role, d->nodes));
    TRY(split_make(role, d, t->split, options.seed, &t->split_options));
    struct problem problem = prepare_problem(t->prepared, role);
    TRY(train_once(&t->result[number], &problem, &options, threads));
    progress_add(t->config.epochs - t->result[number].epochs, NULL);
    print_finished(t, number);
done:
    mem_free(role);
    return st;
}

static void print_summary(const struct training *t, double seconds)
{
    double test[3] = {0}, val = 0, train_ms = 0, eval_ms = 0, n = (double)t->runs;
    for (int64_t i = 0; i < t->runs; i++) {
        const struct train_result *r = &t->result[i];
        test[0] += r->test_acc / n;
        val += r->val_acc / n;
        train_ms += r->train_ms / n;
        eval_ms += r->eval_ms / n;
    }
    for (int64_t i = 0; i < t->runs; i++)
        test[1] += pow(t->result[i].test_acc - test[0], 2);
    test[1] = t->runs > 1 ? sqrt(test[1] / (n - 1)) : 0;
    if (!t->json) {
        printf("\n  test accuracy %.2f ± %.2f %%, validation %.2f %% over %lld run%s in %.1f s\n",
               100 * test[0], 100 * test[1], 100 * val, (long long)t->runs, t->runs == 1 ? "" : "s",
               seconds);
        return;
    }
    json_t *line = json_pack("{s:b, s:s, s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "summary",
                             1, "dataset", t->prepared->data->name, "model", t->model->name,
                             "split", t->split, "runs", (json_int_t)t->runs, "test_acc_mean",
                             test[0], "test_acc_std", test[1], "val_acc_mean", val, "train_ms",
                             train_ms, "eval_ms", eval_ms, "seconds", seconds);
    json_dumpf(line, stdout, JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(line);
}

/* Runs side by side come first; what processors are left go to each run. */
static int parallelism(const struct args *args, int64_t runs, struct batch *batch)
{
    int64_t cores = threads_available(), jobs = 0, threads = 0;
    int code;
    if ((code = args_int(args, "jobs", 1, 1024, &jobs)) ||
        (code = args_int(args, "threads", 1, 1024, &threads)))
        return code;
    if (!jobs)
        jobs = threads ? (cores / threads > 1 ? cores / threads : 1) : cores;
    jobs = jobs > runs ? runs : jobs;
    if (!threads)
        threads = cores / jobs > 1 ? cores / jobs : 1;
    batch->jobs = (int)jobs;
    batch->threads = (int)threads;
    return EXIT_DONE;
}

static int read_args(struct training *t, struct args *args, struct batch *batch)
{
    int64_t seed = 0, seeds = 1;
    const char *model = args_get(args, "model"), *split = args_get(args, "split");
    int code;
    t->args = args;
    t->split = split ? split : "random";
    t->json = args_has(args, "json");
    consm_status st = model_find(&t->model, model ? model : "gcn");
    if (st < 0)
        return args_status(args, st);
    if ((code = config_args(&t->config, args, t->model)) ||
        (code = data_args_split(&t->split_options, args)) ||
        (code = args_int(args, "seed", 0, INT64_MAX / 2, &seed)) ||
        (code = args_int(args, "seeds", 1, 100000, &seeds)) ||
        (code = parallelism(args, seeds, batch)))
        return code;
    t->first_seed = (uint64_t)seed;
    t->runs = batch->count = seeds;
    return EXIT_DONE;
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct training t = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct batch batch = {.run = train_run, .ctx = &t};
    struct dataset *d = NULL;
    struct prepared prepared = {0};
    int code;
    if ((code = read_args(&t, args, &batch)) || (code = data_args_open(&d, args, "csbm")))
        return code;
    double begin = clock_seconds();
    TRY(prepare(&prepared, d));
    t.prepared = &prepared;
    TRY(ZNEW(t.result, t.runs));
    TRY(ZNEW(t.finished, t.runs));
    if (!t.json)
        printf("%s, %s, split %s\n\n  %6s %8s %8s %10s %8s %9s %9s\n", d->name, t.model->name,
               t.split, "seed", "val", "test", "best epoch", "epochs", "train ms", "eval ms");
    progress_catch_interrupt();
    progress_begin(t.model->name, "epochs", t.runs * t.config.epochs);
    st = train_batch(&batch);
    progress_end();
    TRY(st);
    print_summary(&t, clock_seconds() - begin);
done:
    mem_free(t.result);
    mem_free(t.finished);
    prepare_free(&prepared);
    dataset_free(d);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_train = {
    .name = "train",
    .summary = "train a model and say how good it is",
    .usage = "[DATASET] [--model NAME] [--split SPLIT] [--seeds K] [--json]",
    .text = "Trains on the split's training nodes, keeps the parameters that were best on its\n"
            "validation nodes, and then reads the test nodes once. DATASET is a name (`csbm`, the\n"
            "default, and `karate` need no file) or a path.\n\n"
            "  consm train                                a GCN on a generated graph\n"
            "  consm train karate --per-class 4 --model mlp\n"
            "  consm train cora --split paper --seeds 10 --json\n"
            "  consm train csbm:homophily=0.1 --model gcn --layers 4 --lr 0.01\n\n"
            "The same seed gives the same bits with any --threads and --jobs.\n",
    .flags = flags,
    .more_flags = config_flags,
    .run = run,
};
