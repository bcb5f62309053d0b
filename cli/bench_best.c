/* Calls `train -o` with the flags of the chosen run, so that it writes what `consm train` writes.
 */
#include "bench_best.h"

#include "commands.h"
#include "config_args.h"
#include "json_line.h"
#include "shown.h"

#include "base/alloc.h"
#include "io/file.h"
#include "report/text.h"
#include "study/bench.h"
#include <stdio.h>
#include <string.h>

/* The flags of `train`, and storage for the texts of its parameters. */
struct retake {
    struct args args;
    char parameter[CONFIG_ROWS][32];
    char number[3][32];
};

static const struct flag *find_flag(const struct flag *f, const char *name)
{
    while (f->name && !args_same_name(f->name, name))
        f++;
    return f->name ? f : NULL;
}

static void give(struct args *out, const char *name, const char *value)
{
    const struct flag *f = find_flag(cmd_train.flags, name);
    f = f ? f : find_flag(config_flags(), name);
    if (!f || out->flags == ARGS_MAX)
        return;
    out->flag[out->flags] = f;
    out->value[out->flags++] = value;
}

/* Flags of bench with the same meaning in `train`; the run's own settings are passed by name. */
static bool is_passed_on(const char *name)
{
    static const char *const own[] = {"models", "seeds",     "output", "json", "search",
                                      "space",  "per-class", "split",  NULL};
    for (int i = 0; own[i]; i++)
        if (strcmp(own[i], name) == 0)
            return false;
    return !config_find(name);
}

/* Passes every parameter, so that `train` chooses none by itself. */
static void take_flags(struct retake *r, const struct study_run *run, const struct args *bench,
                       const char *folder)
{
    struct args *out = &r->args;
    out->command = &cmd_train;
    out->together = bench->together;
    out->item[out->count++] = run->dataset;
    for (int i = 0; i < bench->flags; i++)
        if (is_passed_on(bench->flag[i]->name))
            give(out, bench->flag[i]->name, bench->value[i]);
    for (const struct config_row *row = config_rows(); row->name; row++)
        give(out, row->name, config_text(&run->config, row, r->parameter[row - config_rows()]));
    snprintf(r->number[0], sizeof r->number[0], "%llu", (unsigned long long)run->seed);
    snprintf(r->number[1], sizeof r->number[1], "%lld", (long long)run->split_options.per_class);
    give(out, "model", run->model->name);
    give(out, "split", run->split);
    give(out, "seed", r->number[0]);
    give(out, "per-class", r->number[1]);
    give(out, "output", folder);
    give(out, "force", "");
    give(out, "quiet", "");
}

static void tell(const struct args *args, const struct study_run *run, double val,
                 const char *folder)
{
    char name[SHOWN];
    if (args_has(args, "json")) {
        json_line(json_pack("{s:b, s:s, s:s, s:I, s:f, s:s}", "best", 1, "dataset", run->dataset,
                            "model", run->model->name, "seed", (json_int_t)run->seed, "val_score",
                            val, "folder", folder),
                  10);
        return;
    }
    printf(
        "Best on validation for %s: %s, seed %llu. Model: %s/model.safetensors. Repeat this run:\n"
        "  consm train --config %s/config.yaml -o FOLDER\n",
        shown(name, run->dataset, 0), run->model->name, (unsigned long long)run->seed, folder,
        folder);
}

static int train_one(const struct args *args, const struct study_run *run, double val,
                     const char *folder)
{
    struct retake *r = NULL;
    struct text path = {0};
    int code = EXIT_FAILED;
    consm_status st = CONSM_OK;
    text_printf(&path, "%.*s/best-", shown_folder(folder), folder);
    text_slug(&path, run->dataset);
    TRY(text_status(&path));
    TRY(ZNEW(r, 1));
    take_flags(r, run, args, text_string(&path));
    code = cmd_train.run(&r->args);
    if (code == EXIT_DONE)
        tell(args, run, val, text_string(&path));
done:
    mem_free(r);
    text_free(&path);
    return st < 0 ? args_status(args, st) : code;
}

int bench_best_train(const struct args *args, json_t *options, const char *folder)
{
    consm_status st = CONSM_OK;
    int code = EXIT_DONE;
    struct study_options o = {0};
    struct study_folder f = {.lock = -1};
    struct study_run run;
    double val;
    TRY(options_read(&o, options));
    TRY(folder_open(&f, folder, RUNS_READ));
    struct study_view view = {&o, f.runs, json_object_get(f.about, "data"), f.path};
    for (int i = 0; i < o.datasets && code == EXIT_DONE; i++) {
        TRY(bench_best(&run, &val, &view, o.dataset[i]));
        code = train_one(args, &run, val, folder);
    }
done:
    folder_close(&f);
    options_free(&o);
    return st < 0 ? args_status(args, st) : code;
}
