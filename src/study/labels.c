/* The effect of the number of labels: accuracy of methods, and the quality of ConSM's edge scores,
 * from 5 to 500 labels per class. A fifth of these labels is for validation (split labels:N), as if
 * a user had no others. */
#include "study/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBERS = 7 };
static const int number[NUMBERS] = {5, 10, 20, 50, 100, 200, 500};

/* The models if none were named. */
static const char *const usual[] = {"mlp", "gcn", "appnp", "grand", "consm"};

static int models_of(const struct model_def **out, const struct study_options *o)
{
    int count = 0;
    bool named = json_object_get(o->json, "models") != NULL;
    for (int m = 0; m < o->models; m++) {
        bool wanted = named;
        for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
            wanted = wanted || strcmp(o->model[m]->name, usual[i]) == 0;
        if (wanted)
            out[count++] = o->model[m];
    }
    return count;
}

/* A quick study has 5, 20, 100 and 500. */
static bool leaves_out(const struct study_options *o, int k)
{
    return o->quick && k % 2 != 0;
}

static consm_status labels_run(struct study_run *run, char split[32], const struct study_options *o,
                               const char *dataset, const struct model_def *model, int k)
{
    consm_status st = options_run(run, o, TASK_TRAIN, dataset, model);
    snprintf(split, 32, "labels:%d", number[k]);
    run->split = split;
    return st;
}

static consm_status labels_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    const struct model_def *model[STUDY_MOST];
    struct study_run run;
    char split[32];
    int models = models_of(model, o);
    for (int i = 0; i < o->datasets * models; i++)
        for (int k = 0; k < NUMBERS; k++) {
            if (leaves_out(o, k))
                continue;
            TRY(labels_run(&run, split, o, o->dataset[i / models], model[i % models], k));
            TRY(plan_add_seeds(plan, &run, o->seeds));
        }
done:
    return st;
}

static consm_status cell_of(struct study_cell *out, const struct study_view *v, const char *dataset,
                            const struct model_def *model, int k, const char *field)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    char split[32];
    TRY(labels_run(&run, split, v->options, dataset, model, k));
    TRY(view_cell(out, v, &run, v->options->seeds, field));
done:
    return st;
}

/* The total number of labels of the runs. */
static consm_status count_labels(double *train, double *val, const struct study_view *v,
                                 const char *dataset, const struct model_def *model, int k)
{
    consm_status st = CONSM_OK;
    struct study_cell cell;
    TRY(cell_of(&cell, v, dataset, model, k, "labels_train"));
    *train = cell.mean;
    TRY(cell_of(&cell, v, dataset, model, k, "labels_val"));
    *val = cell.mean;
done:
    return st;
}

/* Whether the classes are so small that a smaller number gave the same labels. */
static consm_status repeats(bool *same, const struct study_view *v, const char *dataset,
                            const struct model_def *model, int k)
{
    consm_status st = CONSM_OK;
    double now[2], before[2];
    *same = false;
    TRY(count_labels(&now[0], &now[1], v, dataset, model, k));
    for (int i = 0; i < k && !*same; i++) {
        TRY(count_labels(&before[0], &before[1], v, dataset, model, i));
        *same = now[0] == before[0] && now[1] == before[1];
    }
done:
    return st;
}

static consm_status line_of(struct study_line *line, const struct study_view *v,
                            const char *dataset, const struct model_def *model, const char *field,
                            double scale)
{
    consm_status st = CONSM_OK;
    struct study_cell cell;
    bool same;
    for (int k = 0; k < NUMBERS; k++) {
        TRY(repeats(&same, v, dataset, model, k));
        TRY(cell_of(&cell, v, dataset, model, k, field));
        if (!same)
            lines_add(line, number[k], &cell, scale);
    }
done:
    return st;
}

/* The figures of ConSM in the second table and figure. */
static const struct {
    const char *field, *title;
} shown[] = {{"trust.auc", "Trust"},
             {"coefficients.auc", "Matching alone"},
             {"agreement.auc", "Agreement of predictions"},
             {"trust.ece", "Trust, ECE"}};
enum { SHOWN = sizeof shown / sizeof *shown, DRAWN = 3 };

static void add_figure(struct report *r, const char *name, const char *title,
                       const struct study_line *line, int lines, bool accuracy)
{
    static const char *const tick[NUMBERS] = {"5", "10", "20", "50", "100", "200", "500"};
    double place[NUMBERS];
    for (int k = 0; k < NUMBERS; k++)
        place[k] = number[k];
    struct line_chart chart = {
        .words = {name, title,
                  accuracy ? "Test accuracy; a fifth of the labels is for validation."
                           : "ROC-AUC of “same class”, all edges between labelled nodes.",
                  NULL},
        .x = {.label = "Labels per class",
              .log = true,
              .tick = place,
              .tick_label = tick,
              .ticks = NUMBERS},
        .y = {.label = accuracy ? "Test accuracy" : "AUC", .unit = accuracy ? "%" : NULL}};
    if (lines > 0)
        lines_figure(r, &chart, line, lines);
}

static consm_status add_set(struct report *r, const struct study_view *v, const char *dataset)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    const struct model_def *model[STUDY_MOST], *consm = options_model(o, "consm");
    struct study_line *line = NULL;
    struct view_words name, title;
    char set[96];
    int models = models_of(model, o);
    TRY(ZNEW(line, STUDY_MOST));
    view_dataset_title(dataset, set);
    for (int m = 0; m < models; m++) {
        line[m] =
            (struct study_line){.name = view_model_title(model[m]), .strong = model[m] == consm};
        TRY(line_of(&line[m], v, dataset, model[m], "test_acc", 100));
    }
    view_printf(&name, "labels-accuracy-%s", dataset);
    view_printf(&title, "%s: accuracy by number of labels", set);
    add_figure(r, name.text, title.text, line, models, true);
    for (int i = 0; i < DRAWN && consm; i++) {
        line[i] = (struct study_line){.name = shown[i].title, .strong = i == 0};
        TRY(line_of(&line[i], v, dataset, consm, shown[i].field, 1));
    }
    view_printf(&name, "labels-trust-%s", dataset);
    view_printf(&title, "%s: ConSM's edge scores by number of labels", set);
    add_figure(r, name.text, title.text, line, consm ? DRAWN : 0, false);
done:
    mem_free(line);
    return st;
}

/* A row for each set and number: the models' accuracies, or ConSM's edge scores. */
static consm_status add_table(struct report *r, const struct study_view *v, bool accuracy)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    const struct model_def *model[STUDY_MOST], *consm = options_model(o, "consm");
    struct study_cell cell;
    char set[96];
    double train, val;
    bool same;
    int models = models_of(model, o), columns = accuracy ? models : consm ? SHOWN : 0;
    if (columns == 0)
        return CONSM_OK;
    struct table *t = report_new_table(
        r, accuracy ? "labels-accuracy" : "labels-trust",
        accuracy ? "Test accuracy (%) by number of labels per class"
                 : "ConSM's edge scores by number of labels per class: ROC-AUC on all edges "
                   "between labelled nodes, calibration error on edges with a test node");
    table_column(t, "Dataset", TABLE_LEFT, NULL);
    table_column(t, "Per class", TABLE_RIGHT, "labels per class; at most half of a class");
    table_column(t, "Training labels", TABLE_RIGHT, NULL);
    table_column(t, "Validation labels", TABLE_RIGHT, NULL);
    for (int c = 0; c < columns; c++)
        table_column(t, accuracy ? view_model_title(model[c]) : shown[c].title, TABLE_RIGHT, NULL);
    for (int i = 0; i < o->datasets * NUMBERS; i++) {
        const char *dataset = o->dataset[i / NUMBERS];
        const struct model_def *first = accuracy ? model[0] : consm;
        TRY(count_labels(&train, &val, v, dataset, first, i % NUMBERS));
        TRY(repeats(&same, v, dataset, first, i % NUMBERS));
        if (isnan(train) || same)
            continue;
        table_row(t);
        table_text(t, view_dataset_title(dataset, set));
        table_number(t, number[i % NUMBERS], 0);
        table_number(t, train, 0);
        table_number(t, val, 0);
        for (int c = 0; c < columns; c++) {
            TRY(cell_of(&cell, v, dataset, accuracy ? model[c] : consm, i % NUMBERS,
                        accuracy ? "test_acc" : shown[c].field));
            view_mean(t, &cell, accuracy ? 100 : 1, accuracy ? 1 : 3);
        }
    }
done:
    return st;
}

static consm_status labels_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    report_section(r, "Number of labels",
                   "From 5 to 500 labels per class, drawn for every seed. A fifth is for "
                   "validation; all other nodes are for test. At most half of a small class is "
                   "labelled, so that test nodes remain.");
    TRY(add_table(r, v, true));
    TRY(add_table(r, v, false));
    for (int s = 0; s < v->options->datasets; s++)
        TRY(add_set(r, v, v->options->dataset[s]));
done:
    return st;
}

const struct study_def study_labels = {
    .name = "labels",
    .title = "Number of labels",
    .about = "accuracy and edge scores from 5 to 500 labels per class",
    .plan = labels_plan,
    .render = labels_render,
};
