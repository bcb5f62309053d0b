/* Tables 3 and 4 (RQ1): every method on every set. */
#include "study/controls.h"
#include "study/grid.h"

#include "study/paper.h"
#include <math.h>
#include <string.h>

/* The authors' program has 300 rounds of 500 updates, which takes hours on one set. Ten rounds show
 * the trend. */
enum { AUTHORS_ROUNDS = 10, QUICK_ROUNDS = 2 };

/* grid_fill asks for runs by set and row only; the split is in the view's options. Parameters set
 * for all runs also override a profile. */
static consm_status accuracy_run(struct study_run *out, bool *known, const struct study_view *v,
                                 const char *dataset, const struct grid_row *row)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    *known = !row->profile || grid_profiles(o, dataset);
    TRY(options_run(out, o, TASK_TRAIN, dataset, row->model));
    out->ensemble = row->ensemble;
    if (!row->profile)
        goto done;
    TRY(config_set(&out->config, "profile", row->profile));
    if (strcmp(row->profile, "authors") == 0)
        out->config.rounds = AUTHORS_ROUNDS;
    if (o->quick)
        out->config.rounds = QUICK_ROUNDS;
    TRY(options_apply(&out->config, o->set));
done:
    return st;
}

/* A quick study uses only the first split. */
static int splits_of(const struct study_options *o)
{
    return o->quick ? 1 : o->split_count;
}

/* All rows of a kind on all sets. */
static consm_status plan_rows(struct plan *plan, const struct study_view *v, enum grid_kind kind)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct grid_row row[STUDY_MOST + 2];
    int rows = grid_rows(row, o, kind);
    for (int i = 0; i < o->datasets * rows; i++) {
        struct study_run run;
        bool known;
        TRY(accuracy_run(&run, &known, v, o->dataset[i / rows], &row[i % rows]));
        if (known)
            TRY(plan_add_seeds(plan, &run, o->seeds));
    }
done:
    return st;
}

static consm_status accuracy_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    for (int k = 0; k < splits_of(v->options); k++) {
        struct study_options o = options_with_split(v->options, k);
        struct study_view split = *v;
        split.options = &o;
        TRY(plan_rows(plan, &split, k == 0 ? GRID_PROFILES : GRID_MODELS));
        if (k == 0)
            TRY(controls_plan(plan, &split));
        if (k == 0 && o.ensemble > 1)
            TRY(plan_rows(plan, &split, GRID_ENSEMBLES));
    }
done:
    return st;
}

/* The paper's best on the set, among the study's models; -1 if the paper does not use the set. */
static int paper_best(const struct grid *g, int s)
{
    int best = -1;
    for (int m = 0; m < g->models; m++) {
        double figure = grid_paper(g, s, m);
        if (!isnan(figure) &&
            (best < 0 || figure > paper_accuracy(g->dataset[s], g->row[best].model->name)))
            best = m;
    }
    return best;
}

/* The second best mean of the set; -1 if there is none. */
static int runner_up(const struct grid *g, int s)
{
    int next = -1;
    for (int m = 0; m < g->models; m++)
        if (m != g->best[s] && grid_cell(g, s, m)->n > 0 &&
            (next < 0 || grid_cell(g, s, m)->mean > grid_cell(g, s, next)->mean))
            next = m;
    return next;
}

/* The paper's best is confirmed if paired tests put it ahead of all others. */
static void add_claims(struct report *r, const struct grid *g)
{
    struct view_words claim, detail;
    for (int s = 0; s < g->sets; s++) {
        int theirs = paper_best(g, s), ours = g->best[s];
        if (theirs < 0 || ours < 0 || grid_cell(g, s, theirs)->n == 0)
            continue;
        double p = g->p[s * g->models + theirs];
        view_printf(&claim, "%s has the best accuracy on %s (%.1f %%).", g->row[theirs].title,
                    g->title[s], paper_accuracy(g->dataset[s], g->row[theirs].model->name));
        int next = runner_up(g, s);
        bool ahead = ours == theirs && view_ahead_of_all(&g->p[s * g->models], ours, g->models);
        if (ours == theirs && next >= 0)
            view_printf(&detail,
                        "Also best here, with %.1f %%; second is %s with %.1f %%, %s (p = %.3f).",
                        100 * grid_cell(g, s, ours)->mean, g->row[next].title,
                        100 * grid_cell(g, s, next)->mean,
                        ahead ? "a significant difference" : "no significant difference",
                        g->p[s * g->models + next]);
        else if (ours == theirs)
            view_printf(&detail, "No other method was run.");
        else
            view_printf(&detail, "%s has %.1f %% here; the best is %s with %.1f %%, %s (p = %.3f).",
                        g->row[theirs].title, 100 * grid_cell(g, s, theirs)->mean,
                        g->row[ours].title, 100 * grid_cell(g, s, ours)->mean,
                        grid_differs(p) ? "a significant difference" : "no significant difference",
                        p);
        report_claim(r, claim.text, ahead, detail.text);
    }
}

/* One split: table, bars, details. The first split also gives summary and claims. */
static consm_status add_split(struct report *r, const struct study_view *v, bool first)
{
    consm_status st = CONSM_OK;
    const char *split = v->options->split;
    struct view_words name, caption;
    struct grid g = {0};
    TRY(grid_fill(&g, v, v->options->dataset, v->options->datasets, accuracy_run,
                  first ? GRID_PROFILES : GRID_MODELS, GRID_ACCURACY));
    view_printf(&caption, "Test accuracy (%%), split “%s”", split);
    grid_table(r, &g, first ? "accuracy" : view_printf(&name, "accuracy-%s", split), caption.text);
    view_printf(&caption, "Test accuracy of all methods, split “%s”", split);
    TRY(grid_bars(r, &g, first ? "accuracy-bars" : view_printf(&name, "accuracy-%s-bars", split),
                  caption.text));
    view_printf(&caption, "Confidence intervals and tests of the accuracies, split “%s”", split);
    grid_details(r, &g,
                 first ? "accuracy-details" : view_printf(&name, "accuracy-%s-details", split),
                 caption.text);
    if (first) {
        grid_summary(r, &g);
        add_claims(r, &g);
    }
done:
    grid_free(&g);
    return st;
}

/* Sets of two classes also by ROC-AUC: with a rare class accuracy says little. */
static consm_status add_auc(struct report *r, const struct study_view *v, bool first)
{
    consm_status st = CONSM_OK;
    const char *split = v->options->split, *set[STUDY_MOST];
    struct view_words name, caption;
    struct study_run run;
    struct study_cell cell;
    struct grid g = {0};
    int sets = 0;
    for (int i = 0; i < v->options->datasets * v->options->models; i++) {
        const char *dataset = v->options->dataset[i / v->options->models];
        TRY(options_run(&run, v->options, TASK_TRAIN, dataset,
                        v->options->model[i % v->options->models]));
        TRY(view_cell(&cell, v, &run, v->options->seeds, GRID_AUC));
        if (cell.n > 0 && (sets == 0 || set[sets - 1] != dataset))
            set[sets++] = dataset;
    }
    if (sets == 0)
        return CONSM_OK;
    TRY(grid_fill(&g, v, set, sets, accuracy_run, GRID_MODELS, GRID_AUC));
    view_printf(&caption, "ROC-AUC (× 100) on the test nodes, split “%s”", split);
    grid_table(r, &g, first ? "accuracy-auc" : view_printf(&name, "accuracy-auc-%s", split),
               caption.text);
done:
    grid_free(&g);
    return st;
}

/* The additional table: N runs of each method, combined by validation. */
static consm_status add_ensembles(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct view_words caption;
    struct grid g = {0};
    TRY(grid_fill(&g, v, v->options->dataset, v->options->datasets, accuracy_run, GRID_ENSEMBLES,
                  GRID_ACCURACY));
    view_printf(&caption, "Test accuracy (%%) of ensembles of %d runs, split “%s”",
                (int)v->options->ensemble, v->options->split);
    grid_table(r, &g, "accuracy-ensembles", caption.text);
    view_printf(&caption, "Confidence intervals and tests of the ensembles, split “%s”",
                v->options->split);
    grid_details(r, &g, "accuracy-ensembles-details", caption.text);
done:
    grid_free(&g);
    return st;
}

static consm_status accuracy_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct view_words words;
    report_section(
        r, "Accuracy (Tables 3 and 4)",
        view_printf(
            &words,
            "Every method on every dataset, %d seed%s, default parameters. Budgets differ: ConSM "
            "tries several backbones and keeps the one with the best validation score; the others "
            "have one configuration each (`consm bench --search` gives all models the same "
            "number). The controls below use ConSM's backbone. ConSM's other profiles follow the "
            "paper's text, whose loss sums over all edges and outweighs the labels, and the "
            "authors' program, reduced to %d of its 300 rounds; both run on the first split and "
            "the paper's datasets only, unless --profiles is given. Splits: “paper” is the paper's "
            "fixed split; “public” is stored with the data; “random” draws 20 nodes per class for "
            "every seed; “48/32/20” draws these percentages.",
            (int)o->seeds, o->seeds == 1 ? "" : "s", o->quick ? QUICK_ROUNDS : AUTHORS_ROUNDS));
    for (int k = 0; k < splits_of(o); k++) {
        struct study_options one = options_with_split(o, k);
        struct study_view split = *v;
        split.options = &one;
        if (one.datasets == 0)
            continue;
        TRY(add_split(r, &split, k == 0));
        TRY(add_auc(r, &split, k == 0));
        if (k == 0)
            TRY(controls_render(r, &split));
        if (k == 0 && o->ensemble > 1)
            TRY(add_ensembles(r, &split));
    }
done:
    return st;
}

const struct study_def study_accuracy = {
    .name = "accuracy",
    .title = "Accuracy (Tables 3 and 4)",
    .about = "every method on every dataset, with significance tests (Tables 3, 4)",
    .plan = accuracy_plan,
    .render = accuracy_render,
};
