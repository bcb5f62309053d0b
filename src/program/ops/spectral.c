/* The nuclear norm's leading part: shape rule, gradient and the memory that lets each run begin
 * where the last one ended. */
#include "program/spectral.h"

#include "base/rng.h"
#include "program/internal.h"

consm_status spectral_new(struct spectral **out, int64_t rows, int64_t cols, int64_t rank)
{
    consm_status st = CONSM_OK;
    struct spectral *s = NULL;
    struct rng random;
    int64_t least = rows < cols ? rows : cols;
    TRY(ZNEW(s, 1));
    s->rows = rows;
    s->cols = cols;
    s->width = rank + SPECTRAL_EXTRA < least ? rank + SPECTRAL_EXTRA : least;
    TRY(NEW(s->v, cols * s->width));
    TRY(ZNEW(s->y, rows * s->width));
    TRY(ZNEW(s->turn, cols * s->width));
    TRY(ZNEW(s->left, rows * s->width));
    TRY(ZNEW(s->right, cols * s->width));
    rng_init(&random, 1, 1);
    for (int64_t k = 0; k < cols * s->width; k++)
        s->v[k] = rng_normal(&random);
    *out = s;
    return CONSM_OK;
done:
    spectral_free(s);
    return st;
}

void spectral_free(struct spectral *s)
{
    if (!s)
        return;
    mem_free(s->v);
    mem_free(s->y);
    mem_free(s->turn);
    mem_free(s->left);
    mem_free(s->right);
    mem_free(s);
}

static void release(void *thing)
{
    spectral_free(thing);
}

node nuclear(struct program *p, const struct csr *s, node values, int64_t rank, int64_t iterations)
{
    struct spectral *basis;
    if (!node_good(p, values))
        return POISON;
    if (!s || ROWS(p, values) != s->nnz || COLS(p, values) != 1)
        return program_fault(p, "nuclear: %lld x %lld values for %lld entries",
                             (long long)ROWS(p, values), (long long)COLS(p, values),
                             s ? (long long)s->nnz : 0LL);
    if (rank < 1 || rank > SPECTRAL_MAX - SPECTRAL_EXTRA || iterations < 1)
        return program_fault(p,
                             "nuclear: rank %lld in %lld iterations: expected 1 to %d in 1 or "
                             "more",
                             (long long)rank, (long long)iterations, SPECTRAL_MAX - SPECTRAL_EXTRA);
    if (!program_transpose_entries(p, s))
        return POISON;
    consm_status st = spectral_new(&basis, s->rows, s->cols, rank);
    if (st < 0 || (st = program_own(p, basis, release)) < 0)
        return program_failed(p, st);
    return RECORD(p, .op = OP_NUCLEAR, .rows = 1, .cols = 1, .src = {values}, .sources = 1,
                  .attr = {.csr = s, .heads = rank, .i = iterations, .state = basis});
}

/* σ_k = u_kᵀ S(x) v_k, and σ_k does not change to first order when u_k and v_k do:
 * x̄_ij += g·Σ_k u_ki v_kj */
void grad_nuclear(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    node x = info.src[0];
    grad_add(p, x,
             RECORD(p, .op = OP_NUCLEAR_GRAD, .rows = ROWS(p, x), .cols = 1, .src = {g, self},
                    .sources = 2, .attr = info.attr));
}
