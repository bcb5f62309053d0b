/* Log-odds and surprise of rows, a tile of rows at a time. Rows with numbers out of exp's range, or
 * none at all, are computed one by one. */
#include "stats/odds.h"

#include "stats/tile.h"
#include <math.h>

const float *scored_row(const struct scored_rows *x, int64_t k)
{
    return x->logits + (x->logit_row ? x->logit_row[k] : k) * x->classes;
}

int32_t scored_label(const struct scored_rows *x, int64_t k)
{
    return x->label[x->label_row ? x->label_row[k] : k];
}

int64_t odds_work(int32_t classes)
{
    return 2 * (int64_t)TILE * classes;
}

/* Rows [begin, begin + rows) of at least two classes. */
struct tile {
    const struct scored_rows *x;
    int64_t begin, rows;
    double *shifted, *rest; /* (classes, TILE) as tile_fn gives them */
    double all[TILE];
};

/* The next rows of [begin, to); for classes [from, end) also rest. */
static bool next_tile(struct tile *t, int64_t to, int64_t from, int64_t end)
{
    const int64_t c = t->x->classes;
    t->begin += t->rows;
    t->rows = to - t->begin < TILE ? to - t->begin : TILE;
    if (t->rows <= 0)
        return false;
    for (int64_t r = 0; r < TILE; r++) { /* missing rows repeat the last */
        const float *row = scored_row(t->x, t->begin + (r < t->rows ? r : t->rows - 1));
        for (int64_t k = 0; k < c; k++)
            t->shifted[k * TILE + r] = (double)row[k];
    }
    tile_best()(t->shifted, t->rest, t->all, c, from, end);
    return true;
}

static struct tile tiles_from(const struct scored_rows *x, int64_t from, double *work)
{
    return (struct tile){
        .x = x, .begin = from, .shifted = work, .rest = work + odds_work(x->classes) / 2};
}

/* ---- log-odds ------------------------------------------------------------ */

/* x_k - log Σ_{i≠k} exp(x_i) of any row */
static double log_odds(const float *row, int32_t classes, int32_t k)
{
    double top = -INFINITY, sum = 0;
    for (int32_t i = 0; i < classes; i++)
        top = i != k && (double)row[i] > top ? (double)row[i] : top;
    for (int32_t i = 0; i < classes; i++)
        sum += i != k ? exp((double)row[i] - top) : 0;
    return (double)row[k] - top - log(sum);
}

static float ranked(double odds)
{
    return isnan(odds) ? -INFINITY : (float)odds;
}

/* The difference of two logits; of one class there are no odds. */
static void lead_rows(float *out, const struct scored_rows *x, int32_t of, int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++) {
        const float *row = scored_row(x, k);
        out[k] = x->classes < 2 ? 0 : ranked((double)row[of] - (double)row[1 - of]);
    }
}

void odds_rows(float *out, const struct scored_rows *x, int32_t of, int64_t from, int64_t to,
               double *work)
{
    const int64_t first = of < 0 ? 0 : of, end = of < 0 ? x->classes : of + 1;
    struct tile t = tiles_from(x, from, work);
    if (x->classes <= 2) {
        lead_rows(out, x, of < 0 ? 0 : of, from, to);
        return;
    }
    while (next_tile(&t, to, first, end)) {
        for (int64_t k = first; k < end; k++) {
            const double *shifted = t.shifted + k * TILE, *rest = t.rest + k * TILE;
            float *to_row = out + (k - first) * x->rows + t.begin;
            for (int64_t r = 0; r < t.rows; r++)
                to_row[r] = (float)(shifted[r] - rest[r]);
        }
        for (int64_t r = 0; r < t.rows; r++)
            for (int64_t k = first; k < end && isnan(t.all[r]); k++)
                out[(k - first) * x->rows + t.begin + r] =
                    ranked(log_odds(scored_row(x, t.begin + r), x->classes, (int32_t)k));
    }
}

/* ---- surprise ------------------------------------------------------------ */

void odds_surprise(double *term, const struct scored_rows *x, int64_t from, int64_t to,
                   double *work)
{
    struct tile t = tiles_from(x, from, work);
    while (next_tile(&t, to, 0, 0))
        for (int64_t r = 0; r < t.rows; r++) {
            const int64_t k = t.begin + r;
            const int32_t label = scored_label(x, k);
            term[k] = isnan(t.all[r]) ? score_surprise(scored_row(x, k), x->classes, label)
                                      : t.all[r] - t.shifted[label * TILE + r];
        }
}
