/* Metrics of predictions. */
#include "stats/score.h"

#include "stats/rank.h"
#include <math.h>
#include <string.h>

static const float *row_of(const struct scored_rows *x, int64_t k)
{
    return x->logits + (x->logit_row ? x->logit_row[k] : k) * x->classes;
}

static int32_t label_of(const struct scored_rows *x, int64_t k)
{
    return x->label[x->label_row ? x->label_row[k] : k];
}

int32_t score_largest(const float *row, int32_t classes)
{
    int32_t best = 0;
    for (int32_t k = 1; k < classes; k++)
        if (row[k] > row[best])
            best = k;
    return best;
}

double score_surprise(const float *row, int32_t classes, int32_t label)
{
    double top = (double)row[score_largest(row, classes)], total = 0;
    for (int32_t k = 0; k < classes; k++)
        total += exp((double)row[k] - top);
    return log(total) - ((double)row[label] - top);
}

/* ---- by counting --------------------------------------------------------- */

static double accuracy_of(const struct scored_rows *x)
{
    int64_t right = 0;
    for (int64_t k = 0; k < x->rows; k++)
        right += score_largest(row_of(x, k), x->classes) == label_of(x, k);
    return (double)right / (double)x->rows;
}

/* The mean over classes of recall, or of F1 = 2·both / (true + predicted). */
static double class_mean(const struct scored_rows *x, int64_t *count, bool recall)
{
    int64_t c = x->classes, *are = count, *said = are + c, *both = said + c;
    double sum = 0, classes = 0;
    memset(count, 0, 3 * (size_t)c * sizeof *count);
    for (int64_t k = 0; k < x->rows; k++) {
        int32_t guess = score_largest(row_of(x, k), x->classes), label = label_of(x, k);
        are[label]++;
        said[guess]++;
        both[guess] += guess == label;
    }
    for (int64_t k = 0; k < c; k++) {
        int64_t whole = recall ? 2 * are[k] : are[k] + said[k];
        sum += whole ? 2 * (double)both[k] / (double)whole : 0;
        classes += whole > 0;
    }
    return sum / classes;
}

/* exp of the mean of log p(label). */
static double likelihood(const struct scored_rows *x)
{
    double sum = 0;
    for (int64_t k = 0; k < x->rows; k++)
        sum -= score_surprise(row_of(x, k), x->classes, label_of(x, k));
    return exp(sum / (double)x->rows);
}

/* ---- by ranking ---------------------------------------------------------- */

/* log(p_k / (1 - p_k)) = x_k - log Σ_{i≠k} exp(x_i): ranks a class against the rest; unlike p_k it
 * does not saturate at 1. */
static double log_odds(const float *row, int32_t classes, int32_t k)
{
    double top = -INFINITY, sum = 0;
    for (int32_t i = 0; i < classes; i++)
        top = i != k && (double)row[i] > top ? (double)row[i] : top;
    for (int32_t i = 0; i < classes; i++)
        sum += i != k ? exp((double)row[i] - top) : 0;
    return (double)row[k] - top - log(sum);
}

static struct odds_base base_of(const float *row, int32_t classes)
{
    struct odds_base b = {.first = score_largest(row, classes)};
    b.top = (double)row[b.first];
    b.own = log_odds(row, classes, b.first);
    for (int32_t i = 0; i < classes; i++)
        b.sum += i != b.first ? exp((double)row[i] - b.top) : 1;
    return b;
}

static float odds_of(const struct odds_base *b, const float *row, int32_t classes, int32_t of)
{
    if (classes < 2)
        return 0;
    if (classes == 2)
        return (float)((double)row[of] - (double)row[1 - of]);
    if (!b)
        return (float)log_odds(row, classes, of);
    double x = (double)row[of] - b->top;
    return (float)(of == b->first ? b->own : x - log(b->sum - exp(x)));
}

static void rank_class(const struct scored_rows *x, const struct score_room *room, int32_t of)
{
    for (int64_t k = 0; k < x->rows; k++)
        room->item[k] =
            rank_item(odds_of(room->base ? &room->base[k] : NULL, row_of(x, k), x->classes, of),
                      label_of(x, k) == of);
    rank_sort(room->item, room->spare, x->rows);
}

/* The mean over the classes that some rows have and others do not. Two classes have the same area:
 * their log-odds differ only in sign. */
static double mean_auc(const struct scored_rows *x, const struct score_room *room)
{
    double sum = 0, defined = 0;
    for (int64_t k = 0; room->base && k < x->rows; k++)
        room->base[k] = base_of(row_of(x, k), x->classes);
    for (int32_t of = 0; of < (x->classes == 2 ? 1 : x->classes); of++) {
        rank_class(x, room, of);
        double area = rank_auc(room->item, x->rows);
        sum += isnan(area) ? 0 : area;
        defined += !isnan(area);
    }
    return defined > 0 ? sum / defined : 0;
}

double score_rows(enum score_metric metric, const struct scored_rows *x,
                  const struct score_room *room)
{
    if (x->rows == 0)
        return 0;
    switch (metric) {
    case SCORE_MACRO_F1: return class_mean(x, room->count, false);
    case SCORE_BALANCED_ACCURACY: return class_mean(x, room->count, true);
    case SCORE_AVERAGE_PRECISION:
        rank_class(x, room, x->positive);
        return rank_average_precision(room->item, x->rows);
    case SCORE_ROC_AUC: return mean_auc(x, room);
    case SCORE_LOG_LIKELIHOOD: return likelihood(x);
    default: return accuracy_of(x);
    }
}
