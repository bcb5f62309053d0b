/* Trust against its witnesses one by one. */
#include "study/edges.h"

#include "match/trust.h"
#include <stdio.h>

enum { ROWS = 2 + WITNESSES };

/* Row 0 is trust, row 1 the agreement of ConSM's predictions; test: edges with a test node. */
static void field_of(char field[64], int row, bool test)
{
    if (row < 2)
        snprintf(field, 64, "%s.auc%s", row == 0 ? "trust" : "agreement", test ? "_test" : "");
    else
        snprintf(field, 64, "witnesses%s.%s", test ? "_test" : "", witness_names[row - 2]);
}

static void title_of(char title[64], int row)
{
    if (row < 2)
        snprintf(title, 64, "%s", row == 0 ? "Trust" : "Agreement of predictions");
    else
        snprintf(title, 64, "Witness: %s", witness_names[row - 2]);
}

static consm_status add_table(struct report *r, const struct study_view *v, const char *suffix,
                              bool test)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct study_cell *cell = NULL; /* (datasets, ROWS) */
    double *p = NULL;               /* likewise */
    struct table *t = NULL;
    struct study_run run;
    struct view_words name, caption;
    char field[64], title[96];
    int best[STUDY_MOST];
    TRY(ZNEW(cell, o->datasets * ROWS));
    TRY(NEW(p, o->datasets * ROWS));
    view_printf(&name, "edges-witnesses%s%s", test ? "" : "-all", suffix);
    view_printf(&caption,
                "ConSM's trust against its witnesses: area under the ROC curve, %s, split "
                "“%s”",
                test ? "edges with a test node" : "all edges between labelled nodes", o->split);
    TRY(table_new(&t, name.text, caption.text));
    table_column(t, "Scores", TABLE_LEFT, NULL);
    for (int s = 0; s < o->datasets; s++) {
        table_column(t, view_dataset_title(o->dataset[s], title), TABLE_RIGHT, NULL);
        TRY(options_run(&run, o, TASK_TRAIN, o->dataset[s], options_model(o, "consm")));
        for (int k = 0; k < ROWS; k++) {
            field_of(field, k, test);
            TRY(view_cell(&cell[s * ROWS + k], v, &run, o->seeds, field));
        }
        TRY(view_against_best(&best[s], &p[s * ROWS], &cell[s * ROWS], ROWS, false));
    }
    for (int k = 0; k < ROWS; k++) {
        table_row(t);
        title_of(title, k);
        table_text(t, title);
        for (int s = 0; s < o->datasets; s++) {
            const struct study_cell *c = &cell[s * ROWS + k];
            if (c->n == 0) {
                table_empty(t);
                continue;
            }
            table_mean(t, c->mean, c->std, 3);
            table_mark(t, view_standing(&cell[s * ROWS], &p[s * ROWS], ROWS, best[s], k));
        }
    }
    table_remark(t, "What a witness says: docs/models.md. Trust weighs them all, fitted on edges "
                    "between training and validation nodes.");
    report_table(r, t);
    t = NULL;
done:
    table_free(t);
    mem_free(cell);
    mem_free(p);
    return st;
}

consm_status edges_witnesses(struct report *r, const struct study_view *v, const char *suffix)
{
    consm_status st = CONSM_OK;
    if (!options_model(v->options, "consm"))
        return CONSM_OK;
    TRY(add_table(r, v, suffix, true));
    TRY(add_table(r, v, suffix, false));
done:
    return st;
}
