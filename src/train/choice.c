/* The order among candidates, and a choice as a checkpoint holds it. */
#include "train/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void choice_free(struct candidate_choice *c)
{
    for (int64_t i = 0; c && i < TRAIN_MOST_CANDIDATES; i++)
        snapshot_free(&c->trial[i].at);
    mem_free(c);
}

static bool better(const struct trial *a, const struct trial *b)
{
    if (a->val != b->val)
        return a->val > b->val;
    return a->loss != b->loss ? a->loss < b->loss : a->number < b->number;
}

/* Insertion sort. */
void choice_order(struct candidate_choice *c)
{
    struct trial *trial = c->trial;
    for (int64_t i = 1; i < c->count; i++)
        for (int64_t k = i; k > 0 && better(&trial[k], &trial[k - 1]); k--) {
            struct trial swap = trial[k];
            trial[k] = trial[k - 1];
            trial[k - 1] = swap;
        }
}

void choice_keep(struct candidate_choice *c, int64_t count)
{
    for (int64_t i = count; i < c->count; i++)
        snapshot_free(&c->trial[i].at);
    c->count = c->count < count ? c->count : count;
}

/* ---- checkpoints --------------------------------------------------------- */

void choice_note(struct candidate_choice *c)
{
    struct choice_place *p = &c->place;
    *p = (struct choice_place){c->over, c->rung, c->next, c->entered, c->count, {{0}}};
    for (int64_t i = 0; i < c->entered; i++) {
        const struct trial *t = &c->trial[i];
        p->trial[i].number = t->number;
        p->trial[i].updates = t->course.done;
        p->trial[i].diverged = t->diverged;
        p->trial[i].val = t->val;
        p->trial[i].loss = t->loss;
        if (c->over || t->at.size == 0)
            continue;
        p->trial[i].size = t->at.size;
        p->trial[i].steps = t->at.steps;
        p->trial[i].best_step = t->at.best_step;
        p->trial[i].best = t->at.best;
        p->trial[i].best_loss = t->at.best_loss;
    }
}

static bool score_sound(double val, double loss)
{
    return val >= -1 && val <= 1 && loss >= 0 && isfinite(loss);
}

static bool trial_sound(const struct choice_place *p, int64_t i, int64_t updates)
{
    bool races = i < p->count && !p->over;
    return p->trial[i].updates >= 0 && p->trial[i].updates <= updates &&
           (p->trial[i].diverged == 0 || p->trial[i].diverged == 1) && p->trial[i].size >= 0 &&
           p->trial[i].size <= INT64_MAX / (int64_t)sizeof(float) / SNAPSHOT_BLOCKS &&
           (p->trial[i].size == 0 || races) && p->trial[i].steps >= 0 &&
           p->trial[i].steps <= p->trial[i].updates && p->trial[i].best_step >= 0 &&
           p->trial[i].best_step <= p->trial[i].steps &&
           score_sound(p->trial[i].val, p->trial[i].loss) &&
           score_sound(p->trial[i].best, p->trial[i].best_loss);
}

/* Every candidate that entered is there, once. */
static bool all_there(const struct candidate_choice *c)
{
    const struct choice_place *p = &c->place;
    for (int64_t i = 0; i < c->entered; i++) {
        int64_t found = 0;
        for (int64_t k = 0; k < c->entered; k++)
            found += p->trial[k].number == c->trial[i].number;
        if (found != 1)
            return false;
    }
    return true;
}

bool choice_take(struct candidate_choice *c, int64_t rungs, int64_t updates)
{
    const struct choice_place *p = &c->place;
    bool sound = (p->over == 0 || p->over == 1) && p->rung >= 0 && p->rung < rungs &&
                 p->entered == c->entered && p->count >= 1 && p->count <= p->entered &&
                 p->next >= 0 && p->next <= p->count && all_there(c);
    for (int64_t i = 0; sound && i < p->entered; i++)
        sound = trial_sound(p, i, updates);
    if (!sound)
        return false;
    c->over = p->over;
    c->rung = p->rung;
    c->next = p->next;
    c->count = p->count;
    for (int64_t i = 0; i < c->entered; i++) {
        c->trial[i] = (struct trial){.number = p->trial[i].number,
                                     .val = p->trial[i].val,
                                     .loss = p->trial[i].loss,
                                     .diverged = p->trial[i].diverged,
                                     .course.done = p->trial[i].updates};
        c->trial[i].at = (struct snapshot){.size = p->trial[i].size,
                                           .steps = p->trial[i].steps,
                                           .best_step = p->trial[i].best_step,
                                           .best = p->trial[i].best,
                                           .best_loss = p->trial[i].best_loss};
    }
    return true;
}

consm_status choice_reserve(struct candidate_choice *c)
{
    consm_status st = CONSM_OK;
    for (int64_t i = 0; i < c->count; i++)
        if (c->trial[i].at.size > 0)
            TRY(ZNEW(c->trial[i].at.numbers, SNAPSHOT_BLOCKS * c->trial[i].at.size));
done:
    return st;
}

void choice_numbers(struct candidate_choice *c, memory_fn see, void *ctx)
{
    static const char *const block[SNAPSHOT_BLOCKS] = {"parameters", "moment1", "moment2", "best"};
    char name[48];
    for (int64_t i = 0; i < c->count && !c->over; i++)
        for (int b = 0; c->trial[i].at.size > 0 && b < SNAPSHOT_BLOCKS; b++) {
            const struct snapshot *at = &c->trial[i].at;
            snprintf(name, sizeof name, "choice.%d.%s", (int)i, block[b]);
            see(ctx, name, at->numbers ? at->numbers + b * at->size : NULL,
                (size_t)at->size * sizeof(float));
        }
}
