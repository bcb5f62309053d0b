/* The container that every reader fills: making, checking, freeing, cleaning. */
#include "data/dataset.h"
#include "base/counted.h"
#include "base/log.h"
#include "base/utf8.h"
#include "data/table/notes.h"
#include "data/table/recipe.h"
#include "graph/partition.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

consm_status dataset_new(struct dataset **out, const char *name)
{
    consm_status st = CONSM_OK;
    struct dataset *d;
    *out = NULL;
    TRY(ZNEW(d, 1));
    d->name = mem_strdup(name);
    if (!d->name)
        TRY(CONSM_ENOMEM);
    *out = d;
    return CONSM_OK;
done:
    dataset_free(d);
    return st;
}

static void free_names(char **names, int64_t count, bool packed)
{
    mem_free_texts(names, packed ? 0 : count);
}

void dataset_free(struct dataset *d)
{
    if (!d)
        return;
    if (!(d->borrowed & DATASET_BORROWS_EDGES)) {
        mem_free(d->from);
        mem_free(d->to);
        mem_free(d->weight);
    }
    if (!(d->borrowed & DATASET_BORROWS_DENSE))
        partition_room_free(d->partition, d->dense);
    if (!(d->borrowed & DATASET_BORROWS_LABELS))
        mem_free(d->label);
    if (!(d->borrowed & DATASET_BORROWS_ROLES))
        mem_free(d->role);
    csr_free(d->sparse);
    free_names(d->class_name, d->classes, d->borrowed & DATASET_PACKED_CLASSES);
    free_names(d->node_id, d->nodes, d->borrowed & DATASET_PACKED_IDS);
    free_names(d->feature_name, d->features, d->borrowed & DATASET_PACKED_FEATURES);
    recipe_free(d->recipe);
    if (d->cells)
        cells_free(d->cells);
    mem_free(d->cells);
    if (d->node_notes)
        notes_free(d->node_notes);
    mem_free(d->node_notes);
    if (d->edge_notes)
        notes_free(d->edge_notes);
    mem_free(d->edge_notes);
    csr_free(d->rows);
    mem_free(d->measured);
    if (d->partition)
        mem_free((void *)(uintptr_t)d->partition->cut);
    mem_free(d->partition);
    if (d->rows_mapping)
        munmap(d->rows_mapping, d->rows_bytes);
    if (d->mapping)
        munmap(d->mapping, d->mapping_bytes);
    choices_free(&d->choices);
    mem_free(d->name);
    mem_free(d);
}

static consm_status check_edges(const struct dataset *d)
{
    for (int64_t e = 0; e < d->edges; e++) {
        if (d->from[e] < 0 || d->from[e] >= d->nodes || d->to[e] < 0 || d->to[e] >= d->nodes)
            return status_fail(CONSM_EFORMAT,
                               "%s: edge %lld joins nodes %d and %d: expected 0 to %lld", d->name,
                               (long long)e, d->from[e], d->to[e], (long long)d->nodes - 1);
        if (d->weight && !(d->weight[e] >= 0 && isfinite(d->weight[e])))
            return status_fail(CONSM_EFORMAT,
                               "%s: edge %lld has weight %g: expected a finite number >= 0 (a "
                               "weight says how close two nodes are)",
                               d->name, (long long)e, (double)d->weight[e]);
    }
    return CONSM_OK;
}

static consm_status bad_feature(const struct dataset *d, int64_t node, int64_t feature, float value)
{
    return status_fail(CONSM_EFORMAT, "%s: node %lld, feature %lld is %g: expected a finite number",
                       d->name, (long long)node, (long long)feature, (double)value);
}

static consm_status check_features(const struct dataset *d)
{
    if (d->features > 0 && !d->sparse == !d->dense)
        return status_fail(CONSM_EFORMAT, "%s: %lld features but no feature matrix", d->name,
                           (long long)d->features);
    for (int64_t k = 0; d->dense && k < d->nodes * d->features; k++)
        if (!isfinite(d->dense[k]))
            return bad_feature(d, k / d->features, k % d->features, d->dense[k]);
    if (d->sparse && (d->sparse->rows != d->nodes || d->sparse->cols != d->features))
        return status_fail(CONSM_EFORMAT,
                           "%s: the feature matrix is %lld x %lld: expected %lld x %lld", d->name,
                           (long long)d->sparse->rows, (long long)d->sparse->cols,
                           (long long)d->nodes, (long long)d->features);
    for (int64_t r = 0; d->sparse && r < d->nodes; r++)
        for (int64_t k = d->sparse->start[r]; k < d->sparse->start[r + 1]; k++) {
            if (d->sparse->col[k] < 0 || d->sparse->col[k] >= d->features)
                return status_fail(CONSM_EFORMAT,
                                   "%s: node %lld has feature %d: expected 0 to %lld", d->name,
                                   (long long)r, d->sparse->col[k], (long long)d->features - 1);
            if (d->sparse->val && !isfinite(d->sparse->val[k]))
                return bad_feature(d, r, d->sparse->col[k], d->sparse->val[k]);
        }
    return CONSM_OK;
}

/* Names go into JSON and back; invalid UTF-8 would make unreadable files. */
static consm_status check_names(const struct dataset *d, const char *what, char *const *name,
                                int64_t count)
{
    for (int64_t i = 0; name && i < count; i++)
        if (!utf8_valid(name[i], strlen(name[i])))
            return status_fail(CONSM_EFORMAT, "%s: %s %lld is not UTF-8 text: \"%.40s\"", d->name,
                               what, (long long)i, name[i]);
    return CONSM_OK;
}

consm_status dataset_check(const struct dataset *d)
{
    consm_status st = CONSM_OK;
    if (d->nodes <= 0)
        return status_fail(CONSM_EFORMAT, "%s: no nodes", d->name);
    TRY(check_edges(d));
    TRY(check_features(d));
    TRY(check_names(d, "the id of node", d->node_id, d->nodes));
    TRY(check_names(d, "the name of class", d->class_name, d->classes));
    TRY(check_names(d, "the name of feature", d->feature_name, d->features));
    for (int64_t i = 0; i < d->nodes; i++)
        if (d->label[i] < -1 || d->label[i] >= d->classes)
            return status_fail(CONSM_EFORMAT, "%s: node %lld has label %d: expected 0 to %d",
                               d->name, (long long)i, d->label[i], d->classes - 1);
    for (int64_t k = 0; d->role && k < d->splits * d->nodes; k++)
        if (d->role[k] > SPLIT_TEST)
            return status_fail(CONSM_EFORMAT,
                               "%s: split %lld gives node %lld the role %d: "
                               "expected 0 to 3",
                               d->name, (long long)(k / d->nodes), (long long)(k % d->nodes),
                               d->role[k]);
done:
    return st;
}

consm_status dataset_graph(struct csr **out, const struct dataset *d, struct edge_facts *facts)
{
    consm_status st = CONSM_OK;
    struct edge_facts found;
    unsigned repeats = d->duplicates == DUPLICATES_MEAN ? CSR_MEAN_REPEATS : 0;
    *out = NULL;
    if (d->unchecked)
        TRY(dataset_check(d));
    TRY(csr_from_edges(out, d->nodes, d->nodes, d->edges, d->from, d->to, d->weight,
                       CSR_UNDIRECTED | CSR_DROP_LOOPS | repeats, &found));
    TRY(dataset_refuse_duplicates(d, found.differ));
    if (facts)
        *facts = found;
done:
    if (st < 0) {
        csr_free(*out);
        *out = NULL;
    }
    return st;
}

const char *const duplicates_name[DUPLICATES_KINDS] = {"mean", "keep-first", "error"};

consm_status dataset_refuse_duplicates(const struct dataset *d, int64_t pairs)
{
    if (d->duplicates != DUPLICATES_ERROR || pairs == 0)
        return CONSM_OK;
    return status_fail(CONSM_EFORMAT,
                       "%s: %s listed more than once with different weights (--duplicates error): "
                       "fix the list, or use --duplicates mean or keep-first",
                       d->name, COUNTED(pairs, "pair of nodes"));
}

void dataset_say_duplicates(const struct dataset *d, int64_t pairs)
{
    if (pairs > 0)
        log_warn("%s: %s listed more than once with different weights; used %s (--duplicates mean, "
                 "keep-first or error)",
                 d->name, COUNTED(pairs, "pair of nodes"),
                 d->duplicates == DUPLICATES_MEAN ? "their mean" : "the first one in the file");
}

const char *dataset_node_id(const struct dataset *d, int64_t node, char buffer[24])
{
    if (d->node_id)
        return d->node_id[node];
    snprintf(buffer, 24, "%lld", (long long)node);
    return buffer;
}

const char *dataset_class_name(const struct dataset *d, int32_t class_index, char buffer[24])
{
    if (d->class_name)
        return d->class_name[class_index];
    snprintf(buffer, 24, "%d", class_index);
    return buffer;
}

/* At most a third is non-zero. */
static bool mostly_zero(const float *dense, int64_t cells)
{
    int64_t nonzero = 0;
    for (int64_t k = 0; k < cells; k++)
        nonzero += dense[k] != 0;
    return cells > 0 && nonzero <= cells / 3;
}

consm_status dataset_set_features(struct dataset *d, float *dense, int64_t features)
{
    d->features = features;
    if (!mostly_zero(dense, d->nodes * features)) {
        d->dense = dense;
        return CONSM_OK;
    }
    consm_status st = csr_from_dense(&d->sparse, dense, d->nodes, features);
    mem_free(dense);
    return st;
}

consm_status dataset_borrow_features(struct dataset *d, const float *dense, int64_t features)
{
    d->features = features;
    if (mostly_zero(dense, d->nodes * features))
        return csr_from_dense(&d->sparse, dense, d->nodes, features);
    d->dense = (float *)(uintptr_t)dense; /* only read */
    d->borrowed |= DATASET_BORROWS_DENSE;
    return CONSM_OK;
}

/* The cells are all numbers: they are the features. */
static consm_status take_numbers(struct dataset *d, struct cells *c)
{
    consm_status st = CONSM_OK;
    float *value = c->value;
    int64_t columns = c->columns;
    if (!names_are_places(&c->name)) {
        TRY(names_pack(&d->feature_name, &c->name, NULL));
        d->borrowed |= DATASET_PACKED_FEATURES;
    }
    c->value = NULL;
    cells_free(c);
    TRY(dataset_set_features(d, value, columns));
done:
    return st;
}

consm_status dataset_take_cells(struct dataset *d, struct cells *cells, struct faults *faults,
                                const char *file)
{
    consm_status st = CONSM_OK;
    struct recipe *r = NULL;
    float *dense = NULL;
    TRY(recipe_learn(&r, cells, faults, file, NULL));
    if (faults->count > 0)
        goto done;
    if (cells->odds == 0 && cells->exacts == 0 && !cells->kind) {
        TRY(take_numbers(d, cells));
    } else {
        TRY(recipe_apply(&dense, r, cells, faults, file));
        TRY(recipe_names(&d->feature_name, r));
        /* Dense even if most are zero: dates and amounts among them are to be standardised. */
        d->features = recipe_features(r);
        d->dense = d->features > 0 ? dense : NULL;
        dense = d->features > 0 ? NULL : dense;
        TRY(NEW(d->cells, 1));
        *d->cells = *cells;
        *cells = (struct cells){0};
    }
    d->recipe = r;
    r = NULL;
done:
    recipe_free(r);
    mem_free(dense);
    return st;
}
