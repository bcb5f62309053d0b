/* Projected gradient descent on the probabilities of edge changes (Xu et al., IJCAI 2019). */
#include "attack/surrogate.h"

#include "base/rng.h"
#include <math.h>
#include <stdlib.h>

enum { STREAM_CANDIDATES = 141, STREAM_SAMPLES = 142, SAMPLES = 20, HALVINGS = 60 };

struct search {
    const struct pgd *o;
    int64_t own, count;              /* edges of the graph first, then candidates */
    int32_t *left, *right;           /* (count) */
    double *weight;                  /* (count) with the current changes */
    double *start;                   /* (count) without changes: the edge's weight, or 0 */
    double *change, *gradient, *try; /* (count) p, ∂L/∂w, scratch */
    struct surrogate_room *room;
};

static void search_free(struct search *s)
{
    mem_free(s->left);
    mem_free(s->right);
    mem_free(s->weight);
    mem_free(s->start);
    mem_free(s->change);
    mem_free(s->gradient);
    mem_free(s->try);
    surrogate_room_free(s->room);
}

static consm_status search_new(struct search *s, const struct pgd *o)
{
    consm_status st = CONSM_OK;
    struct edges *own = NULL;
    *s = (struct search){.o = o};
    TRY(edges_new(&own, o->graph));
    s->own = own->count;
    s->count = own->count + o->candidates;
    TRY(NEW(s->left, s->count));
    TRY(NEW(s->right, s->count));
    TRY(NEW(s->weight, s->count));
    TRY(ZNEW(s->start, s->count));
    TRY(ZNEW(s->change, s->count));
    TRY(NEW(s->gradient, s->count));
    TRY(NEW(s->try, s->count));
    for (int64_t e = 0; e < s->own; e++) {
        s->left[e] = own->left[e];
        s->right[e] = own->right[e];
        s->start[e] = (double)edges_weight(own, o->graph, e);
    }
    TRY(attack_draw(s->left + s->own, s->right + s->own, o->candidates, o->graph, NULL, o->seed,
                    STREAM_CANDIDATES));
    TRY(surrogate_room_new(&s->room, &o->surrogate));
done:
    edges_free(own);
    return st;
}

/* The effect of a full change on a weight: an edge loses its own, a candidate gets 1. */
static double full_change(const struct search *s, int64_t e)
{
    return e < s->own ? -s->start[e] : 1;
}

static double loss_at(struct search *s, const double *change, double *gradient)
{
    struct pair_list pairs = {s->count, s->left, s->right, s->weight};
    for (int64_t e = 0; e < s->count; e++)
        s->weight[e] = s->start[e] + change[e] * full_change(s, e);
    return surrogate_pass(s->room, &s->o->victims, &pairs, gradient);
}

static double within(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static double total(const struct search *s, double less)
{
    double sum = 0;
    for (int64_t e = 0; e < s->count; e++)
        sum += within(s->change[e] - less);
    return sum;
}

/* The nearest point with 0 <= p <= 1 and Σ p <= budget: subtracts a number found by bisection. */
static void project(struct search *s)
{
    double low = 0, high = 0, less = 0;
    for (int64_t e = 0; e < s->count; e++)
        high = fmax(high, s->change[e]);
    if (total(s, 0) > (double)s->o->budget) {
        for (int i = 0; i < HALVINGS; i++) {
            double middle = (low + high) / 2;
            if (total(s, middle) > (double)s->o->budget)
                low = middle;
            else
                high = middle;
        }
        less = high;
    }
    for (int64_t e = 0; e < s->count; e++)
        s->change[e] = within(s->change[e] - less);
}

/* A step down the loss that could spend the whole budget once; later steps are shorter. */
static void step(struct search *s, int64_t number)
{
    double sum = 0;
    loss_at(s, s->change, s->gradient);
    for (int64_t e = 0; e < s->count; e++) {
        s->gradient[e] *= -full_change(s, e); /* how much a change helps the attack */
        sum += fmax(s->gradient[e], 0);
    }
    double length = sum > 0 ? (double)s->o->budget / (sqrt((double)number) * sum) : 0;
    for (int64_t e = 0; e < s->count; e++)
        s->change[e] += length * s->gradient[e];
    project(s);
}

struct ranked {
    double p;
    int64_t pair;
};

static int largest_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->p != y->p)
        return x->p > y->p ? -1 : 1;
    return x->pair < y->pair ? -1 : x->pair > y->pair;
}

/* Chooses the largest non-zero probabilities, as many as the budget. */
static consm_status take_largest(double *chosen, const struct search *s)
{
    consm_status st = CONSM_OK;
    struct ranked *order = NULL;
    TRY(NEW(order, s->count));
    for (int64_t e = 0; e < s->count; e++) {
        order[e] = (struct ranked){s->change[e], e};
        chosen[e] = 0;
    }
    qsort(order, (size_t)s->count, sizeof *order, largest_first);
    for (int64_t i = 0; i < s->count && i < s->o->budget && order[i].p > 0; i++)
        chosen[order[i].pair] = 1;
done:
    mem_free(order);
    return st;
}

/* The best of the largest probabilities and some draws; chosen (count) of 0 and 1. */
static consm_status choose(double *chosen, struct search *s)
{
    consm_status st = CONSM_OK;
    struct rng rng;
    rng_init(&rng, s->o->seed, STREAM_SAMPLES);
    TRY(take_largest(chosen, s));
    double best = loss_at(s, chosen, NULL);
    for (int i = 0; i < SAMPLES; i++) {
        int64_t count = 0;
        for (int64_t e = 0; e < s->count; e++) {
            s->try[e] = rng_uniform(&rng) < s->change[e];
            count += s->try[e] > 0;
        }
        double loss = count <= s->o->budget ? loss_at(s, s->try, NULL) : INFINITY;
        if (loss >= best)
            continue;
        best = loss;
        for (int64_t e = 0; e < s->count; e++)
            chosen[e] = s->try[e];
    }
done:
    return st;
}

consm_status attack_pgd(struct changes *out, const struct pgd *o)
{
    consm_status st = CONSM_OK;
    struct search s = {0};
    double *chosen = NULL;
    *out = (struct changes){0};
    TRY(search_new(&s, o));
    for (int64_t number = 1; number <= o->steps; number++)
        step(&s, number);
    TRY(NEW(chosen, s.count));
    TRY(choose(chosen, &s));
    TRY(changes_new(out, o->budget));
    for (int64_t e = 0; e < s.count; e++)
        if (chosen[e] > 0)
            changes_add(out, s.left[e], s.right[e], e >= s.own);
done:
    if (st < 0)
        changes_free(out);
    mem_free(chosen);
    search_free(&s);
    return st;
}

consm_status surrogate_gradient(double *loss, double *gradient, const struct surrogate *m,
                                const struct victims *v, const struct csr *graph,
                                const int32_t *left, const int32_t *right, int64_t pairs)
{
    consm_status st = CONSM_OK;
    struct edges *own = NULL;
    struct surrogate_room *room = NULL;
    int32_t *all_left = NULL, *all_right = NULL;
    double *weight = NULL, *by = NULL;
    TRY(edges_new(&own, graph));
    int64_t count = own->count + pairs;
    TRY(NEW(all_left, count));
    TRY(NEW(all_right, count));
    TRY(ZNEW(weight, count));
    TRY(NEW(by, count));
    for (int64_t e = 0; e < count; e++) {
        all_left[e] = e < own->count ? own->left[e] : left[e - own->count];
        all_right[e] = e < own->count ? own->right[e] : right[e - own->count];
        if (e < own->count)
            weight[e] = (double)edges_weight(own, graph, e);
    }
    TRY(surrogate_room_new(&room, m));
    *loss = surrogate_pass(room, v, &(struct pair_list){count, all_left, all_right, weight}, by);
    for (int64_t e = 0; e < pairs; e++)
        gradient[e] = by[own->count + e];
done:
    surrogate_room_free(room);
    edges_free(own);
    mem_free(all_left);
    mem_free(all_right);
    mem_free(weight);
    mem_free(by);
    return st;
}
