/* Lists of changes, and the attacks that draw them without a model. */
#include "attack/attack.h"

#include "base/rng.h"

enum { STREAM_DICE = 131, TRIES = 200 };

consm_status changes_new(struct changes *out, int64_t capacity)
{
    consm_status st = CONSM_OK;
    *out = (struct changes){.capacity = capacity};
    TRY(NEW(out->left, capacity));
    TRY(NEW(out->right, capacity));
    TRY(NEW(out->added, capacity));
done:
    if (st < 0)
        changes_free(out);
    return st;
}

void changes_free(struct changes *c)
{
    mem_free(c->left);
    mem_free(c->right);
    mem_free(c->added);
    *c = (struct changes){0};
}

void changes_add(struct changes *c, int32_t left, int32_t right, bool added)
{
    c->left[c->count] = left < right ? left : right;
    c->right[c->count] = left < right ? right : left;
    c->added[c->count++] = added;
}

/* dropped (edges) becomes 1 for removed edges. */
static consm_status mark_removed(uint8_t **dropped, const struct edges *own,
                                 const struct changes *c)
{
    consm_status st = CONSM_OK;
    TRY(ZNEW(*dropped, own->count));
    for (int64_t i = 0; i < c->count; i++) {
        int64_t at = c->added[i]
                         ? -1
                         : pair_find(own->left, own->right, own->count, c->left[i], c->right[i]);
        if (at >= 0)
            (*dropped)[at] = 1;
    }
done:
    return st;
}

consm_status changes_apply(struct csr **out, const struct csr *graph, const struct changes *c)
{
    consm_status st = CONSM_OK;
    struct edges *own = NULL;
    struct changes more = {0}; /* those that add */
    uint8_t *dropped = NULL;
    TRY(edges_new(&own, graph));
    TRY(mark_removed(&dropped, own, c));
    TRY(changes_new(&more, c->count));
    for (int64_t i = 0; i < c->count; i++)
        if (c->added[i])
            changes_add(&more, c->left[i], c->right[i], true);
    TRY(edges_changed(out, graph, own, dropped, more.count, more.left, more.right, 1, NULL));
done:
    changes_free(&more);
    mem_free(dropped);
    edges_free(own);
    return st;
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* A set of pairs of nodes by open addressing: a pair is left·n + right + 1, an empty place 0. */
struct pairs {
    uint64_t *slot;
    uint64_t mask;
};

static consm_status pairs_new(struct pairs *out, int64_t most)
{
    uint64_t size = 16;
    while (size < 3 * (uint64_t)most)
        size *= 2;
    out->mask = size - 1;
    return ZNEW(out->slot, size);
}

/* Whether the pair is new. */
static bool pairs_add(struct pairs *p, uint64_t pair)
{
    uint64_t at = (pair * 0x9e3779b97f4a7c15u >> 20) & p->mask;
    while (p->slot[at] != 0 && p->slot[at] != pair)
        at = (at + 1) & p->mask;
    bool fresh = p->slot[at] == 0;
    p->slot[at] = pair;
    return fresh;
}

consm_status attack_draw(int32_t *left, int32_t *right, int64_t want, const struct csr *graph,
                         const int32_t *label, uint64_t seed, uint64_t stream)
{
    consm_status st = CONSM_OK;
    struct pairs seen = {0};
    struct rng rng;
    uint64_t n = (uint64_t)graph->rows;
    int64_t found = 0;
    rng_init(&rng, seed, stream);
    TRY(pairs_new(&seen, want));
    for (int64_t tries = 0; found < want && tries < TRIES * (want + 10); tries++) {
        uint64_t i = rng_below(&rng, n), j = rng_below(&rng, n);
        if (i > j) {
            uint64_t swap = i;
            i = j;
            j = swap;
        }
        bool different = !label || (label[i] >= 0 && label[j] >= 0 && label[i] != label[j]);
        if (i == j || !different || csr_find(graph, (int64_t)i, (int32_t)j) >= 0 ||
            !pairs_add(&seen, i * n + j + 1))
            continue;
        left[found] = (int32_t)i;
        right[found++] = (int32_t)j;
    }
    if (found < want)
        TRY(status_fail(CONSM_EINVAL,
                        "there are too few unconnected pairs for %lld more edges among %lld nodes",
                        (long long)want, (long long)graph->rows));
done:
    mem_free(seen.slot);
    return st;
}

consm_status attack_dice(struct changes *out, const struct csr *graph, const int32_t *label,
                         int64_t budget, uint64_t seed)
{
    consm_status st = CONSM_OK;
    struct edges *own = NULL;
    int32_t *inside = NULL, *left = NULL, *right = NULL;
    int64_t count = 0;
    struct rng rng;
    *out = (struct changes){0};
    rng_init(&rng, seed, STREAM_DICE);
    TRY(edges_new(&own, graph));
    TRY(NEW(inside, own->count));
    TRY(NEW(left, budget));
    TRY(NEW(right, budget));
    TRY(changes_new(out, budget));
    for (int64_t e = 0; e < own->count; e++)
        if (label[own->left[e]] >= 0 && label[own->left[e]] == label[own->right[e]])
            inside[count++] = (int32_t)e;
    rng_shuffle(&rng, inside, count);
    for (int64_t i = 0; i < count && i < budget / 2; i++)
        changes_add(out, own->left[inside[i]], own->right[inside[i]], false);
    int64_t joined = budget - out->count;
    TRY(attack_draw(left, right, joined, graph, label, seed, STREAM_DICE + 1));
    for (int64_t i = 0; i < joined; i++)
        changes_add(out, left[i], right[i], true);
done:
    if (st < 0)
        changes_free(out);
    mem_free(inside);
    mem_free(left);
    mem_free(right);
    edges_free(own);
    return st;
}
