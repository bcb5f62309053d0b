/* The sentences about a grid of accuracies, from cells made by hand. */
#include "check.h"

#include "study/grid.h"

enum { SETS = 3, MODELS = 3, SEEDS = 7 };

static void is_said(const char *page, const char *sentence)
{
    if (!strstr(page, sentence))
        fail_msg("nobody says: %s\n%s", sentence, page);
}

/* Two homophilic sets and a heterophilic one. The seeds differ alike in every cell, so a lead is
 * significant where there is one. */
static void every_kind_has_its_best(void **state)
{
    (void)state;
    static const char *const name[MODELS] = {"mlp", "gcn", "consm"};
    static const char *const title[MODELS] = {"MLP", "GCN", "ConSM"};
    static const double homophily[SETS] = {0.8, 0.2, 0.5};
    static const double mean[SETS][MODELS] = {{0.5, 0.8, 0.9}, {0.7, 0.4, 0.6}, {0.5, 0.8, 0.8}};
    struct study_cell cell[SETS * MODELS];
    struct grid g = {.sets = SETS, .models = MODELS, .figure = GRID_ACCURACY, .cell = cell};
    struct report *r;
    struct text page = {0};
    for (int m = 0; m < MODELS; m++) {
        OK(model_find(&g.row[m].model, name[m]));
        snprintf(g.row[m].title, sizeof g.row[m].title, "%s", title[m]);
    }
    for (int s = 0; s < SETS; s++) {
        snprintf(g.title[s], sizeof g.title[s], "set %d", s);
        g.homophily[s] = homophily[s];
        for (int m = 0; m < MODELS; m++) {
            struct study_cell *c = &cell[s * MODELS + m];
            *c = (struct study_cell){.seeds = SEEDS};
            for (int i = 0; i < SEEDS; i++)
                c->value[i] = mean[s][m] + 0.001 * (i - SEEDS / 2);
            view_summarise(c);
        }
    }
    OK(report_new(&r, "grid"));
    grid_summary(r, &g);
    OK(report_to_terminal(&page, r, 0, false));
    is_said(text_string(&page),
            "On homophilic graphs (set 0, set 2) ConSM leads with 85.0 % on average, +5.0 points "
            "over GCN (significant on 1 of 2 datasets); second is GCN, 5.0 points behind "
            "(significant on 1 of 2).");
    is_said(text_string(&page),
            "On heterophilic graphs (set 1) MLP leads with 70.0 % on average, +30.0 points over "
            "GCN (significant on 1 of 1 dataset); second is ConSM, 10.0 points behind (significant "
            "on 1 of 1).");
    text_free(&page);
    report_free(r);
    /* Where the table's corrected p of a set says "level", so does the sentence. */
    double p[SETS * MODELS] = {0, 0.2, 1, 1, 0, 0, 0, 0, 1};
    g.p = p;
    g.best[0] = g.best[2] = 2;
    OK(report_new(&r, "grid"));
    grid_summary(r, &g);
    OK(report_to_terminal(&page, r, 0, false));
    is_said(text_string(&page), "+5.0 points over GCN (significant on 0 of 2 datasets)");
    is_said(text_string(&page), "+30.0 points over GCN (significant on 1 of 1 dataset)");
    text_free(&page);
    report_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_its_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
