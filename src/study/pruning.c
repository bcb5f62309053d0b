/* Figure 1: GCN while shares of the edges inside and between classes are removed. Choosing them
 * uses true labels, so every cell but the whole graph is an oracle. */
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

/* The corners of the grid: no edges, only between, only inside, all. */
struct corners {
    struct study_cell none, only_other, only_same, all;
};

/* The effect of losing each kind of edge, seed by seed. */
static void losses(struct study_cell *inside, struct study_cell *between, const struct corners *c)
{
    *inside = *between = (struct study_cell){.seeds = c->all.seeds};
    for (int64_t i = 0; i < c->all.seeds; i++) {
        inside->value[i] = c->all.value[i] - c->only_other.value[i];
        between->value[i] = fabs(c->all.value[i] - c->only_same.value[i]);
    }
    view_summarise(inside);
    view_summarise(between);
}

static consm_status claim_cora(struct report *r, const struct corners *c)
{
    consm_status st = CONSM_OK;
    struct view_words claim, detail;
    bool lifts, drops;
    double p_lift, p_drop;
    TRY(view_above(&lifts, &p_lift, &c->only_same, &c->all));
    TRY(view_above(&drops, &p_drop, &c->all, &c->only_other));
    view_printf(&claim,
                "On Cora, removing all edges between classes raises GCN from %.1f to %.1f %%; "
                "removing all edges within classes lowers it to %.1f %%.",
                paper_pruning_whole, paper_pruning_no_other, paper_pruning_no_same);
    view_printf(&detail, "Here: %.1f to %.1f %% (p = %.3f), and %.1f %% (p = %.3f).",
                100 * c->all.mean, 100 * c->only_same.mean, p_lift, 100 * c->only_other.mean,
                p_drop);
    report_claim(r, claim.text, lifts && drops, detail.text);
done:
    return st;
}

/* Paired over the seeds, which share split and removed edges. */
static consm_status add_claims(struct report *r, const char *dataset, const struct corners *c)
{
    consm_status st = CONSM_OK;
    struct view_words claim, detail;
    struct study_cell inside, between;
    bool more, helps, cora = strcmp(dataset, "cora") == 0;
    double p;
    char title[96];
    view_dataset_title(dataset, title);
    losses(&inside, &between, c);
    if (!paper_set(dataset) || c->none.n < 2 || inside.n < 2 || between.n < 2)
        goto done;
    if (cora)
        TRY(claim_cora(r, c));
    TRY(view_above(&more, &p, &inside, &between));
    view_printf(
        &claim,
        "Removing edges within classes matters more than removing edges between classes (%s).",
        title);
    view_printf(
        &detail,
        "Without the former, GCN changes by %+.1f points; without the latter, by %+.1f (p = %.3f).",
        -100 * inside.mean, 100 * (c->only_same.mean - c->all.mean), p);
    report_claim(r, claim.text, more, detail.text);
    if (cora)
        goto done;
    TRY(view_above(&helps, &p, &c->only_other, &c->none));
    view_printf(&claim, "Without edges within classes, edges between classes help (%s).", title);
    view_printf(&detail,
                "GCN has %.1f %% without any edge and %.1f %% with only the edges between classes "
                "(p = %.3f).",
                100 * c->none.mean, 100 * c->only_other.mean, p);
    report_claim(r, claim.text, helps, detail.text);
done:
    return st;
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
    struct corners corners;
    for (int i = 0; i < steps; i++) {
        snprintf(label_room[i], sizeof label_room[i], "%d", 100 * i / (steps - 1));
        label[i] = label_room[i];
    }
    for (int i = 0; i < steps * steps; i++) {
        TRY(cell_run(&run, v->options, dataset, i / steps, i % steps));
        TRY(view_cell(&cell, v, &run, v->options->seeds, "test_acc"));
        value[i] = 100 * cell.mean;
        if (i == 0)
            corners.none = cell;
        else if (i == steps - 1)
            corners.only_other = cell;
        else if (i == steps * (steps - 1))
            corners.only_same = cell;
        else if (i == steps * steps - 1)
            corners.all = cell;
    }
    view_printf(&name, "pruning-%s", dataset);
    view_printf(&head, "%s: GCN on a pruned graph", view_dataset_title(dataset, title));
    view_printf(&caption, "Test accuracy, mean of %d seeds. Top right: the whole graph.",
                (int)v->options->seeds);
    struct heat_map map = {.words = {name.text, head.text, caption.text, NULL},
                           .x = {.label = "Share of edges between classes kept", .unit = "%"},
                           .y = {.label = "Share of edges within classes kept", .unit = "%"},
                           .column = label,
                           .row = label,
                           .columns = steps,
                           .rows = steps,
                           .value = value,
                           .value_label = "Test accuracy",
                           .value_unit = "%",
                           .decimals = 1};
    report_heat(r, &map);
    TRY(add_claims(r, dataset, &corners));
done:
    return st;
}

static consm_status pruning_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const char *set[STUDY_MOST];
    int sets = options_datasets(set, v->options, preferred);
    report_section(r, "Pruning (Figure 1)",
                   "A GCN is trained while shares of the edges within and between classes are "
                   "removed at random. The kind of an edge is known from true labels: this is an "
                   "oracle experiment about the graph, not a method.");
    for (int s = 0; s < sets; s++)
        TRY(add_map(r, v, set[s]));
done:
    return st;
}

const struct study_def study_pruning = {
    .name = "pruning",
    .title = "Pruning (Figure 1)",
    .about = "GCN while edges within and between classes are removed (Fig. 1)",
    .plan = pruning_plan,
    .render = pruning_render,
};
