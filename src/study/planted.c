/* Planted edges: which score finds them, and the accuracy after dropping what it distrusts. Drawn
 * edges on every set, and Metattack's on Pubmed. */
#include "study/planted.h"
#include "study/grid.h"
#include "study/lines.h"

#include <math.h>
#include <string.h>

static consm_status planted_open(struct study_sets *sets, const struct study_options *o,
                                 const struct data_options *how)
{
    consm_status st = CONSM_OK;
    const double *rate;
    char name[64];
    int rates = planted_rates(&rate, o, PLANT_METATTACK);
    for (int s = 0; s < o->datasets; s++)
        for (int k = 0; k < rates && planted_attack(name, o->dataset[s], rate[k]); k++)
            TRY(sets_open_graph(sets, name, how));
done:
    return st;
}

static consm_status plan_split(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    const struct score *row[PLANTED_ROWS];
    struct column column[PLANTED_COLUMNS];
    struct study_run run;
    char attack[64];
    int rows = planted_scores(row, o);
    for (int s = 0; s < o->datasets; s++) {
        TRY(planted_clean_run(&run, o, o->dataset[s]));
        TRY(plan_add_seeds(plan, &run, o->seeds));
    }
    for (enum study_plant plant = PLANT_RANDOM; plant <= PLANT_METATTACK; plant++) {
        int columns = planted_columns(column, v, plant, true);
        for (int i = 0; i < columns * rows; i++) {
            const struct score *score = row[i % rows];
            if (i % rows > 0 && strcmp(row[i % rows - 1]->model, score->model) == 0)
                continue; /* the same run has several scores */
            TRY(planted_run(&run, attack, o, &column[i / rows], score->model));
            TRY(plan_add_seeds(plan, &run, o->seeds));
        }
    }
done:
    return st;
}

static consm_status planted_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    for (int k = 0; k < options_splits(v->options); k++) {
        struct study_options o = options_with_split(v->options, k);
        struct study_view split = *v;
        split.options = &o;
        TRY(plan_split(plan, &split));
    }
done:
    return st;
}

/* ROC-AUC for edges between classes. */
static consm_status add_bars(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct findings f;
    const char *series[PLANTED_ROWS], *group[PLANTED_COLUMNS];
    char title[PLANTED_COLUMNS][96];
    TRY(findings_fill(&f, v, PLANT_BETWEEN, "auc"));
    for (int k = 0; k < f.rows; k++)
        series[k] = f.row[k]->title;
    for (int c = 0; c < f.columns; c++)
        group[c] = planted_title(title[c], &f.column[c]);
    struct bar_chart chart = {.words = {"planted-auc-bars",
                                        "Detection of edges planted between classes",
                                        "ROC-AUC on all edges; one half is chance.", NULL},
                              .y = {.label = "AUC", .fixed = true, .low = 0, .high = 1},
                              .group_label = "Dataset",
                              .group = group,
                              .series = series,
                              .groups = f.columns,
                              .series_count = f.rows};
    TRY(bars_figure(r, &chart, f.cell, 1, 1));
done:
    findings_free(&f);
    return st;
}

/* On how many columns no score is better than ConSM's trust, which is in the first row. */
static consm_status add_sentence(struct report *r, const struct study_view *v,
                                 enum study_plant plant)
{
    static const char *const what[] = {"edges planted between any two nodes",
                                       "edges planted between classes", "Metattack's edges"};
    consm_status st = CONSM_OK;
    struct findings f;
    struct view_words words;
    int first = 0, tied = 0, all = 0;
    TRY(findings_fill(&f, v, plant, "auc"));
    for (int c = 0; c < f.columns && f.rows > 1; c++) {
        if (f.cell[c * f.rows].n < GRID_ENOUGH)
            continue;
        all++;
        first += f.best[c] == 0;
        tied += f.best[c] != 0 && !grid_differs(f.p[c * f.rows]);
    }
    if (all > 0 && options_model(v->options, "consm"))
        report_summary(
            r,
            view_printf(&words,
                        "ConSM's trust finds %s best on %d of %d graphs; on %d others no score is "
                        "significantly better (AUC, paired Wilcoxon tests with Holm's correction).",
                        what[plant], first, all, tied));
done:
    findings_free(&f);
    return st;
}

static consm_status render_split(struct report *r, const struct study_view *v, bool first)
{
    consm_status st = CONSM_OK;
    struct column column[PLANTED_COLUMNS];
    struct view_words suffix = {""};
    if (!first)
        view_printf(&suffix, "-%s", v->options->split);
    for (enum study_plant plant = PLANT_RANDOM; plant <= PLANT_METATTACK; plant++) {
        if (planted_columns(column, v, plant, false) == 0)
            continue;
        TRY(planted_tables(r, v, plant, suffix.text));
        if (plant == PLANT_BETWEEN && first)
            TRY(add_bars(r, v));
        if (first)
            TRY(add_sentence(r, v, plant));
    }
    TRY(planted_details(r, v, suffix.text));
done:
    return st;
}

static consm_status planted_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    report_section(
        r, "Planted edges",
        "False edges are added to each graph, and every score should find them. They join any two "
        "nodes, or two nodes of different classes (drawn with true labels: an oracle's attack). "
        "For Metattack, published graphs are used (Zügner and Günnemann, ICLR 2019; files of Jin "
        "et "
        "al., KDD 2020). They were attacked for Pro-GNN's split: that of `prognn:` datasets with "
        "--split public. GNNGuard's weights (Zhang and Zitnik, NeurIPS 2020) are the cosines of "
        "features "
        "and of a trained GCN's hidden layer, 0 below 0.1, normalised over each node's neighbours; "
        "mean of both directions and layers.");
    for (int k = 0; k < options_splits(v->options); k++) {
        struct study_options o = options_with_split(v->options, k);
        struct study_view split = *v;
        split.options = &o;
        if (o.datasets > 0)
            TRY(render_split(r, &split, k == 0));
    }
done:
    return st;
}

const struct study_def study_planted = {
    .name = "planted",
    .title = "Planted edges",
    .about = "detection of false edges, and accuracy after dropping them",
    .open = planted_open,
    .plan = planted_plan,
    .render = planted_render,
};
