/* Samples pairs of labelled nodes, as many of one class as of two (section 4.1.3, "Sampling"). */

/*
 *   ego:   one labelled node in turn against others: match_pairs of its class, as many of others
 *   batch: match_pairs of each kind for every labelled node, all in one step
 *   pair:  one positive or negative pair at a time
 *
 * In a class with a single labelled node, that node is paired with itself. Without a second class,
 * negative pairs have weight 0.
 */
#include "match/matcher_inside.h"

#include "base/known.h"
#include "base/rng.h"
#include <string.h>

consm_status matcher_group(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    int64_t at = 0;
    TRY(ZNEW(m->class_start, d->classes + 1));
    TRY(NEW(m->by_class, d->labelled));
    for (int64_t k = 0; k < d->classes; k++) {
        m->class_start[k] = at;
        for (int64_t i = 0; i < d->labelled; i++)
            if (d->label[d->train[i]] == k)
                m->by_class[at++] = (int32_t)i;
    }
    m->class_start[d->classes] = at;
done:
    return st;
}

/* Another labelled node of the same class; the node itself if it is alone. */
static int32_t draw_same(const struct matcher *m, struct rng *r, int32_t ego, int32_t label)
{
    int64_t from = m->class_start[label], size = m->class_start[label + 1] - from;
    if (size < 2)
        return ego;
    int32_t other;
    do
        other = m->by_class[from + (int64_t)rng_below(r, (uint64_t)size)];
    while (other == ego);
    return other;
}

/* A labelled node of another class; the node itself if there is no other class. */
static int32_t draw_other(const struct matcher *m, struct rng *r, int32_t ego, int32_t label)
{
    int64_t from = m->class_start[label], size = m->class_start[label + 1] - from;
    int64_t others = m->data.labelled - size;
    if (others < 1)
        return ego;
    int64_t at = (int64_t)rng_below(r, (uint64_t)others);
    return m->by_class[at < from ? at : at + size];
}

consm_status matcher_draw_pairs(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    int32_t *left = m->left->row, *right = m->right->row;
    int64_t per_ego = m->pairs;
    struct rng r;
    if (m->config->match_update == MATCH_UPDATE_BATCH)
        per_ego = m->pairs / d->labelled;
    rng_init(&r, m->seed, 0x70616972u + (uint64_t)m->sampled++);
    memset(m->times, 0, (size_t)d->labelled * sizeof *m->times);
    int32_t ego = (int32_t)m->next_ego;
    for (int64_t k = 0, of_ego = 0; k < m->pairs; k++, of_ego++) {
        if (of_ego == per_ego) {
            ego = ego + 1 < d->labelled ? ego + 1 : 0;
            of_ego = 0;
        }
        int32_t label = d->label[d->train[ego]];
        /* Single pairs alternate from step to step, longer lists within themselves. */
        bool same = per_ego == 1 ? (m->sampled & 1) : k % 2 == 0;
        left[k] = ego;
        right[k] = same ? draw_same(m, &r, ego, label) : draw_other(m, &r, ego, label);
        m->target[k] = same;
        m->weight[k] = !same && right[k] == ego ? 0 : 1 / (float)m->pairs;
        m->times[left[k]]++;
        m->times[right[k]]++;
    }
    KNOWN(per_ego > 0);
    m->next_ego = (m->next_ego + m->pairs / per_ego) % d->labelled;
    TRY(index_set(m->left, left));
    TRY(index_set(m->right, right));
    program_touch(m->learner.train.program, m->times);
    program_touch(m->learner.train.program, m->target);
    program_touch(m->learner.train.program, m->weight);
done:
    return st;
}
