/* The tables of planted edges. */
#include "study/grid.h"
#include "study/planted.h"

#include <stdio.h>

/* A row of plain accuracies: a GCN on the clean graph, a model on the planted one. */
static consm_status add_reference(struct table *t, const struct study_view *v,
                                  const struct findings *f, const char *title, const char *model)
{
    consm_status st = CONSM_OK;
    struct study_cell cell;
    struct study_run run;
    char attack[64];
    table_row(t);
    table_text(t, title);
    for (int c = 0; c < f->columns; c++) {
        if (model)
            TRY(planted_run(&run, attack, v->options, &f->column[c], model));
        else
            TRY(planted_clean_run(&run, v->options, f->column[c].dataset));
        TRY(view_cell(&cell, v, &run, v->options->seeds, "test_acc"));
        view_mean(t, &cell, 100, 1);
        table_mark(t, TABLE_MUTED);
    }
done:
    return st;
}

static consm_status add_references(struct table *t, const struct study_view *v,
                                   const struct findings *f)
{
    consm_status st = CONSM_OK;
    TRY(add_reference(t, v, f, "GCN, clean graph", NULL));
    if (options_model(v->options, "gcn"))
        TRY(add_reference(t, v, f, "GCN, planted graph", "gcn"));
    if (options_model(v->options, "consm"))
        TRY(add_reference(t, v, f, "ConSM, planted graph", "consm"));
done:
    return st;
}

/* The figure of a table. */
struct measure {
    const char *figure, *name, *caption, *remark;
    bool accuracy; /* in percent, beside the accuracies without dropping */
    bool oracle;   /* uses the number of planted edges, which is unknown in practice */
};

static const struct measure measures[] = {
    {"auc", "auc", "ROC-AUC, planted edges against the graph's own, all edges",
     "0.5 is chance; the graph's own edges should score above planted ones.", false, false},
    {"precision", "precision", "Share of planted edges among the lowest scores",
     "Among the k lowest scores, k = number of planted edges, which only an oracle knows.", false,
     true},
    {"dropped_acc", "accuracy", "Test accuracy (%) of a GCN without the lowest-scored edges",
     "Drops the k lowest-scored edges, k = number of planted edges, which only an oracle knows.",
     true, true},
    {"rule_acc", "rule",
     "Test accuracy (%) of a GCN without the edges that each score's own rule distrusts",
     "Edges kept by each rule. ConSM: the share ζ, estimated from labels. GAM, PTDNet and "
     "agreement: scores of at least 1/2. FAGCN: scores that are not negative. Jaccard: edges whose "
     "ends share a feature. GNNGuard: edges that no layer prunes. GAT and the cosine have no rule.",
     true, false},
};

static void fill_row(struct table *t, const struct findings *f, int k, const struct measure *m)
{
    table_row(t);
    table_text(t, f->row[k]->title);
    for (int c = 0; c < f->columns; c++) {
        const struct study_cell *cell = &f->cell[c * f->rows + k];
        view_mean(t, cell, m->accuracy ? 100 : 1, m->accuracy ? 1 : 3);
        table_mark(
            t, view_standing(&f->cell[c * f->rows], &f->p[c * f->rows], f->rows, f->best[c], k));
        if (m->oracle && cell->n > 0)
            table_mark(t, TABLE_ORACLE);
        view_note_missing(t, cell);
    }
}

static consm_status add_table(struct report *r, const struct study_view *v, enum study_plant plant,
                              const struct measure *m, const char *suffix)
{
    static const char *const what[] = {"edges between any two nodes", "edges between classes",
                                       "Metattack"};
    consm_status st = CONSM_OK;
    struct findings f;
    struct view_words name, caption;
    char title[96], share[32] = "";
    TRY(findings_fill(&f, v, plant, m->figure));
    if (plant != PLANT_METATTACK && f.columns > 0)
        snprintf(share, sizeof share, ", %g %%", 100 * f.column[0].rate);
    view_printf(&name, "planted-%s-%s%s", m->name, plan_plant_name(plant), suffix);
    view_printf(&caption, "%s: %s%s, split “%s”", m->caption, what[plant], share,
                v->options->split);
    struct table *t = report_new_table(r, name.text, caption.text);
    table_column(t, "Scores", TABLE_LEFT, NULL);
    for (int c = 0; c < f.columns; c++)
        table_column(t, planted_title(title, &f.column[c]), TABLE_RIGHT, NULL);
    if (m->accuracy)
        TRY(add_references(t, v, &f));
    for (int k = 0; k < f.rows; k++)
        fill_row(t, &f, k, m);
    table_remark(t, m->remark);
    table_remark(t, v->options->seeds < GRID_ENOUGH
                        ? "Too few seeds to test differences."
                        : "Ties with the best: p ≥ 0.05 in paired Wilcoxon tests over the same "
                          "seeds, Holm-corrected within a column.");
done:
    findings_free(&f);
    return st;
}

consm_status planted_tables(struct report *r, const struct study_view *v, enum study_plant plant,
                            const char *suffix)
{
    consm_status st = CONSM_OK;
    for (size_t m = 0; m < sizeof measures / sizeof *measures; m++)
        TRY(add_table(r, v, plant, &measures[m], suffix));
done:
    return st;
}

consm_status planted_details(struct report *r, const struct study_view *v, const char *suffix)
{
    static const char *const figure[] = {"auc",      "precision", "dropped_acc",
                                         "rule_acc", "rule_kept", "rule_found"};
    static const char *const head[] = {"AUC",         "Precision", "Dropped",
                                       "By own rule", "Kept",      "Found"};
    consm_status st = CONSM_OK;
    const struct score *row[PLANTED_ROWS];
    struct column column[PLANTED_COLUMNS];
    struct study_cell cell;
    struct view_words name, caption;
    char title[96];
    int rows = planted_scores(row, v->options);
    view_printf(&name, "planted-details%s", suffix);
    view_printf(&caption, "All planted graphs and scores, split “%s”", v->options->split);
    struct table *t = report_new_table(r, name.text, caption.text);
    table_column(t, "Dataset", TABLE_LEFT, NULL);
    table_column(t, "Planted", TABLE_LEFT, NULL);
    table_column(t, "Rate", TABLE_RIGHT, "planted edges per edge of the graph");
    table_column(t, "Scores", TABLE_LEFT, NULL);
    for (int i = 0; i < 6; i++)
        table_column(t, head[i], TABLE_RIGHT, NULL);
    for (enum study_plant plant = PLANT_RANDOM; plant <= PLANT_METATTACK; plant++) {
        int columns = planted_columns(column, v, plant, true);
        for (int i = 0; i < columns * rows; i++) {
            const struct column *c = &column[i / rows];
            TRY(planted_cell(&cell, v, c, row[i % rows], "auc"));
            if (cell.n == 0)
                continue;
            table_row(t);
            table_text(t, view_dataset_title(c->dataset, title));
            table_text(t, plan_plant_name(plant));
            table_number(t, c->rate, 2);
            table_text(t, row[i % rows]->title);
            for (int k = 0; k < 6; k++) {
                TRY(planted_cell(&cell, v, c, row[i % rows], figure[k]));
                if (cell.n == 0)
                    table_empty(t);
                else
                    table_number(t, cell.mean, 3);
            }
        }
    }
    table_remark(t, "Means over the seeds, as shares of 1. Dropped, by own rule: test accuracy of "
                    "a GCN without the distrusted edges. Kept: share of edges that the rule "
                    "trusts. Found: share of planted edges that it distrusts.");
done:
    return st;
}
