/* What the random operations draw: DropEdge keeps loops, drops the two directions of an edge
 * together and at the asked-for rate, and renormalises what is left; another step draws anew. */
#include "programs.h"

#include "base/rng.h"
#include "graph/views.h"
#include <math.h>

enum { NODES = 120, EDGES = 700 };

/* A weighted undirected graph as A + I, loops weighing 1. */
static void make_graph(struct csr **graph, struct views **views)
{
    struct rng r;
    int32_t from[EDGES], to[EDGES];
    float weight[EDGES];
    rng_init(&r, 3, 3);
    for (int e = 0; e < EDGES; e++) {
        from[e] = (int32_t)rng_below(&r, NODES);
        to[e] = (int32_t)rng_below(&r, NODES);
        weight[e] = (float)(0.5 + rng_uniform(&r));
    }
    OK(csr_from_edges(graph, NODES, NODES, EDGES, from, to, weight, CSR_UNDIRECTED | CSR_DROP_LOOPS,
                      NULL));
    OK(views_new(views, *graph));
}

/* Checks one step's values against D^-1/2 (A' + I) D^-1/2; returns how many edges went. */
static int64_t check_step(const struct csr *a, const float *value)
{
    double degree[NODES] = {0};
    int64_t gone = 0;
    for (int64_t r = 0; r < NODES; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
            bool stays = value[k] != 0;
            int64_t back = csr_find(a, a->col[k], (int32_t)r);
            assert_true(stays || a->col[k] != r); /* loops always stay */
            assert_int_equal(stays, value[back] != 0);
            degree[r] += stays ? a->val[k] : 0;
            gone += !stays;
        }
    for (int64_t r = 0; r < NODES; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            if (value[k] != 0)
                assert_near(value[k], a->val[k] / sqrt(degree[r] * degree[a->col[k]]), 1e-6);
    return gone / 2;
}

static void edges_drop_but_loops_stay(void **state)
{
    (void)state;
    const float rate = 0.6f;
    struct csr *graph;
    struct views *views;
    struct params *params;
    struct program *p;
    struct backend *backend;
    make_graph(&graph, &views);
    const struct csr *a = views_get(views, VIEW_LOOPS);
    assert_non_null(a);
    OK(backend_open(&backend, NULL, 2));
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    node values = edge_drop(p, a, rate);
    program_keep(p, values);
    OK(program_compile(p, backend));
    int64_t edges = graph->nnz / 2, gone = 0, steps = 20, last = -1, repeats = 0;
    for (int64_t k = 0; k < steps; k++) {
        OK(program_run(p, &(struct step){9, (uint64_t)k}));
        int64_t now = check_step(a, value_of(p, values));
        repeats += now == last;
        gone += last = now;
    }
    /* five standard deviations */
    double draws = (double)(edges * steps), expected = draws * (double)rate;
    assert_true(fabs((double)gone - expected) < 5 * sqrt(expected * (1 - (double)rate)));
    assert_true(repeats < steps / 2);
    program_free(p);
    params_free(params);
    backend_close(backend);
    views_free(views);
    csr_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(edges_drop_but_loops_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
