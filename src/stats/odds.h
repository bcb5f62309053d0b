/* Log-odds of classes and surprise of labels, for blocks of rows, by vectors (tile.h). */
#ifndef STATS_ODDS_H
#define STATS_ODDS_H

#include "stats/score.h"

/* Rows from logits, found as in struct scored_rows. */
const float *scored_row(const struct scored_rows *x, int64_t k);
int32_t scored_label(const struct scored_rows *x, int64_t k);

/* Numbers of scratch for the functions below. */
int64_t odds_work(int32_t classes);

/* out[c·rows + k] = log(p_kc / (1 - p_kc)) for rows k of [from, to) and every class c; of >= 0:
 * only that class, in out[k]. NaN is -inf, which ranks last. p itself would saturate at 1. */
void odds_rows(float *out, const struct scored_rows *x, int32_t of, int64_t from, int64_t to,
               double *work);

/* term[k] = -log softmax(row k)[its label] */
void odds_surprise(double *term, const struct scored_rows *x, int64_t from, int64_t to,
                   double *work);

#endif
