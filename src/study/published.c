/* Names, files and printed figures of published attacks. */
#include "study/published.h"

#include "data/open.h"
#include "data/registry/registry.h"
#include "study/sets.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RATES = 6, METHODS = 5 };

static const struct published {
    const char *name, *base;
    const char *data;  /* a file, or NULL: the registered set */
    const char *split; /* a file */
} sets[] = {
    {"prognn:cora", "cora", "prognn/cora_clean.npz", "prognn/cora_split.csv"},
    {"prognn:citeseer", "citeseer", "prognn/citeseer_clean.npz", "prognn/citeseer_split.csv"},
    {"prognn:pubmed", "pubmed", NULL, "prognn/pubmed_split.csv"},
    {"prognn:cora-targets", "cora", "prognn/cora_clean.npz", "prognn/cora_nettack_split.csv"},
    {"prognn:citeseer-targets", "citeseer", "prognn/citeseer_clean.npz",
     "prognn/citeseer_nettack_split.csv"},
};
enum { SETS = sizeof sets / sizeof *sets };

static const struct published *find(const char *name)
{
    for (int i = 0; i < SETS; i++)
        if (strcmp(sets[i].name, name) == 0)
            return &sets[i];
    return NULL;
}

bool published_knows(const char *name)
{
    return find(name) != NULL;
}

const char *published_set(const char *base, bool targets)
{
    const char *bare = strncmp(base, "prognn:", 7) == 0 ? base + 7 : base;
    for (int i = 0; i < SETS; i++)
        if (strcmp(sets[i].base, bare) == 0 &&
            (strstr(sets[i].name, "-targets") != NULL) == targets)
            return sets[i].name;
    return NULL;
}

const char *published_graph(char file[64], const char *name, enum study_plant plant, double rate)
{
    const struct published *set = find(name);
    if (plant == PLANT_METATTACK && !set->data)
        snprintf(file, 64, "%s_meta_adj_%g.npz", set->base, rate);
    else
        snprintf(file, 64, "prognn/%s_%s_%g.npz", set->base,
                 plant == PLANT_METATTACK ? "meta" : "nettack", rate);
    return file;
}

/* Makes the split the set's only one. */
static consm_status take_split(struct dataset *d, const char *path)
{
    consm_status st = CONSM_OK;
    uint8_t *role = NULL;
    TRY(ZNEW(role, d->nodes));
    TRY(split_read(role, d, path));
    if (!(d->borrowed & DATASET_BORROWS_ROLES))
        mem_free(d->role);
    d->borrowed &= ~(unsigned)DATASET_BORROWS_ROLES;
    d->role = role;
    d->splits = 1;
    role = NULL;
done:
    mem_free(role);
    return st;
}

consm_status published_open(struct dataset **out, char hash[140], char missing[64],
                            const char *name, const struct data_options *o)
{
    consm_status st = CONSM_OK;
    const struct published *set = find(name);
    const char *data_dir = o ? o->data_dir : NULL;
    char *data = NULL, *split = NULL, split_hash[65];
    struct dataset *d = NULL;
    *out = NULL;
    missing[0] = 0;
    if (set->data)
        TRY(sets_attacked_file(&data, set->data, data_dir));
    TRY(sets_attacked_file(&split, set->split, data_dir));
    bool here = set->data ? data != NULL : sets_at_hand(set->base, data_dir);
    if (!here || !split) {
        snprintf(missing, 64, "%s", !split ? set->split : set->data ? set->data : set->base);
        goto done;
    }
    TRY(set->data ? data_open(&d, data, NULL) : data_open(&d, set->base, o));
    TRY(take_split(d, split));
    TRY(registry_hash(split_hash, split));
    snprintf(hash, 140, "%s+%s", d->sha256, split_hash);
    *out = d;
    d = NULL;
done:
    mem_free(data);
    mem_free(split);
    dataset_free(d);
    return st;
}

/* ---- what others print ----------------------------------------------------------------------- */

const char *const published_source =
    "Jin et al., “Graph structure learning for robust graph neural networks”, KDD 2020, Table 2 "
    "(other programs and settings; for Pro-GNN the better of its two variants)";

#define NO ((double)NAN)

/* Metattack at 0, 5, … 25 %: Cora, Citeseer, Pubmed. */
static const struct {
    const char *method;
    double accuracy[3][RATES];
} printed[METHODS] = {
    {"GCN",
     {{83.50, 76.55, 70.39, 65.10, 59.56, 47.53},
      {71.96, 70.88, 67.55, 64.52, 62.03, 56.94},
      {87.19, 83.09, 81.21, 78.66, 77.35, NO}}},
    {"GAT",
     {{83.97, 80.44, 75.61, 69.78, 59.94, 54.78},
      {73.26, 72.89, 70.63, 69.02, 61.04, 61.85},
      {83.73, 78.00, 74.93, 71.13, 68.21, NO}}},
    {"GCN-Jaccard",
     {{82.05, 79.13, 75.16, 71.03, 65.71, 60.82},
      {72.10, NO, 69.54, NO, NO, 59.89},
      {NO, NO, NO, NO, NO, NO}}},
    {"GCN-SVD",
     {{80.63, 78.39, 71.47, 66.69, 58.94, 52.06},
      {70.65, NO, 68.87, NO, NO, 57.18},
      {NO, NO, NO, NO, NO, NO}}},
    {"Pro-GNN",
     {{83.42, 82.78, 79.03, 76.40, 73.32, 69.72},
      {73.28, 73.09, 72.51, 72.03, 70.02, 68.95},
      {87.33, 87.25, 87.25, 87.20, 87.15, NO}}},
};

const char *published_method(int method)
{
    return method < METHODS ? printed[method].method : NULL;
}

double published_accuracy(const char *name, int method, double rate)
{
    for (int s = 0; s < 3; s++)
        for (int k = 0; k < RATES; k++)
            if (strcmp(sets[s].name, name) == 0 && fabs(rate - 0.05 * k) < 1e-9)
                return printed[method].accuracy[s][k];
    return NO;
}
