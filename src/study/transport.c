/* The remark of section 4.1: "though linear OT is also considerable, we choose the Monge map which
 * shows the better performance". Compares how nodes are assigned to reference points, and whether
 * mass may split. */
#include "study/study.h"

#include "study/paper.h"
#include <math.h>
#include <string.h>

static const char *const preferred[] = {"cora", "chameleon", NULL};
static const char *const quick_preferred[] = {"cora", NULL};

static int sets_of(const char **set, const struct study_options *o)
{
    return options_datasets(set, o, o->quick ? quick_preferred : preferred);
}

enum { MOST_SEEDS = 5, WAYS = 5 };

static const struct {
    const char *transport, *map, *title;
} ways[WAYS] = {
    {"nearest", "monge", "nearest reference"}, {"sinkhorn", "monge", "Sinkhorn, Monge"},
    {"exact", "monge", "exact, Monge"},        {"sinkhorn", "linear", "Sinkhorn, linear"},
    {"exact", "linear", "exact, linear"},
};

static consm_status transport_run(struct study_run *run, const struct study_options *o,
                                  const char *dataset, int way)
{
    consm_status st = CONSM_OK;
    const struct model_def *consm;
    TRY(model_find(&consm, "consm"));
    TRY(options_run(run, o, TASK_TRAIN, dataset, consm));
    TRY(config_set(&run->config, "backbone", "gcn"));
    TRY(config_set(&run->config, "transport", ways[way].transport));
    TRY(config_set(&run->config, "map", ways[way].map));
    /* Plans are solved for every subgraph of an update, so there are few updates and small sets. */
    run->config.rounds = 2;
    run->config.two_hop_cap = 64;
done:
    return st;
}

static consm_status transport_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const char *set[STUDY_MOST];
    int sets = sets_of(set, v->options);
    struct study_run run;
    for (int s = 0; s < sets; s++)
        for (int w = 0; w < WAYS; w++) {
            TRY(transport_run(&run, v->options, set[s], w));
            TRY(plan_add_seeds(plan, &run, options_seeds(v->options, MOST_SEEDS)));
        }
done:
    return st;
}

/* Monge's map against the linear one: the difference of F1 per seed, both solvers together. It is
 * better if the interval of the mean is above zero. */
static void add_claim(struct report *r, const char *title, const struct study_cell f1[WAYS],
                      const double accuracy[WAYS])
{
    struct view_words claim, detail;
    double gain[STUDY_MOST_SEEDS];
    int64_t n = 0;
    for (int w = 0; w < WAYS; w++)
        if (f1[w].n == 0)
            return;
    for (int64_t i = 0; i < f1[0].seeds; i++) {
        double x = (f1[1].value[i] + f1[2].value[i] - f1[3].value[i] - f1[4].value[i]) / 2;
        if (!isnan(x))
            gain[n++] = x;
    }
    if (n < 2)
        return;
    struct stats_interval interval = stats_t_interval(gain, n, 0.95);
    view_printf(&claim, "The Monge map works better than linear transport (%s).", title);
    view_printf(&detail,
                "Edge F1 %.3f and %.3f (95 %% interval of the difference %.3f to %.3f), accuracy "
                "%.1f and %.1f %%; the nearest reference has %.3f and %.1f %%.",
                (f1[1].mean + f1[2].mean) / 2, (f1[3].mean + f1[4].mean) / 2, interval.low,
                interval.high, (accuracy[1] + accuracy[2]) / 2, (accuracy[3] + accuracy[4]) / 2,
                f1[0].mean, accuracy[0]);
    report_claim(r, claim.text, interval.low > 0, detail.text);
}

static consm_status add_rows(struct report *r, struct table *t, const struct study_view *v,
                             const char *dataset)
{
    static const char *const field[] = {"coefficients.f1", "coefficients.auc_test"};
    consm_status st = CONSM_OK;
    int64_t seeds = options_seeds(v->options, MOST_SEEDS);
    struct study_run run;
    struct study_cell cell;
    struct study_cell f1[WAYS] = {0};
    double accuracy[WAYS];
    char title[96];
    view_dataset_title(dataset, title);
    for (int w = 0; w < WAYS; w++) {
        TRY(transport_run(&run, v->options, dataset, w));
        TRY(view_cell(&cell, v, &run, seeds, "test_acc"));
        accuracy[w] = 100 * cell.mean;
        if (cell.n == 0)
            continue;
        table_row(t);
        table_text(t, title);
        table_text(t, ways[w].title);
        table_mean(t, 100 * cell.mean, 100 * cell.std, 1);
        for (int k = 0; k < 2; k++) {
            TRY(view_cell(&cell, v, &run, seeds, field[k]));
            table_mean(t, cell.mean, cell.std, 3);
            if (k == 0)
                f1[w] = cell;
        }
        TRY(view_cell(&cell, v, &run, seeds, "seconds"));
        table_number(t, cell.mean, 1);
    }
    if (paper_set(dataset))
        add_claim(r, title, f1, accuracy);
done:
    return st;
}

static consm_status transport_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const char *set[STUDY_MOST];
    int sets = sets_of(set, v->options);
    report_section(
        r, "Transport (section 4.1)",
        "How the nodes of a subgraph are assigned to reference points: to the nearest one, by an "
        "entropy-regularised plan, or by the optimal plan; and whether a node's mass may split "
        "(linear) or not (Monge). Two rounds, subgraphs of at most 64 nodes.");
    struct table *t = report_new_table(r, "transport", "Kinds of transport in ConSM's matching");
    table_column(t, "Dataset", TABLE_LEFT, NULL);
    table_column(t, "Transport", TABLE_LEFT, NULL);
    table_column(t, "Accuracy", TABLE_RIGHT, "test, percent; GCN backbone");
    table_column(t, "F1, all edges", TABLE_RIGHT,
                 "coefficients; F1 of the top k edges, k = true number of edges within a class");
    table_column(t, "AUC, test edges", TABLE_RIGHT, "coefficients, edges with a test node");
    table_column(t, "Seconds", TABLE_RIGHT, "of a run, while others ran too");
    for (int s = 0; s < sets; s++)
        TRY(add_rows(r, t, v, set[s]));
done:
    return st;
}

const struct study_def study_transport = {
    .name = "transport",
    .title = "Transport (section 4.1)",
    .about = "nearest, Sinkhorn and exact transport; Monge and linear maps",
    .plan = transport_plan,
    .render = transport_render,
};
