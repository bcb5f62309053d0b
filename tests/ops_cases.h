/* The cases of ops_cases.def as functions and as a table. */
#ifndef TESTS_OPS_CASES_H
#define TESTS_OPS_CASES_H

#include "ops_world.h"

enum where { PLAIN, VIEW };

/* A parameter of the case's own. */
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

/* A node that draws, as a part of a larger graph would draw it. */
static inline node numbered(struct program *p, struct world *w, node drawn)
{
    program_number(p, drawn, w->number);
    return drawn;
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
