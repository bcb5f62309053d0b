/* Features as the configuration wants them: as they are, rows brought to sum 1, or columns to mean
 * 0 and deviation 1. The last is measured on the graph of training and kept with the model, so that
 * later graphs are seen with the same eyes. */
#include "train/session.h"

#include <math.h>
#include <string.h>

/* Divides each row by the sum of its absolute values, as citation sets are usually prepared. */
static void normalize_rows(float *out, const struct problem *problem)
{
    for (int64_t r = 0; r < problem->nodes; r++) {
        const float *from = problem->dense + r * problem->features;
        float *to = out + r * problem->features;
        double sum = 0;
        for (int64_t c = 0; c < problem->features; c++)
            sum += fabs((double)from[c]);
        for (int64_t c = 0; c < problem->features; c++)
            to[c] = sum > 0 ? (float)(from[c] / sum) : 0;
    }
}

/* shift = mean of each column, scale = 1/deviation; columns that never change keep scale 1. */
static consm_status measure_columns(struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *problem = s->problem;
    int64_t n = problem->nodes, f = problem->features;
    double *sum = NULL, *squares = NULL;
    TRY(ZNEW(sum, f));
    TRY(ZNEW(squares, f));
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = 0; c < f; c++)
            sum[c] += (double)problem->dense[r * f + c];
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = 0; c < f; c++) {
            double away = (double)problem->dense[r * f + c] - sum[c] / (double)n;
            squares[c] += away * away;
        }
    for (int64_t c = 0; c < f; c++) {
        double deviation = sqrt(squares[c] / (double)n);
        s->shift[c] = (float)(sum[c] / (double)n);
        s->scale[c] =
            deviation > 1e-12 * (1 + fabs(sum[c] / (double)n)) ? (float)(1 / deviation) : 1;
    }
done:
    mem_free(sum);
    mem_free(squares);
    return st;
}

static consm_status standardize(struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *problem = s->problem;
    const struct train_options *o = &s->options;
    int64_t n = problem->nodes, f = problem->features;
    if (problem->sparse)
        return status_fail(CONSM_EINVAL,
                           "normalize_features standard: these features are sparse, and would not "
                           "stay so; row keeps them sparse");
    TRY(NEW(s->shift, f));
    TRY(NEW(s->scale, f));
    if (o->shift && o->scale) {
        memcpy(s->shift, o->shift, (size_t)f * sizeof *s->shift);
        memcpy(s->scale, o->scale, (size_t)f * sizeof *s->scale);
    } else {
        TRY(measure_columns(s));
    }
    TRY(NEW(s->dense_normalized, n * f));
    for (int64_t r = 0; r < n; r++)
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
    enum config_normalize_features way = s->options.config.normalize_features;
    if (way == FEATURES_STANDARD)
        return standardize(s);
    if (way == FEATURES_AUTO)
        return status_fail(CONSM_EINVAL,
                           "normalize_features auto: only training consm chooses; %s takes none, "
                           "row or standard",
                           s->options.model->name);
    if (way != FEATURES_ROW)
        return CONSM_OK;
    if (problem->sparse) {
        TRY(csr_row_normalize(&s->row_normalized, problem->sparse));
        return csr_transpose(s->row_normalized);
    }
    TRY(NEW(s->dense_normalized, problem->nodes * problem->features));
    normalize_rows(s->dense_normalized, problem);
done:
    return st;
}

node session_features(struct session *s, struct program *p)
{
    const struct problem *problem = s->problem;
    if (s->row_normalized || problem->sparse)
        return sparse(p, s->row_normalized ? s->row_normalized : problem->sparse);
    return constant(p, s->dense_normalized ? s->dense_normalized : problem->dense, problem->nodes,
                    problem->features);
}
