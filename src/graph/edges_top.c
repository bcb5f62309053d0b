/* Selects edges among all processes without collecting them: bisection by counts. Every process
 * finds the same threshold, whatever its share. */
#include "graph/edges.h"

#include "base/rng.h"

/* The order of edges: larger key first, then earlier place. */
struct choice {
    const struct edges *e;
    const uint32_t *key;  /* (count) */
    const uint8_t *apply; /* (count) edges to consider; NULL: all */
};

/* Edges in row order. */
static int64_t place_of(const struct edges *e, int64_t i)
{
    int64_t a = e->left[i], b = e->right[i];
    return a < b ? a << 32 | b : b << 32 | a;
}

/* Number of edges of all processes with a larger key, or with that key and a place up to `until`.
 */
static int64_t count_chosen(const struct choice *c, uint64_t key, int64_t until)
{
    uint64_t mine = 0;
    for (int64_t i = 0; i < c->e->count; i++)
        if (c->e->left[i] < c->e->right[i] && (!c->apply || c->apply[i]))
            mine += c->key[i] > key || (c->key[i] == key && place_of(c->e, i) <= until);
    return (int64_t)(c->e->partition ? c->e->partition->total(mine) : mine);
}

/* The threshold (key, place) that exactly k edges reach. */
static void find_bar(uint64_t *key, int64_t *until, const struct choice *c, int64_t k)
{
    uint64_t low = 0, high = UINT32_MAX;
    while (low < high) { /* the largest key that k edges reach */
        uint64_t middle = low + (high - low + 1) / 2;
        if (count_chosen(c, middle, INT64_MAX) >= k)
            low = middle;
        else
            high = middle - 1;
    }
    *key = low;
    int64_t from = 0, to = INT64_MAX;
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (count_chosen(c, low, middle) >= k)
            to = middle;
        else
            from = middle + 1;
    }
    *until = from;
}

/* Larger scores have larger keys; NaN comes last. */
static uint32_t key_of(float score)
{
    union {
        float value;
        uint32_t bits;
    } u = {.value = score == 0 ? 0 : score}; /* -0 becomes 0 */
    if (score != score)
        return 0;
    return u.bits >> 31 ? ~u.bits : u.bits | 1u << 31;
}

static void choose(uint8_t *chosen, const struct choice *c, int64_t k)
{
    uint64_t key = 0;
    int64_t until = INT64_MAX; /* all */
    if (k < 1)
        key = UINT64_MAX; /* none */
    else if (k < count_chosen(c, 0, INT64_MAX))
        find_bar(&key, &until, c, k);
    for (int64_t i = 0; i < c->e->count; i++) {
        bool there = !c->apply || c->apply[i];
        chosen[i] = there && (c->key[i] > key || (c->key[i] == key && place_of(c->e, i) <= until));
    }
}

consm_status edges_top(uint8_t *chosen, const struct edges *e, const float *score, int64_t k)
{
    consm_status st = CONSM_OK;
    uint32_t *key = NULL;
    TRY(NEW(key, e->count + 1));
    for (int64_t i = 0; i < e->count; i++)
        key[i] = key_of(score[i]);
    choose(chosen, &(struct choice){e, key, NULL}, k);
done:
    mem_free(key);
    return st;
}

consm_status edges_draw(int64_t **out, int64_t *count, const struct edges *e, const uint8_t *marked,
                        int64_t some, uint64_t seed)
{
    consm_status st = CONSM_OK;
    uint32_t *key = NULL;
    uint8_t *chosen = NULL;
    int64_t found = 0;
    *out = NULL;
    TRY(NEW(key, e->count + 1));
    TRY(NEW(chosen, e->count + 1));
    for (int64_t i = 0; i < e->count; i++) {
        struct rng r;
        rng_init(&r, seed, (uint64_t)place_of(e, i));
        key[i] = (uint32_t)rng_below(&r, (uint64_t)1 << 32);
    }
    choose(chosen, &(struct choice){e, key, marked}, some);
    for (int64_t i = 0; i < e->count; i++)
        found += chosen[i] && e->left[i] < e->right[i];
    TRY(NEW(*out, found + 1));
    *count = 0;
    for (int64_t i = 0; i < e->count; i++)
        if (chosen[i] && e->left[i] < e->right[i])
            (*out)[(*count)++] = i;
done:
    mem_free(key);
    mem_free(chosen);
    return st;
}
