/* Looks results up, and provides display names. */
#include "study/study.h"

#include "data/registry/registry.h"
#include "study/published.h"
#include "study/task.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

consm_status view_record(const json_t **out, const struct study_view *v,
                         const struct study_run *run)
{
    return execute_find(out, v->runs, run, v->hashes);
}

/* "trust.auc" is the figure auc of the object trust. */
static double figure_of(const json_t *record, const char *field)
{
    const char *dot = strchr(field, '.');
    char outer[32];
    if (!dot)
        return task_value(record, field);
    snprintf(outer, sizeof outer, "%.*s", (int)(dot - field), field);
    return task_value(json_object_get(record, outer), dot + 1);
}

void view_summarise(struct study_cell *cell)
{
    double there[STUDY_MOST_SEEDS];
    cell->n = 0;
    for (int64_t i = 0; i < cell->seeds; i++)
        if (!isnan(cell->value[i]))
            there[cell->n++] = cell->value[i];
    cell->mean = stats_mean(there, cell->n);
    cell->std = stats_std(there, cell->n);
    cell->interval = stats_t_interval(there, cell->n, 0.95);
}

consm_status view_cell(struct study_cell *out, const struct study_view *v,
                       const struct study_run *run, int64_t seeds, const char *field)
{
    consm_status st = CONSM_OK;
    struct study_run one = *run;
    const json_t *record;
    *out = (struct study_cell){.seeds = seeds};
    for (int64_t i = 0; i < seeds; i++) {
        one.seed = (uint64_t)i;
        TRY(view_record(&record, v, &one));
        out->value[i] = record ? figure_of(record, field) : (double)NAN;
    }
    view_summarise(out);
done:
    return st;
}

void view_mean(struct table *t, const struct study_cell *cell, double scale, int decimals)
{
    if (cell->n == 0)
        table_empty(t);
    else
        table_mean(t, scale * cell->mean, scale * cell->std, decimals);
}

void view_note_missing(struct table *t, const struct study_cell *cell)
{
    struct view_words words;
    if (cell->n > 0 && cell->n < cell->seeds)
        table_note(t, view_printf(&words, "only %d of %d runs", (int)cell->n, (int)cell->seeds));
}

consm_status view_compare(double *p, const struct study_cell *a, const struct study_cell *b)
{
    consm_status st = CONSM_OK;
    double x[STUDY_MOST_SEEDS], y[STUDY_MOST_SEEDS];
    struct stats_wilcoxon test;
    int64_t n = 0;
    for (int64_t i = 0; i < a->seeds && i < b->seeds; i++)
        if (!isnan(a->value[i]) && !isnan(b->value[i])) {
            x[n] = a->value[i];
            y[n++] = b->value[i];
        }
    *p = (double)NAN;
    if (n < 2)
        goto done;
    TRY(stats_wilcoxon(&test, x, y, n));
    *p = test.p;
done:
    return st;
}

consm_status view_above(bool *above, double *p, const struct study_cell *a,
                        const struct study_cell *b)
{
    consm_status st = view_compare(p, a, b);
    *above = st == CONSM_OK && *p < 0.05 && a->mean > b->mean;
    return st;
}

consm_status view_against_best(int *best, double *p, const struct study_cell *cell, int count,
                               bool small)
{
    consm_status st = CONSM_OK;
    *best = -1;
    for (int k = 0; k < count; k++)
        if (cell[k].n > 0 && (*best < 0 || (small ? cell[k].mean < cell[*best].mean
                                                  : cell[k].mean > cell[*best].mean)))
            *best = k;
    for (int k = 0; k < count; k++) {
        p[k] = (double)NAN;
        if (*best >= 0 && k != *best)
            TRY(view_compare(&p[k], &cell[k], &cell[*best]));
    }
    TRY(stats_holm(p, p, count));
done:
    return st;
}

bool view_ahead_of_all(const double *p, int best, int count)
{
    int tested = 0;
    for (int k = 0; k < count; k++) {
        if (k == best || isnan(p[k]))
            continue;
        if (p[k] >= 0.05)
            return false;
        tested++;
    }
    return tested > 0;
}

/* A mean as tables show it: in thousandths. */
static long as_shown(double mean)
{
    return lround(1000 * mean);
}

unsigned view_standing(const struct study_cell *cell, const double *p, int count, int best, int k)
{
    int equal = 0;
    if (best < 0 || cell[k].n == 0)
        return 0;
    for (int i = 0; i < count; i++)
        equal += cell[i].n > 0 && as_shown(cell[i].mean) == as_shown(cell[best].mean);
    if (k == best && equal == 1)
        return TABLE_BEST;
    if (as_shown(cell[k].mean) == as_shown(cell[best].mean))
        return TABLE_TIED;
    return cell[k].n >= VIEW_ENOUGH && !(p[k] < 0.05) ? TABLE_TIED : 0;
}

const char *view_model_title(const struct model_def *model)
{
    static const char *const title[][2] = {
        {"mlp", "MLP"},     {"gcn", "GCN"},     {"dropedge", "DropEdge"}, {"gat", "GAT"},
        {"gin", "GIN"},     {"appnp", "APPNP"}, {"gcnii", "GCNII"},       {"gam", "GAM"},
        {"h2gcn", "H2GCN"}, {"fagcn", "FAGCN"}, {"ptdnet", "PTDNet"},     {"grand", "GRAND"},
        {"consm", "ConSM"}, {"trees", "Trees"},
    };
    for (size_t i = 0; i < sizeof title / sizeof *title; i++)
        if (strcmp(title[i][0], model->name) == 0)
            return title[i][1];
    return model->name;
}

const char *view_dataset_title(const char *name, char buffer[96])
{
    if (registry_find(name)) {
        snprintf(buffer, 96, "%s", name);
        buffer[0] = (char)toupper((unsigned char)buffer[0]);
    } else if (published_knows(name)) {
        snprintf(buffer, 96, "%.*s (%s)", (int)strcspn(name + 7, "-"), name + 7,
                 strchr(name, '-') ? "Nettack's targets" : "Pro-GNN");
        buffer[0] = (char)toupper((unsigned char)buffer[0]);
    } else if (strncmp(name, "csbm:", 5) == 0) {
        snprintf(buffer, 96, "csbm, %s", name + 5);
    } else {
        const char *slash = strrchr(name, '/');
        snprintf(buffer, 96, "%s", slash && slash[1] ? slash + 1 : name);
    }
    return buffer;
}

const char *view_printf(struct view_words *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(w->text, sizeof w->text, format, list);
    va_end(list);
    return w->text;
}
