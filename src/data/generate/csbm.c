/* The contextual stochastic block model. */

/*
 * The number of edges between every two classes is fixed first, so that edge homophily is exactly
 * as requested; then that many distinct pairs are drawn in each block. If a block needs more than
 * half of its pairs, they are selected in one pass over all; otherwise they are drawn against a
 * hash set in which at least half of the pairs are free. So the work is proportional to the edges.
 */
#include "data/generate/csbm.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block_model {
    const struct csbm_options *o;
    struct dataset *d;
    struct rng rng;
    int32_t *member; /* (n) nodes class by class */
    int64_t *first;  /* (c+1) start of each class in member */
    /* Walker's alias tables, one per class over its members; NULL if all weights are equal. */
    double *keep;   /* (n) */
    int32_t *alias; /* (n) */
    uint64_t *set;  /* pairs drawn in this block: u·2^32 + v, u < v; 0 is free */
    uint64_t mask;  /* of the set's current size */
    int shift;
};

static consm_status check_options(const struct csbm_options *o)
{
    if (o->nodes < 2 || o->nodes >= INT32_MAX)
        return status_fail(CONSM_EINVAL, "csbm: nodes=%lld: expected 2 to %d", (long long)o->nodes,
                           INT32_MAX - 1);
    if (o->classes < 2 || o->classes > o->nodes)
        return status_fail(CONSM_EINVAL,
                           "csbm: classes=%lld: expected 2 to %lld, the number of nodes",
                           (long long)o->classes, (long long)o->nodes);
    if (!(o->homophily >= 0 && o->homophily <= 1))
        return status_fail(CONSM_EINVAL, "csbm: homophily=%g: expected 0 to 1", o->homophily);
    if (!(o->degree >= 0 && o->degree < (double)o->nodes))
        return status_fail(
            CONSM_EINVAL,
            "csbm: degree=%g: expected 0 or more, and less than %lld, the number of nodes",
            o->degree, (long long)o->nodes);
    if (o->exponent != 0 && !(o->exponent > 2))
        return status_fail(CONSM_EINVAL, "csbm: exponent=%g: expected 0 (no power law) or above 2",
                           o->exponent);
    if (o->features < 0 || o->words < 0 || !(o->signal >= 0 && isfinite(o->signal)))
        return status_fail(CONSM_EINVAL, "csbm: features, words and signal: expected 0 or more");
    if (o->words > 0 && o->features < o->classes)
        return status_fail(
            CONSM_EINVAL,
            "csbm: words=%lld: there are fewer features than classes (features=%lld, classes=%lld)",
            (long long)o->words, (long long)o->features, (long long)o->classes);
    return CONSM_OK;
}

/* Equal classes in random order, so that node numbers carry no information. */
static consm_status draw_labels(struct block_model *b)
{
    consm_status st = CONSM_OK;
    struct dataset *d = b->d;
    int64_t n = d->nodes, *slot = NULL;
    int32_t c = d->classes;
    struct rng rng;
    TRY(NEW(d->label, n));
    TRY(NEW(b->member, n));
    TRY(ZNEW(b->first, c + 1));
    TRY(NEW(slot, c));
    for (int64_t i = 0; i < n; i++)
        d->label[i] = (int32_t)(i % c);
    rng_init(&rng, b->o->seed, STREAM_LABELS);
    rng_shuffle(&rng, d->label, n);
    for (int64_t i = 0; i < n; i++)
        b->first[d->label[i] + 1]++;
    for (int32_t k = 0; k < c; k++) {
        b->first[k + 1] += b->first[k];
        slot[k] = b->first[k];
    }
    for (int64_t i = 0; i < n; i++)
        b->member[slot[d->label[i]]++] = (int32_t)i;
done:
    mem_free(slot);
    return st;
}

/* Walker's alias method (Vose's construction) over weight[0 … count-1]: an item is drawn in O(1)
 * with probability proportional to its weight. */
static void build_alias(double *keep, int32_t *alias, const double *weight, int32_t *work,
                        int64_t count)
{
    double sum = 0;
    int64_t small = 0, large = count;
    for (int64_t i = 0; i < count; i++)
        sum += weight[i];
    for (int64_t i = 0; i < count; i++) {
        keep[i] = weight[i] * (double)count / sum;
        alias[i] = (int32_t)i;
        if (keep[i] < 1)
            work[small++] = (int32_t)i;
        else
            work[--large] = (int32_t)i;
    }
    while (small > 0 && large < count) {
        int32_t less = work[--small], more = work[large];
        alias[less] = more;
        keep[more] -= 1 - keep[less];
        if (keep[more] < 1) {
            large++;
            work[small++] = more;
        }
    }
}

/* Power law: weights with density ~ w^-exponent (Pareto), mean 1, capped where a node would expect
 * more than sqrt(n·degree) neighbours; beyond that, hubs would only draw repeats. */
static consm_status draw_weights(struct block_model *b)
{
    consm_status st = CONSM_OK;
    int64_t n = b->d->nodes;
    double *weight = NULL, alpha = b->o->exponent - 1;
    int32_t *work = NULL;
    struct rng rng;
    if (b->o->exponent == 0)
        return CONSM_OK;
    TRY(NEW(weight, n));
    TRY(NEW(work, n));
    TRY(NEW(b->keep, n));
    TRY(NEW(b->alias, n));
    rng_init(&rng, b->o->seed, STREAM_WEIGHTS);
    double least = (alpha - 1) / alpha;
    double cap = fmax(1, sqrt((double)n / fmax(b->o->degree, 1)));
    for (int64_t i = 0; i < n; i++)
        weight[i] = fmin(cap, least * pow(1 - rng_uniform(&rng), -1 / alpha));
    for (int32_t k = 0; k < b->d->classes; k++)
        build_alias(b->keep + b->first[k], b->alias + b->first[k], weight + b->first[k], work,
                    b->first[k + 1] - b->first[k]);
done:
    mem_free(weight);
    mem_free(work);
    return st;
}

static int64_t class_size(const struct block_model *b, int32_t k)
{
    return b->first[k + 1] - b->first[k];
}

static int32_t draw_member(struct block_model *b, int32_t k, bool weighted)
{
    int64_t first = b->first[k];
    int64_t i = (int64_t)rng_below(&b->rng, (uint64_t)class_size(b, k));
    if (weighted && rng_uniform(&b->rng) >= b->keep[first + i])
        i = b->alias[first + i];
    return b->member[first + i];
}

/* Adds the pair to the set; false if it was there. */
static bool set_add(struct block_model *b, int32_t u, int32_t v)
{
    uint64_t key = u < v ? (uint64_t)u << 32 | (uint32_t)v : (uint64_t)v << 32 | (uint32_t)u;
    uint64_t at = (key * 0x9E3779B97F4A7C15u) >> b->shift;
    while (b->set[at]) {
        if (b->set[at] == key)
            return false;
        at = (at + 1) & b->mask;
    }
    b->set[at] = key;
    return true;
}

static void put_edge(struct dataset *d, int32_t u, int32_t v)
{
    d->from[d->edges] = u;
    d->to[d->edges++] = v;
}

/* count of the block's pairs by one pass over all of them (Knuth's selection sampling). */
static void choose_pairs(struct block_model *b, int32_t k, int32_t l, int64_t count, int64_t pairs)
{
    for (int64_t i = b->first[k]; i < b->first[k + 1]; i++)
        for (int64_t j = k == l ? i + 1 : b->first[l]; j < b->first[l + 1]; j++, pairs--)
            if ((int64_t)rng_below(&b->rng, (uint64_t)pairs) < count) {
                put_edge(b->d, b->member[i], b->member[j]);
                count--;
            }
}

/* Draws count distinct pairs. An edge whose weighted draws are all repeats falls back to uniform
 * draws, of which at least every second is free. */
static void draw_pairs(struct block_model *b, int32_t k, int32_t l, int64_t count)
{
    enum { WEIGHTED_TRIES = 32 };
    int bits = 4;
    while ((int64_t)1 << bits < count + count / 2)
        bits++;
    b->mask = ((uint64_t)1 << bits) - 1;
    b->shift = 64 - bits;
    memset(b->set, 0, sizeof *b->set << bits);
    for (int64_t e = 0; e < count; e++) {
        int32_t u, v;
        int tries = b->keep ? WEIGHTED_TRIES : 0;
        do {
            bool weighted = tries-- > 0;
            u = draw_member(b, k, weighted);
            v = draw_member(b, l, weighted);
        } while (u == v || !set_add(b, u, v));
        put_edge(b->d, u, v);
    }
}

/* Integers with sum total, proportional to weight; each is its exact share rounded up or down with
 * the right expectation (systematic sampling). */
static void share_out(int64_t *count, const double *weight, int64_t parts, int64_t total,
                      struct rng *rng)
{
    double sum = 0, seen = 0, offset = rng_uniform(rng);
    int64_t given = 0;
    for (int64_t i = 0; i < parts; i++)
        sum += weight[i];
    for (int64_t i = 0; i < parts; i++) {
        seen += weight[i];
        int64_t until = (int64_t)floor(seen / sum * (double)total + offset);
        if (i == parts - 1 || until > total)
            until = total;
        count[i] = until - given;
        given = until;
    }
}

static double block_pairs(const struct block_model *b, int32_t k, int32_t l)
{
    double nk = (double)class_size(b, k), nl = (double)class_size(b, l);
    return k == l ? nk * (nk - 1) / 2 : nk * nl;
}

static consm_status too_many(int32_t k, int32_t l, int64_t wanted, double pairs)
{
    return status_fail(CONSM_EINVAL,
                       "csbm: classes %d and %d would need %lld edges but have only %.0f pairs of "
                       "nodes; lower degree%s",
                       k, l, (long long)wanted, pairs, k == l ? " or homophily" : "");
}

/* The number of edges of each block: count[0 … c-1] inside the classes, then between classes k < l
 * row by row. */
static consm_status plan_blocks(struct block_model *b, int64_t *count, int64_t edges,
                                int64_t *largest)
{
    consm_status st = CONSM_OK;
    int32_t c = b->d->classes;
    int64_t blocks = 0;
    double *pairs = NULL;
    TRY(NEW(pairs, (int64_t)c * (c + 1) / 2));
    for (int32_t k = 0; k < c; k++)
        pairs[blocks++] = block_pairs(b, k, k);
    for (int32_t k = 0; k < c; k++)
        for (int32_t l = k + 1; l < c; l++)
            pairs[blocks++] = block_pairs(b, k, l);
    int64_t inside = (int64_t)floor(b->o->homophily * (double)edges + rng_uniform(&b->rng));
    if (inside > edges)
        inside = edges;
    if (inside > 0 && b->d->nodes == c)
        TRY(too_many(0, 0, inside, 0));
    if (inside > 0)
        share_out(count, pairs, c, inside, &b->rng);
    share_out(count + c, pairs + c, blocks - c, edges - inside, &b->rng);
    *largest = 0;
    blocks = c;
    for (int32_t k = 0; k < c; k++)
        for (int32_t l = k; l < c; l++) {
            int64_t at = k == l ? k : blocks++;
            if ((double)count[at] > pairs[at])
                TRY(too_many(k, l, count[at], pairs[at]));
            *largest = count[at] > *largest ? count[at] : *largest;
        }
done:
    mem_free(pairs);
    return st;
}

static consm_status draw_edges(struct block_model *b)
{
    consm_status st = CONSM_OK;
    struct dataset *d = b->d;
    int32_t c = d->classes;
    int64_t edges = (int64_t)floor((double)d->nodes * b->o->degree / 2 + 0.5);
    int64_t *count = NULL, largest = 0, between = c, room = 16;
    rng_init(&b->rng, b->o->seed, STREAM_EDGES);
    TRY(ZNEW(count, (int64_t)c * (c + 1) / 2));
    TRY(plan_blocks(b, count, edges, &largest));
    while (room < largest + largest / 2)
        room *= 2;
    TRY(NEW(b->set, room));
    TRY(NEW(d->from, edges));
    TRY(NEW(d->to, edges));
    for (int32_t k = 0; k < c; k++)
        for (int32_t l = k; l < c; l++) {
            int64_t wanted = count[k == l ? k : between++];
            double pairs = block_pairs(b, k, l);
            if (wanted == 0)
                continue;
            if (2 * (double)wanted > pairs)
                choose_pairs(b, k, l, wanted, (int64_t)pairs);
            else
                draw_pairs(b, k, l, wanted);
        }
done:
    mem_free(count);
    mem_free(b->set);
    b->set = NULL;
    return st;
}

consm_status generate_csbm(struct dataset **out, const struct csbm_options *o)
{
    consm_status st = CONSM_OK;
    struct block_model b = {.o = o};
    *out = NULL;
    TRY(check_options(o));
    TRY(dataset_new(&b.d, "csbm"));
    b.d->nodes = o->nodes;
    b.d->classes = (int32_t)o->classes;
    TRY(draw_labels(&b));
    TRY(draw_weights(&b));
    TRY(draw_edges(&b));
    TRY(csbm_draw_features(b.d, o));
    *out = b.d;
    b.d = NULL;
done:
    dataset_free(b.d);
    mem_free(b.member);
    mem_free(b.first);
    mem_free(b.keep);
    mem_free(b.alias);
    return st;
}
