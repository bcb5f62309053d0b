/* Fills the grid and makes tables and bars from it. */
#include "study/grid.h"
#include "study/lines.h"

#include "study/paper.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

void grid_free(struct grid *g)
{
    mem_free(g->cell);
    mem_free(g->p);
    *g = (struct grid){0};
}

static void add_row(struct grid_row *row, int *count, const struct model_def *model,
                    const char *profile, int64_t ensemble)
{
    struct grid_row *to = &row[(*count)++];
    *to = (struct grid_row){.model = model, .profile = profile, .ensemble = ensemble};
    if (ensemble)
        snprintf(to->title, sizeof to->title, "%s, ensemble of %d", view_model_title(model),
                 (int)ensemble);
    else if (profile)
        snprintf(to->title, sizeof to->title, "ConSM (%s)",
                 strcmp(profile, "paper") == 0 ? "paper's text" : "authors' program");
    else
        snprintf(to->title, sizeof to->title, "%s", view_model_title(model));
}

bool grid_profiles(const struct study_options *o, const char *dataset)
{
    return o->profiles || paper_set(dataset) != NULL;
}

int grid_rows(struct grid_row *row, const struct study_options *o, enum grid_kind kind)
{
    int count = 0;
    const struct model_def *consm = options_model(o, "consm");
    bool wanted = false;
    for (int s = 0; s < o->datasets; s++)
        wanted = wanted || grid_profiles(o, o->dataset[s]);
    if (kind == GRID_PROFILES && !wanted)
        kind = GRID_MODELS;
    if (kind == GRID_ENSEMBLES && consm)
        add_row(row, &count, consm, NULL, 0);
    for (int m = 0; m < o->models; m++) {
        add_row(row, &count, o->model[m], NULL, kind == GRID_ENSEMBLES ? o->ensemble : 0);
        if (kind == GRID_PROFILES && o->model[m] == consm) {
            add_row(row, &count, consm, "paper", 0);
            add_row(row, &count, consm, "authors", 0);
            kind = GRID_MODELS; /* only once, even if named twice */
        }
    }
    return count;
}

double grid_paper(const struct grid *g, int set, int model)
{
    const struct grid_row *row = &g->row[model];
    bool same = !row->ensemble && strcmp(g->figure, GRID_ACCURACY) == 0;
    return !same ? (double)NAN : paper_accuracy(g->dataset[set], row->model->name);
}

consm_status grid_fill(struct grid *g, const struct study_view *v, const char *const *dataset,
                       int sets, grid_run_fn run_of, enum grid_kind kind, const char *figure)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    *g = (struct grid){.sets = sets, .figure = figure};
    g->models = grid_rows(g->row, o, kind);
    TRY(ZNEW(g->cell, sets * g->models));
    TRY(ZNEW(g->p, sets * g->models));
    for (int s = 0; s < sets; s++) {
        g->dataset[s] = dataset[s];
        g->homophily[s] = (double)NAN;
        view_dataset_title(dataset[s], g->title[s]);
        for (int m = 0; m < g->models; m++) {
            struct study_cell *cell = grid_cell(g, s, m), chance;
            struct study_run run;
            bool known = true;
            *cell = (struct study_cell){.seeds = o->seeds, .mean = (double)NAN};
            TRY(run_of(&run, &known, v, dataset[s], &g->row[m]));
            if (!known)
                continue;
            TRY(view_cell(cell, v, &run, o->seeds, figure));
            if (isnan(g->homophily[s])) {
                TRY(view_cell(&chance, v, &run, 1, "trust.chance"));
                g->homophily[s] = chance.mean;
            }
        }
        TRY(view_against_best(&g->best[s], &g->p[s * g->models], grid_cell(g, s, 0), g->models,
                              false));
    }
done:
    if (st < 0)
        grid_free(g);
    return st;
}

/* Whether the difference to the paper is worth pointing out: 2 points, or 3 of the two spreads. */
static bool far_from_paper(const struct grid *g, int s, int m)
{
    const struct study_cell *c = grid_cell(g, s, m);
    double paper = grid_paper(g, s, m);
    double spread = paper_accuracy_std(g->dataset[s], g->row[m].model->name);
    double std = isnan(c->std) ? 0 : 100 * c->std;
    return fabs(100 * c->mean - paper) > fmax(2, 3 * sqrt(spread * spread + std * std));
}

void grid_table(struct report *r, const struct grid *g, const char *name, const char *caption)
{
    struct view_words words;
    struct table *t = report_new_table(r, name, caption);
    bool bracket = false;
    table_column(t, "Model", TABLE_LEFT, NULL);
    for (int s = 0; s < g->sets; s++)
        table_column(t, g->title[s], TABLE_RIGHT,
                     isnan(g->homophily[s])
                         ? NULL
                         : view_printf(&words, "edge homophily %.2f", g->homophily[s]));
    for (int m = 0; m < g->models; m++) {
        table_row(t);
        table_text(t, g->row[m].title);
        for (int s = 0; s < g->sets; s++) {
            const struct study_cell *c = grid_cell(g, s, m);
            double paper = grid_paper(g, s, m);
            view_mean(t, c, 100, 1);
            table_mark(t, view_standing(grid_cell(g, s, 0), &g->p[s * g->models], g->models,
                                        g->best[s], m));
            if (!isnan(paper) && c->n > 0) {
                bracket = true;
                table_reference(t, paper);
                if (far_from_paper(g, s, m))
                    table_mark(t, TABLE_DIFFERS);
            }
            view_note_missing(t, c);
        }
    }
    table_remark(t, strcmp(g->figure, GRID_AUC) == 0
                        ? "In hundredths, at the best validation score: mean ± standard deviation "
                          "over the seeds."
                        : "Test accuracy in percent at the best validation accuracy: mean ± "
                          "standard deviation over the seeds.");
    table_remark(t, g->sets && g->cell[0].seeds < GRID_ENOUGH
                        ? "Too few seeds to test differences."
                        : "Ties with the best: p ≥ 0.05 in paired Wilcoxon signed-rank tests over "
                          "the same seeds, Holm-corrected within a dataset.");
    if (bracket)
        table_remark(t, "In brackets: the result of Choi et al., CIKM 2022.");
}

void grid_details(struct report *r, const struct grid *g, const char *name, const char *caption)
{
    struct table *t = report_new_table(r, name, caption);
    table_column(t, "Dataset", TABLE_LEFT, NULL);
    table_column(t, "Model", TABLE_LEFT, NULL);
    table_column(t, "Runs", TABLE_RIGHT, NULL);
    table_column(t, "Mean", TABLE_RIGHT, "test accuracy in percent");
    table_column(t, "95 % lower", TABLE_RIGHT, "Student's t interval of the mean");
    table_column(t, "95 % upper", TABLE_RIGHT, "Student's t interval of the mean");
    table_column(t, "To best", TABLE_RIGHT, "difference from the best mean of the dataset");
    table_column(t, "p", TABLE_RIGHT, "paired Wilcoxon against the best, Holm-corrected");
    for (int s = 0; s < g->sets; s++)
        for (int m = 0; m < g->models; m++) {
            const struct study_cell *c = grid_cell(g, s, m);
            if (c->n == 0)
                continue;
            table_row(t);
            table_text(t, g->title[s]);
            table_text(t, g->row[m].title);
            table_number(t, (double)c->n, 0);
            table_number(t, 100 * c->mean, 2);
            if (m == g->best[s])
                table_mark(t, TABLE_BEST);
            table_number(t, fmax(0, 100 * c->interval.low), 2);
            table_number(t, fmin(100, 100 * c->interval.high), 2);
            table_number(t, 100 * (c->mean - grid_cell(g, s, g->best[s])->mean), 2);
            table_number(t, g->p[s * g->models + m], 3);
        }
}

consm_status grid_bars(struct report *r, const struct grid *g, const char *name, const char *title)
{
    consm_status st = CONSM_OK;
    const char *series[STUDY_MOST + 2], *group[STUDY_MOST];
    int count = g->sets * g->models, references = 0;
    double *paper = NULL; /* (sets, models) */
    TRY(NEW(paper, count));
    for (int i = 0; i < count; i++) {
        paper[i] = grid_paper(g, i / g->models, i % g->models);
        references += !isnan(paper[i]);
    }
    for (int m = 0; m < g->models; m++)
        series[m] = g->row[m].title;
    for (int s = 0; s < g->sets; s++)
        group[s] = g->title[s];
    struct bar_chart chart = {.words = {name, title, "Bars: mean test accuracy.", NULL},
                              .y = {.label = "Test accuracy", .unit = "%", .from_zero = true},
                              .group_label = "Dataset",
                              .group = group,
                              .series = series,
                              .groups = g->sets,
                              .series_count = g->models,
                              .reference = references ? paper : NULL,
                              .reference_name = "the paper"};
    TRY(bars_figure(r, &chart, g->cell, 100, 1));
done:
    mem_free(paper);
    return st;
}
