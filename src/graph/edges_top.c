/* Selects edges among all processes without collecting them: bisection by counts. Every process
 * finds the same threshold, whatever its share. */
#include "graph/edges.h"

#include "base/rng.h"

/* The order of edges: larger key first, then earlier place. */
struct choice {
    const struct edges *e;
    const uint32_t *key;  /* (count) */
    const uint8_t *apply; /* (count) edges to consider; NULL: all */
    uint32_t *entered;    /* (keys) keys of the edges to consider, each edge once */
    int64_t *tied;        /* (ties) places of those with the threshold's key */
    int64_t keys, ties;
};

/* Edges in row order. */
static int64_t place_of(const struct edges *e, int64_t i)
{
    int64_t a = e->left[i], b = e->right[i];
    return a < b ? a << 32 | b : b << 32 | a;
}

static int64_t of_all(const struct choice *c, uint64_t mine)
{
    return (int64_t)partition_total(c->e->partition, mine);
}

/* Number of edges of all processes with at least that key. */
static int64_t count_reaching(const struct choice *c, uint32_t key)
{
    uint64_t mine = 0;
    for (int64_t i = 0; i < c->keys; i++)
        mine += c->entered[i] >= key;
    return of_all(c, mine);
}

/* … with the threshold's key and a place up to `until`. */
static int64_t count_tied(const struct choice *c, int64_t until)
{
    uint64_t mine = 0;
    for (int64_t i = 0; i < c->ties; i++)
        mine += c->tied[i] <= until;
    return of_all(c, mine);
}

static bool considers(const struct choice *c, int64_t i)
{
    return c->e->left[i] < c->e->right[i] && (!c->apply || c->apply[i]);
}

static consm_status enter_keys(struct choice *c)
{
    consm_status st = NEW(c->entered, c->e->count + 1);
    for (int64_t i = 0; st == CONSM_OK && i < c->e->count; i++)
        if (considers(c, i))
            c->entered[c->keys++] = c->key[i];
    return st;
}

static consm_status enter_ties(struct choice *c, uint64_t key)
{
    int64_t count = 0;
    for (int64_t i = 0; i < c->keys; i++)
        count += c->entered[i] == key;
    consm_status st = NEW(c->tied, count + 1);
    for (int64_t i = 0; st == CONSM_OK && i < c->e->count; i++)
        if (considers(c, i) && c->key[i] == key)
            c->tied[c->ties++] = place_of(c->e, i);
    return st;
}

/* The threshold (key, place) that exactly k edges reach. */
static consm_status find_bar(uint64_t *key, int64_t *until, struct choice *c, int64_t k)
{
    consm_status st = CONSM_OK;
    uint64_t low = 0, high = UINT32_MAX;
    while (low < high) { /* the largest key that k edges reach */
        uint64_t middle = low + (high - low + 1) / 2;
        if (count_reaching(c, (uint32_t)middle) >= k)
            low = middle;
        else
            high = middle - 1;
    }
    *key = low;
    k -= low < UINT32_MAX ? count_reaching(c, (uint32_t)low + 1) : 0;
    TRY(enter_ties(c, low));
    int64_t from = 0, to = INT64_MAX;
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (count_tied(c, middle) >= k)
            to = middle;
        else
            from = middle + 1;
    }
    *until = from;
done:
    return st;
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

static consm_status choose(uint8_t *chosen, struct choice *c, int64_t k)
{
    consm_status st = CONSM_OK;
    uint64_t key = 0;
    int64_t until = INT64_MAX; /* all */
    TRY(enter_keys(c));
    if (k < 1)
        key = UINT64_MAX; /* none */
    else if (k < count_reaching(c, 0))
        TRY(find_bar(&key, &until, c, k));
    for (int64_t i = 0; i < c->e->count; i++) {
        bool there = !c->apply || c->apply[i];
        chosen[i] = there && (c->key[i] > key || (c->key[i] == key && place_of(c->e, i) <= until));
    }
done:
    mem_free(c->entered);
    mem_free(c->tied);
    return st;
}

consm_status edges_top(uint8_t *chosen, const struct edges *e, const float *score, int64_t k)
{
    consm_status st = CONSM_OK;
    uint32_t *key = NULL;
    TRY(NEW(key, e->count + 1));
    for (int64_t i = 0; i < e->count; i++)
        key[i] = key_of(score[i]);
    TRY(choose(chosen, &(struct choice){.e = e, .key = key}, k));
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
    TRY(choose(chosen, &(struct choice){.e = e, .key = key, .apply = marked}, some));
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
