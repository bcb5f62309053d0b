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

/* Sorts the guesses and keeps those within their classes' shares; says which chance a class that is
 * full asks for. Guesses that come later have later nodes, so they must exceed it. */
static int64_t keep_surest(struct guess_room *room, int64_t found, int64_t classes,
                           const double *share, int64_t most)
{
    int64_t kept = 0;
    qsort(room->found, (size_t)found, sizeof *room->found, surest_first);
    for (int64_t k = 0; k < classes; k++) {
        room->left[k] = (int64_t)floor(share[k] * (double)most);
        room->bar[k] = room->left[k] > 0 ? -1 : 2;
    }
    for (int64_t i = 0; i < found; i++) {
        const struct guess *g = &room->found[i];
        if (room->left[g->label]-- <= 0)
            continue;
        if (room->left[g->label] == 0)
            room->bar[g->label] = g->chance;
        room->found[kept++] = *g;
    }
    return kept;
}

/* room->found has the prediction of every node. The best so far are at its beginning; whenever four
 * times as many as may stay have come together, the others go. Sorting all of them would take most
 * of the time on a large graph. */
static int64_t pick_surest(struct guess_room *room, int64_t nodes, int64_t classes,
                           const uint8_t *taken, const double *share, int64_t most,
                           double confidence)
{
    enum { FEW = 64 };
    int64_t found = keep_surest(room, 0, classes, share, most);
    for (int64_t i = 0; i < nodes; i++) {
        const struct guess g = room->found[i];
        if (taken[i] || !((double)g.chance >= confidence) || g.chance <= room->bar[g.label])
            continue;
        room->found[found++] = g;
        if (found / 4 > most + FEW)
            found = keep_surest(room, found, classes, share, most);
    }
    return keep_surest(room, found, classes, share, most);
}

struct predicting {
    struct guess *found;
    const float *logits;
    int32_t classes;
    int64_t low, high;
};

static void predicting_worker(void *arg, struct worker who)
{
    const struct predicting *q = arg;
    int64_t from, to;
    team_range(who, q->high - q->low, 64, &from, &to);
    for (int64_t i = q->low + from; i < q->low + to; i++)
        q->found[i] = predict(q->logits + i * q->classes, q->classes, (int32_t)i);
}

consm_status guess_surest(int64_t *count, struct guess_room *room, const float *logits,
                          int64_t nodes, int64_t classes, const uint8_t *taken, const double *share,
                          int64_t most, double confidence, const struct partition *parts,
                          struct team *team)
{
    struct predicting q = {room->found, logits, (int32_t)classes, partition_low(parts),
                           partition_high(parts, nodes)};
    *count = 0;
    team_run(team, predicting_worker, &q);
    consm_status st = partition_gather(parts, room->found, sizeof *room->found);
    if (st == CONSM_OK)
        *count = pick_surest(room, nodes, classes, taken, share, most, confidence);
    return st;
}
