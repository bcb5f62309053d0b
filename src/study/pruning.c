/* Figure 1: GCN while shares of the edges inside and between classes are removed. Which edges go
 * knows true labels, so every cell but the whole graph is an oracle's. */
#include "study/study.h"

#include "study/paper.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FULL = 6, QUICK = 3 };

static const char *const preferred[] = {"cora", "chameleon", NULL};

static int steps_of(const struct study_options *o)
{
    return o->quick ? QUICK : FULL;
}

static consm_status cell_run(struct study_run *run, const struct study_options *o,
                             const char *dataset, int same, int other)
{
    consm_status st = CONSM_OK;
    const struct model_def *gcn;
    double last = steps_of(o) - 1;
    TRY(model_find(&gcn, "gcn"));
    TRY(options_run(run, o, TASK_PRUNE, dataset, gcn));
    run->same_kept = same / last;
    run->other_kept = other / last;
done:
    return st;
}

static consm_status pruning_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const char *set[STUDY_MOST];
    int sets = options_datasets(set, v->options, preferred), steps = steps_of(v->options);
    struct study_run run;
    for (int s = 0; s < sets; s++)
        for (int i = 0; i < steps * steps; i++) {
            TRY(cell_run(&run, v->options, set[s], i / steps, i % steps));
            TRY(plan_add_seeds(plan, &run, v->options->seeds));
        }
done:
    return st;
}

/* The corners of the grid: neither kind of edge, only between, only inside, all; percent. */
struct corners {
    double none, only_other, only_same, all;
};

static void add_claims(struct report *r, const char *dataset, const struct corners *c)
{
    struct view_words claim, detail;
    char title[96];
    view_dataset_title(dataset, title);
    if (!paper_set(dataset) || isnan(c->none + c->only_other + c->only_same + c->all))
        return;
    double loss_same = c->all - c->only_other, loss_other = fabs(c->all - c->only_same);
    bool cora = strcmp(dataset, "cora") == 0;
    if (cora) {
        view_printf(&claim,
                    "On Cora, removing all edges between classes lifts GCN from %.1f to "
                    "%.1f %%, and removing all inside classes drops it to %.1f %%.",
                    paper_pruning_whole, paper_pruning_no_other, paper_pruning_no_same);
        view_printf(&detail, "%.1f to %.1f %%, and %.1f %% here.", c->all, c->only_same,
                    c->only_other);
        report_claim(r, claim.text, c->only_same > c->all + 2 && c->only_other < c->all - 10,
                     detail.text);
    }
    view_printf(&claim,
                "Removing edges inside classes matters more than removing edges between "
                "them (%s).",
                title);
    view_printf(&detail,
                "Without the former GCN changes by %+.1f points, without the latter by "
                "%+.1f.",
                -loss_same, c->only_same - c->all);
    report_claim(r, claim.text, loss_same > loss_other, detail.text);
    if (!cora) {
        view_printf(&claim, "When edges inside classes are gone, those between classes help (%s).",
                    title);
        view_printf(&detail,
                    "GCN has %.1f %% without any edge and %.1f %% with those between "
                    "classes alone.",
                    c->none, c->only_other);
        report_claim(r, claim.text, c->only_other > c->none, detail.text);
    }
}

static consm_status add_map(struct report *r, const struct study_view *v, const char *dataset)
{
    consm_status st = CONSM_OK;
    double value[FULL * FULL];
    char label_room[FULL][8], title[96];
    const char *label[FULL];
    int steps = steps_of(v->options);
    struct view_words name, head, caption;
    struct study_run run;
    struct study_cell cell;
    struct figure *f = NULL;
    for (int i = 0; i < steps; i++) {
        snprintf(label_room[i], sizeof label_room[i], "%d", 100 * i / (steps - 1));
        label[i] = label_room[i];
    }
    for (int i = 0; i < steps * steps; i++) {
        TRY(cell_run(&run, v->options, dataset, i / steps, i % steps));
        TRY(view_cell(&cell, v, &run, v->options->seeds, "test_acc"));
        value[i] = 100 * cell.mean;
    }
    view_printf(&name, "pruning-%s", dataset);
    view_printf(&head, "%s: GCN on a pruned graph", view_dataset_title(dataset, title));
    view_printf(&caption, "Test accuracy, mean of %d seeds. Top right: the whole graph.",
                (int)v->options->seeds);
    struct heat_map map = {.words = {name.text, head.text, caption.text, NULL},
                           .x = {.label = "Edges between classes kept", .unit = "%"},
                           .y = {.label = "Edges inside classes kept", .unit = "%"},
                           .column = label,
                           .row = label,
                           .columns = steps,
                           .rows = steps,
                           .value = value,
                           .value_label = "Test accuracy",
                           .value_unit = "%",
                           .decimals = 1};
    TRY(figure_heat(&f, &map));
    report_figure(r, f);
    struct corners c = {value[0], value[steps - 1], value[steps * (steps - 1)],
                        value[steps * steps - 1]};
    add_claims(r, dataset, &c);
done:
    return st;
}

static consm_status pruning_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const char *set[STUDY_MOST];
    int sets = options_datasets(set, v->options, preferred);
    report_section(r, "Pruning (Figure 1)",
                   "A GCN trained while shares of the edges inside and between classes are removed "
                   "at random. Which edges are which is read from true labels: an oracle "
                   "experiment about the graph, not a method.");
    for (int s = 0; s < sets; s++)
        TRY(add_map(r, v, set[s]));
done:
    return st;
}

const struct study_def study_pruning = {
    .name = "pruning",
    .title = "Pruning (Figure 1)",
    .about = "GCN while edges inside and between classes are removed (Fig. 1)",
    .plan = pruning_plan,
    .render = pruning_render,
};
