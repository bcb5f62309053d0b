/* RQ2: how well models tell edges inside a class from edges between classes. The runs are those of
 * `accuracy`. */
#include "study/edges.h"

#include "match/trust.h"
#include "study/paper.h"
#include "study/task.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The models with their own edge coefficients, in the study's order. */
static int judges(const struct model_def **out, const struct study_options *o)
{
    int count = 0;
    for (int m = 0; m < o->models; m++)
        if (task_has_coefficients(o->model[m]))
            out[count++] = o->model[m];
    return count;
}

static consm_status plan_split(struct plan *plan, const struct study_options *o, bool first)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    for (int i = 0; i < o->datasets * o->models; i++) {
        const struct model_def *model = o->model[i % o->models];
        TRY(options_run(&run, o, TASK_TRAIN, o->dataset[i / o->models], model));
        run.keep_graph = first && strcmp(model->name, "consm") == 0;
        TRY(plan_add_seeds(plan, &run, o->seeds));
    }
done:
    return st;
}

static consm_status edges_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    for (int k = 0; k < options_splits(v->options); k++) {
        struct study_options o = options_with_split(v->options, k);
        TRY(plan_split(plan, &o, k == 0));
    }
done:
    return st;
}

static void add_row(struct judge *row, int *rows, const struct model_def *model, const char *source,
                    const char *words)
{
    row[*rows] = (struct judge){.model = model, .source = source};
    snprintf(row[*rows].title, sizeof row->title, "%s%s", view_model_title(model), words);
    ++*rows;
}

int edges_rows(struct judge *row, const struct study_options *o, bool agreement)
{
    const struct model_def *model[STUDY_MOST];
    int count = judges(model, o), rows = 0;
    for (int m = 0; m < count; m++)
        add_row(row, &rows, model[m], "coefficients", "");
    if (options_model(o, "consm"))
        add_row(row, &rows, options_model(o, "consm"), "trust", ", trust (all evidence)");
    for (int m = 0; m < o->models && agreement; m++)
        add_row(row, &rows, o->model[m], "agreement", ", agreement of predictions");
    return rows;
}

/* ConSM's trust and agreement, and every witness of trust alone; on edges with a test node, or all.
 */
static int witness_rows(struct judge *row, const struct study_options *o, bool test)
{
    const struct model_def *consm = options_model(o, "consm");
    int rows = 0;
    if (!consm)
        return 0;
    add_row(row, &rows, consm, "trust", ", trust (all evidence)");
    add_row(row, &rows, consm, "agreement", ", agreement of predictions");
    for (int w = 0; w < WITNESSES; w++) {
        row[rows] = (struct judge){.model = consm,
                                   .source = test ? "witnesses_test" : "witnesses",
                                   .figure = witness_names[w]};
        snprintf(row[rows].title, sizeof row->title, "Evidence: %s", witness_names[w]);
        rows++;
    }
    return rows;
}

consm_status edges_cell(struct study_cell *out, const struct study_view *v, const struct judge *j,
                        const char *dataset, const char *figure)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    char field[64];
    snprintf(field, sizeof field, "%s.%s", j->source, j->figure ? j->figure : figure);
    TRY(options_run(&run, v->options, TASK_TRAIN, dataset, j->model));
    TRY(view_cell(out, v, &run, v->options->seeds, field));
done:
    return st;
}

/* A line of chance levels, for figures that have one. */
static consm_status add_chance(struct table *t, const struct study_view *v,
                               const struct judge *judge)
{
    consm_status st = CONSM_OK;
    struct study_cell cell;
    table_row(t);
    table_text(t, "chance");
    table_mark(t, TABLE_MUTED);
    for (int s = 0; s < v->options->datasets; s++) {
        TRY(edges_cell(&cell, v, judge, v->options->dataset[s], "chance"));
        table_number(t, cell.mean, 3);
        table_mark(t, TABLE_MUTED);
    }
done:
    return st;
}

/* A figure of every score on every set; for ECE small is good. */
struct measure {
    const char *name, *caption, *figure;
    bool small;
    bool witnesses; /* the rows are trust and its witnesses */
};

static const struct measure measures[] = {
    {"edges-f1",
     "Edge F1 of the top k edges (k = number of edges within a class), all edges between labelled "
     "nodes",
     "f1", false, false},
    {"edges-auc", "ROC-AUC, edges with a test node", "auc_test", false, false},
    {"edges-auc-known", "ROC-AUC, edges between training and validation nodes", "auc_known", false,
     false},
    {"edges-calibration",
     "Expected calibration error on edges with a test node, after a logistic fit on validation "
     "edges",
     "ece", true, false},
    {"edges-witnesses", "ROC-AUC of trust and its evidence, edges with a test node", "auc_test",
     false, true},
    {"edges-witnesses-all", "ROC-AUC of trust and its evidence, all edges between labelled nodes",
     "auc", false, true},
};

static consm_status add_table(struct report *r, const struct study_view *v,
                              const struct measure *measure, const char *suffix)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct judge row[EDGES_ROWS];
    struct study_cell *cell = NULL; /* (datasets, rows) */
    double *p = NULL;               /* likewise */
    struct view_words name, caption;
    int best[STUDY_MOST] = {0};
    int rows = measure->witnesses ? witness_rows(row, o, strcmp(measure->figure, "auc_test") == 0)
                                  : edges_rows(row, o, true);
    char title[96];
    if (rows == 0)
        return CONSM_OK;
    view_printf(&name, "%s%s", measure->name, suffix);
    view_printf(&caption, "%s, split “%s”", measure->caption, o->split);
    TRY(ZNEW(cell, o->datasets * rows));
    TRY(NEW(p, o->datasets * rows));
    struct table *t = report_new_table(r, name.text, caption.text);
    table_column(t, "Scores", TABLE_LEFT, NULL);
    for (int s = 0; s < o->datasets; s++) {
        table_column(t, view_dataset_title(o->dataset[s], title), TABLE_RIGHT, NULL);
        for (int k = 0; k < rows; k++)
            TRY(edges_cell(&cell[s * rows + k], v, &row[k], o->dataset[s], measure->figure));
        TRY(view_against_best(&best[s], &p[s * rows], &cell[s * rows], rows, measure->small));
    }
    if (strcmp(measure->figure, "f1") == 0)
        TRY(add_chance(t, v, &row[rows - 1]));
    for (int k = 0; k < rows; k++) {
        table_row(t);
        table_text(t, row[k].title);
        for (int s = 0; s < o->datasets; s++) {
            const struct study_cell *c = &cell[s * rows + k];
            view_mean(t, c, 1, 3);
            table_mark(t, view_standing(&cell[s * rows], &p[s * rows], rows, best[s], k));
        }
    }
    table_remark(
        t, measure->witnesses
               ? "Trust combines all kinds of evidence; a value below one half means evidence for "
                 "the opposite."
               : "Agreement: Σ p_ik p_jk of the predicted probabilities. Like coefficients, it is "
                 "calibrated by a logistic fit on the validation edges that trust is fitted on.");
done:
    mem_free(cell);
    mem_free(p);
    return st;
}

/* The paper's claim is about coefficients. It holds if paired tests put ConSM's ahead of all
 * others. */
static consm_status add_claims(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct view_words claim, detail;
    struct judge row[EDGES_ROWS];
    struct study_cell *cell = NULL, chance;
    double *p = NULL;
    char title[96];
    int rows = edges_rows(row, o, false) - 1, ours = -1; /* trust is ours, not the paper's */
    if (!options_model(o, "consm") || rows < 2)
        return CONSM_OK;
    TRY(ZNEW(cell, rows));
    TRY(NEW(p, rows));
    for (int k = 0; k < rows; k++)
        ours = strcmp(row[k].model->name, "consm") == 0 ? k : ours;
    for (int s = 0; s < o->datasets; s++) {
        int best, rival = -1;
        for (int k = 0; k < rows; k++) {
            TRY(edges_cell(&cell[k], v, &row[k], o->dataset[s], "f1"));
            if (k != ours && cell[k].n > 0 && (rival < 0 || cell[k].mean > cell[rival].mean))
                rival = k;
        }
        TRY(view_against_best(&best, p, cell, rows, false));
        TRY(edges_cell(&chance, v, &row[ours], o->dataset[s], "chance"));
        if (cell[ours].n == 0 || rival < 0 || !paper_set(o->dataset[s]))
            continue;
        view_printf(&claim, "ConSM's coefficients find edges within classes best on %s.",
                    view_dataset_title(o->dataset[s], title));
        view_printf(&detail,
                    "F1 %.3f; the best of the others is %s with %.3f (p = %.3f); chance is %.3f.",
                    cell[ours].mean, row[rival].title, cell[rival].mean,
                    best == ours ? p[rival] : p[ours], chance.mean);
        report_claim(r, claim.text, best == ours && view_ahead_of_all(p, best, rows), detail.text);
    }
done:
    mem_free(cell);
    mem_free(p);
    return st;
}

/* The first set's F1 of trust, for the top of the report. */
static consm_status add_fact(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct judge row[EDGES_ROWS];
    struct study_cell cell, chance;
    struct view_words words, label, detail;
    char title[96];
    int rows = edges_rows(row, o, false);
    TRY(edges_cell(&cell, v, &row[rows - 1], o->dataset[0], "f1"));
    TRY(edges_cell(&chance, v, &row[rows - 1], o->dataset[0], "chance"));
    if (cell.n > 0) {
        view_printf(&label, "Edge F1 on %s", view_dataset_title(o->dataset[0], title));
        view_printf(&words, "%.2f", cell.mean);
        report_fact(r, words.text, label.text, view_printf(&detail, "chance: %.2f", chance.mean));
    }
done:
    return st;
}

/* One split: the tables; the first one also has the figures and the claims. */
static consm_status render_split(struct report *r, const struct study_view *v, bool first)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct view_words suffix = {""};
    if (!first)
        view_printf(&suffix, "-%s", o->split);
    for (size_t m = 0; m < sizeof measures / sizeof *measures; m++) {
        TRY(add_table(r, v, &measures[m], suffix.text));
        if (m == 0 && first)
            TRY(edges_bars(r, v));
    }
    for (int s = 0; s < o->datasets && first; s++)
        TRY(edges_reliability(r, v, o->dataset[s]));
    if (first) {
        TRY(add_claims(r, v));
        TRY(add_fact(r, v));
    }
done:
    return st;
}

static consm_status edges_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct judge row[EDGES_ROWS];
    report_section(r, "Edges (RQ2)",
                   "Can a model tell edges within a class from edges between classes? As in the "
                   "paper, F1 trusts the top k edges, where k is the true number of edges within a "
                   "class. Only an oracle knows k. Every table says which edges it measures.");
    if (edges_rows(row, v->options, false) == 0)
        return CONSM_OK;
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

const struct study_def study_edges = {
    .name = "edges",
    .title = "Edges (RQ2)",
    .about = "F1, AUC and calibration of edge scores (RQ2)",
    .plan = edges_plan,
    .render = edges_render,
};
