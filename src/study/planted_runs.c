/* The planted graphs and scores, their runs, and looking up their figures. */
#include "study/planted.h"
#include "study/published.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 1 }; /* index of the rate that tables show */

/* Planted edges per edge of the graph. */
static const double full_rate[] = {0.1, 0.25, 0.5}, quick_rate[] = {0.1, 0.25};
static const double attack_rate[] = {0.05, 0.1, 0.15, 0.2, 0.25}, quick_attack[] = {0.05, 0.25};

int planted_rates(const double **rate, const struct study_options *o, enum study_plant plant)
{
    bool attack = plant == PLANT_METATTACK;
    if (o->quick)
        *rate = attack ? quick_attack : quick_rate;
    else
        *rate = attack ? attack_rate : full_rate;
    return o->quick ? 2 : attack ? 5 : 3;
}

/* In the order of the tables. */
static const struct score scores[] = {
    {"consm", "trust", "ConSM, trust"},
    {"consm", "coefficients", "ConSM, matching alone"},
    {"consm", "agreement", "ConSM, agreement of predictions"},
    {"gam", "coefficients", "GAM"},
    {"gat", "coefficients", "GAT"},
    {"fagcn", "coefficients", "FAGCN"},
    {"ptdnet", "coefficients", "PTDNet"},
    {"gcn", "agreement", "GCN, agreement of predictions"},
    {"gcn", "jaccard", "Features, Jaccard"},
    {"gcn", "cosine", "Features, cosine"},
    {"gcn", "gnnguard", "GNNGuard's weights"},
};

int planted_scores(const struct score **row, const struct study_options *o)
{
    int count = 0;
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++)
        if (options_model(o, scores[i].model))
            row[count++] = &scores[i];
    return count;
}

const char *planted_attack(char name[64], const char *dataset, double rate)
{
    if (strcmp(dataset, "pubmed") == 0) /* the same nodes in the same order */
        return published_graph(name, "prognn:pubmed", PLANT_METATTACK, rate);
    if (!published_knows(dataset) || strstr(dataset, "-targets"))
        return NULL;
    return published_graph(name, dataset, PLANT_METATTACK, rate);
}

consm_status planted_run(struct study_run *run, char attack[64], const struct study_options *o,
                         const struct column *c, const char *model)
{
    consm_status st = CONSM_OK;
    const struct model_def *def, *gcn;
    struct study_run again;
    TRY(model_find(&def, model));
    TRY(model_find(&gcn, "gcn"));
    TRY(options_run(run, o, TASK_PLANT, c->dataset, def));
    TRY(options_run(&again, o, TASK_TRAIN, c->dataset, gcn));
    run->again = again.config;
    run->plant = c->plant;
    run->rate = c->rate;
    run->attack = c->plant == PLANT_METATTACK ? planted_attack(attack, c->dataset, c->rate) : NULL;
done:
    return st;
}

int planted_columns(struct column *out, const struct study_view *v, enum study_plant plant,
                    bool all)
{
    const struct study_options *o = v->options;
    const double *rate;
    char name[64];
    int rates = planted_rates(&rate, o, plant), count = 0;
    for (int s = 0; s < o->datasets; s++)
        for (int k = 0; k < rates && count < PLANTED_COLUMNS; k++) {
            const char *file = planted_attack(name, o->dataset[s], rate[k]);
            if (plant == PLANT_METATTACK ? !file || !json_object_get(v->hashes, file)
                                         : !all && k != SHOWN)
                continue;
            out[count++] = (struct column){o->dataset[s], plant, rate[k]};
        }
    return count;
}

const char *planted_title(char title[96], const struct column *c)
{
    if (c->plant != PLANT_METATTACK)
        return view_dataset_title(c->dataset, title);
    char set[96];
    snprintf(title, 96, "%.60s, %g %%", view_dataset_title(c->dataset, set), 100 * c->rate);
    return title;
}

consm_status planted_clean_run(struct study_run *run, const struct study_options *o,
                               const char *dataset)
{
    consm_status st = CONSM_OK;
    const struct model_def *gcn;
    TRY(model_find(&gcn, "gcn"));
    TRY(options_run(run, o, TASK_TRAIN, dataset, gcn));
done:
    return st;
}

consm_status planted_cell(struct study_cell *out, const struct study_view *v,
                          const struct column *c, const struct score *score, const char *figure)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    char field[64], attack[64];
    snprintf(field, sizeof field, "%s.%s", score->source, figure);
    TRY(planted_run(&run, attack, v->options, c, score->model));
    TRY(view_cell(out, v, &run, v->options->seeds, field));
done:
    return st;
}

void findings_free(struct findings *f)
{
    mem_free(f->cell);
    mem_free(f->p);
    *f = (struct findings){0};
}

consm_status findings_fill(struct findings *f, const struct study_view *v, enum study_plant plant,
                           const char *figure)
{
    consm_status st = CONSM_OK;
    *f = (struct findings){0};
    f->rows = planted_scores(f->row, v->options);
    f->columns = planted_columns(f->column, v, plant, false);
    TRY(ZNEW(f->cell, f->columns * f->rows));
    TRY(NEW(f->p, f->columns * f->rows));
    for (int c = 0; c < f->columns; c++) {
        for (int k = 0; k < f->rows; k++)
            TRY(planted_cell(&f->cell[c * f->rows + k], v, &f->column[c], f->row[k], figure));
        TRY(view_against_best(&f->best[c], &f->p[c * f->rows], &f->cell[c * f->rows], f->rows,
                              false));
    }
done:
    if (st < 0)
        findings_free(f);
    return st;
}
