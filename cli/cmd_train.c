/* `consm train`: trains a model with some seeds and measures it. With --json it prints one JSON
 * object per run and a summary, otherwise an aligned table; with -o it also writes a folder with
 * the model. */
#include "commands.h"
#include "config_args.h"
#include "config_file.h"
#include "data_args.h"
#include "progress.h"
#include "shown.h"
#include "together.h"
#include "train_args.h"
#include "train_detail.h"
#include "train_ranks.h"

#include "app/limits.h"
#include "backends/early.h"
#include "base/clock.h"
#include "embeddings_output.h"
#include "io/file.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {
    {"model", "NAME", "model to train (consm); `consm models` lists all", 'm'},
    {"output", "FOLDER", "write model, predictions, metrics, report and configuration to FOLDER",
     'o'},
    {"probabilities", NULL, "add a column with the probability of each class to predictions.csv",
     0},
    SAFE_CSV_FLAG,
    {"embeddings", "FILE",
     "with -o: also write the nodes' embeddings to FILE\n"
     "(.npy or .csv)",
     0},
    {"from", "MODEL",
     "start from the parameters of MODEL, a model file of an earlier\n"
     "run with the same network; prints how many labels change",
     0},
    {"config", "FILE", "read flags from a YAML file; typed flags take precedence", 0},
    {"checkpoint-every", "N", "with -o: write a checkpoint every N epochs", 0},
    {"resume", NULL, "with -o: continue an interrupted run", 0},
    {"force", NULL, "with -o: overwrite an existing model (otherwise it is renamed to *.1, *.2, …)",
     0},
    {"strict", NULL, "treat warnings about the data as errors", 0},
    {"positive", "CLASS", "positive class of --metric average-precision (the rarest class)", 0},
    {"threshold-for", "CLASS",
     "predict CLASS above a probability threshold chosen on validation:\n"
     "the one with the best F1, unless --at-precision or --at-recall is given",
     0},
    {"at-precision", "P", "--threshold-for: the lowest threshold with this precision", 0},
    {"at-recall", "R", "--threshold-for: the highest threshold with this recall", 0},
    SPLIT_FLAGS,
    {"seed", "N", "first seed (0)", 0},
    {"ensemble", "N",
     "train N models with different seeds; validation chooses their\n"
     "average, a greedy selection or the best one (1; 1 to 100)",
     0},
    {"quick", NULL,
     "ConSM: train in a third of the time, slightly less accurate (--candidates few)", 0},
    {"seeds", "K", "number of runs, with seeds N, N+1, … (1); -o keeps the best by validation", 0},
    {"threads", "N",
     "threads per run (default: processors / jobs; with one run: as many as make it faster)", 0},
    {"device", "NAME", "cpu, cuda, cuda:N, or auto: a GPU if there is one (cpu)", 0},
    {"jobs", "N", "runs at the same time (one per processor)", 'j'},
    {"json", NULL, "print one JSON object per run and one summary", 0},
    {"quiet", NULL, "print only warnings and errors", 'q'},
    DATA_FLAGS,
    PARTS_FLAG,
    {0}};

/* The finished fraction of all runs and members, given the progress of one. */
static double fraction_of_all(struct training *t, int64_t run, int64_t member, double fraction)
{
    int64_t members = train_members(t), at = run * members + (member > 1 ? member - 1 : 0);
    pthread_mutex_lock(&t->lock);
    if (run >= 0 && at < t->runs * members) {
        t->fractions += fraction - t->fraction[at];
        t->fraction[at] = fraction;
    }
    double all = t->fractions / (double)(t->runs * members);
    pthread_mutex_unlock(&t->lock);
    return all;
}

static bool on_epoch(void *ctx, const struct consm_progress *progress)
{
    struct training *t = ctx;
    char note[512], member[40] = "", val[24] = "";
    if (progress->members)
        snprintf(member, sizeof member, "member %d of %d  ", (int)progress->member,
                 (int)progress->members);
    if (progress->best_val >= 0 && !progress->refit) /* else nothing was validated yet */
        snprintf(val, sizeof val, "  val %.3f", progress->best_val);
    snprintf(note, sizeof note, "%s%sloss %.3f%s", member,
             progress->refit        ? "training on all labels  "
             : progress->epoch == 0 ? "choosing a backbone  "
                                    : "",
             progress->loss, val);
    progress_fraction(1,
                      fraction_of_all(t, (int64_t)(progress->seed - t->choices.seed),
                                      progress->member, progress->share),
                      note);
    return progress_stopped();
}

/* Prints the runs that are finished, in the order of their seeds. */
static void print_finished(struct training *t, int64_t number)
{
    pthread_mutex_lock(&t->lock);
    t->finished[number] = true;
    for (; t->printed < t->runs && t->finished[t->printed]; t->printed++) {
        progress_clear();
        if (t->printed == 0 && !t->json && !t->quiet) /* no heading if nothing follows */
            printf("\n  %6s %8s %8s %10s %8s %9s %9s\n", "seed", "val", "test", "best epoch",
                   "epochs", "train ms", "eval ms");
        train_print_run(t, &t->result[t->printed]);
        fflush(stdout);
    }
    pthread_mutex_unlock(&t->lock);
}

/* ---- one run ------------------------------------------------------------- */

/* Keeps the run with the best validation, ties to the first seed. */
static void keep_best(struct training *t, int64_t number, struct trained_run *run)
{
    pthread_mutex_lock(&t->lock);
    double old = t->best.model ? t->best.result.val_score : -1, new = run->result.val_score;
    if (new > old || (new == old &&number < t->best_run)) {
        struct trained_run before = t->best;
        t->best_run = number;
        t->best = *run;
        *run = before;
    }
    pthread_mutex_unlock(&t->lock);
}

static consm_status train_run(void *ctx, int64_t number, int threads)
{
    struct training *t = ctx;
    consm_status st = CONSM_OK;
    uint64_t seed = t->choices.seed + (uint64_t)number;
    struct trained_run run;
    TRY(run_by_options(&run, t->data, t->options, seed, threads));
    t->result[number] = run.result;
    t->result[number].seed = seed;
    if (t->made)
        t->made[number] = run.ensemble;
    if (t->json)
        t->detail[number] = train_detail(run.model);
    keep_best(t, number, &run);
    run_free(&run);
    for (int64_t i = 1; i <= train_members(t); i++)
        (void)fraction_of_all(t, number, i, 1);
    print_finished(t, number);
done:
    return st;
}

/* ---- the command --------------------------------------------------------- */

/* A card has its own memory and reports what does not fit; the host holds the data. */
static bool elsewhere(const struct consm_options *o)
{
    char buffer[32];
    return strncmp(consm_options_get(o, "device", buffer), "cuda", 4) == 0;
}

/* The driver starts while data is read. ConSM's candidates need large products. */
static void wake_device(const struct training *t)
{
    char buffer[32];
    bool consm = strcmp(options_method(t->options)->name, "consm") == 0;
    if (elsewhere(t->options))
        backend_early(consm_options_get(t->options, "device", buffer), consm);
}

/* Makes the first seed's split, so that errors are found before anything is written. */
static consm_status look_at_split(struct training *t)
{
    struct roles roles;
    consm_status st = options_roles(&roles, t->data, t->options, t->choices.seed);
    if (st == CONSM_OK) {
        memcpy(t->count, roles.count, sizeof t->count);
        t->held_out = roles.held_out;
        t->calibrating = roles.calibrating;
    }
    if (st == CONSM_OK)
        st = options_metric(&t->metric, &t->positive, t->data, &roles, t->options);
    if (st == CONSM_OK && roles.count[SPLIT_TRAIN] == 0)
        st = status_fail(CONSM_EINVAL, "%s: split %s has no training nodes", t->read->name,
                         train_split(t));
    roles_free(&roles);
    return st;
}

static consm_status open_output(struct training *t, const char *name)
{
    consm_status st = CONSM_OK;
    struct train_identity identity = {t->data, name, t->options, t->runs};
    struct consm_options *o = t->options;
    if (!t->output.folder)
        return CONSM_OK;
    TRY(train_output_open(&t->output, t->args, &identity));
    if (t->resume && file_kind(t->output.checkpoint) == FILE_MISSING)
        fprintf(stderr, "consm train: no checkpoint in %s; starting from the beginning\n",
                t->output.folder);
    if (t->runs == 1 && train_members(t) == 1 && options_can_stop(o) == CONSM_OK)
        TRY(consm_options_checkpoint(o, t->output.checkpoint, t->checkpoint_every, t->resume));
done:
    return st;
}

static consm_status train_all(struct training *t, const struct batch *batch)
{
    consm_status st = CONSM_OK;
    double begin = clock_seconds();
    TRY(ZNEW(t->result, t->runs));
    TRY(ZNEW(t->finished, t->runs));
    TRY(ZNEW(t->detail, t->runs));
    TRY(ZNEW(t->fraction, t->runs * train_members(t)));
    if (train_members(t) > 1)
        TRY(ZNEW(t->made, t->runs));
    if (!t->json && !t->quiet) {
        char name[SHOWN];
        printf("%s, %s, split %s\n", shown(name, t->read->name, 0),
               options_method(t->options)->name, train_split(t));
        train_print_read(t);
        train_print_metric(t);
        train_print_notes(t);
        fflush(stdout);
    }
    progress_catch_interrupt();
    if (t->quiet)
        progress_quiet();
    progress_begin(options_method(t->options)->name, "epochs", 0);
    st = train_batch(batch);
    progress_end();
    TRY(st);
    train_print_summary(t, clock_seconds() - begin);
    if (!t->json && !t->quiet)
        train_print_rare(t);
    if (t->output.folder) {
        t->output.from = t->from;
        TRY(train_output_write(&t->output, &t->best, t->data));
        TRY(embeddings_write(args_get(t->args, "embeddings"), t->best.model, t->data,
                             t->output.device, t->output.threads));
        if (!t->json && !t->quiet)
            train_print_output(t);
    }
    train_warn(t);
done:
    return st;
}

static int finish(struct training *t, consm_status st)
{
    if (st == CONSM_OK)
        return EXIT_DONE;
    if (st == CONSM_ECANCEL && t->output.checkpoint &&
        file_kind(t->output.checkpoint) == FILE_REGULAR)
        return args_fail(
            t->args, progress_stopped() ? EXIT_INTERRUPTED : EXIT_FAILED,
            "%s; continue with: consm train --config %.*s/checkpoint.yaml -o %s --resume",
            consm_errmsg(), shown_folder(t->output.folder), t->output.folder, t->output.folder);
    /* After a failure of a card, or if its memory is full, the last checkpoint remains. */
    if ((st == CONSM_EIO || st == CONSM_ELIMIT) && t->options && elsewhere(t->options) &&
        t->output.checkpoint && file_kind(t->output.checkpoint) == FILE_REGULAR)
        return args_fail(t->args, EXIT_FAILED,
                         "%s; continue with: consm train --config %.*s/checkpoint.yaml -o %s "
                         "--resume --device cpu",
                         consm_errmsg(), shown_folder(t->output.folder), t->output.folder,
                         t->output.folder);
    return args_status(t->args, st);
}

/* After --from: how many labels have changed. */
static consm_status print_changes(const struct training *t)
{
    consm_status st = CONSM_OK;
    struct consm_prediction *before = NULL;
    const struct consm_prediction *now = t->best.prediction;
    int64_t flips = 0;
    if (!t->from || !now || t->json || t->quiet)
        return CONSM_OK;
    TRY(consm_predict(&before, t->from, t->data, 0));
    for (int64_t i = 0; i < now->nodes; i++)
        flips += before->label[i] != now->label[i];
    printf(
        "%lld of %lld nodes have different labels, compared with %s; `consm compare` lists them\n",
        (long long)flips, (long long)now->nodes, args_get(t->args, "from"));
done:
    consm_prediction_free(before);
    return st;
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct training t = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct batch batch = {.run = train_run, .ctx = &t};
    struct config_file file = {0};
    struct consm_open_options how;
    const char *name;
    bool mine;
    int code;
    if ((code = config_file_apply(&file, args)) || (code = train_args_read(&t, args, &batch)) ||
        (code = data_args_name(&name, args, "csbm")))
        goto out;
    consm_options_on_progress(t.options, on_epoch, &t);
    wake_device(&t);
    how = data_args_how(args);
    how.model = t.from;
    TRY(limits_check_name(name, options_config(t.options)));
    TRY(dataset_open_among(&t.data, name, &how, args->together->ranks));
    t.read = dataset_read(t.data);
    config_file_warn(&file, args, t.read->sha256);
    TRY(train_ranks(&mine, &t));
    if (!mine)
        goto done;
    TRY(options_resolve(t.options, t.data));
    TRY(look_at_split(&t));
    TRY(limits_check(t.read, options_config(t.options), t.count[SPLIT_TRAIN],
                     elsewhere(t.options) ? 0 : (int64_t)batch.jobs * t.choices.member_jobs,
                     dataset_ranks(t.data)->size));
    if ((code = train_suspect(&t)))
        goto out;
    TRY(open_output(&t, name));
    TRY(dataset_prepared(&t.prepared, t.data));
    if (!args_has(args, "threads") && prepare_is_small(t.prepared, options_config(t.options)))
        batch.threads = 1;
    if (dataset_ranks(t.data)->size > 1) /* they train each run together, in one order */
        batch.jobs = 1;
    TRY(train_all(&t, &batch));
    TRY(print_changes(&t));
done:
    code = finish(&t, st);
out:
    backend_early_end();
    mem_free(t.result);
    mem_free(t.finished);
    mem_free(t.fraction);
    for (int64_t i = 0; t.detail && i < t.runs; i++)
        json_decref(t.detail[i]);
    mem_free(t.detail);
    mem_free(t.made);
    run_free(&t.best);
    train_output_close(&t.output);
    consm_options_free(t.options);
    consm_model_free(t.from);
    consm_dataset_free(t.data);
    config_file_free(&file);
    return code;
}

const struct command cmd_train = {
    .name = "train",
    .summary = "train a model and evaluate it",
    .usage = "[DATASET] [--model NAME] [-o FOLDER] [--split SPLIT] [--seeds K] [--json]",
    .text =
        "Trains on the training nodes, selects the model on the validation nodes, and evaluates\n"
        "once on the test nodes, at the end. DATASET is a name (`csbm`, the default, and\n"
        "`karate` need no file) or a path.\n\n"
        "  consm train                                ConSM on a generated graph\n"
        "  consm train ./mygraph -o out/\n"
        "  consm train karate --per-class 4 --model mlp\n"
        "  consm train cora --split paper --seeds 10 --json\n"
        "  consm train csbm:homophily=0.1 --model gcn --layers 4 --lr 0.01\n"
        "  consm train cora --ensemble 5              five runs, combined by validation\n"
        "  consm train --config out/config.yaml -o again/    repeat a run\n"
        "  consm train ./mygraph --from out/model.safetensors -o next/\n\n"
        "On your own graph (a path), consm uses the split in the data; without one, all labels\n"
        "are for training. Without validation nodes it holds out a fifth of the training\n"
        "labels. Without test nodes it trains once more on all labels at the end (--refit).\n"
        "Dense feature columns are standardised. Known datasets default to --split random.\n\n"
        "-o FOLDER receives model.safetensors, predictions.csv, edges.csv, metrics.json,\n"
        "config.yaml, report.html and graph.svg; for a rare class also suspects.csv, a ranked\n"
        "list of nodes with reasons.\n\n"
        "--ensemble N trains N runs. Validation chooses between their average, a greedy\n"
        "selection of them, and the best run alone.\n\n"
        "Ctrl-C stops a run. With -o, --resume continues it and gives the same bits (not an\n"
        "ensemble). The same seed gives the same bits with any --threads and --jobs, and on any\n"
        "number of processes (mpirun -n 4 consm train …), unless boosted trees take part: they\n"
        "train in one process only.\n",
    .flags = flags,
    .more_flags = config_flags,
    .run = run,
};
