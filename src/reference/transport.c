/* Transport of sets of points to references, and pooling of two-hop sets by it. */
#include "reference/kernels.h"

#include "base/alloc.h"
#include "base/rng.h"
#include <math.h>
#include <string.h>

LOOP(distances)
{
    EACH (r, k) {
        double sum = 0;
        for (int64_t d = 0; d < in->src_cols[0]; d++)
            sum += (X(r, d) - Y(k, d)) * (X(r, d) - Y(k, d));
        OUT(r, k) = (float)sum;
    }
}

/* ---- one set ---- */

/* A set of points, and what its plan is made of:
 *     P_kl = softmax_k((f_k - cost_kl) / ε) / size                             (Eq. sinkhorn) */
struct set {
    int64_t c, size;
    int32_t *point;    /* (points there are) */
    const float *cost; /* (points there are, c) */
    double epsilon;
    double *f, *row;    /* (c) potentials of the references, Σ_l P_kl */
    int32_t *reference; /* (points there are) where each goes; for TAKE_PLAN not made */
    int64_t *marked;    /* (points there are) for walks */
};

static void set_free(struct set *s)
{
    mem_free(s->point);
    mem_free(s->f);
    mem_free(s->row);
    mem_free(s->reference);
    mem_free(s->marked);
}

static bool set_new(struct set *s, int64_t points, int64_t c, const float *cost, double epsilon)
{
    *s = (struct set){.c = c, .cost = cost, .epsilon = epsilon > 0 ? epsilon : 1};
    bool made = NEW(s->point, points + 1) == CONSM_OK && NEW(s->f, c) == CONSM_OK &&
                NEW(s->row, c) == CONSM_OK && NEW(s->reference, points + 1) == CONSM_OK &&
                ZNEW(s->marked, points) == CONSM_OK;
    if (!made)
        set_free(s);
    return made;
}

static double cost_of(const struct set *s, int64_t k, int64_t l)
{
    return (double)s->cost[s->point[l] * s->c + k];
}

/* P_kl · size */
static double share(const struct set *s, int64_t k, int64_t l)
{
    double sum = 0;
    for (int64_t j = 0; j < s->c; j++)
        sum += exp((s->f[j] - s->f[k] - cost_of(s, j, l) + cost_of(s, k, l)) / s->epsilon);
    return 1 / sum;
}

/* f_k += ε log((1/c) / Σ_l P_kl), until Σ_k |Σ_l P_kl - 1/c| is small enough */
static void solve(struct set *s, double tolerance)
{
    enum { MOST = 20000 };
    memset(s->f, 0, (size_t)s->c * sizeof *s->f);
    for (int64_t i = 0; i < MOST && s->size > 0; i++) {
        double error = 0;
        for (int64_t k = 0; k < s->c; k++) {
            s->row[k] = 0;
            for (int64_t l = 0; l < s->size; l++)
                s->row[k] += share(s, k, l) / (double)s->size;
            error += fabs(s->row[k] - 1 / (double)s->c);
        }
        if (error <= tolerance)
            return;
        for (int64_t k = 0; k < s->c; k++)
            s->f[k] -= s->epsilon * log((double)s->c * larger(s->row[k], 1e-300));
    }
}

/* The reference with the largest share; or with the least cost, if nothing is regularised or all
 * shares are equal. */
static void assign(struct set *s, bool nearest)
{
    for (int64_t l = 0; l < s->size; l++) {
        int64_t best = 0;
        for (int64_t k = 1; k < s->c; k++)
            if (nearest ? cost_of(s, k, l) < cost_of(s, best, l)
                        : share(s, k, l) > share(s, best, l) * (1 + 1e-6))
                best = k;
        s->reference[l] = (int32_t)best;
    }
}

static void map(struct set *s, const struct instr *in)
{
    if (in->attr.iterations > 0)
        solve(s, (double)in->attr.a);
    assign(s, in->attr.iterations == 0 || s->size == 1); /* with one point all shares are equal */
}

static int64_t count_at(const struct set *s, int64_t k)
{
    int64_t count = 0;
    for (int64_t l = 0; l < s->size; l++)
        count += s->reference[l] == k;
    return count;
}

/* The weight of point l at reference k. */
static double taken(const struct set *s, const struct instr *in, int64_t k, int64_t l)
{
    if (in->attr.take == TAKE_PLAN && in->attr.iterations > 0)
        return share(s, k, l) / (double)s->size;
    if (s->reference[l] != k)
        return 0;
    return in->attr.take == TAKE_PLAN   ? 1 / (double)s->size
           : in->attr.take == TAKE_MEAN ? 1 / (double)count_at(s, k)
                                        : 1;
}

/* ---- the operations ---- */

LOOP(transport)
{
    const struct csr *a = in->attr.csr;
    const int64_t c = in->attr.heads;
    struct set s;
    if (!set_new(&s, a->nnz, c, in->src[0], Z(0, 0)))
        return;
    for (int64_t first = 0; first < a->rows; first += c) {
        s.size = 0;
        EACH_ENTRY (k, a, first)
            if (Y(k, 0) != 0)
                s.point[s.size++] = a->col[k];
        map(&s, in);
        for (int64_t r = 0; r < c; r++) {
            int64_t l = 0;
            EACH_ENTRY (k, a, first + r)
                OUT(k, 0) = Y(k, 0) != 0 ? (float)taken(&s, in, r, l++) : 0;
        }
    }
    set_free(&s);
}

/* Adds unmarked nodes that kept entries of a row lead to. */
static void visit(struct set *s, const struct instr *in, int64_t row, int64_t mark)
{
    EACH_ENTRY (k, in->attr.csr, row) {
        const int32_t v = in->attr.csr->col[k];
        if (SRC(3, k, 0) == 0 || s->marked[v] == mark)
            continue;
        s->marked[v] = mark;
        s->point[s->size++] = v;
    }
}

/* The node, its neighbours and theirs; of more than cap, those that a partial shuffle puts first.
 */
static void walk(struct set *s, const struct instr *in, int32_t from)
{
    const int64_t cap = in->attr.column;
    struct rng r;
    s->point[0] = from;
    s->marked[from] = from + 1;
    s->size = 1;
    visit(s, in, from, from + 1);
    for (int64_t i = 1, direct = s->size; i < direct; i++)
        visit(s, in, s->point[i], from + 1);
    if (cap <= 0 || s->size <= cap)
        return;
    rng_init(&r, in->attr.seed, (uint64_t)from);
    for (int64_t i = 1; i < cap; i++) {
        const int64_t j = i + (int64_t)rng_below(&r, (uint64_t)(s->size - i));
        const int32_t swap = s->point[i];
        s->point[i] = s->point[j];
        s->point[j] = swap;
    }
    s->size = cap;
}

/* c·Σ_l P_kl x_l of a plan, else Σ of what goes to k, or the largest of it */
static double pooled(const struct set *s, const struct instr *in, int64_t k, int64_t d)
{
    double sum = 0, most = -INFINITY;
    for (int64_t l = 0; l < s->size; l++) {
        sum += taken(s, in, k, l) * X(s->point[l], d);
        if (s->reference[l] == k)
            most = larger(most, X(s->point[l], d));
    }
    if (in->attr.take == TAKE_MAX)
        return isfinite(most) ? most : 0;
    return in->attr.take == TAKE_PLAN ? (double)s->c * sum : sum;
}

LOOP(pool_hops)
{
    const int64_t c = in->attr.heads, f = in->src_cols[0];
    struct set s;
    if (!set_new(&s, in->rows, c, in->src[1], Z(0, 0)))
        return;
    for (int64_t i = 0; i < in->rows; i++) {
        const bool wanted = SRC(4, i, 0) != 0;
        if (wanted) {
            walk(&s, in, (int32_t)i);
            map(&s, in);
        }
        for (int64_t k = 0; k < c; k++)
            for (int64_t d = 0; d < f; d++)
                OUT(i, k * f + d) = wanted ? (float)pooled(&s, in, k, d) : 0;
    }
    set_free(&s);
}
