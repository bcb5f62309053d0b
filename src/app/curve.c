/* Records a run's learning curve and thins it. */
#include "app/curve.h"

#include <math.h>
#include <string.h>

enum { MOST_NUMBERS = 256 }; /* of candidates; trials over other edges have larger numbers */
static const double MOST_UPDATES = 1e9;

void curve_free(struct train_curve *c)
{
    mem_free(c->point);
    *c = (struct train_curve){0};
}

static int backbone_of(const char *name)
{
    int i = 0;
    while (config_names_backbone[i] && (!name || strcmp(config_names_backbone[i], name) != 0))
        i++;
    return config_names_backbone[i] ? i : 0;
}

bool curve_hear(struct train_curve *c, const struct progress *p)
{
    bool candidate = p->epoch == 0 && p->candidate > 0 && p->candidate < MOST_NUMBERS;
    if (p->refit || p->member > 1 || (p->epoch == 0 && (!candidate || p->update == 0)))
        return true;
    c->lost = c->lost || GROW(c->point, c->count, c->room, 1) < 0;
    if (c->lost)
        return false;
    c->point[c->count++] =
        (struct curve_point){.candidate = candidate ? (double)p->candidate : 0,
                             .number = (double)(candidate ? p->update : p->epoch),
                             .loss = isfinite(p->loss) ? p->loss : 0,
                             .score = p->best_val >= 0 ? p->val_acc : -2,
                             .backbone = candidate ? backbone_of(p->backbone) : 0};
    return true;
}

bool curve_sound(const struct curve_point *point, int64_t count)
{
    int backbones = 0;
    while (config_names_backbone[backbones])
        backbones++;
    for (int64_t i = 0; i < count; i++) {
        const struct curve_point *p = &point[i];
        if (!(p->candidate >= 0 && p->candidate < MOST_NUMBERS) ||
            !(p->number >= 1 && p->number <= MOST_UPDATES) || !isfinite(p->loss) ||
            !(p->score >= -2 && p->score <= 1) || !(p->backbone >= 0 && p->backbone < backbones))
            return false;
    }
    return true;
}

int64_t curve_winner(const struct train_curve *c, int64_t chosen, const char *backbone)
{
    double first = 0;
    int64_t winner = 0;
    if (chosen > 0)
        return chosen;
    for (int64_t i = c->count; i-- > 0;)
        first = c->point[i].candidate == 0 ? c->point[i].number : first;
    for (int64_t i = 0; i < c->count; i++) {
        const struct curve_point *p = &c->point[i];
        if (p->candidate > 0 && p->number >= first - 1 && (first == 0 || p->number <= first) &&
            (!backbone || strcmp(config_names_backbone[(int)p->backbone], backbone) == 0))
            winner = (int64_t)p->candidate;
    }
    return winner;
}

int curve_longest(int64_t chosen[CURVE_CANDIDATES], const struct train_curve *c)
{
    double last[MOST_NUMBERS] = {0};
    int count = 0;
    for (int64_t i = 0; i < c->count; i++) {
        const struct curve_point *p = &c->point[i];
        if (p->candidate > 0 && p->number > last[(int)p->candidate])
            last[(int)p->candidate] = p->number;
    }
    for (; count < CURVE_CANDIDATES; count++) {
        int best = 0;
        for (int k = 1; k < MOST_NUMBERS; k++)
            best = last[k] > last[best] ? k : best;
        if (last[best] == 0)
            break;
        chosen[count] = best;
        last[best] = 0;
    }
    return count;
}

void curve_thin(struct train_curve *c)
{
    const int64_t winner = c->winner;
    int64_t chosen[CURVE_CANDIDATES], kept = 0, last[MOST_NUMBERS][2];
    int count = curve_longest(chosen, c);
    memset(last, 0xff, sizeof last); /* the last two kept points of each candidate: -1, none */
    for (int64_t i = 0; i < c->count; i++) {
        const struct curve_point p = c->point[i];
        int who = (int)p.candidate;
        bool drawn = who == 0 || who == winner;
        for (int k = 0; k < count; k++)
            drawn |= who == chosen[k];
        if (!drawn)
            continue;
        int64_t *two = last[who];
        bool level = who != 0 && who != winner && two[1] >= 0 &&
                     c->point[two[0]].score == p.score && c->point[two[1]].score == p.score;
        if (level) { /* a point in the middle of a flat stretch moves to its end */
            c->point[two[0]] = p;
            continue;
        }
        two[1] = two[0];
        two[0] = kept;
        c->point[kept++] = p;
    }
    c->count = kept;
}
