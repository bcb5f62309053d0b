/* The attacked graphs and methods, their runs, and looking up their figures. */
#include "study/robust.h"

#include "base/log.h"
#include "study/published.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Changed edges per edge of the graph; Nettack: changes per target. 0: the clean graph. */
static const double by_rate[] = {0, 0.05, 0.1, 0.15, 0.2, 0.25};
static const double by_target[] = {0, 1, 3, 5};
static const double drawn[] = {0, 0.1, 0.25};

static int rates_of(const double **rate, enum study_plant plant)
{
    bool few = plant == PLANT_RANDOM || plant == PLANT_DICE || plant == PLANT_PGD;
    *rate = plant == PLANT_NETTACK ? by_target : few ? drawn : by_rate;
    return plant == PLANT_NETTACK ? 4 : few ? 3 : 6;
}

static bool is_published(enum study_plant plant)
{
    return plant == PLANT_METATTACK || plant == PLANT_NETTACK;
}

static bool knows_trust(enum study_plant plant)
{
    return plant == PLANT_TRUSTED_GCN || plant == PLANT_TRUSTED_CONSM;
}

const char *robust_attack(enum study_plant plant)
{
    static const char *const name[PLANTS] = {
        [PLANT_RANDOM] = "random edges",
        [PLANT_BETWEEN] = "edges between classes",
        [PLANT_METATTACK] = "Metattack",
        [PLANT_NETTACK] = "Nettack",
        [PLANT_DICE] = "DICE",
        [PLANT_PGD] = "PGD on a GCN",
        [PLANT_TRUSTED_GCN] = "trusted edges, by a surrogate",
        [PLANT_TRUSTED_CONSM] = "trusted edges, by ConSM itself",
        [PLANT_NOTHING] = "none",
    };
    return name[plant];
}

/* ---- what there is --------------------------------------------------------------------------- */

int robust_tables(struct robust_table *table, const struct study_view *v)
{
    static const enum study_plant ours[] = {PLANT_DICE, PLANT_RANDOM, PLANT_PGD, PLANT_TRUSTED_GCN,
                                            PLANT_TRUSTED_CONSM};
    const struct study_options *o = v->options;
    int count = 0;
    for (enum study_plant plant = PLANT_METATTACK; plant <= PLANT_NETTACK; plant++)
        for (int s = 0; s < o->datasets; s++) {
            const char *set = published_set(o->dataset[s], plant == PLANT_NETTACK);
            if (set && !o->without[plant] && json_object_get(v->hashes, set))
                table[count++] = (struct robust_table){plant, set};
        }
    for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
        if (!o->without[ours[k]] && (!knows_trust(ours[k]) || options_model(o, "consm")))
            table[count++] = (struct robust_table){ours[k], NULL};
    return count;
}

int robust_columns(struct robust_column *column, const struct robust_table *t,
                   const struct study_view *v)
{
    const struct study_options *o = v->options;
    const double *rate;
    char file[64];
    int rates = rates_of(&rate, t->plant), count = 0;
    for (int s = 0; s < (t->dataset ? 1 : o->datasets); s++)
        for (int k = 0; k < rates; k++) {
            const char *set = t->dataset ? t->dataset : o->dataset[s];
            if (o->quick && k > 0 && k < rates - 1)
                continue; /* the clean graph and the strongest attack */
            if (k > 0 && is_published(t->plant) &&
                !json_object_get(v->hashes, published_graph(file, set, t->plant, rate[k])))
                continue;
            column[count++] = (struct robust_column){t->plant, set, rate[k]};
        }
    return count;
}

static void add_row(struct robust_row *row, int *count, const struct model_def *model,
                    const char *field, const char *title)
{
    row[*count] = (struct robust_row){.model = model, .field = field};
    snprintf(row[*count].title, sizeof row->title, "%s", title);
    ++*count;
}

int robust_rows(struct robust_row *row, const struct study_options *o, enum study_plant plant)
{
    int count = 0;
    for (int m = 0; m < o->models; m++) {
        const struct model_def *model = o->model[m];
        bool gcn = strcmp(model->name, "gcn") == 0, consm = strcmp(model->name, "consm") == 0;
        if (knows_trust(plant) && !gcn && !consm)
            continue;
        add_row(row, &count, model, "test_acc", view_model_title(model));
        if (gcn) {
            add_row(row, &count, model, "jaccard.acc", "GCN-Jaccard");
            add_row(row, &count, model, "svd.acc", "GCN-SVD");
            add_row(row, &count, model, "gnnguard.acc", "GCN on the graph cleaned by GNNGuard");
        }
        if (consm)
            add_row(row, &count, model, "clean.acc", "GCN on the graph cleaned by ConSM");
    }
    return count;
}

const char *robust_title(char title[128], const struct robust_column *c, bool with_set)
{
    char set[96], rate[32];
    if (c->rate == 0)
        snprintf(rate, sizeof rate, "clean");
    else if (c->plant == PLANT_NETTACK)
        snprintf(rate, sizeof rate, "%g per target", c->rate);
    else
        snprintf(rate, sizeof rate, "%g %%", 100 * c->rate);
    if (with_set)
        snprintf(title, 128, "%s, %s", view_dataset_title(c->dataset, set), rate);
    else
        snprintf(title, 128, "%s", rate);
    return title;
}

/* ---- opening --------------------------------------------------------------------------------- */

static consm_status open_published(struct study_sets *sets, const char *name,
                                   enum study_plant plant, const struct data_options *how)
{
    consm_status st = sets_open(sets, name, how);
    const struct csr *graph;
    const double *rate;
    char file[64];
    int rates = rates_of(&rate, plant);
    if (st == CONSM_ENOTFOUND) {
        log_warn("SKIPPED: %s: %s", robust_attack(plant), consm_errmsg());
        status_clear();
        return CONSM_OK;
    }
    TRY(st);
    for (int k = 1; k < rates; k++) {
        TRY(sets_open_graph(sets, published_graph(file, name, plant, rate[k]), how));
        if (sets_graph(&graph, sets, file) < 0) {
            status_clear();
            log_warn("SKIPPED: no data folder has attacked/%s", file);
        }
    }
done:
    return st;
}

consm_status robust_open(struct study_sets *sets, const struct study_options *o,
                         const struct data_options *how)
{
    consm_status st = CONSM_OK;
    for (enum study_plant plant = PLANT_METATTACK; plant <= PLANT_NETTACK; plant++)
        for (int s = 0; s < o->datasets; s++) {
            const char *set = published_set(o->dataset[s], plant == PLANT_NETTACK);
            if (set && !o->without[plant])
                TRY(open_published(sets, set, plant, how));
        }
done:
    return st;
}

/* ---- runs ------------------------------------------------------------------------------------ */

consm_status robust_run(struct study_run *run, char attack[64], const struct study_options *o,
                        const struct robust_column *c, const struct model_def *model)
{
    consm_status st = CONSM_OK;
    const struct model_def *gcn, *consm;
    struct study_run other;
    TRY(model_find(&gcn, "gcn"));
    TRY(model_find(&consm, "consm"));
    TRY(options_run(run, o, TASK_ROBUST, c->dataset, model));
    TRY(options_run(&other, o, TASK_TRAIN, c->dataset, gcn));
    run->again = other.config;
    TRY(options_run(&other, o, TASK_TRAIN, c->dataset, consm));
    run->attacker = other.config;
    run->plant = c->rate > 0 ? c->plant : PLANT_NOTHING;
    run->rate = c->rate;
    if (is_published(c->plant)) {
        run->split = "public"; /* the split of its attackers */
        if (c->rate > 0)
            run->attack = published_graph(attack, c->dataset, c->plant, c->rate);
    }
done:
    return st;
}

consm_status robust_cell(struct study_cell *out, const struct study_view *v,
                         const struct robust_column *c, const struct model_def *model,
                         const char *field)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    char attack[64];
    TRY(robust_run(&run, attack, v->options, c, model));
    TRY(view_cell(out, v, &run, v->options->seeds, field));
done:
    return st;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

void robust_pairs_free(struct robust_pairs *p)
{
    mem_free(p->ours);
    mem_free(p->theirs);
    mem_free(p->p);
    mem_free(p->holm);
    *p = (struct robust_pairs){0};
}

/* All attacked graphs, each once; a clean one with the first table that has it. */
static int all_columns(struct robust_column *out, const struct study_view *v)
{
    struct robust_table table[ROBUST_TABLES];
    struct robust_column column[ROBUST_COLUMNS];
    int tables = robust_tables(table, v), count = 0;
    for (int t = 0; t < tables; t++) {
        int columns = robust_columns(column, &table[t], v);
        for (int c = 0; c < columns && count < ROBUST_COLUMNS; c++) {
            bool known = false;
            for (int k = 0; k < count && column[c].rate == 0; k++)
                known =
                    known || (out[k].rate == 0 && strcmp(out[k].dataset, column[c].dataset) == 0);
            if (!known)
                out[count++] = column[c];
        }
    }
    return count;
}

consm_status robust_pairs_fill(struct robust_pairs *out, const struct study_view *v,
                               const char *model, const char *field)
{
    consm_status st = CONSM_OK;
    const struct model_def *consm = options_model(v->options, "consm");
    const struct model_def *other = options_model(v->options, model);
    *out = (struct robust_pairs){0};
    if (!consm || !other)
        return CONSM_OK;
    int count = all_columns(out->column, v);
    TRY(ZNEW(out->ours, count));
    TRY(ZNEW(out->theirs, count));
    TRY(NEW(out->p, count));
    TRY(NEW(out->holm, count));
    for (int c = 0; c < count; c++) {
        TRY(robust_cell(&out->ours[c], v, &out->column[c], consm, "test_acc"));
        TRY(robust_cell(&out->theirs[c], v, &out->column[c], other, field));
        TRY(view_compare(&out->p[c], &out->ours[c], &out->theirs[c]));
    }
    TRY(stats_holm(out->holm, out->p, count));
    out->count = count;
done:
    if (st < 0)
        robust_pairs_free(out);
    return st;
}
