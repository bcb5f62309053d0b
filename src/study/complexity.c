/* Section 4.4: time and memory against the number of edges, on generated graphs of one shape; and
 * costs of default runs (costs.c). Runs are made one at a time. */
#include "study/costs.h"
#include "study/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEGREE = 20, SIZES = 7, METHODS = 2 };

static const double sizes[SIZES] = {1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7}; /* edges */
static const char *const methods[METHODS] = {"gcn", "consm"};

static int sizes_of(const struct study_options *o)
{
    return o->quick ? 4 : SIZES;
}

/* name (96) holds the dataset's name, which the run points to. */
static consm_status cost_run(struct study_run *run, char name[96], int size, const char *method,
                             const char *device)
{
    consm_status st = CONSM_OK;
    const struct model_def *model;
    snprintf(name, 96, "csbm:nodes=%.0f,degree=%d,features=16,homophily=0.5",
             2 * sizes[size] / DEGREE, DEGREE);
    TRY(model_find(&model, method));
    *run = plan_run(TASK_COST, name, model, "random");
    run->device = device;
    run->config.epochs = 6;
    run->config.warmup = 1;
    run->config.rounds = 1;
    run->config.gnn_steps = 1;
    if (strcmp(method, "consm") == 0)
        TRY(config_set(&run->config, "backbone", "gcn"));
done:
    return st;
}

static consm_status complexity_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    char name[96];
    for (int k = 0; k < sizes_of(v->options); k++)
        for (int m = 0; m < METHODS; m++) {
            TRY(cost_run(&run, name, k, methods[m], v->options->device));
            TRY(plan_add(plan, &run));
        }
    TRY(costs_plan(plan, v));
done:
    return st;
}

/* Seconds per epoch of GCN or per round of ConSM, and the memory, by size. */
struct costs {
    double edges[SIZES], seconds[METHODS][SIZES], memory[METHODS][SIZES];
    int n;
};

static consm_status look_up(struct costs *c, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    struct study_cell cell, other;
    char name[96];
    *c = (struct costs){.n = sizes_of(v->options)};
    for (int k = 0; k < c->n; k++)
        for (int m = 0; m < METHODS; m++) {
            TRY(cost_run(&run, name, k, methods[m], v->options->device));
            TRY(view_cell(&cell, v, &run, 1, "edges"));
            c->edges[k] = cell.n ? cell.mean : sizes[k];
            if (m == 0) {
                TRY(view_cell(&cell, v, &run, 1, "train_ms"));
                TRY(view_cell(&other, v, &run, 1, "eval_ms"));
                c->seconds[m][k] = (cell.mean + other.mean) / 1e3;
            } else {
                TRY(view_cell(&cell, v, &run, 1, "seconds"));
                c->seconds[m][k] = cell.mean;
            }
            TRY(view_cell(&cell, v, &run, 1, "train_mb"));
            c->memory[m][k] = cell.mean;
        }
done:
    return st;
}

static consm_status add_chart(struct report *r, const struct costs *c, bool memory)
{
    consm_status st = CONSM_OK;
    struct figure *f = NULL;
    struct figure_series series[METHODS];
    struct view_words label[METHODS];
    static const char *const what[METHODS] = {"GCN, epoch", "ConSM, round"};
    for (int m = 0; m < METHODS; m++) {
        const double *y = memory ? c->memory[m] : c->seconds[m];
        struct stats_power_fit fit = stats_fit_power(c->edges, y, c->n);
        view_printf(&label[m], isnan(fit.exponent) ? "%s" : "%s: exponent %.2f",
                    memory ? (m ? "ConSM" : "GCN") : what[m], fit.exponent);
        series[m] =
            (struct figure_series){label[m].text, c->edges, y, NULL, NULL, c->n, m == 1, false};
    }
    struct line_chart chart = {
        .words = {memory ? "complexity-memory" : "complexity-time",
                  memory ? "Memory by number of edges" : "Time by number of edges",
                  memory ? "Increase of resident memory during training, without the data."
                         : "Wall-clock time on all cores, with no other load.",
                  NULL},
        .x = {.label = "Edges", .log = true},
        .y = {.label = memory ? "Memory" : "Time", .unit = memory ? "MB" : "s", .log = true},
        .series = series,
        .series_count = METHODS};
    TRY(figure_line(&f, &chart));
    report_figure(r, f);
done:
    return st;
}

static void add_claim(struct report *r, const struct costs *c)
{
    struct view_words detail;
    struct stats_power_fit all = stats_fit_power(c->edges, c->seconds[1], c->n);
    /* Fixed costs dominate small graphs: the larger half gives the exponent. */
    int from = c->n / 2;
    struct stats_power_fit large =
        stats_fit_power(c->edges + from, c->seconds[1] + from, c->n - from);
    if (all.used < 3)
        return;
    view_printf(&detail,
                "Fitted exponent %.2f (95 %% interval %.2f to %.2f, R² %.3f) over %d sizes; %.2f "
                "over the larger half.",
                all.exponent, all.exponent_interval.low, all.exponent_interval.high, all.r_squared,
                (int)all.used, large.exponent);
    report_claim(r, "ConSM's time grows linearly with the number of edges.", large.exponent < 1.15,
                 detail.text);
}

static consm_status complexity_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct costs c;
    struct table *t = NULL;
    TRY(look_up(&c, v));
    report_section(r, "Complexity (section 4.4)",
                   "Generated graphs with 20 neighbours per node, 16 features and 80 labels. "
                   "Measured: an epoch of GCN (training and validation), and a round of ConSM "
                   "(matching, scoring every edge, two updates).");
    TRY(table_new(&t, "complexity", "Cost by graph size"));
    table_column(t, "Edges", TABLE_RIGHT, NULL);
    table_column(t, "GCN s/epoch", TABLE_RIGHT, NULL);
    table_column(t, "ConSM s/round", TABLE_RIGHT, NULL);
    table_column(t, "GCN MB", TABLE_RIGHT, "increase of resident memory during training");
    table_column(t, "ConSM MB", TABLE_RIGHT, "increase of resident memory during training");
    for (int k = 0; k < c.n; k++) {
        table_row(t);
        table_number(t, c.edges[k], 0);
        table_number(t, c.seconds[0][k], 4);
        table_number(t, c.seconds[1][k], 2);
        table_number(t, c.memory[0][k], 0);
        table_number(t, c.memory[1][k], 0);
    }
    report_table(r, t);
    t = NULL;
    TRY(add_chart(r, &c, false));
    TRY(add_chart(r, &c, true));
    add_claim(r, &c);
    TRY(costs_render(r, v));
done:
    table_free(t);
    return st;
}

const struct study_def study_complexity = {
    .name = "complexity",
    .title = "Complexity (section 4.4)",
    .about = "time and memory up to 10 million edges (section 4.4)",
    .plan = complexity_plan,
    .render = complexity_render,
};
