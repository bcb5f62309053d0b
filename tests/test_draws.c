/* The draws of random operations: DropEdge keeps loops, drops both directions of an edge together
 * at the requested rate, and renormalises the rest; another step draws anew. Rows that are part of
 * a larger whole draw the same numbers as there, on every backend. THREADED */
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

/* Checks one step's values against D^-1/2 (A' + I) D^-1/2; returns the number of dropped edges. */
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

/* ---- a part draws as the whole ---- */

enum { WHOLE = 150, PART = 61 };

/* The rows of the part: some single, some consecutive, not in order. */
static void number_rows(int64_t number[PART])
{
    for (int64_t r = 0; r < PART; r++)
        number[r] = r < 20 ? 3 * r + 1 : r < 45 ? r + 80 : WHOLE - 1 - (r - 45);
}

enum draw { DRAW_DROPOUT, DRAW_NOISE, DRAW_FUSED, DRAW_PRODUCT, DRAWS };

static node record_draw(struct program *p, enum draw how, const float *ones, int64_t rows,
                        int64_t cols, float rate, const struct csr *unit)
{
    node x = input(p, ones, rows, cols), bias = fill(p, 0.5f, 1, cols);
    if (how == DRAW_NOISE)
        return noise(p, rows, cols);
    if (how == DRAW_DROPOUT)
        return dropout(p, x, rate);
    return dropout(p, relu(p, add_bias(p, how == DRAW_PRODUCT ? spmm(p, unit, x) : x, bias)), rate);
}

/* out (rows, cols): what is drawn at step 4. */
static void draw(float *out, struct backend *b, enum draw how, int64_t rows, int64_t cols,
                 float rate, const int64_t *number)
{
    static float ones[WHOLE * 33];
    int32_t same[WHOLE];
    struct params *params;
    struct program *p;
    struct csr *unit;
    for (int k = 0; k < WHOLE * 33; k++)
        ones[k] = 1;
    for (int32_t r = 0; r < WHOLE; r++)
        same[r] = r;
    OK(csr_from_edges(&unit, rows, rows, rows, same, same, NULL, CSR_DIRECTED, NULL));
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    node drawn = record_draw(p, how, ones, rows, cols, rate, unit);
    if (number)
        program_number(p, drawn, number);
    program_keep(p, drawn);
    OK(program_compile(p, b));
    OK(program_run(p, &(struct step){5, 4}));
    memcpy(out, value_of(p, drawn), (size_t)(rows * cols) * sizeof *out);
    program_free(p);
    params_free(params);
    csr_free(unit);
}

static void compare_draws(struct backend *b, enum draw how, int64_t cols, float rate)
{
    static float whole[WHOLE * 33], part[PART * 33];
    int64_t number[PART];
    number_rows(number);
    draw(whole, b, how, WHOLE, cols, rate, NULL);
    draw(part, b, how, PART, cols, rate, number);
    for (int64_t r = 0; r < PART; r++)
        if (memcmp(part + r * cols, whole + number[r] * cols, (size_t)cols * sizeof *part) != 0)
            fail_msg("%s: draw %d, %lld columns, rate %g: row %lld is not row %lld of the whole",
                     b->kind->name, how, (long long)cols, (double)rate, (long long)r,
                     (long long)number[r]);
}

static void a_part_draws_as_the_whole(void **state)
{
    (void)state;
    static const int64_t cols[] = {1, 7, 33};
    static const float rates[] = {0.5f, 0.25f, 0.3f}; /* one, two and sixteen bits a number */
    for (int i = 0; backend_name(i); i++) {
        struct backend *b;
        OK(backend_open(&b, backend_name(i), 2));
        for (int how = 0; how < DRAWS; how++)
            for (int c = 0; c < 3; c++)
                for (int r = 0; r < 3; r++)
                    compare_draws(b, (enum draw)how, cols[c], rates[r]);
        backend_close(b);
    }
}

/* Which edges of a are dropped, by the numbers of their ends; number NULL: as they are. */
static void fates(bool *gone, struct backend *b, const struct csr *a, const int64_t *number)
{
    struct params *params;
    struct program *p;
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    node values = edge_drop(p, a, 0.5f);
    if (number)
        program_number(p, values, number);
    program_keep(p, values);
    OK(program_compile(p, b));
    OK(program_run(p, &(struct step){5, 4}));
    const float *value = value_of(p, values);
    for (int64_t i = 0; i < NODES; i++)
        for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) {
            int64_t from = number ? number[i] : i, to = number ? number[a->col[k]] : a->col[k];
            gone[from * NODES + to] = value[k] == 0;
        }
    program_free(p);
    params_free(params);
}

/* The same graph with its nodes in another order loses the same edges. */
static void edges_are_known_by_their_ends(void **state)
{
    (void)state;
    static bool there[NODES * NODES], here[NODES * NODES];
    int32_t from[2 * EDGES + NODES], to[2 * EDGES + NODES];
    int64_t number[NODES], entries = 0, gone = 0;
    struct csr *graph, *turned;
    struct views *views;
    make_graph(&graph, &views);
    const struct csr *a = views_get(views, VIEW_LOOPS);
    for (int64_t i = 0; i < NODES; i++)
        number[i] = (7 * i + 3) % NODES;
    for (int32_t i = 0; i < NODES; i++)
        for (int32_t j = 0; j < NODES; j++)
            if (csr_find(a, number[i], (int32_t)number[j]) >= 0) {
                from[entries] = i;
                to[entries++] = j;
            }
    OK(csr_from_edges(&turned, NODES, NODES, entries, from, to, NULL, CSR_DIRECTED, NULL));
    for (int i = 0; backend_name(i); i++) {
        struct backend *b;
        OK(backend_open(&b, backend_name(i), 2));
        fates(there, b, a, NULL);
        fates(here, b, turned, number);
        assert_memory_equal(there, here, sizeof there);
        for (int k = 0; k < NODES * NODES; k++)
            gone += here[k];
        assert_true(gone > 0);
        backend_close(b);
    }
    csr_free(turned);
    views_free(views);
    csr_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_drop_but_loops_stay),
        cmocka_unit_test(a_part_draws_as_the_whole),
        cmocka_unit_test(edges_are_known_by_their_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
