/* The report of a study's folder: the options, every study's section, and how to reproduce it. */
#include "study/study.h"

#include "io/file.h"
#include "study/graph_file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void say_duration(char text[48], double seconds)
{
    long long minutes = (long long)(seconds / 60);
    if (seconds < 100)
        snprintf(text, 48, "%.0f s", seconds);
    else if (minutes < 100)
        snprintf(text, 48, "%lld min", minutes);
    else
        snprintf(text, 48, "%lld h %lld min", minutes / 60, minutes % 60);
}

static void add_head(struct report *r, const struct study_folder *f)
{
    const json_t *list = json_object_get(f->about, "invocations"), *entry;
    struct view_words words;
    const char *machine = NULL;
    char took[48];
    double seconds = 0;
    size_t i;
    json_array_foreach((json_t *)list, i, entry)
    {
        seconds += json_number_value(json_object_get(entry, "seconds"));
        machine = json_string_value(json_object_get(entry, "machine"));
    }
    say_duration(took, seconds);
    report_about(r, "version", consm_version());
    if (machine)
        report_about(r, "machine", machine);
    report_about(r, "time taken", took);
    report_about(r, "runs", view_printf(&words, "%lld", (long long)runs_count(f->runs)));
}

static void add_origins(struct report *r, const struct study_folder *f)
{
    const json_t *list = json_object_get(f->about, "invocations"), *value, *earlier;
    const char *name;
    size_t i, k;
    json_array_foreach((json_t *)list, i, value)
    {
        const char *command = json_string_value(json_object_get(value, "command"));
        bool again = false; /* show a resumed command only once */
        for (k = 0; k < i && command; k++) {
            earlier = json_object_get(json_array_get(list, k), "command");
            again = again || strcmp(json_string_value(earlier), command) == 0;
        }
        if (command && !again)
            report_command(r, command);
    }
    json_object_foreach(json_object_get(f->about, "data"), name, value)
        report_hash(r, name, json_string_value(value));
}

/* ---- graphs -------------------------------------------------------------- */

enum { MOST_GRAPHS = 3, MOST_GRAPH_EDGES = 60000 };

/* A good node to show first: the one with the most trusted and distrusted edges (the smaller of
 * both counts). */
static int64_t telling_node(const struct graph_view *g)
{
    int64_t best = 0, best_count = -1;
    for (int64_t i = 0; i < g->nodes; i++) {
        int64_t kept = 0, degree = g->start[i + 1] - g->start[i];
        for (int64_t e = g->start[i]; e < g->start[i + 1]; e++)
            kept += (double)g->score[e] >= g->threshold;
        int64_t least = kept < degree - kept ? kept : degree - kept;
        if (degree <= 14 && least > best_count) {
            best_count = least;
            best = i;
        }
    }
    return best;
}

/* The page draws any node; the first graph also gets a printable figure. */
static consm_status add_graph(struct report *r, const struct graph_view *g, bool first)
{
    consm_status st = CONSM_OK;
    struct figure *f = NULL;
    struct view_words name, title;
    char shown[96];
    view_dataset_title(g->name, shown);
    view_printf(&name, "neighbourhood-%s", g->name);
    view_printf(&title, "A neighbourhood in %s", shown);
    struct figure_words words = {
        name.text, title.text,
        "Edge colour: trust, the probability that both ends have the same class.", NULL};
    if (first) {
        TRY(figure_neighbourhood(&f, &words, g, telling_node(g)));
        report_figure(r, f);
    }
    report_graph(r, g);
done:
    return st;
}

/* The graphs that runs wrote, in the order of the datasets; large ones are left out to keep the
 * page small. */
static consm_status add_graphs(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    char *path = NULL;
    struct graph_file *file = NULL;
    int shown = 0;
    for (int s = 0; s < v->options->datasets && shown < MOST_GRAPHS; s++) {
        struct study_run run = plan_run(TASK_TRAIN, v->options->dataset[s], NULL, "paper");
        TRY(execute_graph_path(&path, v->folder, &run));
        if (file_kind(path) == FILE_REGULAR) {
            TRY(graph_file_read(&file, path));
            const struct graph_view *g = graph_file_view(file);
            if (g->start[g->nodes] / 2 <= MOST_GRAPH_EDGES) {
                if (shown == 0)
                    report_section(r, "Which edges to trust",
                                   "Choose a node to see its neighbourhood: ConSM's trust in every "
                                   "edge, the true class and the predicted class.");
                TRY(add_graph(r, g, shown++ == 0));
            }
            graph_file_free(file);
            file = NULL;
        }
        mem_free(path);
        path = NULL;
    }
done:
    graph_file_free(file);
    mem_free(path);
    return st;
}

/* ---- all of it ----------------------------------------------------------- */

static consm_status add_study(struct report *r, struct study_folder *f,
                              const struct study_def *study, json_t *options)
{
    consm_status st = CONSM_OK;
    struct study_options o = {0};
    TRY(options_read(&o, options));
    struct study_view v = {&o, f->runs, json_object_get(f->about, "data"), f->path};
    TRY(study->render(r, &v));
done:
    options_free(&o);
    return st;
}

static json_t *entry_options(const struct study_folder *f, const char *study)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(f->about, "studies"), i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "study"));
        if (name && strcmp(name, study) == 0)
            return json_object_get(entry, "options");
    }
    return NULL;
}

/* Neighbourhoods come after the first study that wrote graphs. */
static consm_status add_graphs_of(struct report *r, struct study_folder *f, const char *study)
{
    consm_status st = CONSM_OK;
    struct study_options o = {0};
    TRY(options_read(&o, entry_options(f, study)));
    struct study_view v = {&o, f->runs, json_object_get(f->about, "data"), f->path};
    TRY(add_graphs(r, &v));
done:
    options_free(&o);
    return st;
}

consm_status folder_report(struct report **out, struct study_folder *f, const char *title,
                           const char *only)
{
    consm_status st = CONSM_OK;
    struct report *r = NULL;
    const struct study_def *bench = study_find("bench");
    bool graphs = false, any = false;
    *out = NULL;
    TRY(report_new(&r, title));
    add_head(r, f);
    for (int i = -1; i < 0 || study_list()[i]; i++) {
        const struct study_def *study = i < 0 ? bench : study_list()[i];
        json_t *options = entry_options(f, study->name);
        if (!options || (only && strcmp(only, study->name) != 0))
            continue;
        TRY(add_study(r, f, study, options));
        any = true;
        if (!graphs && (study == bench || strcmp(study->name, "edges") == 0)) {
            graphs = true;
            TRY(add_graphs_of(r, f, study->name));
        }
    }
    if (!any)
        TRY(status_fail(CONSM_ENOTFOUND, "%s: the folder contains no study", f->path));
    add_origins(r, f);
    TRY(report_status(r));
    *out = r;
    return CONSM_OK;
done:
    report_free(r);
    return st;
}
