/* `consm bench`: any models on any sets, optionally with a random search of equal budget. */
#include "study/bench.h"

#include "study/grid.h"
#include "study/search.h"
#include "study/task.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static consm_status trial_run(struct study_run *out, const struct study_view *v,
                              const char *dataset, const struct model_def *model, int64_t k)
{
    consm_status st = CONSM_OK;
    TRY(options_run(out, v->options, TASK_TRAIN, dataset, model));
    if (v->options->search > 0)
        TRY(search_draw(&out->config, v->options->space, model, k));
done:
    return st;
}

/* The configuration with the best mean validation metric; -1 while a trial is missing. The test
 * accuracies of trials are never read. */
static consm_status choose(int64_t *best, double *val, const struct study_view *v,
                           const char *dataset, const struct model_def *model)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct study_cell cell;
    struct study_run run;
    *best = -1;
    *val = -1;
    for (int64_t k = 0; k < o->search; k++) {
        TRY(trial_run(&run, v, dataset, model, k));
        TRY(view_cell(&cell, v, &run, o->search_seeds, "val_score"));
        if (cell.n < o->search_seeds) {
            *best = -1;
            return CONSM_OK;
        }
        if (cell.mean > *val) {
            *val = cell.mean;
            *best = k;
        }
    }
done:
    return st;
}

static consm_status bench_run(struct study_run *out, bool *known, const struct study_view *v,
                              const char *dataset, const struct grid_row *row)
{
    consm_status st = CONSM_OK;
    int64_t best = 0;
    double val;
    if (v->options->search > 0)
        TRY(choose(&best, &val, v, dataset, row->model));
    *known = best >= 0;
    if (*known)
        TRY(trial_run(out, v, dataset, row->model, best));
done:
    return st;
}

/* The seed of the chosen configuration with the best validation; ties to the first. */
static consm_status best_seed(struct study_run *run, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct study_cell cell;
    double best = -1;
    TRY(view_cell(&cell, v, run, v->options->seeds, "val_score"));
    for (int64_t i = 0; i < cell.seeds; i++)
        if (cell.value[i] > best) {
            best = cell.value[i];
            run->seed = (uint64_t)i;
        }
done:
    return st;
}

consm_status bench_best(struct study_run *out, double *val, const struct study_view *v,
                        const char *dataset)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    *val = -1;
    for (int m = 0; m < o->models; m++) {
        int64_t k;
        double mean;
        TRY(choose(&k, &mean, v, dataset, o->model[m]));
        if (k < 0 || mean <= *val)
            continue;
        *val = mean;
        TRY(trial_run(out, v, dataset, o->model[m], k));
    }
    if (*val < 0)
        TRY(status_fail(CONSM_EINVAL, "%s: no search has finished", dataset));
    TRY(best_seed(out, v));
done:
    return st;
}

static consm_status bench_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    for (int s = 0; s < o->datasets; s++)
        for (int m = 0; m < o->models; m++) {
            struct study_run run;
            struct grid_row row = {.model = o->model[m]};
            bool known;
            for (int64_t k = 0; k < o->search; k++) {
                TRY(trial_run(&run, v, o->dataset[s], o->model[m], k));
                TRY(plan_add_seeds(plan, &run, o->search_seeds));
            }
            TRY(bench_run(&run, &known, v, o->dataset[s], &row));
            run.keep_graph = strcmp(o->model[m]->name, "consm") == 0;
            if (known)
                TRY(plan_add_seeds(plan, &run, o->seeds));
        }
done:
    return st;
}

/* The parameters that the search chose, if they differ from the model's defaults. */
static consm_status add_chosen(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct table *t = report_new_table(r, "search", "Configurations chosen by the search");
    table_column(t, "Dataset", TABLE_LEFT, NULL);
    table_column(t, "Model", TABLE_LEFT, NULL);
    table_column(t, "Validation", TABLE_RIGHT,
                 "mean of the validation metric (--metric) over the trial's seeds, in percent");
    table_column(t, "Parameters", TABLE_LEFT, "differences from the defaults");
    for (int s = 0; s < o->datasets; s++)
        for (int m = 0; m < o->models; m++) {
            int64_t best;
            double val;
            struct study_run run, plain;
            struct text differ = {0};
            char title[96], a[32], b[32];
            TRY(choose(&best, &val, v, o->dataset[s], o->model[m]));
            if (best < 0)
                continue;
            TRY(trial_run(&run, v, o->dataset[s], o->model[m], best));
            TRY(options_run(&plain, o, TASK_TRAIN, o->dataset[s], o->model[m]));
            for (const struct config_row *row = config_rows(); row->name; row++) {
                const char *x = config_text(&run.config, row, a);
                if (strcmp(x, config_text(&plain.config, row, b)) != 0)
                    text_printf(&differ, "%s%s %s", differ.length ? ", " : "", row->name, x);
            }
            table_row(t);
            table_text(t, view_dataset_title(o->dataset[s], title));
            table_text(t, view_model_title(o->model[m]));
            table_number(t, 100 * val, 1);
            table_text(t, differ.length ? text_string(&differ) : "the defaults");
            text_free(&differ);
        }
done:
    return st;
}

/* F1, AUC and calibration of the trust scores, a line per set and model. */
static consm_status add_edges(struct report *r, const struct study_view *v)
{
    static const char *const figure[] = {"f1", "auc_test", "ece"};
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct table *t = report_new_table(r, "bench-edges", "Trust in edges");
    table_column(t, "Dataset", TABLE_LEFT, NULL);
    table_column(t, "Model", TABLE_LEFT, NULL);
    table_column(t, "Chance", TABLE_RIGHT,
                 "F1 of a random order: the share of edges within a class");
    table_column(t, "F1, all edges", TABLE_RIGHT,
                 "of the top k edges, k = true number of edges within a class");
    table_column(t, "AUC, test edges", TABLE_RIGHT, "on edges with a test node");
    table_column(t, "ECE, test edges", TABLE_RIGHT,
                 "expected calibration error on edges with a test node");
    for (int s = 0; s < o->datasets; s++)
        for (int m = 0; m < o->models; m++) {
            struct study_run run;
            struct study_cell cell;
            struct grid_row row = {.model = o->model[m]};
            bool known;
            char title[96];
            TRY(bench_run(&run, &known, v, o->dataset[s], &row));
            if (!known)
                continue;
            bool trust = strcmp(o->model[m]->name, "consm") == 0;
            char field[32];
            TRY(view_cell(&cell, v, &run, o->seeds, "trust.chance"));
            if (cell.n == 0)
                continue;
            table_row(t);
            table_text(t, view_dataset_title(o->dataset[s], title));
            table_text(t, view_model_title(o->model[m]));
            table_number(t, cell.mean, 2);
            for (int k = 0; k < 3; k++) {
                snprintf(field, sizeof field, "%s.%s", trust ? "trust" : "agreement", figure[k]);
                TRY(view_cell(&cell, v, &run, o->seeds, field));
                table_mean(t, cell.mean, cell.std, 3);
            }
        }
    table_remark(
        t, "Trust is the probability that both ends have the same class. ConSM combines several "
           "kinds of evidence, including subgraph matching; for other models trust is the "
           "agreement of the two predictions. Both are fitted on the same validation edges.");
done:
    return st;
}

static consm_status bench_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct view_words words;
    struct grid g = {0};
    TRY(grid_fill(&g, v, o->dataset, o->datasets, bench_run, GRID_MODELS, GRID_ACCURACY));
    if (o->search > 0)
        view_printf(
            &words,
            "Split “%s”, %d seeds. Every model had %d configurations, its defaults and random "
            "ones, each tried with %d seeds; the best mean validation score decided.",
            o->split, (int)o->seeds, (int)o->search, (int)o->search_seeds);
    else
        view_printf(&words,
                    "Split “%s”, %d seed%s, default parameters unless the command says otherwise.",
                    o->split, (int)o->seeds, o->seeds == 1 ? "" : "s");
    report_section(r, "Benchmark", words.text);
    grid_table(r, &g, "bench", "Test accuracy (%)");
    TRY(grid_bars(r, &g, "bench-bars", "Test accuracy"));
    TRY(add_edges(r, v));
    if (o->search > 0)
        TRY(add_chosen(r, v));
    grid_details(r, &g, "bench-details", "Confidence intervals and tests of the accuracies");
    grid_summary(r, &g);
done:
    grid_free(&g);
    return st;
}

const struct study_def study_bench = {
    .name = "bench",
    .title = "Benchmark",
    .about = "any models on any datasets",
    .plan = bench_plan,
    .render = bench_render,
};
