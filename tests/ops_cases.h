/* The cases of ops_cases.def as functions and as a table. */
#ifndef TESTS_OPS_CASES_H
#define TESTS_OPS_CASES_H

#include "ops_world.h"

enum where { PLAIN, VIEW };

/* A parameter of the case. */
static inline node own(struct program *p, const char *name, int64_t rows, int64_t cols)
{
    return param(p, name, rows, cols, INIT_NORMAL);
}

static inline node targets(struct program *p, struct world *w)
{
    return input(p, w->target, w->n, w->f);
}

static inline node weights(struct program *p, struct world *w)
{
    return input(p, w->weight, w->n, w->f);
}

/* A node that draws random numbers as part of a larger graph. */
static inline node numbered(struct program *p, struct world *w, node drawn)
{
    program_number(p, drawn, w->number);
    return drawn;
}

/* Repeats each row of the pattern (of a large one the first rows) `times` times. */
static inline const struct csr *repeated(struct world *w, int64_t times)
{
    const struct csr *s = w->s;
    struct csr *a;
    int64_t at = 0, rows = s->rows < 100 ? s->rows : 40;
    OK(csr_new(&a, rows * times, s->cols, s->start[rows] * times, false));
    OK(NEW(w->member, a->nnz));
    for (int64_t r = 0; r < a->rows; r++) {
        a->start[r] = at;
        for (int64_t k = s->start[r / times]; k < s->start[r / times + 1]; k++) {
            w->member[at] = s->col[k] % 3 == 1 ? 0 : 1;
            a->col[at++] = s->col[k];
        }
    }
    a->start[a->rows] = at;
    return w->repeated = a;
}

/* From points to c references, neither of them parameters: a choice has no gradient. */
static inline struct transport route(struct program *p, struct world *w, int64_t c,
                                     int64_t iterations, enum take take)
{
    node cost = distances(p, targets(p, w), input(p, w->point, c, w->f));
    node epsilon = scale(p, 0.3f / (float)(w->n * c), sum(p, cost));
    return (struct transport){cost, epsilon, 1e-8, iterations, take};
}

/* (n,1) positive for nodes whose first target is above a number; in small worlds for all. */
static inline node few(struct program *p, struct world *w, float above)
{
    node beyond = fill(p, w->n < 100 ? -1 : above, w->n, 1);
    return relu(p, axpby(p, 1, slice(p, targets(p, w), 0, 1), -1, beyond));
}

#define CASE(name, where, ...) \
    static node case_##name(struct program *p, struct world *w) __VA_ARGS__
#include "ops_cases.def"
#undef CASE

struct op_case {
    const char *name;
    enum where where;
    node (*build)(struct program *p, struct world *w);
};

static const struct op_case op_cases[] = {
#define CASE(name, where, ...) {#name, where, case_##name},
#include "ops_cases.def"
#undef CASE
};

enum { OP_CASES = sizeof op_cases / sizeof *op_cases };

#endif
