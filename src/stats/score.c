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

static float odds_of(const float *row, int32_t classes, int32_t of)
{
    if (classes < 2)
        return 0;
    if (classes == 2)
        return (float)((double)row[of] - (double)row[1 - of]);
    return (float)log_odds(row, classes, of);
}

static void rank_class(const struct scored_rows *x, const struct score_room *room, int32_t of)
{
    for (int64_t k = 0; k < x->rows; k++)
        room->item[k] = rank_item(odds_of(row_of(x, k), x->classes, of), label_of(x, k) == of);
    rank_sort(room->item, room->spare, x->rows);
}

/* ---- ROC-AUC of more than two classes, on all threads -------------------- */

enum { TERMS = 64 }; /* classes whose terms fit on the stack */

/* Keys of a row's log-odds, x_k - log(sum - exp(x_k)): exp is taken once per class, not once per
 * pair of classes. Without another class the sum loses no digits: the largest term stays. */
static void row_keys(uint32_t *key, int64_t rows, const float *row, int32_t classes)
{
    const int32_t first = score_largest(row, classes);
    const double top = (double)row[first];
    double sum = 0, term[TERMS];
    for (int32_t i = 0; i < classes; i++) {
        const double e = i != first ? exp((double)row[i] - top) : 1;
        sum += e;
        if (i < TERMS)
            term[i] = e;
    }
    for (int32_t i = 0; i < classes; i++) {
        const double x = (double)row[i] - top;
        const float odds = (float)(i == first ? log_odds(row, classes, i)
                                              : x - log(sum - (i < TERMS ? term[i] : exp(x))));
        key[i * rows] = (uint32_t)(rank_item(odds, false) >> 1);
    }
}

struct areas {
    const struct scored_rows *x;
    const struct score_room *room;
};

static void areas_worker(void *arg, struct worker who)
{
    const struct areas *a = arg;
    const struct scored_rows *x = a->x;
    const struct score_room *room = a->room;
    int64_t from, to;
    team_range(who, x->rows, 64, &from, &to);
    for (int64_t k = from; k < to; k++)
        row_keys(room->key + k, x->rows, row_of(x, k), x->classes);
    team_barrier(who);
    const int lanes = room->lanes < who.size ? room->lanes : who.size;
    uint64_t *item = room->item + who.id * x->rows, *spare = room->spare + who.id * x->rows;
    for (int32_t of = who.id; of < x->classes && who.id < lanes; of += lanes) {
        const uint32_t *key = room->key + of * x->rows;
        for (int64_t k = 0; k < x->rows; k++)
            item[k] = (uint64_t)key[k] << 1 | (label_of(x, k) == of);
        rank_sort(item, spare, x->rows);
        room->area[of] = rank_auc(item, x->rows);
    }
}

/* The area of every class, into room->area. */
static void all_areas(const struct scored_rows *x, const struct score_room *room)
{
    struct areas a = {x, room};
    if (room->team)
        team_run(room->team, areas_worker, &a);
    else
        areas_worker(&a, (struct worker){0, 1, NULL});
}

/* The mean over the classes that some rows have and others do not. Two classes have the same area:
 * their log-odds differ only in sign. */
static double mean_auc(const struct scored_rows *x, const struct score_room *room)
{
    const bool keys = room->key && x->classes > 2;
    double sum = 0, defined = 0;
    if (keys)
        all_areas(x, room);
    for (int32_t of = 0; of < (x->classes == 2 ? 1 : x->classes); of++) {
        if (!keys)
            rank_class(x, room, of);
        double area = keys ? room->area[of] : rank_auc(room->item, x->rows);
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
