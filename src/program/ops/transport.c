/* Transport of points to references, and the pooling after it. Shapes are checked here;
 * src/reference/transport.c has the equations. */
#include "program/internal.h"

node distances(struct program *p, node x, node y)
{
    if (!node_good(p, x) || !node_good(p, y))
        return POISON;
    if (COLS(p, x) != COLS(p, y) || ROWS(p, y) < 1)
        return program_fault(p,
                             "distances: points have %lld columns, the %lld references have %lld: "
                             "expected equal numbers, and at least one reference",
                             (long long)COLS(p, x), (long long)ROWS(p, y), (long long)COLS(p, y));
    return RECORD(p, .op = OP_DISTANCES, .rows = ROWS(p, x), .cols = ROWS(p, y), .src = {x, y},
                  .sources = 2);
}

/* Whether the costs of `points` points, and ε, have the right shapes. */
static bool costs_fit(struct program *p, const struct transport *t, int64_t points)
{
    if (!node_good(p, t->cost) || !node_good(p, t->epsilon))
        return false;
    if (ROWS(p, t->cost) == points && COLS(p, t->cost) > 0 && ROWS(p, t->epsilon) == 1 &&
        COLS(p, t->epsilon) == 1 && t->iterations >= 0)
        return true;
    program_fault(p,
                  "transport: costs are %lld x %lld: expected %lld rows, one per point, and an "
                  "epsilon of 1 x 1",
                  (long long)ROWS(p, t->cost), (long long)COLS(p, t->cost), (long long)points);
    return false;
}

node transport(struct program *p, const struct csr *s, const struct transport *t, node w)
{
    if (!s || !costs_fit(p, t, s->cols) || !node_good(p, w))
        return POISON;
    int64_t c = COLS(p, t->cost);
    if (ROWS(p, w) < s->nnz || COLS(p, w) != 1 || s->rows % c != 0 || t->take == TAKE_MAX)
        return program_fault(
            p, "transport: %lld weights: expected one for each of the %lld entries in %lld rows",
            (long long)ROWS(p, w), (long long)s->nnz, (long long)s->rows);
    return RECORD(p, .op = OP_TRANSPORT, .rows = ROWS(p, w), .cols = 1,
                  .src = {t->cost, w, t->epsilon}, .sources = 3,
                  .attr = {.csr = s,
                           .heads = c,
                           .a = (float)t->tolerance,
                           .iterations = t->iterations,
                           .take = t->take});
}

node pool_hops(struct program *p, const struct csr *s, const struct transport *t, node x, node kept,
               node wanted, int64_t cap, uint64_t seed)
{
    if (!s || !costs_fit(p, t, s->cols) || !node_good(p, x) || !node_good(p, kept) ||
        !node_good(p, wanted))
        return POISON;
    if (s->rows != s->cols || ROWS(p, x) != s->rows || ROWS(p, kept) != s->nnz ||
        ROWS(p, wanted) != s->rows || COLS(p, kept) != 1 || COLS(p, wanted) != 1)
        return program_fault(
            p,
            "pool_hops: %lld rows, %lld entries and %lld wanted do not fit a graph of %lld nodes",
            (long long)ROWS(p, x), (long long)ROWS(p, kept), (long long)ROWS(p, wanted),
            (long long)s->rows);
    return RECORD(p, .op = OP_POOL_HOPS, .rows = s->rows, .cols = COLS(p, t->cost) * COLS(p, x),
                  .src = {x, t->cost, t->epsilon, kept, wanted}, .sources = 5,
                  .attr = {.csr = s,
                           .heads = COLS(p, t->cost),
                           .a = (float)t->tolerance,
                           .iterations = t->iterations,
                           .take = t->take,
                           .column = cap,
                           .seed = seed});
}
