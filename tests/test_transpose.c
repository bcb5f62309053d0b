/* Which matrices are their own transpose, what is kept of the others, and how long. */
#include "check.h"

#include "base/rng.h"
#include "graph/edges.h"
#include "graph/views.h"

enum { SIDE = 3, NODES = 40, EDGES = 150 };

static struct csr *matrix(const float *dense, int64_t cols)
{
    struct csr *a;
    OK(csr_from_dense(&a, dense, SIDE, cols));
    return a;
}

/* A matrix with a transpose of its own, entry by entry. */
static void has_another(const float *dense, int64_t cols)
{
    struct csr *a = matrix(dense, cols);
    OK(csr_transpose(a));
    assert_ptr_not_equal(a->t, a);
    assert_int_equal(a->t->rows, cols);
    assert_non_null(a->t_entry);
    for (int64_t r = 0; r < a->t->rows; r++)
        for (int64_t k = a->t->start[r]; k < a->t->start[r + 1]; k++) {
            assert_true(a->t->val[k] == dense[(int64_t)a->t->col[k] * cols + r]);
            assert_true(a->val[a->t_entry[k]] == a->t->val[k]);
        }
    csr_free(a);
}

static void other_matrices_get_one(void **state)
{
    (void)state;
    static const float cycle[] = {0, 1, 0, 0, 0,
                                  1, 1, 0, 0};               /* one entry in every row and column */
    static const float more[] = {1, 1, 1, 1, 0, 0, 0, 0, 0}; /* its first row has more */
    static const float last[] = {0, 0, 1, 0, 0, 1, 1, 0, 0}; /* only its last row differs */
    static const float value[] = {0, 2, 0, 3, 0, 1, 0, 1, 0}; /* the pattern is symmetric */
    static const float wide[] = {1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1};
    has_another(cycle, SIDE);
    has_another(more, SIDE);
    has_another(last, SIDE);
    has_another(value, SIDE);
    has_another(wide, SIDE + 1);
}

/* The positions of the transposed entries are made only when values of the program's own need
 * them. */
static void a_symmetric_matrix_is_its_own(void **state)
{
    (void)state;
    static const float dense[] = {5, 2, 0, 2, 0, 7, 0, 7, 0};
    struct csr *a = matrix(dense, SIDE);
    OK(csr_transpose(a));
    assert_ptr_equal(a->t, a);
    assert_null(a->t_entry);
    OK(csr_transpose_entries(a));
    assert_ptr_equal(a->t, a);
    static const int64_t entry[] = {0, 2, 1, 4, 3}; /* (0,0) (0,1) (1,0) (1,2) (2,1) */
    assert_memory_equal(a->t_entry, entry, sizeof entry);
    csr_free(a);
}

static void same_matrix(const struct csr *a, const struct csr *b)
{
    assert_int_equal(a->nnz, b->nnz);
    assert_memory_equal(a->start, b->start, (size_t)(a->rows + 1) * sizeof *a->start);
    assert_memory_equal(a->col, b->col, (size_t)a->nnz * sizeof *a->col);
    assert_int_equal(a->val == NULL, b->val == NULL);
    if (a->val)
        assert_memory_equal(a->val, b->val, (size_t)a->nnz * sizeof *a->val);
}

/* Every view of a graph that is known to be symmetric is what a walk over its entries finds. */
static void same_views(struct csr *graph)
{
    assert_true(graph->symmetric);
    for (enum view kind = 0; kind < VIEW_COUNT; kind++) {
        struct views *known, *unknown;
        struct csr plain = *graph;
        plain.symmetric = false;
        OK(views_new(&known, graph));
        OK(views_new(&unknown, &plain));
        const struct csr *a = views_get(known, kind), *b = views_get(unknown, kind);
        same_matrix(a, b);
        assert_int_equal(a->t == a, b->t == b);
        same_matrix(a->t, b->t);
        views_free(known);
        views_free(unknown);
    }
}

/* A graph without some of its edges equals one that was made from the others. */
static void fewer_edges(bool weighted, struct team *team)
{
    struct rng r;
    struct csr *graph, *less, *anew;
    struct edges *edges;
    int32_t from[EDGES], to[EDGES];
    float weight[EDGES];
    uint8_t dropped[EDGES];
    int64_t left = 0;
    rng_init(&r, 7, weighted);
    for (int i = 0; i < EDGES; i++) {
        from[i] = (int32_t)rng_below(&r, NODES);
        to[i] = (int32_t)rng_below(&r, NODES);
        weight[i] = (float)rng_uniform(&r);
    }
    OK(csr_from_edges(&graph, NODES, NODES, EDGES, from, to, weighted ? weight : NULL,
                      CSR_UNDIRECTED | CSR_DROP_LOOPS, NULL));
    OK(edges_new(&edges, graph));
    for (int64_t k = 0; k < edges->count; k++) {
        dropped[k] = rng_below(&r, 3) == 0;
        if (dropped[k])
            continue;
        from[left] = edges->left[k];
        to[left] = edges->right[k];
        weight[left++] = edges_weight(edges, graph, k);
    }
    assert_true(left > 0 && left < edges->count);
    OK(edges_changed(&less, graph, edges, dropped, 0, NULL, NULL, 1, team));
    OK(csr_from_edges(&anew, NODES, NODES, left, from, to, weighted ? weight : NULL, CSR_UNDIRECTED,
                      NULL));
    same_matrix(less, anew);
    assert_true(less->serial != anew->serial && less->serial > 0);
    same_views(graph);
    same_views(less);
    edges_free(edges);
    csr_free(graph);
    csr_free(less);
    csr_free(anew);
}

static void known_symmetry_is_the_found_one(void **state)
{
    (void)state;
    struct team *three;
    OK(team_new(&three, 3));
    fewer_edges(false, NULL);
    fewer_edges(true, NULL);
    fewer_edges(false, three);
    fewer_edges(true, three);
    team_free(three);
}

static bool is_third(const void *ctx, int64_t k)
{
    (void)ctx;
    return k % 3 == 0;
}

/* The walk finds what a search finds, past loops and an entry without its reverse. */
static void walks_find_both_entries(void **state)
{
    (void)state;
    enum { MOST = 40 };
    struct rng r;
    struct team *three;
    OK(team_new(&three, 3));
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct csr *graph;
        struct edges *edges;
        struct edge_walk walk;
        float dense[NODES * NODES] = {0};
        int64_t next[NODES];
        rng_init(&r, seed, 11);
        for (int k = 0; k < MOST; k++) {
            int64_t i = (int64_t)rng_below(&r, NODES), j = (int64_t)rng_below(&r, NODES);
            dense[i * NODES + j] = dense[j * NODES + i] = 1;
            i = (int64_t)rng_below(&r, NODES);
            j = (int64_t)rng_below(&r, (uint64_t)i + 1);
            if (k % 8 == 0)
                dense[i * NODES + j] = 1;
        }
        OK(csr_from_dense(&graph, dense, NODES, NODES));
        OK(edges_new(&edges, graph));
        uint8_t *mark = mem_alloc((size_t)graph->nnz, 1);
        edges_mark(mark, graph, edges, is_third, NULL, next, seed % 2 ? three : NULL);
        for (int64_t k = 0, marked = 0; k < graph->nnz; k++) {
            marked += mark[k];
            assert_true(k + 1 < graph->nnz || marked == 2 * ((edges->count + 2) / 3));
        }
        edge_walk_begin(&walk, graph, next);
        for (int64_t e = 0; e < edges->count; e++) {
            edge_walk_step(&walk);
            assert_int_equal(walk.there, csr_find(graph, edges->left[e], edges->right[e]));
            assert_int_equal(walk.back, csr_find(graph, edges->right[e], edges->left[e]));
            assert_int_equal(mark[walk.there], e % 3 == 0);
            assert_int_equal(mark[walk.back], e % 3 == 0);
        }
        mem_free(mark);
        edges_free(edges);
        csr_free(graph);
    }
    team_free(three);
}

/* More rows and columns than one block of them, on no team and on three threads. */
static void blocks_and_threads_change_nothing(void **state)
{
    (void)state;
    enum { MANY = 150000, PAIRS = 200000 };
    struct rng r;
    struct team *three;
    struct csr *a, *graph;
    struct edges *edges;
    int32_t *from = mem_alloc(PAIRS, sizeof *from), *to = mem_alloc(PAIRS, sizeof *to);
    float *weight = mem_alloc(PAIRS, sizeof *weight);
    OK(team_new(&three, 3));
    rng_init(&r, 4, 4);
    for (int k = 0; k < PAIRS; k++) {
        from[k] = (int32_t)rng_below(&r, MANY);
        to[k] = (int32_t)rng_below(&r, MANY);
        weight[k] = (float)k;
    }
    for (int threads = 0; threads < 2; threads++) {
        OK(csr_from_edges(&a, MANY, MANY, PAIRS, from, to, weight, CSR_DIRECTED, NULL));
        OK(csr_transpose_entries_on(a, threads ? three : NULL));
        assert_int_equal(a->t->nnz, a->nnz);
        for (int64_t c = 0; c < MANY; c++)
            for (int64_t k = a->t->start[c]; k < a->t->start[c + 1]; k++) {
                const int64_t entry = a->t_entry[k], row = a->t->col[k];
                assert_true(a->col[entry] == c && a->val[entry] == a->t->val[k]);
                assert_true(a->start[row] <= entry && entry < a->start[row + 1]);
                assert_true(k == a->t->start[c] || a->t->col[k - 1] < row);
            }
        csr_free(a);
        OK(csr_from_edges(&graph, MANY, MANY, PAIRS, from, to, NULL,
                          CSR_UNDIRECTED | CSR_DROP_LOOPS, NULL));
        OK(edges_new(&edges, graph));
        uint8_t *mark = mem_alloc((size_t)graph->nnz, 1);
        int64_t *next = mem_alloc(MANY, sizeof *next);
        edges_mark(mark, graph, edges, is_third, NULL, next, threads ? three : NULL);
        for (int64_t e = 0; e < edges->count; e++) {
            assert_int_equal(mark[csr_find(graph, edges->left[e], edges->right[e])], e % 3 == 0);
            assert_int_equal(mark[csr_find(graph, edges->right[e], edges->left[e])], e % 3 == 0);
        }
        OK(csr_transpose_entries_on(graph, threads ? three : NULL));
        assert_ptr_equal(graph->t, graph);
        for (int64_t row = 0; row < MANY; row++)
            for (int64_t k = graph->start[row]; k < graph->start[row + 1]; k++)
                assert_int_equal(graph->t_entry[k], csr_find(graph, graph->col[k], (int32_t)row));
        mem_free(mark);
        mem_free(next);
        edges_free(edges);
        csr_free(graph);
    }
    team_free(three);
    mem_free(from);
    mem_free(to);
    mem_free(weight);
}

/* A graph in which everybody is a neighbour of everybody. */
static struct csr *complete(int64_t nodes)
{
    struct csr *a;
    int64_t at = 0;
    OK(csr_new(&a, nodes, nodes, nodes * (nodes - 1), false));
    for (int64_t r = 0; r < nodes; r++) {
        for (int64_t c = 0; c < nodes; c++)
            if (c != r)
                a->col[at++] = (int32_t)c;
        a->start[r + 1] = at;
    }
    a->symmetric = true;
    return a;
}

/* A matrix that two hold, one after the other. stays: whether it is there afterwards. */
static void two_hold(struct views *views, enum view kind, bool stays)
{
    const struct csr *a = views_hold(views, kind);
    assert_non_null(a);
    assert_ptr_equal(views_hold(views, kind), a);
    views_leave(views, kind);
    assert_ptr_equal(views_built(views, kind), a);
    views_leave(views, kind);
    assert_int_equal(views_built(views, kind) != NULL, stays);
}

/* Matrices of a large graph stay while somebody holds them, or if they were given out for good;
 * small ones stay. Views that are freed wait for the last holder. */
static void large_matrices_are_freed(void **state)
{
    (void)state;
    enum { LARGE = 1500, SMALL = 1400 }; /* 2.2 and 2.0 million entries */
    for (int large = 0; large <= 1; large++) {
        struct csr *graph = complete(large ? LARGE : SMALL);
        struct views *views;
        OK(views_new(&views, graph));
        two_hold(views, VIEW_SYMMETRIC, !large);
        two_hold(views, VIEW_SYMMETRIC, !large);
        assert_non_null(views_get(views, VIEW_SYMMETRIC));
        two_hold(views, VIEW_SYMMETRIC, true);
        const struct csr *held = views_hold(views, VIEW_LOOPS);
        views_free(views);
        assert_int_equal(held->nnz, graph->nnz + graph->rows);
        views_leave(views, VIEW_LOOPS);
        csr_free(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_matrices_get_one),
        cmocka_unit_test(a_symmetric_matrix_is_its_own),
        cmocka_unit_test(known_symmetry_is_the_found_one),
        cmocka_unit_test(walks_find_both_entries),
        cmocka_unit_test(blocks_and_threads_change_nothing),
        cmocka_unit_test(large_matrices_are_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
