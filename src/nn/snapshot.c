/* Saves and restores a learner's blocks, and copies them between learners. */
#include "nn/snapshot.h"

#include <string.h>

/* The best parameters come last: restoring a point leaves them out. */
static const enum place places[SNAPSHOT_BLOCKS] = {PLACE_VALUE, PLACE_MOMENT1, PLACE_MOMENT2,
                                                   PLACE_BEST};

consm_status snapshot_reserve(struct snapshot *s, const struct learner *l)
{
    consm_status st = CONSM_OK;
    if (!s->numbers)
        TRY(ZNEW(s->numbers, SNAPSHOT_BLOCKS * l->params->size));
done:
    return st;
}

void snapshot_free(struct snapshot *s)
{
    mem_free(s->numbers);
    *s = (struct snapshot){0};
}

consm_status snapshot_take(struct snapshot *s, struct learner *l)
{
    consm_status st = CONSM_OK;
    TRY(snapshot_reserve(s, l));
    s->size = l->params->size;
    for (int i = 0; i < SNAPSHOT_BLOCKS; i++) {
        const float *block;
        TRY(params_read(&block, l->params, places[i]));
        memcpy(s->numbers + i * s->size, block, (size_t)s->size * sizeof *block);
    }
    s->steps = l->steps;
    s->best_step = l->best_step;
    s->best = l->best;
    s->best_loss = l->best_loss;
done:
    return st;
}

static consm_status put(const struct snapshot *s, struct learner *l, int blocks)
{
    consm_status st = CONSM_OK;
    for (int i = 0; s->size > 0 && i < blocks; i++) {
        float *block;
        TRY(params_overwrite(&block, l->params, places[i]));
        memcpy(block, s->numbers + i * s->size, (size_t)s->size * sizeof *block);
    }
    if (s->size > 0)
        l->steps = s->steps;
done:
    return st;
}

consm_status snapshot_put_point(const struct snapshot *s, struct learner *l)
{
    return put(s, l, SNAPSHOT_BLOCKS - 1);
}

consm_status snapshot_put(const struct snapshot *s, struct learner *l)
{
    consm_status st = CONSM_OK;
    TRY(put(s, l, SNAPSHOT_BLOCKS));
    if (s->size > 0) {
        l->best_step = s->best_step;
        l->best = s->best;
        l->best_loss = s->best_loss;
    }
done:
    return st;
}

consm_status learner_adopt(struct learner *to, struct learner *from)
{
    consm_status st = CONSM_OK;
    for (int i = 0; i < SNAPSHOT_BLOCKS; i++) {
        float *mine;
        const float *theirs;
        TRY(params_write(&mine, to->params, places[i]));
        TRY(params_read(&theirs, from->params, places[i]));
        for (int k = 0; k < from->params->count; k++) {
            const struct parameter *item = &from->params->item[k];
            int same = params_find(to->params, item->name);
            if (same >= 0)
                memcpy(mine + to->params->item[same].offset, theirs + item->offset,
                       (size_t)(item->rows * item->cols) * sizeof *mine);
        }
    }
    to->steps = from->steps;
    to->best_step = from->best_step;
    to->best = from->best;
    to->best_loss = from->best_loss;
done:
    return st;
}
