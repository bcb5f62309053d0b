/* Runs a `study` or `bench` command, from flags to report. */
#include "study_run.h"

#include "config_args.h"
#include "data_args.h"
#include "json_line.h"
#include "progress.h"
#include "together.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "io/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- options ------------------------------------------------------------- */

json_t *study_run_list(const char *text)
{
    json_t *list = json_array();
    while (*text) {
        size_t length = strcspn(text, ",");
        /* "csbm:nodes=5,homophily=0.1" is one name: its settings are also joined by commas. */
        bool settings = strncmp(text, "csbm:", 5) == 0;
        while (settings && text[length] == ',') {
            const char *next = text + length + 1;
            size_t word = strcspn(next, ",=/:");
            if (next[word] != '=')
                break;
            length += 1 + strcspn(next, ",");
        }
        if (length > 0)
            json_array_append_new(list, json_stringn(text, length));
        text += length + (text[length] == ',');
    }
    return list;
}

/* Parameters from flags, for all models; they are checked here, where the message can name the
 * flag. */
static int set_parameters(json_t *options, const struct args *args)
{
    struct config c;
    json_t *set = json_object();
    bool given[CONFIG_ROWS];
    int code = config_args(&c, given, args, NULL);
    for (int i = 0; i < args->flags && code == EXIT_DONE; i++)
        if (config_find(args->flag[i]->name))
            json_object_set_new(set, args->flag[i]->name, json_string(args->value[i]));
    json_object_set_new(options, "set", set);
    return code;
}

int study_run_options(json_t *options, const struct args *args, int64_t seeds)
{
    struct split_options split;
    const char *models = args_get(args, "models"), *spec = args_get(args, "split");
    int code;
    if ((code = args_int(args, "seeds", 1, STUDY_MOST_SEEDS, &seeds)) ||
        (code = data_args_split(&split, args)))
        return code;
    json_object_set_new(options, "seeds", json_integer(seeds));
    json_object_set_new(options, "split", study_run_list(spec ? spec : "paper,random"));
    if (spec)
        json_object_set_new(options, "split_chosen", json_true());
    json_object_set_new(options, "per_class", json_integer(split.per_class));
    if (split.train > 0 || split.val > 0) {
        json_object_set_new(options, "train_ratio", json_real(split.train));
        json_object_set_new(options, "val_ratio", json_real(split.val));
    }
    if (split.pooled)
        json_object_set_new(options, "pooled", json_true());
    if (args_has(args, "device"))
        json_object_set_new(options, "device", json_string(args_get(args, "device")));
    if (models)
        json_object_set_new(options, "models", study_run_list(models));
    return set_parameters(options, args);
}

/* The command in a form that can be typed again. */
static consm_status command_line(struct text *out, const struct args *args)
{
    text_printf(out, "consm %s", args->command->name);
    for (int i = 0; i < args->count; i++)
        text_printf(out, strpbrk(args->item[i], " '\"$*?") ? " '%s'" : " %s", args->item[i]);
    for (int i = 0; i < args->flags; i++) {
        const struct flag *flag = args->flag[i];
        text_printf(out, " --%s", flag->name);
        if (flag->value)
            text_printf(out, strpbrk(args->value[i], " '\"$*?") ? " '%s'" : " %s", args->value[i]);
    }
    return text_status(out);
}

/* ---- telling how far it is ----------------------------------------------- */

struct display {
    bool json, begun;
    int64_t finished;
};

static void on_begin(void *ctx, const struct execute_progress *p)
{
    struct display *display = ctx;
    if (p->found > 0 && !display->begun)
        fprintf(stderr, "%lld run%s already finished, %lld to do\n", (long long)p->found,
                p->found == 1 ? "" : "s", (long long)p->total);
    display->begun = true;
    progress_begin("runs", "runs", p->total);
}

static void on_done(void *ctx, const struct execute_progress *p)
{
    struct display *display = ctx;
    char note[160];
    double accuracy = json_number_value(json_object_get(p->result, "test_acc"));
    display->finished++;
    snprintf(note, sizeof note, "%.40s %s %s", p->run->dataset,
             p->run->model ? p->run->model->name : "", plan_task_name(p->run->task));
    utf8_tame(note);
    if (display->json) {
        progress_clear();
        json_t *line = json_pack(
            "{s:s, s:s, s:s, s:I, s:f, s:f, s:f}", "task", plan_task_name(p->run->task), "dataset",
            p->run->dataset, "model", p->run->model ? p->run->model->name : "", "seed",
            (json_int_t)p->run->seed, "val_acc",
            json_number_value(json_object_get(p->result, "val_acc")), "test_acc", accuracy,
            "seconds", json_number_value(json_object_get(p->result, "seconds")));
        json_line(line, 10);
        fflush(stdout);
    }
    progress_fraction(1, p->work_total > 0 ? p->work / p->work_total : 0, note);
}

static bool wants_stop(void *ctx)
{
    (void)ctx;
    return progress_stopped();
}

/* ---- running ------------------------------------------------------------- */

/* Reads the folder again as rank 0 has written it. */
static consm_status look_again(struct study_folder *f)
{
    char *path = mem_strdup(f->path);
    if (!path)
        return CONSM_ENOMEM;
    folder_close(f);
    consm_status st = folder_open(f, path, RUNS_READ);
    mem_free(path);
    return st;
}

/* Plans and executes until nothing new is left: the second half of a search is known only after the
 * first. */
static consm_status execute_all(struct study_folder *f, const struct study_def *const *study,
                                int count, const struct study_options *o,
                                const struct study_sets *sets, struct execute_options *how)
{
    consm_status st = CONSM_OK;
    struct plan plan = {0};
    struct display *display = how->ctx;
    const struct ranks *ranks = how->workers->ranks;
    bool worker = ranks->rank > 0;
    int64_t before;
    do {
        double word = ranks->first(1); /* from rank 0: continue, done, or failed */
        if (word < 0)
            TRY(status_fail(CONSM_EINVAL, "rank 0 has stopped"));
        if (word == 0)
            break;
        if (worker)
            TRY(look_again(f));
        struct study_view view = {o, f->runs, json_object_get(f->about, "data"), f->path};
        before = display->finished;
        plan_free(&plan);
        for (int i = 0; i < count; i++)
            TRY(study[i]->plan(&plan, &view));
        st = execute_plan(f->runs, &plan, sets, how);
        progress_end();
        TRY(st);
    } while (worker || display->finished > before);
done:
    plan_free(&plan);
    if (!worker)
        (void)ranks->first(st < 0 ? -1 : 0);
    return st;
}

static consm_status open_sets(struct study_sets *sets, struct study_folder *f,
                              const struct study_def *const *study, int count,
                              const struct study_options *o, const struct args *args)
{
    consm_status st = CONSM_OK;
    const char *name;
    json_t *hash, *data = json_object_get(f->about, "data");
    struct data_options how = data_args_options(args);
    for (int i = 0; i < o->datasets; i++)
        TRY(sets_open(sets, o->dataset[i], &how));
    for (int i = 0; i < count; i++)
        if (study[i]->open)
            TRY(study[i]->open(sets, o, &how));
    json_object_foreach(sets->hashes, name, hash) if (json_object_set(data, name, hash) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for study.json"));
done:
    return st;
}

static consm_status run_studies(struct study_folder *f, const struct args *args,
                                const struct study_def *const *study, int count, json_t *options)
{
    consm_status st = CONSM_OK;
    struct study_options o = {0};
    struct study_sets sets = {0};
    struct text command = {0};
    struct display display = {.json = args_has(args, "json")};
    struct execute_options how = {.workers = &args->together->workers,
                                  .folder = f->path,
                                  .begin = on_begin,
                                  .done = on_done,
                                  .stop = wants_stop,
                                  .ctx = &display};
    int64_t jobs = 0, threads = 0;
    double begin = clock_seconds();
    if (args_int(args, "jobs", 1, 1024, &jobs) || args_int(args, "threads", 1, 1024, &threads))
        return CONSM_EINVAL;
    how.jobs = (int)jobs;
    how.threads = (int)threads;
    TRY(options_read(&o, options));
    TRY(open_sets(&sets, f, study, count, &o, args));
    for (int i = 0; i < count; i++)
        TRY(folder_enter(f, study[i]->name, options));
    TRY(folder_save(f));
    if (how.workers->ranks->rank > 0)
        file_write_again(); /* the rank that has a graph with edge scores writes it */
    progress_catch_interrupt();
    st = execute_all(f, study, count, &o, &sets, &how);
    if (command_line(&command, args) == CONSM_OK && display.finished > 0 &&
        folder_invoked(f, text_string(&command), clock_seconds() - begin, display.finished) ==
            CONSM_OK)
        (void)folder_save(f);
    if (st == CONSM_ECANCEL)
        st = status_fail(
            CONSM_ECANCEL,
            "stopped; %lld finished run%s kept in %s; the same command continues from there",
            (long long)display.finished, display.finished == 1 ? " is" : "s are", f->path);
done:
    text_free(&command);
    sets_free(&sets);
    options_free(&o);
    return st;
}

/* ---- reporting ----------------------------------------------------------- */

static int terminal_width(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO))
        return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

int study_run_report(const struct args *args, struct study_folder *f, const char *only,
                     const char *path, const char *files, bool quiet)
{
    consm_status st = CONSM_OK;
    struct report *r = NULL;
    struct text text = {0};
    TRY(folder_report(&r, f, "consm: comparison of methods and edge scores", only));
    TRY(report_write_html(r, path));
    if (files)
        TRY(report_write_files(r, files));
    if (files && report_write_pngs(r, files) < 0)
        fprintf(stderr, "PNG figures were not written: %s\n", consm_errmsg());
    if (!quiet) {
        TRY(report_to_terminal(&text, r, terminal_width(), isatty(STDOUT_FILENO)));
        fputs(text_string(&text), stdout);
        printf("Report: %s\n", path);
    }
done:
    text_free(&text);
    report_free(r);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

int study_run(const struct args *args, const struct study_def *const *study, int count,
              json_t *options, const char *folder)
{
    consm_status st = CONSM_OK;
    struct study_folder f = {.lock = -1};
    char *page = NULL, *files = NULL;
    int code = EXIT_DONE;
    const struct ranks *ranks = args->together->workers.ranks;
    bool worker = ranks->rank > 0;
    if (worker)
        (void)ranks->first(0); /* wait until rank 0 has written the folder */
    TRY(folder_open(&f, folder, worker ? RUNS_READ : RUNS_APPEND));
    if (!worker)
        (void)ranks->first(0);
    if (runs_torn(f.runs) > 0)
        fprintf(
            stderr,
            "the last line of runs.jsonl was incomplete and was removed; its run is repeated\n");
    int64_t others = folder_other_builds(&f);
    if (others > 0)
        fprintf(stderr,
                "%lld of %lld runs in %s were made by another build of consm and are kept; to "
                "repeat all of them, delete runs.jsonl\n",
                (long long)others, (long long)runs_count(f.runs), folder);
    TRY(run_studies(&f, args, study, count, options));
    if (worker)
        goto done;
    TRY(file_join(&page, folder, "report.html"));
    TRY(file_join(&files, folder, "files"));
    bool json = args_has(args, "json");
    code = study_run_report(args, &f, NULL, page, files, json);
    if (json && code == EXIT_DONE) {
        json_t *line = json_pack("{s:b, s:I, s:s}", "summary", 1, "runs",
                                 (json_int_t)runs_count(f.runs), "report", page);
        json_line(line, 0);
    }
done:
    mem_free(page);
    mem_free(files);
    folder_close(&f);
    return st < 0 ? args_status(args, st) : code;
}
