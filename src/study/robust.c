/* Attacks from the literature and our own: the remaining accuracy by method; whether ConSM does
 * better than a GCN on ConSM's clean graph; and the trust of added edges. */
#include "study/robust.h"

#include "study/lines.h"
#include "study/published.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static consm_status robust_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct robust_table table[ROBUST_TABLES];
    struct robust_column column[ROBUST_COLUMNS];
    struct robust_row row[ROBUST_ROWS];
    struct study_run run;
    char attack[64];
    int tables = robust_tables(table, v);
    for (int t = 0; t < tables; t++) {
        int columns = robust_columns(column, &table[t], v);
        int rows = robust_rows(row, v->options, table[t].plant);
        for (int i = 0; i < columns * rows; i++) {
            if (strcmp(row[i % rows].field, "test_acc") != 0)
                continue; /* a figure of the previous run */
            TRY(robust_run(&run, attack, v->options, &column[i / rows], row[i % rows].model));
            TRY(plan_add_seeds(plan, &run, v->options->seeds));
        }
    }
done:
    return st;
}

/* ---- accuracies ------------------------------------------------------------------------------ */

/* The cells of a table, and tests against the best of each column. */
struct accuracies {
    struct robust_column column[ROBUST_COLUMNS];
    struct robust_row row[ROBUST_ROWS];
    int columns, rows;
    struct study_cell *cell; /* (columns, rows) */
    double *p;               /* likewise */
    int best[ROBUST_COLUMNS];
};

static void accuracies_free(struct accuracies *a)
{
    mem_free(a->cell);
    mem_free(a->p);
}

static consm_status accuracies_fill(struct accuracies *a, const struct study_view *v,
                                    const struct robust_table *t)
{
    consm_status st = CONSM_OK;
    a->cell = NULL;
    a->p = NULL;
    a->columns = robust_columns(a->column, t, v);
    a->rows = robust_rows(a->row, v->options, t->plant);
    TRY(ZNEW(a->cell, a->columns * a->rows));
    TRY(NEW(a->p, a->columns * a->rows));
    for (int c = 0; c < a->columns; c++) {
        struct study_cell *cell = &a->cell[c * a->rows];
        for (int k = 0; k < a->rows; k++)
            TRY(robust_cell(&cell[k], v, &a->column[c], a->row[k].model, a->row[k].field));
        TRY(view_against_best(&a->best[c], &a->p[c * a->rows], cell, a->rows, false));
    }
done:
    return st;
}

static void add_rows(struct table *t, const struct accuracies *a)
{
    for (int k = 0; k < a->rows; k++) {
        table_row(t);
        table_text(t, a->row[k].title);
        for (int c = 0; c < a->columns; c++) {
            const struct study_cell *cell = &a->cell[c * a->rows + k];
            view_mean(t, cell, 100, 1);
            table_mark(t, view_standing(&a->cell[c * a->rows], &a->p[c * a->rows], a->rows,
                                        a->best[c], k));
            view_note_missing(t, cell);
        }
    }
}

/* Published results for the same files. */
static void add_printed(struct table *t, const struct accuracies *a)
{
    struct view_words words;
    for (int m = 0; published_method(m); m++) {
        table_row(t);
        table_text(t, view_printf(&words, "%s (published)", published_method(m)));
        table_mark(t, TABLE_MUTED);
        for (int c = 0; c < a->columns; c++) {
            double printed = published_accuracy(a->column[c].dataset, m, a->column[c].rate);
            if (isnan(printed))
                table_empty(t);
            else
                table_number(t, printed, 1);
            table_mark(t, TABLE_MUTED);
        }
    }
    table_remark(t, view_printf(&words, "“Published”: results of others, not measured here: %s.",
                                published_source));
}

/* "robust-metattack-cora" */
static void name_table(struct view_words *name, const struct robust_table *t)
{
    if (t->dataset)
        view_printf(name, "robust-%s-%.*s", plan_plant_name(t->plant),
                    (int)strcspn(t->dataset + 7, "-"), t->dataset + 7);
    else
        view_printf(name, "robust-%s", plan_plant_name(t->plant));
}

static const char *about(enum study_plant plant)
{
    switch (plant) {
    case PLANT_METATTACK:
        return "The column head gives the share of changed edges. Split: 10 % training, 10 % "
               "validation, 80 % test.";
    case PLANT_NETTACK:
        return "Accuracy on the attacked nodes only. The column head gives the number of changed "
               "edges per node.";
    case PLANT_DICE:
        return "Half of the budget removes edges within classes, the other half joins different "
               "classes. The attacker knows every label.";
    case PLANT_PGD:
        return "The attacker trains a GCN on the clean graph, knows the training labels, uses the "
               "GCN's predictions for all other nodes, and follows its gradient.";
    case PLANT_TRUSTED_GCN:
        return "The attacker knows every label, trains a GCN on the clean graph, and joins only "
               "pairs of different classes for which the GCN's agreement is at least one half and "
               "whose features are as similar as those of the median edge.";
    case PLANT_TRUSTED_CONSM:
        return "The attacker knows every label, trains ConSM on the clean graph, and joins only "
               "pairs of different classes whose trust reaches ConSM's threshold.";
    default: return "Edges are added between random nodes.";
    }
}

static void add_figure(struct report *r, const struct accuracies *a, const char *name,
                       const struct robust_table *table)
{
    static const char *const shown[] = {"GCN", "GCN-Jaccard", "ConSM",
                                        "GCN on the graph cleaned by ConSM"};
    struct study_line line[5];
    struct view_words full, head;
    char title[96];
    int lines = 0;
    for (int k = 0; k < a->rows; k++)
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
            if (strcmp(shown[i], a->row[k].title) != 0 || lines == 4)
                continue;
            line[lines] =
                (struct study_line){.name = shown[i], .strong = strcmp(shown[i], "ConSM") == 0};
            for (int c = 0; c < a->columns; c++)
                lines_add(&line[lines], 100 * a->column[c].rate, &a->cell[c * a->rows + k], 100);
            lines++;
        }
    view_printf(&full, "%s-lines", name);
    view_printf(&head, "%s: accuracy under Metattack", view_dataset_title(table->dataset, title));
    struct line_chart chart = {
        .words = {full.text, head.text, "Test accuracy by share of changed edges.", NULL},
        .x = {.label = "Changed edges", .unit = "%"},
        .y = {.label = "Test accuracy", .unit = "%"}};
    if (lines > 0)
        lines_figure(r, &chart, line, lines);
}

static consm_status add_table(struct report *r, const struct study_view *v,
                              const struct robust_table *table)
{
    consm_status st = CONSM_OK;
    struct accuracies *a = NULL;
    struct view_words name, caption;
    char title[128], set[96];
    TRY(ZNEW(a, 1));
    TRY(accuracies_fill(a, v, table));
    name_table(&name, table);
    view_printf(&caption, "Test accuracy (%%) under attack: %s%s%s", robust_attack(table->plant),
                table->dataset ? ", " : "",
                table->dataset ? view_dataset_title(table->dataset, set) : "");
    struct table *t = report_new_table(r, name.text, caption.text);
    table_column(t, "Method", TABLE_LEFT, NULL);
    for (int c = 0; c < a->columns; c++)
        table_column(t, robust_title(title, &a->column[c], !table->dataset), TABLE_RIGHT, NULL);
    add_rows(t, a);
    if (table->plant == PLANT_METATTACK)
        add_printed(t, a);
    table_remark(t, about(table->plant));
    table_remark(t, v->options->seeds < VIEW_ENOUGH
                        ? "Too few seeds to test differences."
                        : "Ties with the best: p ≥ 0.05 in paired Wilcoxon tests over the same "
                          "seeds, Holm-corrected within a column.");
    if (table->plant == PLANT_METATTACK)
        add_figure(r, a, name.text, table);
done:
    if (a)
        accuracies_free(a);
    mem_free(a);
    return st;
}

/* ---- ConSM against one other ----------------------------------------------------------------- */

enum verdict { LEVEL, AHEAD, BEHIND };

static enum verdict verdict(const struct robust_pairs *p, int c)
{
    if (!(p->holm[c] < 0.05))
        return LEVEL;
    return p->ours[c].mean > p->theirs[c].mean ? AHEAD : BEHIND;
}

/* Set, attack, strength: the headers of rows over attacked graphs. */
static void add_heads(struct table *t)
{
    table_column(t, "Graph", TABLE_LEFT, NULL);
    table_column(t, "Attack", TABLE_LEFT, NULL);
    table_column(t, "Strength", TABLE_LEFT, "changed edges per edge of the graph");
}

static void begin_row(struct table *t, const struct robust_column *c)
{
    char title[128];
    table_row(t);
    table_text(t, view_dataset_title(c->dataset, title));
    table_text(t, robust_attack(c->rate > 0 ? c->plant : PLANT_NOTHING));
    table_text(t, robust_title(title, c, false));
}

static void add_pair(struct table *t, const struct robust_pairs *p, int c)
{
    static const char *const word[] = {"level", "ahead", "behind"};
    const struct robust_column *column = &p->column[c];
    begin_row(t, column);
    table_mean(t, 100 * p->ours[c].mean, 100 * p->ours[c].std, 1);
    table_mean(t, 100 * p->theirs[c].mean, 100 * p->theirs[c].std, 1);
    table_number(t, 100 * (p->ours[c].mean - p->theirs[c].mean), 1);
    table_number(t, p->p[c], 4);
    table_number(t, p->holm[c], 4);
    table_text(t, p->ours[c].n < VIEW_ENOUGH ? "too few runs" : word[verdict(p, c)]);
}

static consm_status add_pairs(struct report *r, const struct study_view *v, const char *name,
                              const char *model, const char *field, const char *title)
{
    consm_status st = CONSM_OK;
    struct robust_pairs *p = NULL;
    struct view_words words;
    int count[3] = {0, 0, 0}, tested = 0;
    TRY(ZNEW(p, 1));
    TRY(robust_pairs_fill(p, v, model, field));
    if (p->count == 0)
        goto done;
    struct table *t =
        report_new_table(r, name, view_printf(&words, "ConSM compared with %s", title));
    add_heads(t);
    table_column(t, "ConSM", TABLE_RIGHT, "test accuracy in percent");
    table_column(t, title, TABLE_RIGHT, "test accuracy in percent");
    table_column(t, "Difference", TABLE_RIGHT, "in points");
    table_column(t, "p", TABLE_RIGHT, "paired Wilcoxon test over the seeds");
    table_column(t, "p (Holm)", TABLE_RIGHT, "corrected over all rows of this table");
    table_column(t, "ConSM is", TABLE_LEFT, "at 0.05, with the corrected p");
    for (int c = 0; c < p->count; c++) {
        if (p->ours[c].n == 0 || p->theirs[c].n == 0)
            continue;
        add_pair(t, p, c);
        tested += p->ours[c].n >= VIEW_ENOUGH;
        count[verdict(p, c)]++;
    }
    if (tested > 0)
        report_summary(r, view_printf(&words,
                                      "Under attack, ConSM is better than %s on %d of %d graphs, "
                                      "worse on %d (paired Wilcoxon tests, Holm over all graphs).",
                                      title, count[AHEAD], tested, count[BEHIND]));
done:
    if (p)
        robust_pairs_free(p);
    mem_free(p);
    return st;
}

/* ---- what trust says ------------------------------------------------------------------------- */

static consm_status add_trust(struct report *r, const struct study_view *v)
{
    static const char *const field[] = {"injected", "removed", "trust.auc", "trust.passed",
                                        "clean.kept"};
    static const char *const head[] = {"Added", "Removed", "AUC", "Passed", "Kept"};
    consm_status st = CONSM_OK;
    const struct model_def *consm = options_model(v->options, "consm");
    struct robust_table table[ROBUST_TABLES];
    struct robust_column column[ROBUST_COLUMNS];
    struct study_cell cell;
    int tables = consm ? robust_tables(table, v) : 0;
    if (tables == 0)
        return CONSM_OK;
    struct table *t = report_new_table(r, "robust-trust", "Response of ConSM's trust to an attack");
    add_heads(t);
    for (int i = 0; i < 5; i++)
        table_column(t, head[i], TABLE_RIGHT, NULL);
    for (int k = 0; k < tables; k++) {
        int columns = robust_columns(column, &table[k], v);
        for (int c = 0; c < columns; c++) {
            TRY(robust_cell(&cell, v, &column[c], consm, "injected"));
            if (column[c].rate == 0 || cell.n == 0)
                continue;
            begin_row(t, &column[c]);
            for (int i = 0; i < 5; i++) {
                TRY(robust_cell(&cell, v, &column[c], consm, field[i]));
                if (cell.n == 0)
                    table_empty(t);
                else
                    table_number(t, cell.mean, i < 2 ? 0 : 3);
            }
        }
    }
    table_remark(t, "Means over the seeds. Added, removed: edges of the attack. AUC: the graph's "
                    "own edges against added ones, ranked by trust. Passed: share of added edges "
                    "that trust keeps. Kept: share of all edges.");
done:
    return st;
}

/* The result of attackers who know trust, one sentence each, whatever it is. */
static consm_status add_knowing(struct report *r, const struct study_view *v,
                                enum study_plant plant)
{
    consm_status st = CONSM_OK;
    const struct model_def *model[2] = {options_model(v->options, "consm"),
                                        options_model(v->options, "gcn")};
    struct robust_column column[ROBUST_COLUMNS];
    struct study_cell cell;
    struct view_words words;
    double clean[2] = {0, 0}, attacked[2] = {0, 0};
    int sets = 0;
    if (!model[0] || !model[1])
        return CONSM_OK;
    int columns = robust_columns(column, &(struct robust_table){plant, NULL}, v);
    for (int c = 0; c + 1 < columns; c++) {
        bool last = c + 2 == columns || column[c + 2].rate == 0; /* of the set: the strongest */
        for (int first = c; last && first >= 0; first--)
            if (column[first].rate == 0) {
                for (int m = 0; m < 2; m++) {
                    TRY(robust_cell(&cell, v, &column[first], model[m], "test_acc"));
                    clean[m] += cell.mean;
                    TRY(robust_cell(&cell, v, &column[c + 1], model[m], "test_acc"));
                    attacked[m] += cell.mean;
                }
                sets++;
                break;
            }
    }
    if (sets > 0 && !isnan(clean[0] + clean[1] + attacked[0] + attacked[1]))
        report_summary(
            r, view_printf(&words,
                           "An attacker who adds only trusted edges (%s, up to 25 %% of the edges) "
                           "costs ConSM %.1f points and a GCN %.1f, on average over %d graph%s.",
                           plant == PLANT_TRUSTED_GCN ? "found by a surrogate"
                                                      : "found by ConSM itself",
                           100 * (clean[0] - attacked[0]) / sets,
                           100 * (clean[1] - attacked[1]) / sets, sets, sets == 1 ? "" : "s"));
done:
    return st;
}

static consm_status robust_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct robust_table table[ROBUST_TABLES];
    int tables = robust_tables(table, v);
    report_section(
        r, "Attacks",
        "Every method on attacked graphs. Published attacks are Pro-GNN's files with its splits; "
        "the others are computed here on the clean graph. DICE and the attackers who know ConSM's "
        "trust read true labels. Every method is then trained on the attacked graph. GCN-Jaccard "
        "drops edges whose features overlap by less than 1 %. GCN-SVD "
        "keeps the largest entries, ten per edge, of the approximation of rank 5, 15 or 50, chosen "
        "by validation. GNNGuard's cleaning drops edges that one of its layers prunes. ConSM's "
        "clean graph is the one of `consm clean`.");
    for (int t = 0; t < tables; t++)
        TRY(add_table(r, v, &table[t]));
    TRY(add_pairs(r, v, "robust-pairs", "consm", "clean.acc", "a GCN on its own clean graph"));
    TRY(add_pairs(r, v, "robust-pairs-gcn", "gcn", "test_acc", "a GCN"));
    TRY(add_trust(r, v));
    TRY(add_knowing(r, v, PLANT_TRUSTED_GCN));
    TRY(add_knowing(r, v, PLANT_TRUSTED_CONSM));
done:
    return st;
}

const struct study_def study_robust = {
    .name = "robust",
    .title = "Attacks",
    .about = "accuracy under published attacks and our own, by method",
    .open = robust_open,
    .plan = robust_plan,
    .render = robust_render,
};
