/* Every operation of ops.def as the plain loop of its equation, in double precision. The other
 * backends are compared with it, and it defines what an operation means. LOOP(name) defines the one
 * of the row OP(NAME, name, …); a row without a loop does not link. */

/*
 * In the loops, n and f are rows and columns of the result, r and c run over them, i, j over nodes,
 * k over entries of a pattern or an index, h over heads. X(r, c) is element (r, c) of source 0, and
 * so on; OUT(r, c) that of the result.
 */
#ifndef REFERENCE_KERNELS_H
#define REFERENCE_KERNELS_H

#include "program/backend.h"

#define LOOP(name) \
    void reference_##name(const struct instr *in, __attribute__((unused)) const struct step *step)

#define OP(NAME, name, ...) LOOP(name);
#include "program/ops.def"
#undef OP

/* Element (r, c) of the result or of source s, as floats in memory. */
#define OUT(r, c)    in->out[(r)*in->cols + (c)]
#define SRC(s, r, c) in->src[s][(r)*in->src_cols[s] + (c)]
#define X(r, c)      ((double)SRC(0, r, c))
#define Y(r, c)      ((double)SRC(1, r, c))
#define Z(r, c)      ((double)SRC(2, r, c))

/* Over all elements of the result. */
#define EACH(r, c)                         \
    for (int64_t r = 0; r < in->rows; r++) \
        for (int64_t c = 0; c < in->cols; c++)

/* For loops that find a maximum: GCC 12 crashes on fmax in one. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* ---- sparse patterns ---- */

/* The matrix that an operation walks, or its transpose, and the position of entry k's value in the
 * stored matrix. */
static inline const struct csr *walked(const struct instr *in)
{
    return in->attr.transposed ? in->attr.csr->t : in->attr.csr;
}

static inline int64_t stored(const struct instr *in, int64_t k)
{
    return in->attr.transposed ? in->attr.csr->t_entry[k] : k;
}

/* The matrix's own value of an entry. */
static inline double weight_of(const struct csr *a, int64_t k)
{
    return a->val ? (double)a->val[k] : 1;
}

#define EACH_ENTRY(k, a, i) for (int64_t k = (a)->start[i]; k < (a)->start[(i) + 1]; k++)

/* ---- random numbers (random.c) ---- */

/* The factor of element (r, c): 0 with probability attr.a, else 1/(1-a). */
double dropout_factor(const struct instr *in, const struct step *step, int64_t r, int64_t c);
/* The same by an element's number. */
double dropout_factor_of(const struct instr *in, const struct step *step, uint64_t element);

/* Uniform in (0, 1), element (r, c). */
double uniform_draw(const struct instr *in, const struct step *step, int64_t r, int64_t c);

/* Whether the edge between nodes i and j is kept, with probability 1 - attr.a; the same in both
 * directions. */
bool edge_stays(const struct instr *in, const struct step *step, int64_t i, int64_t j);

#endif
