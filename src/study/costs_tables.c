/* Tables and a figure of the costs of default runs. */
#include "study/costs_inside.h"

#include <math.h>

static const char *const axis_names[AXES] = {"nodes", "edges", "features", "classes", "labels"};

static void size_columns(struct table *t)
{
    table_column(t, "Nodes", TABLE_RIGHT, NULL);
    table_column(t, "Edges", TABLE_RIGHT, NULL);
    table_column(t, "Features", TABLE_RIGHT, NULL);
    table_column(t, "Classes", TABLE_RIGHT, NULL);
    table_column(t, "Labels", TABLE_RIGHT, "training nodes");
}

static void size_cells(struct table *t, const struct cost_sizes *s)
{
    table_number(t, s->nodes, 0);
    table_number(t, s->edges, 0);
    table_number(t, s->columns, 0);
    table_number(t, s->classes, 0);
    table_number(t, s->labels, 0);
}

/* The fitted value, or an empty cell. */
static consm_status fitted_cell(struct table *t, const struct costs *c, enum cost_kind kind,
                                const struct cost_sizes *s, double scale, int decimals)
{
    consm_status st = CONSM_OK;
    double term[COST_TERMS];
    if (!c->model[kind].fitted) {
        table_empty(t);
        return CONSM_OK;
    }
    TRY(cost_terms(term, kind, s));
    table_number(t, costs_forecast(&c->model[kind], term) / scale, decimals);
done:
    return st;
}

/* The runs that are there; a line needs two. */
static int runs_on(const struct costs *c, enum axis a)
{
    int there = 0;
    for (int k = 0; k < VALUES; k++)
        there += !isnan(c->varied[a][k].processor);
    return there;
}

static consm_status default_table(struct report *r, const struct costs *c)
{
    consm_status st = CONSM_OK;
    bool counted = false;
    struct table *t =
        report_new_table(r, "complexity-default", "Cost of ConSM with default parameters");
    table_column(t, "Varied", TABLE_LEFT, NULL);
    size_columns(t);
    table_column(t, "Seconds", TABLE_RIGHT, "wall-clock time");
    table_column(t, "Processor s", TABLE_RIGHT, "of all threads");
    table_column(t, "Model s", TABLE_RIGHT, "processor seconds by the fitted sum of terms");
    table_column(t, "Peak MB", TABLE_RIGHT, "largest resident memory, with the data");
    table_column(t, "Instructions 10⁹", TABLE_RIGHT, "in user mode, of all threads");
    for (enum axis a = NODES; a < AXES; a++)
        for (int k = 0; k < VALUES; k++) {
            const struct measured *m = &c->varied[a][k];
            if (isnan(m->processor) || runs_on(c, a) < 2)
                continue;
            table_row(t);
            table_text(t, axis_names[a]);
            size_cells(t, &m->sizes);
            table_number(t, m->seconds, 1);
            table_number(t, m->processor, 1);
            TRY(fitted_cell(t, c, COST_SECONDS, &m->sizes, 1, 1));
            table_number(t, m->peak_mb, 0);
            table_number(t, m->instructions / 1e9, 1);
            counted = counted || isfinite(m->instructions);
        }
    if (!counted)
        table_remark(t, "This machine does not count instructions (perf_event_open refused).");
done:
    return st;
}

static consm_status peak_table(struct report *r, const struct costs *c)
{
    consm_status st = CONSM_OK;
    struct table *t = report_new_table(r, "complexity-peak", "Peak memory on larger graphs");
    table_column(t, "Model", TABLE_LEFT, NULL);
    size_columns(t);
    table_column(t, "Race MB", TABLE_RIGHT, "largest resident memory while candidates train");
    table_column(t, "Model MB", TABLE_RIGHT, "by the fitted sum of terms");
    table_column(t, "Rounds MB", TABLE_RIGHT, "the same after that; of GCN the whole run");
    table_column(t, "Model MB", TABLE_RIGHT, "by the fitted sum of terms");
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < LARGE; k++) {
            const struct measured *m = &c->large[i][k];
            if (isnan(m->peak_mb))
                continue;
            table_row(t);
            table_text(t, i ? "GCN" : "ConSM");
            size_cells(t, &m->sizes);
            if (i) {
                table_empty(t);
                table_empty(t);
            } else {
                table_number(t, m->race_mb, 0);
                TRY(fitted_cell(t, c, COST_RACE_BYTES, &m->sizes, 1e6, 0));
            }
            table_number(t, i ? m->peak_mb : m->rounds_mb, 0);
            TRY(fitted_cell(t, c, i ? COST_GCN_BYTES : COST_ROUNDS_BYTES, &m->sizes, 1e6, 0));
        }
    table_remark(t, "Few updates; ConSM with all its candidates.");
done:
    return st;
}

/* scripts/costs reads this table. */
static void model_table(struct report *r, const struct costs *c)
{
    static const char *const what[COST_KINDS] = {"SECONDS", "RACE_BYTES", "ROUNDS_BYTES",
                                                 "GCN_BYTES"};
    struct view_words words;
    struct table *t = report_new_table(r, "complexity-model", "Coefficients of the forecast");
    table_column(t, "Forecast", TABLE_LEFT, NULL);
    table_column(t, "Term", TABLE_LEFT, NULL);
    table_column(t, "Coefficient", TABLE_RIGHT, NULL);
    for (int kind = 0; kind < COST_KINDS; kind++) {
        const struct model *m = &c->model[kind];
        const char *name;
        for (int j = 0; m->fitted && (name = cost_term_name(kind, j)); j++) {
            table_row(t);
            table_text(t, what[kind]);
            table_text(t, name);
            table_text(t, view_printf(&words, "%.3g", m->coefficient[j]));
        }
        for (int end = 0; m->fitted && end < 2; end++) {
            table_row(t);
            table_text(t, what[kind]);
            table_text(t, end ? "largest measured / model" : "smallest measured / model");
            table_text(t, view_printf(&words, "%.3f", end ? m->high : m->low));
        }
    }
}

static void default_figure(struct report *r, const struct costs *c)
{
    struct figure_series series[AXES];
    double x[AXES][VALUES], y[AXES][VALUES];
    int count = 0;
    for (enum axis a = NODES; a < AXES; a++) {
        int64_t n = 0;
        for (int k = 0; k < VALUES; k++) {
            if (isnan(c->varied[a][k].processor))
                continue;
            x[a][n] = costs_value[a][k] / costs_base(a);
            y[a][n++] = c->varied[a][k].processor;
        }
        if (runs_on(c, a) > 1)
            series[count++] =
                (struct figure_series){axis_names[a], x[a], y[a], NULL, NULL, n, a == NODES, false};
    }
    if (count == 0)
        return;
    struct line_chart chart = {
        .words =
            {"complexity-default-time", "Processor time of a default run",
             "ConSM with default parameters. Each line varies one size of the graph with 2,000 "
             "nodes, 10,000 edges, 16 features, 4 classes and 80 labels.",
             NULL},
        .x = {.label = "Multiple of the size", .log = true},
        .y = {.label = "Processor time", .unit = "s", .log = true},
        .series = series,
        .series_count = count};
    report_lines(r, &chart);
}

consm_status costs_tables(struct report *r, const struct costs *c)
{
    consm_status st = CONSM_OK;
    TRY(default_table(r, c));
    default_figure(r, c);
    TRY(peak_table(r, c));
    if (c->model[COST_SECONDS].fitted || c->model[COST_GCN_BYTES].fitted)
        model_table(r, c);
done:
    return st;
}
