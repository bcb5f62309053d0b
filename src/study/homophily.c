/* Our own study: every method while the homophily of a generated graph goes from 0.05 to 0.95. Only
 * edges change; labels and features stay, so MLP's line is flat. */
#include "study/grid.h"
#include "study/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 10 };

static int steps_of(const struct study_options *o)
{
    return o->quick ? 4 : STEPS;
}

static double homophily_at(const struct study_options *o, int step)
{
    return 0.05 + 0.9 * step / (steps_of(o) - 1);
}

static void name_of(char name[64], const struct study_options *o, int step)
{
    snprintf(name, 64, "csbm:homophily=%.2f", homophily_at(o, step));
}

static consm_status homophily_run(struct study_run *out, bool *known, const struct study_view *v,
                                  const char *dataset, const struct grid_row *row)
{
    consm_status st = options_run(out, v->options, TASK_TRAIN, dataset, row->model);
    *known = true;
    out->split = "random"; /* a generated graph has no split of its own */
    return st;
}

static consm_status homophily_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct study_run run;
    char name[64];
    bool known;
    for (int k = 0; k < steps_of(o); k++)
        for (int m = 0; m < o->models; m++) {
            name_of(name, o, k);
            struct grid_row row = {.model = o->model[m]};
            TRY(homophily_run(&run, &known, v, name, &row));
            TRY(plan_add_seeds(plan, &run, o->seeds));
        }
done:
    return st;
}

/* Which method leads over the whole range, and where edges hurt. */
static void summarise(struct report *r, const struct grid *g, const struct study_options *o)
{
    struct view_words words;
    int best = -1, worst = -1;
    double best_worst = -1, crossing = (double)NAN;
    int mlp = -1, gcn = -1;
    for (int m = 0; m < g->models; m++) {
        double least = 2;
        for (int s = 0; s < g->sets; s++)
            least = fmin(least, isnan(grid_cell(g, s, m)->mean) ? -1 : grid_cell(g, s, m)->mean);
        if (least > best_worst) {
            best_worst = least;
            best = m;
        }
        mlp = strcmp(g->row[m].model->name, "mlp") == 0 ? m : mlp;
        gcn = strcmp(g->row[m].model->name, "gcn") == 0 ? m : gcn;
    }
    for (int s = 0; best >= 0 && s < g->sets; s++)
        if (worst < 0 || grid_cell(g, s, best)->mean < grid_cell(g, worst, best)->mean)
            worst = s;
    if (best < 0 || best_worst < 0)
        return;
    report_summary(r, view_printf(&words,
                                  "Over generated graphs of any homophily, %s has the highest "
                                  "minimum accuracy: %.1f %% (at homophily %.2f).",
                                  g->row[best].title, 100 * best_worst, homophily_at(o, worst)));
    for (int s = 0; mlp >= 0 && gcn >= 0 && s < g->sets && isnan(crossing); s++)
        if (grid_cell(g, s, gcn)->mean > grid_cell(g, s, mlp)->mean)
            crossing = homophily_at(o, s);
    if (!isnan(crossing) && crossing > homophily_at(o, 0))
        report_summary(
            r,
            view_printf(&words, "Below homophily %.2f, an MLP, which ignores the edges, beats GCN.",
                        crossing));
}

static consm_status homophily_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    char name[STEPS][64];
    const char *set[STEPS];
    struct grid g = {0};
    struct study_line *line = NULL;
    int steps = steps_of(o);
    for (int k = 0; k < steps; k++) {
        name_of(name[k], o, k);
        set[k] = name[k];
    }
    TRY(grid_fill(&g, v, set, steps, homophily_run, GRID_MODELS, GRID_ACCURACY));
    for (int k = 0; k < steps; k++)
        snprintf(g.title[k], sizeof g.title[k], "%.2f", homophily_at(o, k));
    TRY(ZNEW(line, o->models));
    for (int m = 0; m < o->models; m++) {
        line[m].name = view_model_title(o->model[m]);
        line[m].strong = strcmp(o->model[m]->name, "consm") == 0;
        for (int k = 0; k < steps; k++)
            lines_add(&line[m], homophily_at(o, k), grid_cell(&g, k, m), 100);
    }
    report_section(r, "Homophily (ours)",
                   "Every method on generated graphs (1,000 nodes, 4 classes, 10 neighbours); only "
                   "the share of edges within classes changes. At 0.25, edges carry no information "
                   "about classes; below, they join different classes.");
    struct line_chart chart = {.words = {"homophily-lines", "Accuracy by homophily (csbm)",
                                         "Labels and features stay the same; only edges change.",
                                         NULL},
                               .x = {.label = "Edge homophily", .fixed = true, .low = 0, .high = 1},
                               .y = {.label = "Test accuracy", .unit = "%"}};
    lines_figure(r, &chart, line, o->models);
    grid_table(r, &g, "homophily", "Test accuracy (%) by edge homophily");
    summarise(r, &g, o);
done:
    mem_free(line);
    grid_free(&g);
    return st;
}

const struct study_def study_homophily = {
    .name = "homophily",
    .title = "Homophily (ours)",
    .about = "every method on generated graphs of any homophily (ours)",
    .plan = homophily_plan,
    .render = homophily_render,
};
