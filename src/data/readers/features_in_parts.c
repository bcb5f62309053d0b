/* The features of the own nodes: dense in globally indexed memory, made sparse if the whole table
 * would be.
 */
#include "data/readers/features_in_parts.h"

#include "data/readers/feature_file.h"
#include "data/readers/feature_text.h"
#include "data/readers/node_text.h"
#include "data/readers/svmlight.h"
#include "data/table/recipe.h"
#include "graph/partition.h"
#include "io/npy.h"
#include "stats/columns.h"
#include <string.h>

static consm_status parse_npy(struct npy *out, const struct text_file *file)
{
    consm_status st = CONSM_OK;
    TRY(npy_parse(out, file->data, file->size, file->name));
    if (out->rank != 1)
        TRY(npy_expect(out, 2, -1, -1));
done:
    return st;
}

consm_status features_in_parts_nodes(struct node_ids *ids, struct wanted *wanted,
                                     const struct text_file *file)
{
    consm_status st = CONSM_OK;
    enum feature_kind kind;
    struct npy array;
    int64_t rows = 0;
    TRY(feature_file_kind(&kind, file));
    switch (kind) {
    case FEATURES_TEXT: return feature_text_nodes(ids, wanted, file);
    case FEATURES_SVM: TRY(svmlight_rows(&rows, file)); break;
    case FEATURES_NPY:
        TRY(parse_npy(&array, file));
        rows = array.shape[0];
        break;
    case FEATURES_NPZ:
        return status_fail(CONSM_EINVAL,
                           "%s: a compressed array cannot be read in parts: save it as .npy",
                           file->name);
    }
    TRY(feature_rows_match(ids, rows, file->name));
done:
    return st;
}

/* ---- rows in memory ------------------------------------------------------ */

/* Sums in row order: each process adds its rows in turn. */
consm_status features_in_parts_measure(float *shift, float *scale, double *sum, const float *x,
                                       int64_t n, int64_t f, const struct partition *partition)
{
    consm_status st = CONSM_OK;
    int64_t rows = partition->high - partition->low;
    double *squares = NULL;
    TRY(ZNEW(squares, f));
    for (int turn = 0; turn < partition->parts; turn++) {
        if (turn == partition->part)
            columns_add(sum, x + partition->low * f, rows, f);
        TRY(partition_hand_on(sum, f, partition, turn));
    }
    for (int turn = 0; turn < partition->parts; turn++) {
        if (turn == partition->part)
            columns_add_squares(squares, sum, x + partition->low * f, rows, f, n);
        TRY(partition_hand_on(squares, f, partition, turn));
    }
    columns_settle(shift, scale, sum, squares, f, n);
done:
    mem_free(squares);
    return st;
}

static consm_status measure(double *sum, struct dataset *d, const float *x)
{
    consm_status st = CONSM_OK;
    int64_t f = d->features;
    TRY(NEW(d->measured, 2 * f));
    d->shift = d->measured;
    d->scale = d->measured + f;
    TRY(features_in_parts_measure(d->measured, d->measured + f, sum, x, d->nodes, f, d->partition));
done:
    return st;
}

/* The own rows as a sparse matrix. */
static consm_status make_sparse(struct dataset *d, const float *x)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = d->partition;
    int64_t f = d->features, *start, at;
    struct csr *a;
    TRY(ZNEW(start, d->nodes + 1));
    for (int64_t k = partition->low * f; k < partition->high * f; k++)
        start[k / f + 1] += x[k] != 0;
    TRY(partition_of_lengths(&a, partition, start, d->nodes, f, true));
    d->sparse = a;
    at = a->start[partition->low];
    for (int64_t k = partition->low * f; k < partition->high * f; k++)
        if (x[k] != 0) {
            a->col[at] = (int32_t)(k % f);
            a->val[at++] = x[k];
        }
done:
    return st;
}

/* Takes ownership of the array (n, f), whose own rows are filled; sum (f): of the columns.
 */
static consm_status take_rows(struct dataset *d, float *x, double *sum)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = d->partition;
    int64_t f = d->features, filled = 0;
    for (int64_t k = partition->low * f; k < partition->high * f; k++)
        filled += x[k] != 0;
    TRY(partition_sum(&filled, 1, partition));
    TRY(measure(sum, d, x));
    if (filled <= d->nodes * f / 3) { /* as in dataset_set_features() */
        TRY(make_sparse(d, x));
    } else {
        d->dense = x;
        x = NULL;
    }
done:
    mem_sparse_free(x);
    return st;
}

/* ---- tables -------------------------------------------------------------- */

/* A recipe of numbers, as recipe_learn() makes it. */
static consm_status make_recipe(struct dataset *d, const struct cells *c, const double *sum)
{
    consm_status st = CONSM_OK;
    struct recipe *r;
    TRY(ZNEW(r, 1));
    d->recipe = r;
    TRY(ZNEW(r->column, c->columns));
    for (; r->columns < c->columns; r->columns++) {
        struct recipe_column *column = &r->column[r->columns];
        column->kind = RECIPE_NUMBER;
        column->fill = sum[r->columns] / (double)d->nodes;
        if (!(column->name = mem_strdup(names_at(&c->name, r->columns))))
            TRY(CONSM_ENOMEM);
    }
    if (!names_are_places(&c->name)) {
        TRY(names_pack(&d->feature_name, &c->name, NULL));
        d->borrowed |= DATASET_PACKED_FEATURES;
    }
done:
    return st;
}

/* The cells are all numbers: they are the features. */
static consm_status take_numbers(struct dataset *d, struct cells *c)
{
    consm_status st = CONSM_OK;
    double *sum = NULL;
    d->features = c->columns;
    TRY(ZNEW(sum, d->features));
    float *x = c->spread;
    c->spread = c->value = NULL;
    TRY(take_rows(d, x, sum));
    TRY(make_recipe(d, c, sum));
done:
    mem_free(sum);
    return st;
}

/* Other columns become features by the whole table's recipe; dense, as in dataset_take_cells(). */
static consm_status take_cells(struct dataset *d, struct cells *c, const char *file)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = d->partition;
    struct faults *faults = NULL;
    double *sum = NULL;
    TRY(ZNEW(faults, 1));
    TRY(recipe_learn(&d->recipe, c, faults, file, partition));
    TRY(partition_status(partition, faults_status(faults, file), partition->low));
    d->features = recipe_features(d->recipe);
    if (d->features > 0) {
        TRY(recipe_names(&d->feature_name, d->recipe));
        TRY(features_in_parts_apply(&d->dense, d->recipe, c, d->nodes, partition, file));
        TRY(ZNEW(sum, d->features));
        TRY(measure(sum, d, d->dense));
    }
    TRY(NEW(d->cells, 1));
    *d->cells = *c;
    *c = (struct cells){0};
done:
    mem_free(faults);
    mem_free(sum);
    return st;
}

consm_status features_in_parts_apply(float **out, const struct recipe *r, const struct cells *c,
                                     int64_t nodes, const struct partition *partition,
                                     const char *file)
{
    consm_status st = CONSM_OK;
    int64_t f = recipe_features(r);
    struct faults *faults = NULL;
    float *rows = NULL;
    *out = NULL;
    TRY(ZNEW(faults, 1));
    st = recipe_apply(&rows, r, c, faults, file);
    if (st == CONSM_OK)
        st = faults_status(faults, file);
    TRY(partition_status(partition, st, partition->low));
    *out = mem_sparse_alloc((size_t)(nodes * f), sizeof **out);
    if (!*out)
        TRY(CONSM_ENOMEM);
    memcpy(*out + partition->low * f, rows,
           (size_t)((partition->high - partition->low) * f) * sizeof *rows);
done:
    mem_free(faults);
    mem_free(rows);
    return st;
}

/* A row of cells for each own node. */
static consm_status read_table(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                               const struct text_file *features, const struct text_file *nodes)
{
    consm_status st = CONSM_OK;
    struct cells cells = {0};
    const struct partition *partition = d->partition;
    const struct text_file *file = features->data ? features : nodes;
    st = features->data
             ? feature_text_cells(&cells, ids, wanted, features, partition->low, partition->high)
             : node_text_cells(&cells, wanted, nodes, ids->count, partition->low, partition->high);
    TRY(partition_status(partition, st, partition->low));
    int64_t odds = (int64_t)(cells.odds + cells.exacts);
    TRY(partition_sum(&odds, 1, partition));
    TRY(odds == 0 ? take_numbers(d, &cells) : take_cells(d, &cells, file->name));
done:
    cells_free(&cells);
    return st;
}

static consm_status read_npy(struct dataset *d, const struct text_file *file)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = d->partition;
    struct npy array;
    double *sum = NULL;
    float *x = NULL;
    TRY(parse_npy(&array, file));
    int64_t f = array.rank == 1 ? 1 : array.shape[1];
    d->features = f;
    TRY(ZNEW(sum, f));
    x = mem_sparse_alloc((size_t)array.count, sizeof *x);
    if (!x)
        TRY(CONSM_ENOMEM);
    TRY(npy_floats(x + partition->low * f, &array, partition->low * f,
                   (partition->high - partition->low) * f));
    if (file->passing)
        file_forget(file->data, (const char *)file->data + file->size);
    float *taken = x;
    x = NULL;
    TRY(take_rows(d, taken, sum));
done:
    mem_sparse_free(x);
    mem_free(sum);
    return st;
}

consm_status features_in_parts_read(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                                    const struct text_file *features, const struct text_file *nodes)
{
    consm_status st = CONSM_OK;
    enum feature_kind kind = FEATURES_TEXT;
    if (features->data)
        TRY(feature_file_kind(&kind, features));
    if (kind == FEATURES_TEXT)
        return read_table(d, ids, wanted, features, nodes);
    if (kind == FEATURES_NPY)
        return read_npy(d, features);
    TRY(svmlight_read_in_parts(&d->sparse, features, d->partition));
    d->features = d->sparse->cols;
done:
    return st;
}
