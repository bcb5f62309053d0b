/* Picks the most confident predictions: all that qualify, sorted, then filled up class by class. */
#include "train/guess.h"
#include "stats/score.h"

#include <math.h>
#include <stdlib.h>

static int surest_first(const void *a, const void *b)
{
    const struct guess *x = a, *y = b;
    if (x->chance != y->chance)
        return x->chance < y->chance ? 1 : -1;
    return x->node < y->node ? -1 : 1;
}

/* The likeliest class of a row of logits and its probability. */
static struct guess predict(const float *row, int32_t classes, int32_t i)
{
    int32_t best = score_largest(row, classes);
    double sum = 0;
    for (int32_t k = 0; k < classes; k++)
        sum += exp((double)(row[k] - row[best]));
    return (struct guess){i, best, (float)(1 / sum)};
}

/* room->found has the prediction of every node. */
static int64_t pick_surest(struct guess_room *room, int64_t nodes, int64_t classes,
                           const uint8_t *taken, const double *share, int64_t most,
                           double confidence)
{
    int64_t found = 0, kept = 0;
    for (int64_t i = 0; i < nodes; i++)
        if (!taken[i] && (double)room->found[i].chance >= confidence)
            room->found[found++] = room->found[i];
    qsort(room->found, (size_t)found, sizeof *room->found, surest_first);
    for (int64_t k = 0; k < classes; k++)
        room->left[k] = (int64_t)floor(share[k] * (double)most);
    for (int64_t i = 0; i < found; i++)
        if (room->left[room->found[i].label]-- > 0)
            room->found[kept++] = room->found[i];
    return kept;
}

consm_status guess_surest(int64_t *count, struct guess_room *room, const float *logits,
                          int64_t nodes, int64_t classes, const uint8_t *taken, const double *share,
                          int64_t most, double confidence, const struct partition *parts)
{
    *count = 0;
    for (int64_t i = partition_low(parts); i < partition_high(parts, nodes); i++)
        room->found[i] = predict(logits + i * classes, (int32_t)classes, (int32_t)i);
    consm_status st = partition_gather(parts, room->found, sizeof *room->found);
    if (st == CONSM_OK)
        *count = pick_surest(room, nodes, classes, taken, share, most, confidence);
    return st;
}
