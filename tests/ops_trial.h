/* A case of ops_cases.def recorded in a program on a backend. In training its loss is a fixed
 * random combination of the case's values, so that each of them has a gradient. */
#ifndef TESTS_OPS_TRIAL_H
#define TESTS_OPS_TRIAL_H

#include "ops_cases.h"
#include "program/internal.h"
#include "programs.h"

struct trial {
    const struct op_case *what;
    struct spot at;
    struct backend *backend;
    struct world w;
    struct params *params;
    struct program *p;
    node out, loss; /* loss: in training only */
    float *mix;
};

/* Whether the backend has every operation of a case. Only the card and the reference have
 * transport: on the CPU it is src/ot, which is not a program. */
static inline bool trial_possible(const struct op_case *what, struct spot at,
                                  struct backend *backend)
{
    struct world w;
    struct params *params;
    struct program *p;
    bool possible = true;
    world_make(&w, at);
    OK(params_new(&params));
    OK(program_new(&p, params, false));
    w.x = own(p, "x", at.n, at.f);
    w.y = own(p, "y", at.n, at.f);
    assert_int_not_equal(what->build(p, &w), POISON);
    for (node x = 0; x < p->count; x++)
        possible = possible && (p->node[x].op < OP_DISTANCES || p->node[x].op > OP_POOL_HOPS ||
                                backend->kind->supports(backend, p->node[x].op));
    program_free(p);
    params_free(params);
    world_free(&w);
    return possible;
}

static inline void trial_make(struct trial *t, const struct op_case *what, struct spot at,
                              struct backend *backend, bool training)
{
    struct rng r;
    *t = (struct trial){.what = what, .at = at, .backend = backend, .loss = POISON};
    rng_init(&r, 8, 0);
    world_make(&t->w, at);
    OK(params_new(&t->params));
    OK(program_new(&t->p, t->params, training));
    t->w.x = own(t->p, "x", at.n, at.f);
    t->w.y = own(t->p, "y", at.n, at.f);
    t->out = what->build(t->p, &t->w);
    program_keep(t->p, t->out);
    int64_t rows = program_rows(t->p, t->out), cols = program_cols(t->p, t->out);
    OK(NEW(t->mix, rows * cols));
    for (int64_t k = 0; k < rows * cols; k++)
        t->mix[k] = random_in(&r, -1, 1);
    if (training)
        t->loss = program_minimize(t->p, dot(t->p, t->out, input(t->p, t->mix, rows, cols)));
    OK(program_compile(t->p, backend));
    spread_values(t->params, param_values(t->params));
}

static inline void trial_free(struct trial *t)
{
    mem_free(t->mix);
    program_free(t->p);
    params_free(t->params);
    world_free(&t->w);
}

static inline void trial_run(struct trial *t, uint64_t number)
{
    OK(program_run(t->p, &(struct step){42, number}));
}

/* Fails the test: names the case, the place, and element k of something. */
static inline void trial_fault(const struct trial *t, const char *thing, int64_t k, double mine,
                               double expected)
{
    fail_msg("%s on the %s backend (%lld x %lld), %s view of the %s graph: %s[%lld] is %.9g, "
             "expected %.9g",
             t->what->name, t->backend->kind->name, (long long)t->at.n, (long long)t->at.f,
             view_name[t->at.view], graph_name[t->at.graph], thing, (long long)k, mine, expected);
}

#endif
