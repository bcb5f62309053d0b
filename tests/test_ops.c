/* The test of a backend: every operation, forward and backward, in training and in evaluation,
 * equals the reference (src/reference), on odd shapes and on every view of every kind of graph; its
 * optimiser trains like the reference's; and an operation of ops.def without a case in
 * ops_cases.def fails. */

/*
 * Every built-in backend is tested, on two threads, so that shares are tested too. THREADED
 */
#include "ops_trial.h"

#include <math.h>

static const double TOLERANCE = 1e-5; /* of the largest number of a tensor, or of 1 */

/* Compares numbers of the reference and of the tested backend, element by element. size: the
 * magnitude of the terms that they were summed from, if larger than themselves. */
static void compare(const struct trial *t, const char *thing, const float *mine,
                    const float *expected, int64_t count, double size)
{
    double largest = size;
    for (int64_t k = 0; k < count; k++)
        largest = fabs((double)expected[k]) > largest ? fabs((double)expected[k]) : largest;
    for (int64_t k = 0; k < count; k++)
        if (!(fabs((double)mine[k] - (double)expected[k]) <= TOLERANCE * largest))
            trial_fault(t, thing, k, (double)mine[k], (double)expected[k]);
}

/* For a single row, batch norm subtracts two numbers that are 1/sqrt(1e-5) times as large as the
 * row. */
static double size_of(const struct trial *t)
{
    return t->at.n == 1 && strcmp(t->what->name, "batch_norm") == 0 ? 316 : 1;
}

/* Values, loss, gradients and running statistics after a run of both. */
static void compare_trials(struct trial *mine, struct trial *expected)
{
    int64_t size = program_rows(mine->p, mine->out) * program_cols(mine->p, mine->out);
    const float *value = value_of(expected->p, expected->out);
    double terms = 10 * size_of(mine); /* of the loss */
    for (int64_t k = 0; k < size; k++)
        terms += fabs((double)value[k] * (double)mine->mix[k]);
    compare(mine, "its value", value_of(mine->p, mine->out), value, size, size_of(mine));
    if (mine->loss != POISON)
        compare(mine, "the loss", value_of(mine->p, mine->loss),
                value_of(expected->p, expected->loss), 1, terms / 10);
    for (int i = 0; i < mine->params->count; i++) {
        const struct parameter *item = &mine->params->item[i];
        if (item->trained && mine->loss != POISON)
            compare(mine, item->name, param_grads(mine->params) + item->offset,
                    param_grads(expected->params) + item->offset, item->rows * item->cols,
                    size_of(mine));
        if (!item->trained)
            compare(mine, item->name, param_values(mine->params) + item->offset,
                    param_values(expected->params) + item->offset, item->rows * item->cols, 1);
    }
}

/* Two steps, because some operations have state. */
static void check(const struct op_case *c, struct spot at, struct backend *backend,
                  struct backend *reference)
{
    for (int training = 0; training < 2 && trial_possible(c, at, backend); training++) {
        struct trial mine, expected;
        trial_make(&mine, c, at, backend, training);
        trial_make(&expected, c, at, reference, training);
        for (uint64_t step = 3; step < 5; step++) {
            trial_run(&mine, step);
            trial_run(&expected, step);
            compare_trials(&mine, &expected);
        }
        trial_free(&mine);
        trial_free(&expected);
    }
}

/* The kernels of src/cuda on a simulated card (tests/card), if they are linked in. */
extern consm_status card_open(struct backend **out, int threads) __attribute__((weak));

/* Calls the function for every backend but the reference; only for the simulated card if it is
 * there. The simulation is slow, so it is tested at every second or seventh place only. */
static void on_every_backend(void (*test)(struct backend *backend, struct backend *reference))
{
    struct backend *backend, *reference;
    OK(backend_open(&reference, "reference", 1));
    if (card_open) {
        OK(card_open(&backend, 1));
        test(backend, reference);
        backend_close(backend);
    }
    for (int b = 0; !card_open && backend_name(b); b++) {
        if (strcmp(backend_name(b), "reference") == 0)
            continue;
        OK(backend_open(&backend, backend_name(b), 2));
        test(backend, reference);
        backend_close(backend);
    }
    backend_close(reference);
}

/* ---- shapes and graphs ---- */

/* On the simulated card, and under ThreadSanitizer, tests only one of `many` entries of a list. */
static int every(int many)
{
    return card_open || UNDER_TSAN ? many : 1;
}

static void widths(struct backend *backend, struct backend *reference)
{
    static const int64_t width[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  12, 15,
                                    16, 17, 24, 31, 32, 33, 63, 64, 65, 100};
    for (int c = 0; c < OP_CASES; c++)
        for (size_t k = 0; k < sizeof width / sizeof *width; k += (size_t)every(7))
            check(&op_cases[c], (struct spot){5, width[k], GRAPH_WEIGHTED, VIEW_GCN}, backend,
                  reference);
}

static void few_nodes_and_many(struct backend *backend, struct backend *reference)
{
    static const int64_t shapes[][2] = {{1, 1}, {1, 3},   {1, 16},  {2, 1},
                                        {3, 7}, {40, 19}, {1100, 3}};
    for (int c = 0; c < OP_CASES; c++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s += (size_t)every(2))
            check(&op_cases[c],
                  (struct spot){shapes[s][0], shapes[s][1], GRAPH_LOPSIDED, VIEW_LOOPS}, backend,
                  reference);
}

static void graphs(struct backend *backend, struct backend *reference)
{
    static const int64_t shapes[][2] = {{9, 5}, {33, 8}};
    for (int c = 0; c < OP_CASES; c++)
        for (int kind = 0; op_cases[c].where == VIEW && kind < GRAPH_KINDS * VIEW_COUNT;
             kind += every(7))
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
                check(&op_cases[c],
                      (struct spot){shapes[s][0], shapes[s][1],
                                    (enum graph_kind)(kind / VIEW_COUNT),
                                    (enum view)(kind % VIEW_COUNT)},
                      backend, reference);
}

static void every_width(void **state)
{
    (void)state;
    on_every_backend(widths);
}

static void one_node_and_a_thousand(void **state)
{
    (void)state;
    on_every_backend(few_nodes_and_many);
}

static void every_view_of_every_graph(void **state)
{
    (void)state;
    on_every_backend(graphs);
}

/* ---- the optimiser ---- */

/* A regression with weight decay and a parameter that is not trained, for thirty steps. */
static void train(float *values, struct backend *backend)
{
    const struct adam_options adam = {0.05, 0.9, 0.999, 1e-8, 0.01};
    struct world w;
    struct params *params;
    struct program *p;
    world_make(&w, (struct spot){7, 5, GRAPH_PLAIN, VIEW_GCN});
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    node x = own(p, "x", 7, 5), still = state(p, "still", 1, 5, INIT_ONE);
    program_minimize(p,
                     mse(p, add_bias(p, spmm(p, w.s, x), still), targets(p, &w), weights(p, &w)));
    program_optimize(p, &adam);
    OK(program_compile(p, backend));
    spread_values(params, param_values(params));
    for (uint64_t k = 0; k < 30; k++)
        OK(program_run(p, &(struct step){1, k}));
    memcpy(values, param_values(params), (size_t)params->size * sizeof *values);
    program_free(p);
    params_free(params);
    world_free(&w);
}

static void optimisers(struct backend *backend, struct backend *reference)
{
    float mine[128], expected[128];
    train(mine, backend);
    train(expected, reference);
    for (int k = 0; k < 7 * 5; k++)
        assert_near(mine[k], expected[k], 1e-5);
}

static void optimisers_train_alike(void **state)
{
    (void)state;
    on_every_backend(optimisers);
}

/* ---- two-hop sets ---- */

enum { SET_NODES = 7000, SET_EDGES = 5 * SET_NODES, SET_HUB = 250 };

/* Random edges, and a node with many: sets of some hundred members in all orders, which collide in
 * the card's tables, and sets that are too large for these. */
static void sets_graph(struct csr **out)
{
    static int32_t from[SET_EDGES + SET_HUB], to[SET_EDGES + SET_HUB];
    struct rng r;
    rng_init(&r, 9, 0);
    for (int k = 0; k < SET_EDGES + SET_HUB; k++) {
        from[k] = k < SET_EDGES ? (int32_t)rng_below(&r, SET_NODES) : 7;
        to[k] = (int32_t)rng_below(&r, SET_NODES);
    }
    OK(csr_from_edges(out, SET_NODES, SET_NODES, SET_EDGES + SET_HUB, from, to, NULL,
                      CSR_UNDIRECTED | CSR_DROP_LOOPS, NULL));
}

/* The sums of all sets' members by their nearest references. */
static void pool_sets(float *out, struct csr *graph, int64_t cap, struct backend *backend)
{
    static float x[SET_NODES * 2], kept[2 * (SET_EDGES + SET_HUB)], wanted[SET_NODES];
    struct params *params;
    struct program *p;
    struct rng r;
    rng_init(&r, 10, 0);
    for (int k = 0; k < SET_NODES * 2; k++)
        x[k] = (float)rng_normal(&r);
    for (int64_t k = 0; k < graph->nnz; k++)
        kept[k] = k % 10 < 9 ? 1 : 0;
    for (int k = 0; k < SET_NODES; k++)
        wanted[k] = k % 20 == 7 ? 1 : 0;
    OK(params_new(&params));
    OK(program_new(&p, params, false));
    node h = input(p, x, SET_NODES, 2), cost = distances(p, h, input(p, x, 3, 2));
    const struct transport t = {cost, sum(p, cost), 1e-8, 0, TAKE_SUM};
    node all = pool_hops(p, graph, &t, h, input(p, kept, graph->nnz, 1),
                         input(p, wanted, SET_NODES, 1), cap, 7);
    program_keep(p, all);
    OK(program_compile(p, backend));
    OK(program_run(p, &(struct step){1, 1}));
    memcpy(out, value_of(p, all), SET_NODES * 6 * sizeof *out);
    program_free(p);
    params_free(params);
}

static void sets(struct backend *backend, struct backend *reference)
{
    static float mine[SET_NODES * 6], expected[SET_NODES * 6];
    struct csr *graph;
    if (!backend->kind->supports(backend, OP_POOL_HOPS))
        return;
    sets_graph(&graph);
    for (int64_t cap = 0; cap <= 60; cap += 60) {
        pool_sets(mine, graph, cap, backend);
        pool_sets(expected, graph, cap, reference);
        for (int k = 0; k < SET_NODES * 6; k++)
            if (!(fabsf(mine[k] - expected[k]) <= 1e-5f * (1 + fabsf(expected[k]))))
                fail_msg("cap %d, node %d: %g instead of %g", (int)cap, k / 6, (double)mine[k],
                         (double)expected[k]);
    }
    csr_free(graph);
}

static void sets_collide_and_overflow(void **state)
{
    (void)state;
    on_every_backend(sets);
}

/* ---- threads ---- */

/* The same bits on any number of threads. */
static void same_bits(struct trial *a, struct trial *b)
{
    size_t floats = (size_t)(program_rows(a->p, a->out) * program_cols(a->p, a->out));
    size_t all = (size_t)a->params->size;
    bool same = memcmp(value_of(a->p, a->out), value_of(b->p, b->out), floats * 4) == 0 &&
                memcmp(param_grads(a->params), param_grads(b->params), all * 4) == 0 &&
                memcmp(param_values(a->params), param_values(b->params), all * 4) == 0;
    if (!same)
        fail_msg("%s on the %s backend (%lld x %lld): threads show", a->what->name,
                 a->backend->kind->name, (long long)a->at.n, (long long)a->at.f);
}

static void threads_leave_no_trace(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{40, 19}, {1100, 3}};
    for (int b = 0; !card_open && backend_name(b); b++) {
        struct backend *one, *three;
        OK(backend_open(&one, backend_name(b), 1));
        OK(backend_open(&three, backend_name(b), 3));
        for (int c = 0; c < OP_CASES; c++)
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
                struct spot at = {shapes[s][0], shapes[s][1], GRAPH_LOPSIDED, VIEW_GCN};
                struct trial alone, shared;
                if (!trial_possible(&op_cases[c], at, one))
                    continue;
                trial_make(&alone, &op_cases[c], at, one, true);
                trial_make(&shared, &op_cases[c], at, three, true);
                trial_run(&alone, 3);
                trial_run(&shared, 3);
                same_bits(&alone, &shared);
                trial_free(&alone);
                trial_free(&shared);
            }
        backend_close(one);
        backend_close(three);
    }
}

/* ---- is every operation among the cases? ---- */

static void every_operation_has_a_case(void **state)
{
    (void)state;
    bool seen[OP_COUNT] = {[OP_ADAM] = true, [OP_KEEP] = true}; /* of tests of their own */
    const struct spot at = {7, 5, GRAPH_WEIGHTED, VIEW_GCN};
    struct backend *backend, *reference; /* which has what others need not have */
    OK(backend_open(&backend, NULL, 1));
    OK(backend_open(&reference, "reference", 1));
    for (int c = 0; c < OP_CASES; c++) {
        struct trial t;
        trial_make(&t, &op_cases[c], at,
                   trial_possible(&op_cases[c], at, backend) ? backend : reference, true);
        for (node x = 0; x < t.p->count; x++)
            seen[t.p->node[x].op] |= t.p->node[x].live || t.p->node[x].op == OP_SPARSE;
        trial_free(&t);
    }
    for (int op = 0; op < OP_COUNT; op++)
        if (!seen[op])
            fail_msg("no case of ops_cases.def makes a program with %s", op_name((enum op)op));
    backend_close(backend);
    backend_close(reference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_has_a_case), cmocka_unit_test(every_width),
        cmocka_unit_test(one_node_and_a_thousand),    cmocka_unit_test(every_view_of_every_graph),
        cmocka_unit_test(optimisers_train_alike),     cmocka_unit_test(sets_collide_and_overflow),
        cmocka_unit_test(threads_leave_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
