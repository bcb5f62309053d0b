/* `consm train`: trains a model over some seeds and says how good it is. One JSON object per run
 * and one summary with --json, an aligned table without; with -o also a folder with the model. */
#include "commands.h"
#include "config_args.h"
#include "config_file.h"
#include "data_args.h"
#include "progress.h"
#include "train_print.h"

#include "api/checkpoint.h"
#include "api/defaults.h"
#include "api/limits.h"
#include "base/clock.h"
#include "io/file.h"
#include "train/session.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {
    {"model", "NAME", "what to train (consm); `consm models` lists them", 'm'},
    {"output", "FOLDER", "write model, predictions, metrics, report and configuration there", 'o'},
    {"probabilities", NULL, "predictions.csv gets a column per class", 0},
    {"config", "FILE", "flags from a YAML file; those typed win", 0},
    {"checkpoint-every", "N", "with -o: write the run down every N epochs, to go on after a break",
     0},
    {"resume", NULL, "with -o: go on where an interrupted run stopped", 0},
    SPLIT_FLAGS,
    {"seed", "N", "the first seed (0)", 0},
    {"seeds", "K", "how many runs, with seeds N, N+1, … (1); -o keeps the best on validation", 0},
    {"threads", "N", "threads of one run (the processors shared among the jobs)", 0},
    {"jobs", "N", "runs side by side (as many as there are processors)", 'j'},
    {"json", NULL, "one JSON object per run and one summary", 0},
    DATA_FLAGS,
    {0}};

static bool on_epoch(void *ctx, const struct progress *progress)
{
    char note[64];
    (void)ctx;
    snprintf(note, sizeof note, "%sloss %.3f  val %.3f",
             progress->epoch == 0 ? "choosing a backbone  " : "", progress->loss,
             progress->best_val);
    progress_add(1, note);
    return progress_stopped();
}

/* Prints the runs that are finished, in the order of their seeds. */
static void print_finished(struct training *t, int64_t number)
{
    pthread_mutex_lock(&t->lock);
    t->finished[number] = true;
    for (; t->printed < t->runs && t->finished[t->printed]; t->printed++) {
        progress_clear();
        train_print_run(t, &t->result[t->printed]);
        fflush(stdout);
    }
    pthread_mutex_unlock(&t->lock);
}

/* ---- one run ------------------------------------------------------------- */

/* Keeps the run that is best on validation, of equal ones the first seed's. Takes all over. */
static void keep_best(struct training *t, int64_t number, struct consm_model *model,
                      struct consm_prediction *prediction, struct roles *roles)
{
    pthread_mutex_lock(&t->lock);
    double old = t->best ? t->best->result.val_acc : -1, new = model->result.val_acc;
    if (new > old || (new == old &&number < t->best_run)) {
        struct consm_model *model_before = t->best;
        struct consm_prediction *prediction_before = t->best_prediction;
        struct roles roles_before = t->best_roles;
        t->best_run = number;
        t->best = model;
        t->best_prediction = prediction;
        t->best_roles = *roles;
        model = model_before;
        prediction = prediction_before;
        *roles = roles_before;
    }
    pthread_mutex_unlock(&t->lock);
    consm_model_free(model);
    consm_prediction_free(prediction);
}

static consm_status run_for_output(struct training *t, int64_t number, int threads,
                                   const struct train_options *options, struct roles *roles)
{
    consm_status st = CONSM_OK;
    struct consm_model *model;
    struct consm_prediction *prediction;
    struct training_request request = {
        .prepared = t->prepared, .roles = roles, .options = *options, .threads = threads};
    if (t->runs == 1 && checkpoint_possible(options) == CONSM_OK) {
        request.checkpoint = t->output.checkpoint;
        request.options.checkpoint_every = t->checkpoint_every;
        request.resume = t->resume;
    }
    TRY(model_train(&model, &prediction, &request));
    t->result[number] = model->result;
    keep_best(t, number, model, prediction, roles);
done:
    return st;
}

static consm_status train_run(void *ctx, int64_t number, int threads)
{
    struct training *t = ctx;
    consm_status st = CONSM_OK;
    struct roles roles = {0};
    struct train_options options = {.model = t->model,
                                    .config = t->config,
                                    .seed = t->first_seed + (uint64_t)number,
                                    .progress = on_epoch};
    TRY(roles_make(&roles, t->prepared->data, t->split, options.seed, &t->split_options));
    if (options.config.coverage > 0)
        TRY(roles_set_aside(&roles, t->prepared->data->nodes, options.seed));
    if (t->output.folder) {
        TRY(run_for_output(t, number, threads, &options, &roles));
    } else {
        struct problem problem = prepare_problem(t->prepared, roles.role);
        TRY(train_once(&t->result[number], &problem, &options, threads));
    }
    int64_t trials, planned = train_planned(&options, &trials);
    progress_add(planned - trials - t->result[number].epochs, NULL);
    print_finished(t, number);
done:
    roles_free(&roles);
    return st;
}

/* ---- the command --------------------------------------------------------- */

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

static int read_output_args(struct training *t)
{
    struct args *args = t->args;
    int code = args_int(args, "checkpoint-every", 1, 1000000000, &t->checkpoint_every);
    if (code)
        return code;
    t->output.folder = args_get(args, "output");
    t->output.probabilities = args_has(args, "probabilities");
    t->resume = args_has(args, "resume");
    if (!t->checkpoint_every && !t->resume)
        return EXIT_DONE;
    const char *flag = t->resume ? "--resume" : "--checkpoint-every";
    if (!t->output.folder)
        return args_fail(args, EXIT_USAGE, "%s needs -o FOLDER, where checkpoints lie", flag);
    if (t->runs > 1)
        return args_fail(args, EXIT_USAGE, "%s needs --seeds 1: one run at a time", flag);
    struct train_options options = {.model = t->model, .config = t->config};
    consm_status st = checkpoint_possible(&options);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

static int read_args(struct training *t, struct args *args, struct batch *batch)
{
    int64_t seed = 0, seeds = 1;
    const char *model = args_get(args, "model");
    int code;
    t->args = args;
    t->split = args_get(args, "split");
    t->json = args_has(args, "json");
    consm_status st = model_find(&t->model, model ? model : "consm");
    if (st < 0)
        return args_status(args, st);
    if ((code = config_args(&t->config, t->given, args, t->model)) ||
        (code = data_args_split(&t->split_options, args)) ||
        (code = args_int(args, "seed", 0, INT64_MAX / 2, &seed)) ||
        (code = args_int(args, "seeds", 1, 100000, &seeds)) ||
        (code = parallelism(args, seeds, batch)))
        return code;
    t->first_seed = (uint64_t)seed;
    t->runs = batch->count = seeds;
    return read_output_args(t);
}

/* The split of the first seed: what is wrong with it is found before anything is written. */
static consm_status look_at_split(struct training *t, const struct dataset *d)
{
    struct roles roles;
    consm_status st = roles_make(&roles, d, t->split, t->first_seed, &t->split_options);
    if (st == CONSM_OK && t->config.coverage > 0)
        st = roles_set_aside(&roles, d->nodes, t->first_seed);
    if (st == CONSM_OK) {
        memcpy(t->count, roles.count, sizeof t->count);
        t->held_out = roles.held_out;
        t->calibrating = roles.calibrating;
    }
    if (st == CONSM_OK && roles.count[SPLIT_TRAIN] == 0)
        st = status_fail(CONSM_EINVAL, "%s: split %s has no training nodes", d->name, t->split);
    roles_free(&roles);
    return st;
}

static consm_status open_output(struct training *t, const struct dataset *d, const char *name)
{
    consm_status st = CONSM_OK;
    struct train_identity identity = {d,       name,      t->model->name, t->split, t->first_seed,
                                      t->runs, &t->config};
    if (!t->output.folder)
        return CONSM_OK;
    TRY(train_output_open(&t->output, t->args, &identity));
    if (t->resume && file_kind(t->output.checkpoint) == FILE_MISSING) {
        fprintf(stderr, "consm train: no checkpoint in %s; starting from the beginning\n",
                t->output.folder);
        t->resume = false;
    }
done:
    return st;
}

static consm_status train_all(struct training *t, const struct batch *batch)
{
    consm_status st = CONSM_OK;
    double begin = clock_seconds();
    TRY(ZNEW(t->result, t->runs));
    TRY(ZNEW(t->finished, t->runs));
    if (!t->json) {
        printf("%s, %s, split %s\n", t->prepared->data->name, t->model->name, t->split);
        train_print_notes(t);
        printf("\n  %6s %8s %8s %10s %8s %9s %9s\n", "seed", "val", "test", "best epoch", "epochs",
               "train ms", "eval ms");
        fflush(stdout);
    }
    progress_catch_interrupt();
    struct train_options planned = {.model = t->model, .config = t->config};
    progress_begin(t->model->name, "epochs", t->runs * train_planned(&planned, &(int64_t){0}));
    st = train_batch(batch);
    progress_end();
    TRY(st);
    train_print_summary(t, clock_seconds() - begin);
    if (t->best) {
        TRY(train_output_write(&t->output, t->best, t->best_prediction, t->prepared,
                               t->best_roles.role));
        if (!t->json)
            train_print_output(t);
    }
done:
    return st;
}

static int finish(struct training *t, consm_status st)
{
    if (st == CONSM_OK)
        return EXIT_DONE;
    if (st == CONSM_ECANCEL && t->output.checkpoint &&
        file_kind(t->output.checkpoint) == FILE_REGULAR)
        return args_fail(t->args, EXIT_FAILED,
                         "%s; go on with: consm train --config %s/config.yaml -o %s --resume",
                         consm_errmsg(), t->output.folder, t->output.folder);
    return args_status(t->args, st);
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct training t = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct batch batch = {.run = train_run, .ctx = &t};
    struct config_file file = {0};
    struct dataset *d = NULL;
    struct prepared prepared = {0};
    int code;
    if ((code = config_file_apply(&file, args)) || (code = read_args(&t, args, &batch)))
        goto out;
    const char *name = args->count ? args->item[0] : "csbm";
    TRY(limits_check_name(name, &t.config));
    if ((code = data_args_open(&d, args, "csbm")))
        goto out;
    bool known = defaults_known(name);
    t.split = t.split ? t.split : defaults_split(known);
    defaults_config(&t.config, d, known, t.given);
    TRY(limits_check(d, &t.config, batch.jobs));
    TRY(look_at_split(&t, d));
    TRY(open_output(&t, d, name));
    TRY(prepare(&prepared, d));
    t.prepared = &prepared;
    if (!args_has(args, "threads") && prepare_is_small(&prepared, &t.config))
        batch.threads = 1;
    TRY(train_all(&t, &batch));
done:
    code = finish(&t, st);
out:
    mem_free(t.result);
    mem_free(t.finished);
    consm_model_free(t.best);
    consm_prediction_free(t.best_prediction);
    roles_free(&t.best_roles);
    train_output_close(&t.output);
    prepare_free(&prepared);
    dataset_free(d);
    config_file_free(&file);
    return code;
}

const struct command cmd_train = {
    .name = "train",
    .summary = "train a model and say how good it is",
    .usage = "[DATASET] [--model NAME] [-o FOLDER] [--split SPLIT] [--seeds K] [--json]",
    .text = "Trains on the split's training nodes, keeps the parameters that were best on its\n"
            "validation nodes, and then reads the test nodes once. DATASET is a name (`csbm`, the\n"
            "default, and `karate` need no file) or a path.\n\n"
            "  consm train                                ConSM on a generated graph\n"
            "  consm train ./mygraph -o out/\n"
            "  consm train karate --per-class 4 --model mlp\n"
            "  consm train cora --split paper --seeds 10 --json\n"
            "  consm train csbm:homophily=0.1 --model gcn --layers 4 --lr 0.01\n"
            "  consm train --config out/config.yaml -o again/    the same run once more\n\n"
            "Your own graph (a path) trains on every label it has: those that came with a split\n"
            "keep it, and where nobody validates a fifth of the labels is held out; columns of a "
            "dense\n"
            "table are standardised, and ties on validation go by its loss. Known sets\n"
            "default to --split random. The folder of -o receives model.safetensors,\n"
            "predictions.csv, edges.csv, metrics.json, config.yaml and report.html.\n\n"
            "Ctrl-C stops; with -o the run can then go on with --resume, to the same bits.\n"
            "The same seed gives the same bits with any --threads and --jobs.\n",
    .flags = flags,
    .more_flags = config_flags,
    .run = run,
};
