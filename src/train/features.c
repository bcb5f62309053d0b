/* Prepares features as configured: as stored, rows scaled to sum 1, columns divided by their
 * deviation, or standardised to mean 0 and deviation 1. Mean and deviation are measured on the
 * training graph and stored with the model, so that later graphs are scaled the same way. */
#include "train/session.h"

#include "graph/partition.h"
#include "stats/columns.h"
#include <math.h>
#include <pthread.h>
#include <string.h>

/* Divides each row by the sum of its absolute values, as is usual for citation sets. */
static void normalize_rows(float *out, const struct problem *problem, int64_t low, int64_t high)
{
    for (int64_t r = low; r < high; r++) {
        const float *from = problem->dense + r * problem->features;
        float *to = out + r * problem->features;
        double sum = 0;
        for (int64_t c = 0; c < problem->features; c++)
            sum += fabs((double)from[c]);
        for (int64_t c = 0; c < problem->features; c++)
            to[c] = sum > 0 ? (float)(from[c] / sum) : 0;
    }
}

/* ---- normalised rows that sessions share --------------------------------- */

struct normalized_rows {
    pthread_mutex_t lock;
    const void *of; /* the features that they were made from; NULL: not yet */
    struct csr *sparse;
    float *dense;
};

consm_status normalized_rows_new(struct normalized_rows **out)
{
    consm_status st = ZNEW(*out, 1);
    if (st == CONSM_OK)
        pthread_mutex_init(&(*out)->lock, NULL);
    return st;
}

void normalized_rows_free(struct normalized_rows *f)
{
    if (!f)
        return;
    pthread_mutex_destroy(&f->lock);
    csr_free(f->sparse);
    mem_free(f->dense);
    mem_free(f);
}

static const void *features_of(const struct problem *problem)
{
    return problem->sparse ? (const void *)problem->sparse : problem->dense;
}

static consm_status normalize_once(struct normalized_rows *f, const struct problem *problem)
{
    consm_status st = CONSM_OK;
    f->of = features_of(problem);
    if (problem->sparse) {
        TRY(csr_row_normalize(&f->sparse, problem->sparse));
        TRY(csr_transpose(f->sparse));
        return CONSM_OK;
    }
    TRY(NEW(f->dense, problem->nodes * problem->features));
    normalize_rows(f->dense, problem, 0, problem->nodes);
done:
    if (st < 0) {
        csr_free(f->sparse);
        f->sparse = NULL;
        f->of = NULL;
    }
    return st;
}

/* Takes the normalised rows of the problem, if they are those of its features. */
static consm_status share_rows(struct session *s)
{
    consm_status st = CONSM_OK;
    struct normalized_rows *f = s->problem->row_normalized;
    if (!f || s->problem->graph->partition || s->options.eval_only)
        return CONSM_OK;
    pthread_mutex_lock(&f->lock);
    if (!f->of)
        TRY(normalize_once(f, s->problem));
    s->shares_normalized = f->of == features_of(s->problem);
    if (s->shares_normalized) {
        s->sparse_normalized = f->sparse;
        s->dense_normalized = f->dense;
    }
done:
    pthread_mutex_unlock(&f->lock);
    return st;
}

/* ---- of one session ------------------------------------------------------ */

/* Allocates features that differ from the problem's, and finds the rows to fill: those that are
 * here. */
static consm_status make_room(struct session *s, int64_t *low, int64_t *high)
{
    const struct problem *problem = s->problem;
    const struct partition *partition = problem->graph->partition;
    *low = partition_low(partition);
    *high = partition_high(partition, problem->nodes);
    s->normalized_partition = partition;
    s->dense_normalized =
        partition_room(partition, problem->nodes * problem->features, sizeof(float));
    return s->dense_normalized ? CONSM_OK : CONSM_ENOMEM;
}

/* Makes the transpose of sparse features, which is divided like that of the problem's. */
static consm_status turn(struct csr *x, const struct problem *problem)
{
    return problem->graph->partition ? partition_turn(x, problem->sparse->t->partition)
                                     : csr_transpose(x);
}

/* The sums over the columns of a sparse matrix that columns_settle() reads. */
static consm_status measure_sparse(float *shift, float *scale, const struct csr *x)
{
    consm_status st = CONSM_OK;
    double *sum = NULL, *squares = NULL;
    int64_t *filled = NULL;
    TRY(ZNEW(sum, x->cols));
    TRY(ZNEW(squares, x->cols));
    TRY(ZNEW(filled, x->cols));
    for (int64_t k = 0; k < x->nnz; k++) {
        double value = x->val ? (double)x->val[k] : 1;
        sum[x->col[k]] += value;
        filled[x->col[k]]++;
    }
    for (int64_t c = 0; c < x->cols; c++) { /* the zeros */
        double mean = sum[c] / (double)x->rows;
        squares[c] = (double)(x->rows - filled[c]) * mean * mean;
    }
    for (int64_t k = 0; k < x->nnz; k++) {
        int32_t c = x->col[k];
        double away = (x->val ? (double)x->val[k] : 1) - sum[c] / (double)x->rows;
        squares[c] += away * away;
    }
    columns_settle(shift, scale, sum, squares, x->cols, x->rows);
done:
    mem_free(sum);
    mem_free(squares);
    mem_free(filled);
    return st;
}

/* Mean and 1/deviation of every column: those of the model or the folder, else measured here. */
static consm_status measure_columns(struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *problem = s->problem;
    const struct train_options *o = &s->options;
    int64_t n = problem->nodes, f = problem->features;
    const float *shift = o->shift ? o->shift : problem->shift;
    const float *scale = o->scale ? o->scale : problem->scale;
    TRY(NEW(s->shift, f));
    TRY(NEW(s->scale, f));
    if (shift && scale) {
        memcpy(s->shift, shift, (size_t)f * sizeof *shift);
        memcpy(s->scale, scale, (size_t)f * sizeof *scale);
    } else if (problem->graph->partition) {
        TRY(status_fail(CONSM_EFORMAT,
                        "normalize_features %s: the folder lacks the means and "
                        "deviations of its columns%s",
                        config_names_normalize_features[o->config.normalize_features],
                        problem->sparse ? "; for sparse features in parts use none or row"
                                        : "; write it again with `consm partition`"));
    } else if (problem->sparse) {
        TRY(measure_sparse(s->shift, s->scale, problem->sparse));
    } else {
        TRY(columns_measure(s->shift, s->scale, problem->dense, n, f));
    }
    for (int64_t c = 0; o->config.normalize_features == FEATURES_SCALE && c < f; c++)
        s->shift[c] = 0;
done:
    return st;
}

/* (x - shift)·scale for every column; sparse features have no shift, so zeros stay zeros. */
static consm_status scale_columns(struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *problem = s->problem;
    int64_t f = problem->features, low, high;
    TRY(measure_columns(s));
    if (problem->sparse) {
        TRY(csr_scale_columns(&s->sparse_normalized, problem->sparse, s->scale));
        return turn(s->sparse_normalized, problem);
    }
    TRY(make_room(s, &low, &high));
    for (int64_t r = low; r < high; r++)
        for (int64_t c = 0; c < f; c++)
            s->dense_normalized[r * f + c] =
                (problem->dense[r * f + c] - s->shift[c]) * s->scale[c];
done:
    return st;
}

consm_status session_prepare_features(struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *problem = s->problem;
    int64_t low, high;
    enum config_normalize_features way = s->options.config.normalize_features;
    if (way == FEATURES_STANDARD && problem->sparse)
        return status_fail(CONSM_EINVAL, "normalize_features standard: these features are sparse "
                                         "and would become dense; use scale or row");
    if (config_scales_columns(&s->options.config))
        return scale_columns(s);
    if (way == FEATURES_AUTO)
        return status_fail(CONSM_EINVAL,
                           "normalize_features auto works with consm only; for %s use none, row, "
                           "scale or standard",
                           s->options.model->name);
    if (way != FEATURES_ROW && !problem->graph->partition)
        return CONSM_OK;
    if (way == FEATURES_ROW)
        TRY(share_rows(s));
    if (s->shares_normalized)
        return CONSM_OK;
    if (problem->sparse) {
        if (way != FEATURES_ROW)
            return CONSM_OK;
        TRY(csr_row_normalize(&s->sparse_normalized, problem->sparse));
        return turn(s->sparse_normalized, problem);
    }
    TRY(make_room(s, &low, &high));
    if (way == FEATURES_ROW)
        normalize_rows(s->dense_normalized, problem, low, high);
    else
        memcpy(s->dense_normalized + low * problem->features,
               problem->dense + low * problem->features,
               (size_t)((high - low) * problem->features) * sizeof(float));
done:
    return st;
}

node session_features(struct session *s, struct program *p)
{
    const struct problem *problem = s->problem;
    if (s->sparse_normalized || problem->sparse)
        return sparse(p, s->sparse_normalized ? s->sparse_normalized : problem->sparse);
    return in_parts(p,
                    constant(p, s->dense_normalized ? s->dense_normalized : problem->dense,
                             problem->nodes, problem->features),
                    problem->graph->partition);
}

void session_free_features(struct session *s)
{
    if (!s->shares_normalized) {
        csr_free(s->sparse_normalized);
        partition_room_free(s->normalized_partition, s->dense_normalized);
    }
    s->shares_normalized = false;
    mem_free(s->shift);
    mem_free(s->scale);
    s->sparse_normalized = NULL;
    s->dense_normalized = s->shift = s->scale = NULL;
}
