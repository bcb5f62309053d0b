/* Finds the model's features in a dataset: by the model's recipe if the dataset is a table, else by
 * name, else by position. */
#include "app/matched.h"

#include <stdio.h>
#include <string.h>

#include "data/readers/features_in_parts.h"
#include "data/table/names.h"
#include "data/table/recipe.h"
#include "graph/partition.h"

void matched_free(struct matched *m, const struct prepared *p)
{
    csr_free(m->sparse);
    if (m->dense) /* else p may not be prepared */
        partition_room_free(p->data->partition, m->dense);
    prepare_structural_free(m->structural, p);
}

static consm_status missing_columns(const struct consm_model *m, const struct dataset *d,
                                    const int64_t *column)
{
    char list[400] = "";
    int64_t missing = 0;
    for (int64_t k = 0; k < m->features; k++)
        if (column[k] < 0 && ++missing <= 5)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.60s",
                     missing > 1 ? ", " : "", m->feature_name[k]);
    if (missing == 0)
        return CONSM_OK;
    return status_fail(CONSM_EINVAL, "%s lacks %lld of the model's %lld feature columns: %s%s",
                       d->name, (long long)missing, (long long)m->features, list,
                       missing > 5 ? ", …" : "");
}

/* column[k] = the dataset's column for the model's feature k. */
static consm_status find_columns(int64_t *column, const struct consm_model *m,
                                 const struct dataset *d)
{
    consm_status st = CONSM_OK;
    struct names names = {0};
    int64_t index;
    for (int64_t k = 0; k < d->features; k++)
        TRY(names_add(&index, &names, d->feature_name[k], strlen(d->feature_name[k])));
    if (names.count != d->features)
        TRY(status_fail(CONSM_EINVAL, "%s: two feature columns have the same name", d->name));
    for (int64_t k = 0; k < m->features; k++)
        column[k] = names_find(&names, m->feature_name[k], strlen(m->feature_name[k]));
    TRY(missing_columns(m, d, column));
done:
    names_free(&names);
    return st;
}

static consm_status pick_dense(float **out, const struct dataset *d, const int64_t *column,
                               int64_t count)
{
    consm_status st = CONSM_OK;
    int64_t low = partition_low(d->partition), high = partition_high(d->partition, d->nodes);
    *out = partition_room(d->partition, d->nodes * count, sizeof **out);
    if (!*out)
        TRY(CONSM_ENOMEM);
    for (int64_t i = low; i < high; i++)
        for (int64_t k = 0; k < count; k++)
            (*out)[i * count + k] = d->dense[i * d->features + column[k]];
done:
    return st;
}

static consm_status pick_sparse(struct csr **out, const struct dataset *d, const int64_t *column,
                                int64_t count)
{
    consm_status st = CONSM_OK;
    const struct csr *s = d->sparse;
    int32_t *to = NULL, *row = NULL, *col = NULL;
    float *value = NULL;
    int64_t kept = 0;
    TRY(NEW(to, d->features));
    TRY(NEW(row, s->nnz));
    TRY(NEW(col, s->nnz));
    TRY(NEW(value, s->nnz));
    memset(to, 0xff, (size_t)d->features * sizeof *to);
    for (int64_t k = 0; k < count; k++)
        to[column[k]] = (int32_t)k;
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t e = s->start[i]; e < s->start[i + 1]; e++)
            if (to[s->col[e]] >= 0) {
                row[kept] = (int32_t)i;
                col[kept] = to[s->col[e]];
                value[kept++] = s->val ? s->val[e] : 1;
            }
    TRY(csr_from_edges(out, d->nodes, count, kept, row, col, value, CSR_DIRECTED, NULL));
    TRY(csr_transpose(*out));
done:
    mem_free(to);
    mem_free(row);
    mem_free(col);
    mem_free(value);
    return st;
}

static bool in_order(const int64_t *column, int64_t count, int64_t features)
{
    for (int64_t k = 0; k < count; k++)
        if (column[k] != k)
            return false;
    return count == features;
}

/* Matches columns by name; copies nothing if they are in the model's order. */
static consm_status match_names(struct matched *out, const struct consm_model *m,
                                const struct dataset *d)
{
    consm_status st = CONSM_OK;
    int64_t *column = NULL;
    TRY(NEW(column, m->features));
    TRY(find_columns(column, m, d));
    if (in_order(column, m->features, d->features))
        goto done;
    if (d->rows && d->sparse)
        TRY(status_fail(CONSM_EINVAL,
                        "%s: the feature columns differ from the model's; for sparse features of a "
                        "graph in parts, names and order must be the same",
                        d->name));
    TRY(d->sparse ? pick_sparse(&out->sparse, d, column, m->features)
                  : pick_dense(&out->dense, d, column, m->features));
done:
    mem_free(column);
    return st;
}

/* The dataset's columns as cells, for a table of numbers only; of a partition, its rows. */
static consm_status cells_of(struct cells *out, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    int64_t index, low = partition_low(d->partition), high = partition_high(d->partition, d->nodes);
    out->rows = high - low;
    out->columns = (int32_t)d->features;
    for (int64_t k = 0; k < d->features; k++)
        TRY(names_add(&index, &out->name, d->feature_name[k], strlen(d->feature_name[k])));
    TRY(ZNEW(out->value, out->rows * d->features));
    if (d->dense)
        memcpy(out->value, d->dense + low * d->features,
               (size_t)(out->rows * d->features) * sizeof *out->value);
    for (int64_t i = low; d->sparse && i < high; i++)
        for (int64_t e = d->sparse->start[i]; e < d->sparse->start[i + 1]; e++)
            out->value[(i - low) * d->features + d->sparse->col[e]] =
                d->sparse->val ? d->sparse->val[e] : 1;
done:
    return st;
}

/* Whether the dataset has all features of the model by name. */
static bool has_features(const struct consm_model *m, const struct dataset *d)
{
    struct names names = {0};
    int64_t index, k = 0;
    bool all = d->feature_name && m->feature_name;
    for (int64_t i = 0; all && i < d->features; i++)
        all = names_add(&index, &names, d->feature_name[i], strlen(d->feature_name[i])) >= 0;
    while (all && k < m->features &&
           names_find(&names, m->feature_name[k], strlen(m->feature_name[k])) >= 0)
        k++;
    names_free(&names);
    return all && k == m->features;
}

/* Applies the model's recipe to the table's cells. */
static consm_status match_recipe(struct matched *out, const struct consm_model *m,
                                 const struct dataset *d)
{
    consm_status st = CONSM_OK;
    struct cells made = {0};
    struct faults *faults = NULL;
    TRY(ZNEW(faults, 1));
    if (!d->cells)
        TRY(cells_of(&made, d));
    const struct cells *cells = d->cells ? d->cells : &made;
    if (d->partition)
        TRY(features_in_parts_apply(&out->dense, m->recipe, cells, d->nodes, d->partition,
                                    d->name));
    else
        TRY(recipe_apply(&out->dense, m->recipe, cells, faults, d->name));
    TRY(faults_status(faults, d->name));
done:
    cells_free(&made);
    mem_free(faults);
    return st;
}

/* Whether model and dataset have the same names in the same order; then two may be equal. */
static bool same_names(const struct consm_model *m, const struct dataset *d)
{
    int64_t k = 0;
    while (m->features == d->features && k < m->features &&
           strcmp(m->feature_name[k], d->feature_name[k]) == 0)
        k++;
    return m->features == d->features && k == m->features;
}

static consm_status match(struct matched *out, const struct consm_model *m,
                          const struct prepared *p)
{
    const struct dataset *d = p->data;
    if (m->structural)
        return d->features == 0 ? CONSM_OK : prepare_structural(&out->structural, p);
    if (m->recipe && (d->cells || (d->features > 0 && d->feature_name && !has_features(m, d))))
        return match_recipe(out, m, d);
    if (d->features == 0)
        return status_fail(CONSM_EINVAL, "%s has no features, but the model was trained on %lld",
                           d->name, (long long)m->features);
    if (m->feature_name && d->feature_name && !same_names(m, d))
        return match_names(out, m, d);
    if (m->features != d->features)
        return status_fail(CONSM_EINVAL, "%s has %lld features, but the model was trained on %lld",
                           d->name, (long long)d->features, (long long)m->features);
    return CONSM_OK;
}

static bool standardises(const struct consm_model *m)
{
    bool yes = m->config.normalize_features == FEATURES_STANDARD;
    for (int64_t i = 0; i < model_parts(m); i++)
        yes = yes || model_part(m, i)->config.normalize_features == FEATURES_STANDARD;
    return yes;
}

/* Standardised features are dense. A dataset with many zeros is stored sparse, also if the one that
 * the model was trained on was dense. */
consm_status matched_open(struct matched *out, const struct consm_model *m,
                          const struct prepared *p)
{
    consm_status st = CONSM_OK;
    TRY(match(out, m, p));
    const struct csr *s = out->sparse ? out->sparse : p->data->sparse;
    if (!s || p->data->rows || out->dense || out->structural || m->structural || !standardises(m))
        return CONSM_OK;
    TRY(ZNEW(out->dense, s->rows * m->features));
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t e = s->start[i]; e < s->start[i + 1]; e++)
            out->dense[i * m->features + s->col[e]] = s->val ? s->val[e] : 1;
done:
    return st;
}

struct problem matched_problem(const struct consm_model *m, const struct prepared *p,
                               const struct matched *features)
{
    struct problem problem = prepare_problem(p, NULL);
    problem.classes = m->classes;
    problem.features = m->features;
    if (features->structural || features->dense) {
        problem.sparse = NULL;
        problem.dense = features->structural ? features->structural : features->dense;
    } else if (features->sparse) {
        problem.sparse = features->sparse;
        problem.dense = NULL;
    }
    return problem;
}
