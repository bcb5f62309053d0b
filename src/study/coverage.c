/* Prediction sets: whether they hold the truth as often as requested, and how many classes that
 * takes, with and without the neighbours' scores. */
#include "study/grid.h"
#include "study/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const models[] = {"mlp", "gcn", "consm"};
static const struct {
    const char *name, *title;
} ways[] = {{"plain", "no smoothing"}, {"smooth", "λ = 0.5"}, {"chosen", "λ chosen"}};
enum { MODELS = 3, WAYS = 3, SHOWN = 90 };
static const int levels[] = {80, 90, 95};

/* A model with one way of smoothing: a row of the tables. */
struct row {
    const struct model_def *model;
    int way;
    char title[64];
};

static int rows_of(struct row *row, const struct study_options *o)
{
    int count = 0;
    for (int m = 0; m < MODELS; m++)
        for (int w = 0; w < WAYS && options_model(o, models[m]); w++) {
            row[count] = (struct row){.model = options_model(o, models[m]), .way = w};
            snprintf(row[count].title, sizeof row->title, "%s, %s",
                     view_model_title(row[count].model), ways[w].title);
            count++;
        }
    return count;
}

/* The guarantee is for nodes drawn at random, so the split is random. */
static consm_status cover_run(struct study_run *run, const struct study_options *o,
                              const char *dataset, const struct model_def *model)
{
    consm_status st = options_run(run, o, TASK_COVER, dataset, model);
    run->split = "random";
    return st;
}

static consm_status coverage_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct study_run run;
    for (int i = 0; i < o->datasets * MODELS; i++) {
        const struct model_def *model = options_model(o, models[i % MODELS]);
        if (!model)
            continue;
        TRY(cover_run(&run, o, o->dataset[i / MODELS], model));
        TRY(plan_add_seeds(plan, &run, o->seeds));
    }
done:
    return st;
}

static consm_status cover_cell(struct study_cell *out, const struct study_view *v,
                               const char *dataset, const struct row *row, const char *figure,
                               int level)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    char field[64];
    snprintf(field, sizeof field, "%s.%s_%d", ways[row->way].name, figure, level);
    TRY(cover_run(&run, v->options, dataset, row->model));
    TRY(view_cell(out, v, &run, v->options->seeds, field));
done:
    return st;
}

static consm_status add_table(struct report *r, const struct study_view *v, const char *figure)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    bool size = strcmp(figure, "size") == 0;
    struct row row[MODELS * WAYS];
    struct study_cell cell;
    char title[96];
    int rows = rows_of(row, o);
    struct table *t = report_new_table(
        r, size ? "coverage-size" : "coverage-covered",
        size ? "Size of prediction sets (classes per set) at coverage 0.9, test nodes"
             : "Share of test nodes whose prediction set contains their class, at coverage 0.9");
    table_column(t, "Sets", TABLE_LEFT, NULL);
    for (int s = 0; s < o->datasets; s++)
        table_column(t, view_dataset_title(o->dataset[s], title), TABLE_RIGHT, NULL);
    for (int k = 0; k < rows; k++) {
        table_row(t);
        table_text(t, row[k].title);
        for (int s = 0; s < o->datasets; s++) {
            TRY(cover_cell(&cell, v, o->dataset[s], &row[k], figure, SHOWN));
            view_mean(t, &cell, 1, size ? 2 : 3);
            if (!size && cell.n > 1 && cell.interval.high < SHOWN / 100.0)
                table_mark(t, TABLE_DIFFERS);
        }
    }
    table_remark(t, size ? "Smaller is better, if the coverage is reached."
                         : "Marked: the 95 % interval of the mean lies below the target. Values "
                           "above the target are fine: sets are never empty.");
done:
    return st;
}

static consm_status add_details(struct report *r, const struct study_view *v)
{
    static const char *const figure[] = {"covered", "size", "share"};
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct row row[MODELS * WAYS];
    struct study_cell cell;
    char title[96];
    int rows = rows_of(row, o), count = (int)(sizeof levels / sizeof *levels);
    struct table *t = report_new_table(r, "coverage-details", "Prediction sets at three coverages");
    table_column(t, "Dataset", TABLE_LEFT, NULL);
    table_column(t, "Sets", TABLE_LEFT, NULL);
    table_column(t, "Target", TABLE_RIGHT, NULL);
    table_column(t, "Covered", TABLE_RIGHT, "share of test nodes whose set contains their class");
    table_column(t, "Size", TABLE_RIGHT, "classes per set");
    table_column(t, "λ", TABLE_RIGHT, "weight of the neighbours in a score, mean over the seeds");
    for (int i = 0; i < o->datasets * rows * count; i++) {
        const char *dataset = o->dataset[i / (rows * count)];
        const struct row *at = &row[i / count % rows];
        TRY(cover_cell(&cell, v, dataset, at, figure[0], levels[i % count]));
        if (cell.n == 0)
            continue;
        table_row(t);
        table_text(t, view_dataset_title(dataset, title));
        table_text(t, at->title);
        table_number(t, levels[i % count] / 100.0, 2);
        for (int k = 0; k < 3; k++) {
            TRY(cover_cell(&cell, v, dataset, at, figure[k], levels[i % count]));
            table_number(t, cell.mean, k == 1 ? 2 : 3);
        }
    }
done:
    return st;
}

static consm_status add_bars(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct row row[MODELS * WAYS];
    struct study_cell *cell = NULL; /* (datasets, rows) */
    const char *series[MODELS * WAYS], *group[STUDY_MOST];
    char title[STUDY_MOST][96];
    int rows = rows_of(row, o), count = rows * o->datasets;
    TRY(NEW(cell, count));
    for (int i = 0; i < count; i++)
        TRY(cover_cell(&cell[i], v, o->dataset[i / rows], &row[i % rows], "size", SHOWN));
    for (int k = 0; k < rows; k++)
        series[k] = row[k].title;
    for (int s = 0; s < o->datasets; s++)
        group[s] = view_dataset_title(o->dataset[s], title[s]);
    struct bar_chart chart = {
        .words = {"coverage-size-bars", "Size of prediction sets",
                  "Classes per set at coverage 0.9, test nodes; random splits.", NULL},
        .y = {.label = "Classes per set", .from_zero = true},
        .group_label = "Dataset",
        .group = group,
        .series = series,
        .groups = o->datasets,
        .series_count = rows};
    TRY(bars_figure(r, &chart, cell, 1, INFINITY));
done:
    mem_free(cell);
    return st;
}

/* On how many sets the chosen smoothing makes a model's sets smaller, by paired tests. */
static consm_status add_sentence(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    const struct model_def *consm = options_model(o, "consm");
    struct row plain = {.model = consm, .way = 0}, chosen = {.model = consm, .way = WAYS - 1};
    struct view_words words;
    int smaller = 0, larger = 0, all = 0;
    for (int s = 0; s < o->datasets && consm; s++) {
        struct study_cell without, with;
        bool less, more;
        double p;
        TRY(cover_cell(&without, v, o->dataset[s], &plain, "size", SHOWN));
        TRY(cover_cell(&with, v, o->dataset[s], &chosen, "size", SHOWN));
        if (with.n < GRID_ENOUGH)
            continue;
        TRY(view_above(&less, &p, &without, &with));
        TRY(view_above(&more, &p, &with, &without));
        all++;
        smaller += less;
        larger += more;
    }
    if (all > 0)
        report_summary(
            r, view_printf(&words,
                           "Smoothing over neighbours makes ConSM's prediction sets significantly "
                           "smaller on %d of %d datasets and larger on %d, at coverage 0.9.",
                           smaller, all, larger));
done:
    return st;
}

static consm_status coverage_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct row row[MODELS * WAYS];
    report_section(r, "Prediction sets",
                   "Sets of classes that contain the true class with a chosen coverage: split "
                   "conformal prediction (APS, Romano et al., NeurIPS 2020) with scores averaged "
                   "over neighbours (DAPS, Zargarbashi et al., ICML 2023). Every seed draws a new "
                   "split. Half of the validation nodes selects the model, its temperature and λ; "
                   "the other half sets the threshold; the test nodes measure coverage and size.");
    if (rows_of(row, v->options) == 0)
        return CONSM_OK;
    TRY(add_table(r, v, "covered"));
    TRY(add_table(r, v, "size"));
    TRY(add_bars(r, v));
    TRY(add_details(r, v));
    TRY(add_sentence(r, v));
done:
    return st;
}

const struct study_def study_coverage = {
    .name = "coverage",
    .title = "Prediction sets",
    .about = "coverage and size of prediction sets",
    .plan = coverage_plan,
    .render = coverage_render,
};
