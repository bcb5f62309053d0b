/* The leading part of the nuclear norm: shape rule, gradient, and the state that lets each run
 * continue from the last. */
#include "program/spectral.h"

#include "base/rng.h"
#include "program/internal.h"

size_t spectral_bytes(int64_t rows, int64_t cols, int64_t rank)
{
    int64_t width = spectral_width(rows, cols, rank);
    return (size_t)((2 * rows + 3 * cols + 1 + 2 * width) * width + 2) * sizeof(double);
}

void spectral_start(void *memory, int64_t rows, int64_t cols, int64_t rank)
{
    struct spectral s = spectral_at(memory, rows, cols, rank);
    struct rng random;
    rng_init(&random, 1, 1);
    for (int64_t k = 0; k < cols * s.width; k++)
        s.v[k] = rng_normal(&random);
}

/* The next piece of PLACE_STATE. */
static size_t remember(struct program *p, size_t bytes)
{
    enum { ALIGN = 64 };
    size_t at = p->state_bytes;
    p->state_bytes += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

node nuclear(struct program *p, const struct csr *s, node values, int64_t rank, int64_t iterations)
{
    if (!node_good(p, values))
        return POISON;
    if (!s || ROWS(p, values) != s->nnz || COLS(p, values) != 1)
        return program_fault(p, "nuclear: %lld x %lld values: expected %lld x 1, one per entry",
                             (long long)ROWS(p, values), (long long)COLS(p, values),
                             s ? (long long)s->nnz : 0LL);
    if (rank < 1 || rank > SPECTRAL_MAX - SPECTRAL_EXTRA || iterations < 1)
        return program_fault(
            p,
            "nuclear: rank %lld, %lld iterations: expected a rank from 1 to %d and "
            "at least one iteration",
            (long long)rank, (long long)iterations, SPECTRAL_MAX - SPECTRAL_EXTRA);
    if (!program_transpose_entries(p, s))
        return POISON;
    return RECORD(p, .op = OP_NUCLEAR, .rows = 1, .cols = 1, .src = {values}, .sources = 1,
                  .attr = {.csr = s,
                           .rank = rank,
                           .iterations = iterations,
                           .state = remember(p, spectral_bytes(s->rows, s->cols, rank))});
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
