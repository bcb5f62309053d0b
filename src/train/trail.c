/* Blocks by name. There are only a few dozen, so a linear search is enough. */
#include "train/trail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void trail_free(struct trail *t)
{
    for (size_t i = 0; i < t->count; i++)
        mem_free(t->block[i].data);
    mem_free(t->block);
    *t = (struct trail){0};
}

static struct trail_block *find(const struct trail *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->block[i].name, name) == 0)
            return &t->block[i];
    return NULL;
}

consm_status trail_put(struct trail *t, const char *name, const void *data, size_t bytes)
{
    consm_status st = CONSM_OK;
    struct trail_block *b = find(t, name);
    if (strlen(name) >= TRAIL_NAME)
        return status_fail(CONSM_ELIMIT, "the name of the checkpoint block %.80s is too long",
                           name);
    if (b && b->bytes != bytes) {
        mem_free(b->data);
        b->data = NULL;
    }
    if (!b) {
        TRY(GROW(t->block, t->count, t->capacity, 1));
        b = &t->block[t->count++];
        *b = (struct trail_block){0};
        snprintf(b->name, sizeof b->name, "%s", name);
    }
    b->bytes = bytes;
    if (!b->data && !(b->data = mem_alloc(bytes + 1, 1)))
        TRY(CONSM_ENOMEM);
    memcpy(b->data, data, bytes);
    t->unsaved = true;
done:
    return st;
}

const void *trail_find(const struct trail *t, const char *name, size_t bytes)
{
    const struct trail_block *b = find(t, name);
    return b && b->bytes == bytes ? b->data : NULL;
}

struct trail_point trail_point_of(const struct learner *l)
{
    return (struct trail_point){
        .steps = l->steps, .best_step = l->best_step, .best = l->best, .best_loss = l->best_loss};
}

bool trail_point_put(struct learner *l, const struct trail_point *p)
{
    if (p->steps < 0 || p->steps > LEARNER_MOST_STEPS || p->best_step < 0 ||
        p->best_step > LEARNER_MOST_STEPS || !(p->best >= -1 && p->best <= 1) ||
        !(p->best_loss >= 0) || !isfinite(p->best_loss))
        return false;
    l->steps = p->steps;
    l->best_step = p->best_step;
    l->best = p->best;
    l->best_loss = p->best_loss;
    return true;
}

consm_status trail_put_learner(struct trail *t, const char *name, struct learner *l, int64_t more)
{
    consm_status st = CONSM_OK;
    struct snapshot now = {0};
    struct trail_point point = trail_point_of(l);
    char numbers[TRAIL_NAME];
    point.more = more;
    snprintf(numbers, sizeof numbers, "%.40s.numbers", name);
    TRY(snapshot_take(&now, l));
    TRY(trail_put(t, numbers, now.numbers,
                  (size_t)(SNAPSHOT_BLOCKS * now.size) * sizeof *now.numbers));
    TRY(trail_put(t, name, &point, sizeof point));
done:
    snapshot_free(&now);
    return st;
}

/* No second moment is negative. */
static bool moments_sound(const float *numbers, int64_t size)
{
    const float *moment2 = numbers + 2 * size;
    for (int64_t i = 0; i < size; i++)
        if (moment2[i] < 0)
            return false;
    return true;
}

/* Its numbers stay the trail's. */
static consm_status look(bool *found, struct snapshot *out, const struct trail *t, const char *name,
                         int64_t *more)
{
    const struct trail_point *point = trail_find(t, name, sizeof *point);
    struct learner place = {0};
    char numbers[TRAIL_NAME];
    *found = point != NULL;
    if (!point)
        return CONSM_OK;
    snprintf(numbers, sizeof numbers, "%.40s.numbers", name);
    const struct trail_block *b = find(t, numbers);
    const size_t row = SNAPSHOT_BLOCKS * sizeof *out->numbers;
    *out = (struct snapshot){.size = b ? (int64_t)(b->bytes / row) : 0,
                             .numbers = b ? b->data : NULL,
                             .steps = point->steps,
                             .best_step = point->best_step,
                             .best = point->best,
                             .best_loss = point->best_loss};
    if (!b || b->bytes % row != 0 || !moments_sound(out->numbers, out->size) ||
        !trail_point_put(&place, point))
        return status_fail(CONSM_EFORMAT, "the checkpoint contains invalid values of %s", name);
    *more = point->more;
    return CONSM_OK;
}

consm_status trail_take_learner(bool *found, const struct trail *t, const char *name,
                                struct learner *l, int64_t *more)
{
    consm_status st = CONSM_OK;
    struct snapshot then = {0};
    TRY(look(found, &then, t, name, more));
    if (*found && then.size != l->params->size)
        TRY(status_fail(CONSM_EFORMAT, "the checkpoint contains invalid values of %s", name));
    if (*found)
        TRY(snapshot_put(&then, l));
done:
    return st;
}

consm_status trail_take_snapshot(bool *found, struct snapshot *out, const struct trail *t,
                                 const char *name, int64_t *more)
{
    consm_status st = CONSM_OK;
    struct snapshot then = {0};
    *out = (struct snapshot){0};
    TRY(look(found, &then, t, name, more));
    if (!*found || then.size == 0)
        return CONSM_OK;
    const float *numbers = then.numbers;
    then.numbers = NULL;
    TRY(NEW(then.numbers, SNAPSHOT_BLOCKS * then.size));
    memcpy(then.numbers, numbers, (size_t)(SNAPSHOT_BLOCKS * then.size) * sizeof *numbers);
    *out = then;
done:
    return st;
}
