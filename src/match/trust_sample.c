/* Samples the edges that trust is fitted on, with their witnesses. The same edges are drawn on any
 * number of processes. Not in the paper. */
#include "match/trust_inside.h"

#include "base/alloc.h"
#include "graph/partition.h"
#include "graph/roles.h"
#include <math.h>
#include <string.h>

enum { MOST_KNOWN = 65536, MOST_USUAL = 2048, SEED = 0x74727573 };

/* Whether the fit may use the edge: both labels are known, and an end validates. */
static bool usable(const struct edges *edges, int64_t e, const int32_t *label, const uint8_t *role)
{
    int32_t end[2] = {edges->left[e], edges->right[e]};
    int validation = 0;
    for (int i = 0; i < 2; i++) {
        if (label[end[i]] < 0 || (role[end[i]] != SPLIT_TRAIN && role[end[i]] != SPLIT_VAL))
            return false;
        validation += role[end[i]] == SPLIT_VAL;
    }
    return validation > 0;
}

static void heard_free(struct heard *h)
{
    mem_free(h->x);
    mem_free(h->place);
    mem_free(h->own);
}

void trust_sample_free(struct trust_sample *s)
{
    if (!s)
        return;
    heard_free(&s->known);
    heard_free(&s->usual);
    heard_free(&s->pairs);
    mem_free(s->same);
    mem_free(s->pair_same);
    mem_free(s->term);
    mem_free(s);
}

/* Draws marked edges (NULL: all) and allocates their witnesses. */
static consm_status heard_draw(struct heard *h, const struct edges *edges, const uint8_t *marked,
                               int64_t most, uint64_t seed)
{
    consm_status st = CONSM_OK;
    TRY(edges_draw(&h->place, &h->mine, edges, marked, most, seed));
    h->count = (int64_t)partition_total(edges->partition, (uint64_t)h->mine);
    h->terms = TRUST_TERMS;
    TRY(NEW(h->x, h->count * h->terms + 1));
    TRY(NEW(h->own, h->mine * WITNESSES + 1));
done:
    return st;
}

consm_status heard_collect(const void **out, void **fresh, const struct heard *h,
                           const struct partition *partition, const void *own, size_t bytes)
{
    int64_t count;
    *fresh = NULL;
    *out = own;
    if (!partition)
        return CONSM_OK;
    consm_status st = partition_all(fresh, &count, partition, own, h->mine, bytes);
    *out = *fresh;
    return st;
}

static consm_status note_truth(struct trust_sample *s, const struct edges *edges,
                               const int32_t *label)
{
    consm_status st = CONSM_OK;
    uint8_t *own = NULL;
    const void *all;
    void *fresh = NULL;
    TRY(NEW(own, s->known.mine + 1));
    TRY(NEW(s->same, s->known.count + 1));
    for (int64_t i = 0; i < s->known.mine; i++) {
        int64_t e = s->known.place[i];
        own[i] = label[edges->left[e]] == label[edges->right[e]];
    }
    TRY(heard_collect(&all, &fresh, &s->known, s->partition, own, 1));
    memcpy(s->same, all, (size_t)s->known.count);
done:
    mem_free(own);
    mem_free(fresh);
    return st;
}

/* Allocates for the pairs, and notes which of them join one class. */
static consm_status note_pairs(struct trust_sample *s, const struct edges *pairs,
                               const int32_t *label)
{
    consm_status st = CONSM_OK;
    if (!pairs)
        return CONSM_OK;
    s->pairs.count = pairs->count;
    s->pairs.terms = FIT_TERMS;
    TRY(NEW(s->pairs.x, pairs->count * FIT_TERMS + 1));
    TRY(NEW(s->pair_same, pairs->count + 1));
    for (int64_t k = 0; k < pairs->count; k++)
        s->pair_same[k] = label[pairs->left[k]] == label[pairs->right[k]];
done:
    return st;
}

static int64_t count_validators(const struct partition *partition, const int32_t *label,
                                const uint8_t *role, int64_t nodes)
{
    uint64_t count = 0;
    for (int64_t i = partition_low(partition); i < partition_high(partition, nodes); i++)
        count += role[i] == SPLIT_VAL && label[i] >= 0;
    return (int64_t)partition_total(partition, count);
}

consm_status trust_sample_new(struct trust_sample **out, const struct edges *edges,
                              const struct edges *pairs, const int32_t *label, const uint8_t *role,
                              int64_t nodes)
{
    consm_status st = CONSM_OK;
    struct trust_sample *s = NULL;
    uint8_t *marked = NULL;
    *out = NULL;
    TRY(ZNEW(s, 1));
    s->partition = edges->partition;
    s->validators = count_validators(s->partition, label, role, nodes);
    TRY(NEW(marked, edges->count + 1));
    for (int64_t e = 0; e < edges->count; e++)
        marked[e] = usable(edges, e, label, role);
    TRY(heard_draw(&s->known, edges, marked, MOST_KNOWN, SEED));
    TRY(heard_draw(&s->usual, edges, NULL, MOST_USUAL, SEED + 1));
    TRY(note_truth(s, edges, label));
    TRY(note_pairs(s, pairs, label));
    TRY(NEW(s->term, s->known.count + s->pairs.count + 1));
    *out = s;
    s = NULL;
done:
    trust_sample_free(s);
    mem_free(marked);
    return st;
}

/* ---- hearing ------------------------------------------------------------- */

static void write_down(struct heard *h, const float *x)
{
    for (int64_t i = 0; i < h->count; i++) {
        double *row = h->x + i * h->terms;
        row[0] = 1;
        for (int k = 0; k < WITNESSES; k++)
            row[1 + k] = (double)x[i * WITNESSES + k];
    }
}

static consm_status hear(struct heard *h, const struct partition *partition)
{
    consm_status st = CONSM_OK;
    const void *all;
    void *fresh = NULL;
    TRY(heard_collect(&all, &fresh, h, partition, h->own, WITNESSES * sizeof *h->own));
    write_down(h, all);
done:
    mem_free(fresh);
    return st;
}

/* Log-odds and flags mean the same in every graph; other witnesses are relative to the usual. */
static bool is_absolute(int term)
{
    return term == 1 + WITNESS_AGREEMENT || term == 1 + WITNESS_HEAD ||
           term == 1 + WITNESS_TAUGHT || term == 1 + WITNESS_TAUGHT_AGREEMENT;
}

/* Standardises over the usual edges; a constant witness becomes 0. */
static void measure(struct trust_sample *s, int term)
{
    const struct heard *u = &s->usual;
    double sum = 0, squares = 0, count = (double)u->count;
    s->shift[term] = 0;
    s->scale[term] = 1;
    if (is_absolute(term) || u->count == 0)
        return;
    for (int64_t i = 0; i < u->count; i++) {
        double v = u->x[i * u->terms + term];
        sum += v;
        squares += v * v;
    }
    double mean = sum / count, variance = squares / count - mean * mean;
    s->shift[term] = mean;
    s->scale[term] = variance > 1e-12 ? sqrt(variance) : 0;
}

static void standardise(struct heard *h, const struct trust_sample *s, int term)
{
    for (int64_t i = 0; i < h->count; i++) {
        double *v = &h->x[i * h->terms + term];
        *v = s->scale[term] > 0 ? (*v - s->shift[term]) / s->scale[term] : 0;
    }
}

/* The terms whose weights pairs have of their own, the bias among them. They say how an edge came
 * to be: an attack adds edges at taught nodes, and pairs were chosen by a shared neighbour. What
 * they say about pairs does not hold for edges. */
static const int of_edges_alone[PAIRS_OWN] = {
    0, 1 + WITNESS_NEIGHBOURS, 1 + WITNESS_DEGREE, 1 + WITNESS_TAUGHT, 1 + WITNESS_TAUGHT_AGREEMENT,
};

static void separate_pairs(struct heard *pairs)
{
    for (int64_t i = 0; i < pairs->count; i++) {
        double *row = pairs->x + i * FIT_TERMS;
        for (int k = 0; k < PAIRS_OWN; k++) {
            row[TRUST_TERMS + k] = row[of_edges_alone[k]];
            row[of_edges_alone[k]] = 0;
        }
    }
}

void trust_sample_ask(struct trust_sample *s, const struct witnesses *w)
{
    witness_ask(s->known.own, w, s->known.place, s->known.mine);
    witness_ask(s->usual.own, w, s->usual.place, s->usual.mine);
}

consm_status trust_sample_hear(struct trust_sample *s, const float *pair_x)
{
    consm_status st = CONSM_OK;
    TRY(hear(&s->known, s->partition));
    TRY(hear(&s->usual, s->partition));
    write_down(&s->pairs, pair_x);
    s->agreement = 0;
    for (int64_t i = 0; i < s->usual.count; i++) {
        double z = s->usual.x[i * TRUST_TERMS + 1 + WITNESS_AGREEMENT];
        s->agreement += 1 / (1 + exp(-z)) / (double)s->usual.count;
    }
    for (int term = 1; term < TRUST_TERMS; term++) {
        measure(s, term);
        standardise(&s->known, s, term);
        standardise(&s->usual, s, term);
        standardise(&s->pairs, s, term);
    }
    separate_pairs(&s->pairs);
done:
    return st;
}
