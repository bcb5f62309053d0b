/* RQ4: accuracy of GCN, GAM and ConSM against the number of layers. */
#include "study/lines.h"

#include "study/paper.h"
#include <math.h>
#include <string.h>

static const char *const preferred[] = {"cora", "chameleon", NULL};
static const char *const methods[] = {"gcn", "gam", "consm"};
enum { METHODS = 3, MOST_SEEDS = 5 };

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

static void add_claims(struct report *r, const char *title, const struct study_line *gcn,
                       const struct study_line *consm)
{
    struct view_words claim, detail;
    if (gcn && gcn->n > 1) {
        int64_t top = lines_top(gcn);
        double deep = gcn->y[gcn->n - 1];
        view_printf(&claim, "GCN is best with 2 layers on %s and loses much beyond 4.", title);
        view_printf(&detail, "Best with %.0f (%.1f %%); %.1f %% with %.0f.", gcn->x[top],
                    gcn->y[top], deep, gcn->x[gcn->n - 1]);
        report_claim(r, claim.text, fabs(gcn->x[top] - 2) < 0.5 && deep < gcn->y[top] - 5,
                     detail.text);
    }
    if (consm && consm->n > 1) {
        int64_t top = lines_top(consm), last = consm->n - 1;
        double lead = gcn ? consm->y[last] - lines_at(gcn, consm->x[last]) : (double)NAN;
        view_printf(&claim, "ConSM loses little with many layers on %s.", title);
        view_printf(&detail,
                    "%.1f %% at best, %.1f %% with %.0f layers; GCN is %.1f points %s "
                    "there.",
                    consm->y[top], consm->y[last], consm->x[last], fabs(lead),
                    lead >= 0 ? "behind" : "ahead");
        report_claim(r, claim.text, consm->y[last] > consm->y[top] - 5, detail.text);
    }
}

static consm_status add_dataset(struct report *r, const struct study_view *v, const char *dataset,
                                struct table *t)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    static const double tick[] = {1, 2, 4, 8, 16};
    struct study_line line[METHODS];
    const struct study_line *found[METHODS] = {NULL};
    const int *layers;
    int count = depths(&layers, o), used = 0;
    struct study_run run;
    struct study_cell cell;
    struct figure *f = NULL;
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
            if (cell.n > 0)
                table_mean(t, 100 * cell.mean, 100 * cell.std, 1);
            else
                table_empty(t);
        }
        found[m] = &line[used++];
    }
    view_printf(&name, "depth-%s", dataset);
    view_printf(&head, "%s: accuracy against depth", title);
    struct line_chart chart = {.words = {name.text, head.text, "ConSM with a GCN backbone.", NULL},
                               .x = {.label = "Layers", .log = true, .tick = tick, .ticks = 5},
                               .y = {.label = "Test accuracy", .unit = "%"}};
    TRY(lines_figure(&f, &chart, line, used));
    report_figure(r, f);
    if (paper_set(dataset))
        add_claims(r, title, found[0], found[2]);
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
    report_section(r, "Depth (RQ4)", "Does accuracy survive many layers?");
    TRY(table_new(&t, "depth", "Test accuracy (%) against the number of layers"));
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
