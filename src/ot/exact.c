/* Successive shortest paths on the references (Ahuja, Magnanti & Orlin, "Network Flows", 1993,
 * sections 9.7 and 10.2, for the two ideas). */

/*
 * Invariant: with u the potentials of the references, flow_kl > 0 only if cost_kl - u_k is the
 * least of column l. A new point enters at its cheapest reference. If that one is full, a shortest
 * path moves other points, one reference each, until it reaches a reference with room. Every
 * intermediate plan is optimal for the mass routed so far.
 *
 * Number of augmentations: pass Δ moves multiples of Δ, from points with at least Δ left to
 * references with at least Δ of room. So all flows stay multiples of Δ, and every arc of the
 * residual graph can carry Δ. Pass Δ ends when no such point or no such reference is left. Hence in
 * pass Δ/2 either every point has less than 2·Δ/2 left and gives at most once, or every reference
 * has less than 2·Δ/2 of room and takes at most once. Δ is 2^p … 4, 2, 1, with 2^p the largest
 * power not above the largest mass (at most 2^60). So there are at most 61 · max(c, n)
 * augmentations. A single pass with Δ = 1 is nearly always faster. It runs first, with a limited
 * budget, which adds to the bound.
 */
#include "ot/exact.h"

#include "base/alloc.h"
#include "ot/cost.h"
#include <math.h>
#include <string.h>

enum { QUICK_PER_NODE = 32 };

static const int64_t MASS_UNITS = INT64_C(1) << 60; /* masses below 2^-60 of the total are zero */
static const int64_t HEAP_LIMIT = INT64_C(1) << 28; /* entries: 1.3 GB with their flags */

struct ot_exact_work {
    int64_t c, n; /* of the current problem, c ≤ n */
    int64_t quick_limit;
    double *cost;        /* (n, c): a point's costs side by side */
    int64_t *flow;       /* (n, c) */
    int64_t *left;       /* (n) mass not yet routed */
    int64_t *room;       /* (c) mass the reference may still take */
    double *u;           /* (c) potentials */
    double *distance;    /* (c) of the search */
    int32_t *from, *via; /* (c) the reference before on the path, and the point that moves */
    uint8_t *settled;    /* (c) */
    uint8_t *has_heaps;  /* (c) */
    int32_t *heap;       /* (c, c, n) points of k, least cost_l - cost_k first; may hold points
                            that have left k meanwhile */
    uint8_t *listed;     /* (c, c, n) the point is in that heap */
    int32_t *heap_size;  /* (c, c) */
    double *step;        /* (c, c) for polishing the potentials */
};

void ot_exact_work_free(struct ot_exact_work *w)
{
    if (!w)
        return;
    void *blocks[] = {w->cost,     w->flow,      w->left, w->room,      w->u,
                      w->distance, w->from,      w->via,  w->has_heaps, w->heap,
                      w->listed,   w->heap_size, w->step, w->settled};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        mem_free(blocks[i]);
    mem_free(w);
}

consm_status ot_exact_work_new(struct ot_exact_work **out, int64_t c, int64_t n)
{
    consm_status st = CONSM_OK;
    struct ot_exact_work *w = NULL;
    int64_t small = c < n ? c : n, large = c < n ? n : c;
    *out = NULL;
    if (small > HEAP_LIMIT / small / large)
        return status_fail(CONSM_ELIMIT,
                           "exact transport of %lld × %lld is too large: expected (smaller side)² "
                           "× larger side of at most %lld; use Sinkhorn",
                           (long long)c, (long long)n, (long long)HEAP_LIMIT);
    TRY(ZNEW(w, 1));
    w->quick_limit = -1;
    TRY(NEW(w->cost, large * small));
    TRY(NEW(w->flow, large * small));
    TRY(NEW(w->left, large));
    TRY(NEW(w->room, small));
    TRY(NEW(w->u, small));
    TRY(NEW(w->distance, small));
    TRY(NEW(w->from, small));
    TRY(NEW(w->via, small));
    TRY(NEW(w->settled, small));
    TRY(NEW(w->has_heaps, small));
    TRY(NEW(w->heap, small * small * large));
    TRY(NEW(w->listed, small * small * large));
    TRY(NEW(w->heap_size, small * small));
    TRY(NEW(w->step, small * small));
    *out = w;
    return CONSM_OK;
done:
    ot_exact_work_free(w);
    return st;
}

void ot_exact_quick_limit(struct ot_exact_work *work, int64_t limit)
{
    work->quick_limit = limit;
}

/* ---- the heaps: which point of k goes to l most cheaply ------------------ */

/* Order of heap (k, l): by the cost of moving, ties to the lower point. */
static bool moves_before(const struct ot_exact_work *w, int32_t x, int32_t y, int64_t k, int64_t l)
{
    const double *cx = w->cost + x * w->c, *cy = w->cost + y * w->c;
    double dx = cx[l] - cx[k], dy = cy[l] - cy[k];
    return dx < dy || (dx == dy && x < y);
}

static void sift_down(const struct ot_exact_work *w, int32_t *heap, int64_t size, int64_t at,
                      int64_t k, int64_t l)
{
    int32_t point = heap[at];
    for (int64_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && moves_before(w, heap[child + 1], heap[child], k, l))
            child++;
        if (!moves_before(w, heap[child], point, k, l))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = point;
}

static void sift_up(const struct ot_exact_work *w, int32_t *heap, int64_t at, int64_t k, int64_t l)
{
    int32_t point = heap[at];
    while (at > 0 && moves_before(w, point, heap[(at - 1) / 2], k, l)) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = point;
}

/* Builds the heaps of k from its points when a path first passes through k. */
static void build_heaps(struct ot_exact_work *w, int64_t k)
{
    int64_t c = w->c, n = w->n;
    int32_t *first = w->heap + k * c * n, size = 0;
    uint8_t *listed = w->listed + k * c * n;
    for (int64_t i = 0; i < n; i++) {
        listed[i] = w->flow[i * c + k] > 0;
        if (listed[i])
            first[size++] = (int32_t)i;
    }
    for (int64_t l = c - 1; l >= 0;
         l--) { /* the list is stored in heap 0, so that one comes last */
        int32_t *heap = first + l * n;
        if (l > 0) {
            memcpy(heap, first, (size_t)size * sizeof *heap);
            memcpy(listed + l * n, listed, (size_t)n);
        }
        w->heap_size[k * c + l] = l == k ? 0 : size;
        for (int64_t at = size / 2 - 1; at >= 0 && l != k; at--)
            sift_down(w, heap, size, at, k, l);
    }
    w->has_heaps[k] = 1;
}

/* Adds point i to the heaps of k. */
static void join_heaps(struct ot_exact_work *w, int64_t k, int32_t i)
{
    if (!w->has_heaps[k])
        return;
    for (int64_t l = 0; l < w->c; l++) {
        int64_t pair = k * w->c + l;
        if (l == k || w->listed[pair * w->n + i])
            continue;
        w->listed[pair * w->n + i] = 1;
        w->heap[pair * w->n + w->heap_size[pair]] = i;
        sift_up(w, w->heap + pair * w->n, w->heap_size[pair]++, k, l);
    }
}

/* The point of k that moves to l most cheaply, or -1; drops points that have left. */
static int32_t cheapest_move(struct ot_exact_work *w, int64_t k, int64_t l)
{
    int64_t pair = k * w->c + l;
    int32_t *heap = w->heap + pair * w->n;
    while (w->heap_size[pair] > 0) {
        int32_t top = heap[0];
        if (w->flow[top * w->c + k] > 0)
            return top;
        w->listed[pair * w->n + top] = 0;
        heap[0] = heap[--w->heap_size[pair]];
        if (w->heap_size[pair] > 0)
            sift_down(w, heap, w->heap_size[pair], 0, k, l);
    }
    return -1;
}

/* ---- one augmentation ---------------------------------------------------- */

/* Dijkstra from point j over the references with reduced costs cost - u, until the nearest one
 * with at least delta of room is settled; it exists. Returns that reference. */
static int64_t shortest_path(struct ot_exact_work *w, int64_t j, int64_t delta)
{
    int64_t c = w->c, k = 0;
    const double *cost = w->cost + j * c;
    for (int64_t l = 0; l < c; l++) {
        w->distance[l] = cost[l] - w->u[l];
        w->from[l] = -1;
        w->settled[l] = 0;
    }
    for (;;) {
        k = -1;
        for (int64_t l = 0; l < c; l++) /* among equals, a reference with room ends the search */
            if (!w->settled[l] &&
                (k < 0 || w->distance[l] < w->distance[k] ||
                 (w->distance[l] == w->distance[k] && w->room[k] < delta && w->room[l] >= delta)))
                k = l;
        if (w->room[k] >= delta)
            return k;
        w->settled[k] = 1;
        if (!w->has_heaps[k])
            build_heaps(w, k);
        for (int64_t l = 0; l < c; l++) {
            int32_t i = w->settled[l] ? -1 : cheapest_move(w, k, l);
            if (i < 0)
                continue;
            const double *move = w->cost + i * c;
            double arc = (move[l] - move[k]) + (w->u[k] - w->u[l]);
            double reach = w->distance[k] + (arc > 0 ? arc : 0); /* negative by rounding only */
            if (reach < w->distance[l]) {
                w->distance[l] = reach;
                w->from[l] = (int32_t)k;
                w->via[l] = i;
            }
        }
    }
}

static void move_mass(struct ot_exact_work *w, int32_t i, int64_t k, int64_t amount)
{
    int64_t before = w->flow[i * w->c + k];
    w->flow[i * w->c + k] = before + amount;
    if (before == 0)
        join_heaps(w, k, i);
}

/* Sends the mass of the shortest path of point j, in multiples of delta, and keeps the invariant:
 * u_k falls by (length of the path - distance_k) for the references settled on the way. */
static void augment(struct ot_exact_work *w, int64_t j, int64_t delta)
{
    int64_t end = shortest_path(w, j, delta);
    int64_t amount = w->left[j] < w->room[end] ? w->left[j] : w->room[end];
    for (int64_t l = end; w->from[l] >= 0; l = w->from[l]) {
        int64_t there = w->flow[w->via[l] * w->c + w->from[l]];
        amount = there < amount ? there : amount;
    }
    amount -= amount % delta;
    for (int64_t k = 0; k < w->c; k++)
        if (w->settled[k])
            w->u[k] += w->distance[k] - w->distance[end];
    w->room[end] -= amount;
    w->left[j] -= amount;
    int64_t l = end;
    for (; w->from[l] >= 0; l = w->from[l]) {
        w->flow[w->via[l] * w->c + w->from[l]] -= amount;
        move_mass(w, w->via[l], l, amount);
    }
    move_mass(w, (int32_t)j, l, amount);
}

/* ---- passes -------------------------------------------------------------- */

static bool any_room(const struct ot_exact_work *w, int64_t delta)
{
    for (int64_t k = 0; k < w->c; k++)
        if (w->room[k] >= delta)
            return true;
    return false;
}

/* Routes all that pass delta may route; false if the budget is spent. */
static bool run_pass(struct ot_exact_work *w, int64_t delta, int64_t budget, int64_t *augmentations)
{
    for (int64_t j = 0; j < w->n; j++)
        while (w->left[j] >= delta && any_room(w, delta)) {
            if (budget-- <= 0)
                return false;
            augment(w, j, delta);
            ++*augmentations;
        }
    return true;
}

/* Integer masses with the given total: each is rounded, the largest takes the remainder. */
static void quantise(int64_t *units, const double *mass, int64_t count)
{
    double sum = 0;
    int64_t largest = 0, rest = MASS_UNITS;
    for (int64_t i = 0; i < count; i++)
        sum += mass ? mass[i] : 1;
    for (int64_t i = 0; i < count; i++) {
        units[i] = (int64_t)((mass ? mass[i] : 1) / sum * (double)MASS_UNITS);
        rest -= units[i];
        if (units[i] > units[largest])
            largest = i;
    }
    units[largest] += rest;
}

static int64_t common_divisor(int64_t x, int64_t y)
{
    while (y) {
        int64_t z = x % y;
        x = y;
        y = z;
    }
    return x;
}

/* All mass unrouted, potentials zero. Uniform masses are small whole numbers: n units a reference
 * and c a point, over their common divisor. */
static void reset(struct ot_exact_work *w, const double *a, const double *b)
{
    int64_t c = w->c, n = w->n, divisor = common_divisor(c, n);
    memset(w->flow, 0, (size_t)(c * n) * sizeof *w->flow);
    memset(w->has_heaps, 0, (size_t)c);
    for (int64_t k = 0; k < c; k++) {
        w->u[k] = 0;
        w->room[k] = n / divisor;
    }
    for (int64_t i = 0; i < n; i++)
        w->left[i] = c / divisor;
    if (a || b) {
        quantise(w->room, a, c);
        quantise(w->left, b, n);
    }
}

static int64_t route_all(struct ot_exact_work *w, const double *a, const double *b)
{
    int64_t augmentations = 0, largest = 1, delta = 1;
    int64_t budget = w->quick_limit >= 0 ? w->quick_limit : QUICK_PER_NODE * (w->c + w->n);
    reset(w, a, b);
    if (run_pass(w, 1, budget, &augmentations))
        return augmentations;
    reset(w, a, b);
    for (int64_t i = 0; i < w->n; i++)
        largest = w->left[i] > largest ? w->left[i] : largest;
    while (delta <= largest / 2)
        delta *= 2;
    for (; delta > 0; delta /= 2)
        run_pass(w, delta, INT64_MAX, &augmentations);
    return augmentations;
}

/* Removes rounding errors of the potentials: one Bellman-Ford over the arcs of the final plan,
 * step_kl = min over points i of k of cost_il - cost_ik, makes u_l ≤ u_k + step_kl. */
static void polish_potentials(struct ot_exact_work *w)
{
    int64_t c = w->c;
    double highest = -INFINITY;
    for (int64_t i = 0; i < c * c; i++)
        w->step[i] = INFINITY;
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t k = 0; k < c; k++)
            for (int64_t l = 0; l < c && w->flow[i * c + k] > 0; l++) {
                double move = w->cost[i * c + l] - w->cost[i * c + k];
                if (move < w->step[k * c + l])
                    w->step[k * c + l] = move;
            }
    for (int64_t round = 0; round < c; round++)
        for (int64_t k = 0; k < c; k++)
            for (int64_t l = 0; l < c; l++)
                if (w->u[k] + w->step[k * c + l] < w->u[l])
                    w->u[l] = w->u[k] + w->step[k * c + l];
    for (int64_t k = 0; k < c; k++)
        highest = w->u[k] > highest ? w->u[k] : highest;
    for (int64_t k = 0; k < c; k++)
        w->u[k] -= highest;
}

/* Potentials of both sides, in the caller's orientation, with max dual_r = 0. That of a point is
 * min_k cost_kl - u_k. */
static void write_duals(const struct ot_exact_work *w, double *dual_r, double *dual_h, bool swapped)
{
    double *small = swapped ? dual_h : dual_r, *large = swapped ? dual_r : dual_h, shift = 0;
    int64_t c = w->c, n = w->n;
    for (int64_t k = 0; k < c; k++)
        small[k] = w->u[k];
    for (int64_t i = 0; i < n; i++) {
        large[i] = INFINITY;
        for (int64_t k = 0; k < c; k++)
            if (w->cost[i * c + k] - w->u[k] < large[i])
                large[i] = w->cost[i * c + k] - w->u[k];
    }
    if (!swapped)
        return;
    shift = large[0];
    for (int64_t i = 1; i < n; i++)
        shift = large[i] > shift ? large[i] : shift;
    for (int64_t i = 0; i < n; i++)
        large[i] -= shift;
    for (int64_t k = 0; k < c; k++)
        small[k] += shift;
}

void ot_exact_solve(struct ot_exact_work *w, double *plan, double *dual_r, double *dual_h,
                    struct consm_ot_result *result, const double *cost, const double *a,
                    const double *b, int64_t c, int64_t n)
{
    bool swapped = c > n;
    int64_t row = swapped ? 1 : n, column = swapped ? n : 1; /* strides of the caller's matrix */
    double total = 0, mass = ot_total_mass(a, b, c, n), units = (double)MASS_UNITS;
    w->c = swapped ? n : c;
    w->n = swapped ? c : n;
    for (int64_t k = 0; k < w->c; k++)
        for (int64_t i = 0; i < w->n; i++)
            w->cost[i * w->c + k] = cost[k * row + i * column];
    result->iterations = route_all(w, swapped ? b : a, swapped ? a : b);
    if (!a && !b) {
        int64_t common = c * n / common_divisor(c, n);
        units = (double)common;
    }
    for (int64_t k = 0; k < w->c; k++)
        for (int64_t i = 0; i < w->n; i++) {
            double p = (double)w->flow[i * w->c + k] / units * mass;
            plan[k * row + i * column] = p;
            total += p * w->cost[i * w->c + k];
        }
    result->cost = total;
    result->marginal_error = 0;
    result->converged = true;
    if (dual_r && dual_h) {
        polish_potentials(w);
        write_duals(w, dual_r, dual_h, swapped);
    }
}
