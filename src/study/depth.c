/* RQ4: accuracy of GCN, GAM and ConSM against the number of layers. */
#include "study/lines.h"

#include "study/paper.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const preferred[] = {"cora", "chameleon", NULL};
static const char *const methods[] = {"gcn", "gam", "consm"};
enum { METHODS = 3, MOST_SEEDS = 10, MOST_DEPTHS = 5 };

static const double LITTLE = 0.05; /* accuracy: five points */

static int depths(const int **out, const struct study_options *o)
{
    static const int full[] = {1, 2, 4, 8, 16}, quick[] = {1, 2, 8};
    *out = o->quick ? quick : full;
    return o->quick ? 3 : 5;
}

static consm_status depth_run(struct study_run *run, const struct study_options *o,
                              const char *dataset, const struct model_def *model, int layers)
{
    consm_status st = CONSM_OK;
    TRY(options_run(run, o, TASK_TRAIN, dataset, model));
    if (strcmp(model->name, "consm") == 0)
        TRY(config_set(&run->config, "backbone", "gcn"));
    run->config.layers = layers;
done:
    return st;
}

static consm_status depth_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    const char *set[STUDY_MOST];
    const int *layers;
    int sets = options_datasets(set, o, preferred), count = depths(&layers, o);
    struct study_run run;
    for (int s = 0; s < sets; s++)
        for (int m = 0; m < METHODS; m++) {
            const struct model_def *model = options_model(o, methods[m]);
            for (int k = 0; model && k < count; k++) {
                TRY(depth_run(&run, o, set[s], model, layers[k]));
                TRY(plan_add_seeds(plan, &run, options_seeds(o, MOST_SEEDS)));
            }
        }
done:
    return st;
}

/* One method at every depth. */
struct depths {
    int count, layers[MOST_DEPTHS];
    struct study_cell cell[MOST_DEPTHS];
};

static int top_of(const struct depths *d)
{
    int top = 0;
    for (int k = 1; k < d->count; k++)
        top = d->cell[k].mean > d->cell[top].mean ? k : top;
    return top;
}

static consm_status claim_gcn(struct report *r, const char *title, const struct depths *gcn)
{
    consm_status st = CONSM_OK;
    struct view_words claim, detail;
    int top = top_of(gcn), last = gcn->count - 1;
    bool loses;
    double p;
    TRY(view_above(&loses, &p, &gcn->cell[top], &gcn->cell[last]));
    view_printf(&claim, "GCN is best with 2 layers on %s and loses much beyond 4.", title);
    view_printf(&detail, "Best with %d layers (%.1f %%); %.1f %% with %d (p = %.3f).",
                gcn->layers[top], 100 * gcn->cell[top].mean, 100 * gcn->cell[last].mean,
                gcn->layers[last], p);
    report_claim(r, claim.text,
                 gcn->layers[top] == 2 && loses &&
                     gcn->cell[last].mean < gcn->cell[top].mean - LITTLE,
                 detail.text);
done:
    return st;
}

/* "Little" means: the 95 % interval of the loss, seed by seed, stays below five points. */
static void claim_consm(struct report *r, const char *title, const struct depths *consm,
                        const struct depths *gcn)
{
    struct view_words claim, detail;
    int top = top_of(consm), last = consm->count - 1;
    struct study_cell lost = {.seeds = consm->cell[top].seeds};
    for (int64_t i = 0; i < lost.seeds; i++)
        lost.value[i] = consm->cell[top].value[i] - consm->cell[last].value[i];
    view_summarise(&lost);
    double lead = gcn ? consm->cell[last].mean - gcn->cell[last].mean : (double)NAN;
    view_printf(&claim, "ConSM loses little with many layers on %s.", title);
    view_printf(&detail,
                "%.1f %% at best, %.1f %% with %d layers (95 %% interval of the loss %.1f to "
                "%.1f points)",
                100 * consm->cell[top].mean, 100 * consm->cell[last].mean, consm->layers[last],
                100 * lost.interval.low, 100 * lost.interval.high);
    size_t used = strlen(detail.text);
    if (isnan(lead))
        snprintf(detail.text + used, sizeof detail.text - used, ".");
    else if (lead == 0)
        snprintf(detail.text + used, sizeof detail.text - used,
                 "; GCN has the same accuracy there.");
    else
        snprintf(detail.text + used, sizeof detail.text - used, "; GCN is %.1f points %s there.",
                 100 * fabs(lead), lead > 0 ? "behind" : "ahead");
    if (lost.n >= 2)
        report_claim(r, claim.text, lost.interval.high < LITTLE, detail.text);
}

static consm_status add_claims(struct report *r, const char *title, const struct depths *gcn,
                               const struct depths *consm)
{
    consm_status st = CONSM_OK;
    if (gcn && gcn->count > 1)
        TRY(claim_gcn(r, title, gcn));
    if (consm && consm->count > 1)
        claim_consm(r, title, consm, gcn && gcn->count == consm->count ? gcn : NULL);
done:
    return st;
}

static consm_status add_dataset(struct report *r, const struct study_view *v, const char *dataset,
                                struct table *t)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    static const double tick[] = {1, 2, 4, 8, 16};
    struct study_line line[METHODS];
    struct depths found[METHODS] = {0};
    const int *layers;
    int count = depths(&layers, o), used = 0;
    struct study_run run;
    struct study_cell cell;
    struct view_words name, head;
    char title[96];
    view_dataset_title(dataset, title);
    for (int m = 0; m < METHODS; m++) {
        const struct model_def *model = options_model(o, methods[m]);
        if (!model)
            continue;
        line[used] = (struct study_line){.name = view_model_title(model), .strong = m == 2};
        table_row(t);
        table_text(t, title);
        table_text(t, view_model_title(model));
        for (int k = 0; k < count; k++) {
            TRY(depth_run(&run, o, dataset, model, layers[k]));
            TRY(view_cell(&cell, v, &run, options_seeds(o, MOST_SEEDS), "test_acc"));
            lines_add(&line[used], layers[k], &cell, 100);
            struct depths *d = &found[m];
            if (cell.n > 0) {
                d->layers[d->count] = layers[k];
                d->cell[d->count++] = cell;
            }
            view_mean(t, &cell, 100, 1);
        }
        used++;
    }
    view_printf(&name, "depth-%s", dataset);
    view_printf(&head, "%s: accuracy by number of layers", title);
    struct line_chart chart = {.words = {name.text, head.text, "ConSM with a GCN backbone.", NULL},
                               .x = {.label = "Layers", .log = true, .tick = tick, .ticks = 5},
                               .y = {.label = "Test accuracy", .unit = "%"}};
    lines_figure(r, &chart, line, used);
    if (paper_set(dataset))
        TRY(add_claims(r, title, &found[0], &found[2]));
done:
    return st;
}

static consm_status depth_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const char *set[STUDY_MOST];
    const int *layers;
    int sets = options_datasets(set, v->options, preferred), count = depths(&layers, v->options);
    struct table *t = NULL;
    struct view_words words;
    report_section(r, "Depth (RQ4)", "Accuracy with many layers.");
    TRY(table_new(&t, "depth", "Test accuracy (%) by number of layers"));
    table_column(t, "Dataset", TABLE_LEFT, NULL);
    table_column(t, "Model", TABLE_LEFT, NULL);
    for (int k = 0; k < count; k++)
        table_column(t, view_printf(&words, "%d", layers[k]), TABLE_RIGHT, "layers");
    for (int s = 0; s < sets; s++)
        TRY(add_dataset(r, v, set[s], t));
    report_table(r, t);
    t = NULL;
done:
    table_free(t);
    return st;
}

const struct study_def study_depth = {
    .name = "depth",
    .title = "Depth (RQ4)",
    .about = "GCN, GAM and ConSM with 1 to 16 layers (RQ4)",
    .plan = depth_plan,
    .render = depth_render,
};
