/* Reads the flags of `consm train`. */
#include "train_args.h"

#include "base/threads.h"
#include "config_args.h"
#include "data_args.h"
#include "embeddings_output.h"

#include <string.h>

int64_t train_members(const struct training *t)
{
    return t->choices.ensemble > 1 ? t->choices.ensemble : 1;
}

/* Runs side by side come first, then the members of each; each run uses the remaining processors.
 */
static int parallelism(const struct args *args, struct training *t, struct batch *batch)
{
    int64_t runs = t->runs * train_members(t);
    int64_t cores = threads_available(), jobs = 0, threads = 0;
    int code;
    if ((code = args_int(args, "jobs", 1, 1024, &jobs)) ||
        (code = args_int(args, "threads", 1, 1024, &threads)))
        return code;
    if (!jobs)
        jobs = threads ? (cores / threads > 1 ? cores / threads : 1) : cores;
    jobs = jobs > runs ? runs : jobs;
    if (!threads && jobs > 1) /* a single run finds the best number itself */
        threads = cores / jobs > 1 ? cores / jobs : 1;
    batch->jobs = (int)(jobs < t->runs ? jobs : t->runs);
    t->choices.member_jobs = (int)jobs / batch->jobs;
    batch->threads = (int)threads;
    return EXIT_DONE;
}

/* Flags with the same name in the library. */
static int read_named_args(struct training *t)
{
    static const char *const named[] = {"positive", "threshold-for", "at-precision", "at-recall"};
    consm_status st = CONSM_OK;
    for (size_t i = 0; i < sizeof named / sizeof *named && st == CONSM_OK; i++)
        if (args_has(t->args, named[i]))
            st = consm_options_set(t->options, named[i], args_get(t->args, named[i]));
    return st < 0 ? args_status(t->args, st) : EXIT_DONE;
}

static int read_output_args(struct training *t)
{
    struct args *args = t->args;
    int64_t every = 0, threads = 0;
    int code = args_int(args, "checkpoint-every", 1, 1000000000, &every);
    if (code || (code = args_int(args, "threads", 1, 1024, &threads)) ||
        (code = read_named_args(t)))
        return code;
    t->output.device = args_get(args, "device");
    t->output.threads = (int)threads;
    bool resume = args_has(args, "resume");
    t->output.folder = args_get(args, "output");
    t->output.probabilities = args_has(args, "probabilities");
    t->output.safe_csv = args_has(args, "safe-csv");
    t->output.force = args_has(args, "force");
    if (args_has(args, "embeddings") && !t->output.folder)
        return args_fail(args, EXIT_USAGE,
                         "--embeddings needs -o FOLDER, the folder for the model");
    if (embeddings_check(args_get(args, "embeddings")) < 0)
        return args_status(args, CONSM_EINVAL);
    t->checkpoint_every = every;
    t->resume = resume;
    if (!every && !resume)
        return EXIT_DONE;
    const char *flag = resume ? "--resume" : "--checkpoint-every";
    if (!t->output.folder)
        return args_fail(args, EXIT_USAGE, "%s needs -o FOLDER, the folder for checkpoints", flag);
    if (t->runs > 1 || train_members(t) > 1)
        return args_fail(args, EXIT_USAGE, "%s needs --%s 1: it works with one run only", flag,
                         t->runs > 1 ? "seeds" : "ensemble");
    consm_status st = options_can_stop(t->options);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

/* The method: as typed, or that of the model to continue from. */
static consm_status choose_method(struct training *t, const struct args *args)
{
    consm_status st = CONSM_OK;
    const char *model = args_get(args, "model"), *from = args_get(args, "from");
    if (from)
        TRY(consm_model_load(&t->from, from));
    if (!model)
        model = t->from ? train_info(t->from).model : "consm";
    TRY(consm_options_new(&t->options, model));
done:
    return st;
}

int train_args_read(struct training *t, struct args *args, struct batch *batch)
{
    struct run_choices *c = &t->choices;
    int64_t seed = 0;
    int code;
    t->args = args;
    t->runs = 1;
    t->json = args_has(args, "json");
    t->quiet = args_has(args, "quiet");
    consm_status st = choose_method(t, args);
    if (st == CONSM_OK && args_has(args, "split"))
        st = consm_options_set(t->options, "split", args_get(args, "split"));
    if (st == CONSM_OK && args_has(args, "device"))
        st = consm_options_set(t->options, "device", args_get(args, "device"));
    if (st < 0)
        return args_status(args, st);
    if ((code = config_args(&c->config, c->given, args, options_method(t->options))) ||
        (code = data_args_split(&c->split, args)) ||
        (code = args_int(args, "seed", 0, INT64_MAX / 2, &seed)) ||
        (code = args_int(args, "seeds", 1, 100000, &t->runs)) ||
        (code = args_int(args, "ensemble", 1, ENSEMBLE_MOST_RUNS, &c->ensemble)) ||
        (code = parallelism(args, t, batch)))
        return code;
    if (args_has(args, "quick") && !c->given[CONFIG_ROW_candidates])
        c->config.candidates = CANDIDATES_FEW;
    c->seed = (uint64_t)seed;
    options_choose(t->options, c);
    batch->count = t->runs;
    if (t->from && c->ensemble > 1)
        return args_fail(args, EXIT_USAGE, "--from cannot be combined with --ensemble");
    if (t->from && (st = consm_options_from(t->options, t->from)) < 0)
        return args_status(args, st);
    return read_output_args(t);
}
