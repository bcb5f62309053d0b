/* RQ2: how well models tell edges inside a class from edges between classes. The runs are those of
 * `accuracy`. */
#include "study/study.h"

#include "study/paper.h"
#include "study/task.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BINS = 10 };

/* The models with an opinion about edges, in the study's order. */
static int judges(const struct model_def **out, const struct study_options *o)
{
    int count = 0;
    for (int m = 0; m < o->models; m++)
        if (task_has_coefficients(o->model[m]))
            out[count++] = o->model[m];
    return count;
}

static consm_status edges_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    const struct model_def *model[STUDY_MOST];
    int models = judges(model, o);
    struct study_run run;
    for (int s = 0; s < o->datasets; s++)
        for (int m = 0; m < models; m++) {
            TRY(options_run(&run, o, TASK_TRAIN, o->dataset[s], model[m]));
            run.keep_graph = strcmp(model[m]->name, "consm") == 0;
            TRY(plan_add_seeds(plan, &run, o->seeds));
        }
done:
    return st;
}

/* Rows of the tables: every judge by its coefficients, then ConSM's trust score. */
struct judge {
    const struct model_def *model;
    const char *source; /* "coefficients" or "trust" */
    const char *title;
};

static int rows_of(struct judge *row, const struct study_options *o)
{
    const struct model_def *model[STUDY_MOST];
    int count = judges(model, o), rows = 0;
    for (int m = 0; m < count; m++)
        row[rows++] = (struct judge){model[m], "coefficients", view_model_title(model[m])};
    if (options_model(o, "consm"))
        row[rows++] =
            (struct judge){options_model(o, "consm"), "trust", "ConSM, trust (all witnesses)"};
    return rows;
}

static consm_status judge_cell(struct study_cell *out, const struct study_view *v,
                               const struct judge *j, const char *dataset, const char *figure)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    char field[64];
    snprintf(field, sizeof field, "%s.%s", j->source, figure);
    TRY(options_run(&run, v->options, TASK_TRAIN, dataset, j->model));
    TRY(view_cell(out, v, &run, v->options->seeds, field));
done:
    return st;
}

/* Judges by datasets: one figure of each. The best of a column is marked; small is good for ECE. */
static consm_status add_table(struct report *r, const struct study_view *v, const char *name,
                              const char *caption, const char *figure, bool small)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct judge row[STUDY_MOST + 1];
    struct study_cell cell;
    struct table *t = NULL;
    double best[STUDY_MOST];
    char title[96];
    int rows = rows_of(row, o);
    TRY(table_new(&t, name, caption));
    table_column(t, "Scores", TABLE_LEFT, NULL);
    for (int s = 0; s < o->datasets; s++) {
        table_column(t, view_dataset_title(o->dataset[s], title), TABLE_RIGHT, NULL);
        best[s] = (double)NAN;
        for (int k = 0; k < rows; k++) {
            TRY(judge_cell(&cell, v, &row[k], o->dataset[s], figure));
            best[s] = small ? fmin(best[s], cell.mean) : fmax(best[s], cell.mean);
        }
    }
    if (strcmp(figure, "f1") == 0) {
        table_row(t);
        table_text(t, "chance");
        table_mark(t, TABLE_MUTED);
        for (int s = 0; s < o->datasets; s++) {
            TRY(judge_cell(&cell, v, &row[rows - 1], o->dataset[s], "chance"));
            table_number(t, cell.mean, 3);
            table_mark(t, TABLE_MUTED);
        }
    }
    for (int k = 0; k < rows; k++) {
        table_row(t);
        table_text(t, row[k].title);
        for (int s = 0; s < o->datasets; s++) {
            TRY(judge_cell(&cell, v, &row[k], o->dataset[s], figure));
            if (cell.n == 0) {
                table_empty(t);
                continue;
            }
            table_mean(t, cell.mean, cell.std, 3);
            if (cell.mean == best[s])
                table_mark(t, TABLE_BEST);
        }
    }
    report_table(r, t);
    t = NULL;
done:
    table_free(t);
    return st;
}

static consm_status add_bars(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct judge row[STUDY_MOST + 1];
    struct study_cell cell;
    struct figure *f = NULL;
    int rows = rows_of(row, o), count = rows * o->datasets;
    const char *series[STUDY_MOST + 1], *group[STUDY_MOST];
    char title[STUDY_MOST][96];
    double *value[4] = {NULL, NULL, NULL, NULL}; /* mean, low, high, chance */
    for (int k = 0; k < 4; k++)
        TRY(NEW(value[k], count));
    for (int i = 0; i < count; i++) {
        const char *dataset = o->dataset[i / rows];
        TRY(judge_cell(&cell, v, &row[i % rows], dataset, "f1"));
        value[0][i] = cell.mean;
        value[1][i] = fmax(0, cell.interval.low);
        value[2][i] = fmin(1, cell.interval.high);
        if (cell.n < 2)
            value[1][i] = value[2][i] = (double)NAN;
        TRY(judge_cell(&cell, v, &row[i % rows], dataset, "chance"));
        value[3][i] = cell.mean;
    }
    for (int k = 0; k < rows; k++)
        series[k] = row[k].title;
    for (int s = 0; s < o->datasets; s++)
        group[s] = view_dataset_title(o->dataset[s], title[s]);
    struct bar_chart chart = {
        .words = {"edges-f1-bars", "Edge F1 of all judges",
                  "With the true number of edges inside classes called trusted (⌊hE⌋).",
                  "95 % confidence interval of the mean over the seeds (Student's t)"},
        .y = {.label = "Edge F1", .from_zero = true},
        .group_label = "Dataset",
        .group = group,
        .series = series,
        .groups = o->datasets,
        .series_count = rows,
        .value = value[0],
        .low = value[1],
        .high = value[2],
        .reference = value[3],
        .reference_name = "chance"};
    TRY(figure_bar(&f, &chart));
    report_figure(r, f);
done:
    for (int k = 0; k < 4; k++)
        mem_free(value[k]);
    return st;
}

/* The bins of all seeds together. */
static consm_status pool_bins(struct stats_reliability *out, const struct study_view *v,
                              const struct judge *j, const char *dataset)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    const json_t *record;
    *out = (struct stats_reliability){.bins = BINS};
    TRY(options_run(&run, v->options, TASK_TRAIN, dataset, j->model));
    for (int64_t seed = 0; seed < v->options->seeds; seed++) {
        run.seed = (uint64_t)seed;
        TRY(view_record(&record, v, &run));
        const json_t *part = json_object_get(record, j->source);
        const json_t *count = json_object_get(part, "bin_count");
        for (size_t b = 0; b < BINS; b++) {
            int64_t n = json_integer_value(json_array_get(count, b));
            const json_t *p = json_array_get(json_object_get(part, "bin_predicted"), b);
            const json_t *s = json_array_get(json_object_get(part, "bin_observed"), b);
            out->count[b] += n;
            out->predicted[b] += (double)n * json_number_value(p);
            out->observed[b] += (double)n * json_number_value(s);
        }
    }
    double all = 0;
    for (int b = 0; b < BINS; b++)
        all += (double)out->count[b];
    for (int b = 0; b < BINS; b++) {
        double n = out->count[b] ? (double)out->count[b] : (double)NAN;
        out->predicted[b] /= n;
        out->observed[b] /= n;
        if (out->count[b])
            out->ece += n / all * fabs(out->observed[b] - out->predicted[b]);
    }
done:
    return st;
}

static consm_status add_reliability(struct report *r, const struct study_view *v,
                                    const char *dataset)
{
    consm_status st = CONSM_OK;
    struct judge row[STUDY_MOST + 1];
    struct stats_reliability *bins = NULL;
    const char *series[STUDY_MOST + 1];
    struct view_words name, head;
    struct figure *f = NULL;
    char title[96];
    int rows = rows_of(row, v->options), shown = 0;
    TRY(ZNEW(bins, rows));
    for (int k = 0; k < rows; k++)
        if (strcmp(row[k].model->name, "consm") == 0) { /* one reads two lines, not six */
            series[shown] = strcmp(row[k].source, "trust") == 0 ? "trust" : "coefficients";
            TRY(pool_bins(&bins[shown++], v, &row[k], dataset));
        }
    view_printf(&name, "calibration-%s", dataset);
    view_printf(&head, "%s: calibration of ConSM's edge scores",
                view_dataset_title(dataset, title));
    struct reliability_chart chart = {
        .words = {name.text, head.text,
                  "Edges with a test node at one end at least, all seeds "
                  "together; calibrated on validation edges.",
                  NULL},
        .x_label = "Predicted chance of one class",
        .y_label = "Share that is",
        .series = series,
        .bins = bins,
        .series_count = shown};
    if (shown > 0) {
        TRY(figure_reliability(&f, &chart));
        report_figure(r, f);
    }
done:
    mem_free(bins);
    return st;
}

static consm_status add_claims(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct view_words claim, detail;
    struct judge row[STUDY_MOST + 1];
    struct study_cell cell;
    char title[96];
    int rows = rows_of(row, o) - 1; /* coefficients only, as in the paper */
    if (!options_model(o, "consm") || rows < 2)
        return CONSM_OK;
    for (int s = 0; s < o->datasets; s++) {
        double ours = (double)NAN, best = (double)NAN, chance;
        const char *rival = NULL;
        TRY(judge_cell(&cell, v, &row[rows - 1], o->dataset[s], "chance"));
        chance = cell.mean;
        for (int k = 0; k < rows; k++) {
            TRY(judge_cell(&cell, v, &row[k], o->dataset[s], "f1"));
            if (strcmp(row[k].model->name, "consm") == 0) {
                ours = cell.mean;
            } else if (cell.n > 0 && !(cell.mean <= best)) {
                best = cell.mean;
                rival = row[k].title;
            }
        }
        if (isnan(ours) || !rival || !paper_set(o->dataset[s]))
            continue;
        view_printf(&claim, "ConSM's coefficients find edges inside classes best on %s.",
                    view_dataset_title(o->dataset[s], title));
        view_printf(&detail, "F1 %.3f; %s is best of the others with %.3f; chance is %.3f.", ours,
                    rival, best, chance);
        report_claim(r, claim.text, ours > best, detail.text);
    }
done:
    return st;
}

static consm_status edges_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct judge row[STUDY_MOST + 1];
    struct study_cell cell, chance;
    struct view_words words, label;
    char title[96];
    int rows = rows_of(row, o);
    report_section(r, "Edges (RQ2)",
                   "Can a model tell edges inside a class from edges between classes? F1 calls the "
                   "true number of edges trusted, as the paper does: an oracle's number. AUC and "
                   "calibration (ECE) are measured on edges with a test node.");
    if (rows == 0)
        return CONSM_OK;
    TRY(add_table(r, v, "edges-f1", "Edge F1 at ⌊hE⌋, all edges", "f1", false));
    TRY(add_bars(r, v));
    TRY(add_table(r, v, "edges-auc", "Area under the ROC curve, edges with a test node", "auc_test",
                  false));
    TRY(add_table(r, v, "edges-calibration",
                  "Expected calibration error after a logistic fit on validation edges", "ece",
                  true));
    for (int s = 0; s < o->datasets; s++)
        TRY(add_reliability(r, v, o->dataset[s]));
    TRY(add_claims(r, v));
    TRY(judge_cell(&cell, v, &row[rows - 1], o->dataset[0], "f1"));
    TRY(judge_cell(&chance, v, &row[rows - 1], o->dataset[0], "chance"));
    if (cell.n > 0) {
        view_printf(&label, "Edge F1 on %s", view_dataset_title(o->dataset[0], title));
        view_printf(&words, "%.2f", cell.mean);
        struct view_words detail;
        report_fact(r, words.text, label.text, view_printf(&detail, "chance is %.2f", chance.mean));
    }
done:
    return st;
}

const struct study_def study_edges = {
    .name = "edges",
    .title = "Edges (RQ2)",
    .about = "F1, AUC and calibration of edge scores (RQ2)",
    .plan = edges_plan,
    .render = edges_render,
};
