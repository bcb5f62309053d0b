/* The grid in words: for homophilic and for heterophilic graphs the best method, its lead over GCN
 * and over the next one, and whether the lead is significant. */
#include "study/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Mean over the sets of one kind; NaN if the model lacks one of them. */
static double mean_over(const struct grid *g, const bool *in, int model)
{
    double sum = 0;
    int count = 0;
    for (int s = 0; s < g->sets; s++)
        if (in[s]) {
            sum += grid_cell(g, s, model)->mean;
            count++;
        }
    return count ? sum / count : (double)NAN;
}

static int best_of(const struct grid *g, const bool *in, int but)
{
    int best = -1;
    for (int m = 0; m < g->models; m++) {
        double mean = mean_over(g, in, m);
        if (m != but && !isnan(mean) && (best < 0 || mean > mean_over(g, in, best)))
            best = m;
    }
    return best;
}

static int model_named(const struct grid *g, const char *name)
{
    for (int m = 0; m < g->models; m++)
        if (strcmp(g->row[m].model->name, name) == 0)
            return m;
    return -1;
}

/* p of models a and b on a set: the table's, which is corrected, where a is the best of the set, so
 * that sentence and table agree; else of this pair alone. NaN: unknown. */
static double p_of(const struct grid *g, int set, int a, int b)
{
    double p;
    if (g->p && g->best[set] == a)
        return g->p[set * g->models + b];
    if (view_compare(&p, grid_cell(g, set, a), grid_cell(g, set, b)) < 0)
        return (double)NAN;
    return p;
}

/* On how many sets a is significantly better than b. */
static int wins(const struct grid *g, const bool *in, int a, int b)
{
    int count = 0;
    for (int s = 0; s < g->sets; s++) {
        if (in[s] && grid_cell(g, s, a)->mean > grid_cell(g, s, b)->mean)
            count += grid_differs(p_of(g, s, a, b));
    }
    return count;
}

static void list_sets(char *text, size_t size, const struct grid *g, const bool *in)
{
    size_t used = 0;
    text[0] = 0;
    for (int s = 0; s < g->sets; s++)
        if (in[s] && used < size)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", g->title[s]);
}

static void describe_kind(struct report *r, const struct grid *g, const bool *in, const char *kind)
{
    struct view_words words, label;
    char sets[200], against[160] = "";
    int count = 0;
    for (int s = 0; s < g->sets; s++)
        count += in[s];
    int best = best_of(g, in, -1), gcn = model_named(g, "gcn");
    if (count == 0 || best < 0)
        return;
    int next = best_of(g, in, best);
    const char *name = g->row[best].title;
    list_sets(sets, sizeof sets, g, in);
    if (gcn >= 0 && gcn != best && !isnan(mean_over(g, in, gcn)))
        snprintf(against, sizeof against,
                 ", %+.1f points over GCN (significant on %d of %d dataset%s)",
                 100 * (mean_over(g, in, best) - mean_over(g, in, gcn)), wins(g, in, best, gcn),
                 count, count == 1 ? "" : "s");
    view_printf(&words, "On %s graphs (%s) %s leads with %.1f %% on average%s", kind, sets, name,
                100 * mean_over(g, in, best), against);
    size_t used = strlen(words.text);
    if (next >= 0)
        snprintf(words.text + used, sizeof words.text - used,
                 "; second is %s, %.1f points behind (significant on %d of %d).",
                 g->row[next].title, 100 * (mean_over(g, in, best) - mean_over(g, in, next)),
                 wins(g, in, best, next), count);
    else
        snprintf(words.text + used, sizeof words.text - used, ".");
    report_summary(r, words.text);
    view_printf(&label, "Best on %s graphs", kind);
    if (next >= 0)
        view_printf(&words, "%.1f %%, %.1f points over %s", 100 * mean_over(g, in, best),
                    100 * (mean_over(g, in, best) - mean_over(g, in, next)), g->row[next].title);
    else
        view_printf(&words, "%.1f %%", 100 * mean_over(g, in, best));
    report_fact(r, name, label.text, words.text);
}

void grid_summary(struct report *r, const struct grid *g)
{
    bool homophilic[STUDY_MOST] = {0}, heterophilic[STUDY_MOST] = {0};
    int64_t seeds = g->sets && g->models ? g->cell[0].seeds : 0;
    for (int s = 0; s < g->sets; s++) {
        homophilic[s] = g->homophily[s] >= 0.5;
        heterophilic[s] = g->homophily[s] < 0.5;
    }
    describe_kind(r, g, homophilic, "homophilic");
    describe_kind(r, g, heterophilic, "heterophilic");
    if (seeds > 0 && seeds < GRID_ENOUGH)
        report_summary(r, "With fewer than six seeds, the paired test cannot find a significant "
                          "difference; the leads above may be chance.");
}
