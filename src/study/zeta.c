/* RQ3: the effect of the confidence ratio ζ on edge scores and accuracy. As in the paper, the
 * backbone is GCN, so that only ζ changes, and subgraphs are pruned to the share ζ by references:
 * over all edges, our default, ζ would not affect the coefficients at all. */
#include "study/lines.h"

#include "study/paper.h"
#include <math.h>

enum { MOST_SEEDS = 5 };

static const char *const preferred[] = {"cora",      "citeseer", "pubmed", "actor",
                                        "chameleon", "squirrel", NULL};
static const char *const quick_preferred[] = {"cora", "chameleon", NULL};

static int sets_of(const char **set, const struct study_options *o)
{
    return options_datasets(set, o, o->quick ? quick_preferred : preferred);
}

static int steps_of(const struct study_options *o)
{
    return o->quick ? 5 : 11;
}

/* step -1: ζ is estimated from known labels. */
static consm_status zeta_run(struct study_run *run, const struct study_options *o,
                             const char *dataset, int step)
{
    consm_status st = CONSM_OK;
    const struct model_def *consm;
    TRY(model_find(&consm, "consm"));
    TRY(options_run(run, o, TASK_TRAIN, dataset, consm));
    TRY(config_set(&run->config, "backbone", "gcn"));
    if (!json_object_get(o->set, "prune_by"))
        TRY(config_set(&run->config, "prune_by", "references"));
    if (step >= 0)
        run->config.zeta = (double)step / (steps_of(o) - 1);
done:
    return st;
}

static consm_status zeta_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct study_run run;
    const char *set[STUDY_MOST];
    int sets = sets_of(set, o);
    for (int s = 0; s < sets; s++)
        for (int step = -1; step < steps_of(o); step++) {
            TRY(zeta_run(&run, o, set[s], step));
            TRY(plan_add_seeds(plan, &run, options_seeds(o, MOST_SEEDS)));
        }
done:
    return st;
}

struct zeta_result {
    struct study_line f1, accuracy;
    double homophily, automatic; /* the true homophily, the estimate */
    double automatic_accuracy;
};

static consm_status look_up(struct zeta_result *z, const struct study_view *v, const char *dataset)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct study_run run;
    struct study_cell cell;
    int64_t seeds = options_seeds(o, MOST_SEEDS);
    *z = (struct zeta_result){.f1 = {.name = "ConSM", .strong = true},
                              .accuracy = {.name = "ConSM", .strong = true}};
    TRY(zeta_run(&run, o, dataset, -1));
    TRY(view_cell(&cell, v, &run, seeds, "zeta"));
    z->automatic = cell.mean;
    TRY(view_cell(&cell, v, &run, seeds, "trust.chance"));
    z->homophily = cell.mean;
    TRY(view_cell(&cell, v, &run, seeds, "test_acc"));
    z->automatic_accuracy = 100 * cell.mean;
    for (int step = 0; step < steps_of(o); step++) {
        TRY(zeta_run(&run, o, dataset, step));
        TRY(view_cell(&cell, v, &run, seeds, "coefficients.f1"));
        lines_add(&z->f1, run.config.zeta, &cell, 1);
        TRY(view_cell(&cell, v, &run, seeds, "test_acc"));
        lines_add(&z->accuracy, run.config.zeta, &cell, 100);
    }
done:
    return st;
}

static void add_figures(struct report *r, const struct zeta_result *z, const char *dataset)
{
    struct view_words name, head;
    char title[96];
    struct figure_rule rules[] = {{"true homophily", z->homophily, false},
                                  {"automatic ζ", z->automatic, false},
                                  {"chance", z->homophily, true}};
    int vertical = isnan(z->automatic) ? 0 : 2;
    view_dataset_title(dataset, title);
    view_printf(&name, "zeta-f1-%s", dataset);
    view_printf(&head, "%s: edge F1 by ζ", title);
    struct line_chart chart = {
        .words = {name.text, head.text,
                  "F1 of ConSM's coefficients: top k edges, k = number of edges within a class.",
                  NULL},
        .x = {.label = "Confidence ratio ζ", .fixed = true, .low = 0, .high = 1},
        .y = {.label = "Edge F1"},
        .rule = rules,
        .rules = vertical ? 3 : 0};
    lines_figure(r, &chart, &z->f1, 1);
    view_printf(&name, "zeta-accuracy-%s", dataset);
    view_printf(&head, "%s: accuracy by ζ", title);
    chart.words = (struct figure_words){name.text, head.text, "GCN backbone.", NULL};
    chart.y = (struct figure_axis){.label = "Test accuracy", .unit = "%"};
    chart.rules = vertical;
    lines_figure(r, &chart, &z->accuracy, 1);
}

static void add_row_and_claim(struct report *r, struct table *t, const struct zeta_result *z,
                              const char *dataset)
{
    struct view_words claim, detail;
    char title[96];
    int64_t by_f1 = lines_top(&z->f1), by_accuracy = lines_top(&z->accuracy);
    if (by_f1 < 0 || by_accuracy < 0)
        return;
    const struct paper_set *paper = paper_set(dataset);
    double best = z->f1.x[by_f1], lowest = z->f1.y[by_f1];
    for (int64_t i = 0; i < z->f1.n; i++)
        lowest = fmin(lowest, z->f1.y[i]);
    table_row(t);
    table_text(t, view_dataset_title(dataset, title));
    table_number(t, z->homophily, 2);
    table_mark(t, TABLE_ORACLE);
    table_number(t, z->automatic, 2);
    table_number(t, best, 2);
    table_mark(t, TABLE_ORACLE);
    if (paper)
        table_reference(t, paper->zeta);
    table_number(t, z->f1.y[by_f1], 3);
    table_number(t, z->accuracy.x[by_accuracy], 2);
    table_mark(t, TABLE_ORACLE);
    table_number(t, z->accuracy.y[by_accuracy], 1);
    table_number(t, z->automatic_accuracy, 1);
    if (!paper)
        return;
    view_printf(&claim, "The ζ with the best edge F1 on %s is near its homophily %.2f.", title,
                paper->homophily);
    view_printf(&detail, "Best at ζ = %.2f here (F1 %.3f; range of the curve %.3f).", best,
                z->f1.y[by_f1], z->f1.y[by_f1] - lowest);
    report_claim(r, claim.text, fabs(best - z->homophily) <= 0.15, detail.text);
}

static consm_status zeta_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct zeta_result z;
    const char *set[STUDY_MOST];
    int sets = sets_of(set, v->options);
    report_section(r, "Confidence ratio (RQ3)",
                   "ConSM with a GCN backbone for ζ from 0 to 1. The automatic ζ is estimated from "
                   "training and validation labels; an oracle would set the true homophily.");
    struct table *t = report_new_table(r, "zeta", "Choosing ζ");
    table_column(t, "Dataset", TABLE_LEFT, NULL);
    table_column(t, "Homophily", TABLE_RIGHT, "share of edges between nodes of the same class");
    table_column(t, "Automatic ζ", TABLE_RIGHT, "estimated from known labels");
    table_column(t, "Best ζ by F1", TABLE_RIGHT, "in brackets: the value in the authors' program");
    table_column(t, "Its F1", TABLE_RIGHT, NULL);
    table_column(t, "Best ζ by test accuracy", TABLE_RIGHT, NULL);
    table_column(t, "Its accuracy", TABLE_RIGHT, "percent");
    table_column(t, "Accuracy, automatic ζ", TABLE_RIGHT, "percent");
    for (int s = 0; s < sets; s++) {
        TRY(look_up(&z, v, set[s]));
        add_row_and_claim(r, t, &z, set[s]);
    }
    table_remark(t, "The best values of ζ are taken from test results: they show what is possible, "
                    "not what was chosen.");
    for (int s = 0; s < sets; s++) {
        TRY(look_up(&z, v, set[s]));
        add_figures(r, &z, set[s]);
    }
done:
    return st;
}

const struct study_def study_zeta = {
    .name = "zeta",
    .title = "Confidence ratio (RQ3)",
    .about = "edge F1 and accuracy by ζ, the share of edges to trust (RQ3)",
    .plan = zeta_plan,
    .render = zeta_render,
};
