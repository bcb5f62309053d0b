/* k-hop sets and components against a plain search on random graphs, and the edges of the idea. */
#include "check.h"

#include "base/rng.h"
#include "graph/components.h"
#include "graph/khop.h"

static struct csr *random_graph(int32_t nodes, int edges, uint64_t seed)
{
    struct csr *g;
    struct rng r;
    int32_t *from, *to;
    OK(NEW(from, edges));
    OK(NEW(to, edges));
    rng_init(&r, seed, 1);
    for (int e = 0; e < edges; e++) {
        from[e] = (int32_t)rng_below(&r, (uint64_t)nodes);
        to[e] = (int32_t)rng_below(&r, (uint64_t)nodes);
    }
    OK(csr_from_edges(&g, nodes, nodes, edges, from, to, NULL, CSR_UNDIRECTED | CSR_DROP_LOOPS,
                      NULL));
    mem_free(from);
    mem_free(to);
    return g;
}

/* distance[i] from a node by relaxing all edges n times: slow and plain. */
static void distances(int *distance, const struct csr *g, const uint8_t *keep, int32_t node)
{
    for (int64_t i = 0; i < g->rows; i++)
        distance[i] = 1000;
    distance[node] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t i = 0; i < g->rows; i++)
            for (int64_t e = g->start[i]; e < g->start[i + 1]; e++)
                if ((!keep || keep[e]) && distance[g->col[e]] > distance[i] + 1) {
                    distance[g->col[e]] = distance[i] + 1;
                    changed = true;
                }
    }
}

static void sets_are_what_a_plain_search_finds(void **state)
{
    (void)state;
    enum { N = 120 };
    int distance[N];
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct csr *g = random_graph(N, seed == 3 ? 900 : 100, seed), *two;
        struct khop *k;
        uint8_t *keep;
        OK(NEW(keep, g->nnz));
        for (int64_t e = 0; e < g->nnz; e++)
            keep[e] = e % 3 != 0;
        OK(khop_new(&k, N));
        for (int32_t node = 0; node < N; node++)
            for (int hops = 0; hops < 5; hops++)
                for (int masked = 0; masked < 2; masked++) {
                    const int32_t *set;
                    int64_t at = 0;
                    int64_t count = khop_collect(&set, k, g, masked ? keep : NULL, node, hops);
                    distances(distance, g, masked ? keep : NULL, node);
                    for (int32_t i = 0; i < N; i++)
                        if (distance[i] > 0 && distance[i] <= hops) {
                            assert_true(at < count);
                            assert_int_equal(set[at++], i);
                        }
                    assert_int_equal(at, count);
                }
        OK(khop_matrix(&two, g, NULL, NULL, N, 2, true));
        for (int32_t node = 0; node < N; node++) {
            const int32_t *set;
            int64_t count = khop_collect(&set, k, g, NULL, node, 2);
            assert_int_equal(two->start[node + 1] - two->start[node], count + 1);
            assert_true(csr_find(two, node, node) >= 0);
            for (int64_t i = 0; i < count; i++)
                assert_true(csr_find(two, node, set[i]) >= 0);
        }
        csr_free(two);
        const int32_t some[] = {7, 3};
        OK(khop_matrix(&two, g, NULL, some, 2, 1, false));
        assert_int_equal(two->rows, 2);
        assert_int_equal(two->start[1], g->start[8] - g->start[7]);
        csr_free(two);
        mem_free(keep);
        khop_free(k);
        csr_free(g);
    }
}

static void components_are_counted(void **state)
{
    (void)state;
    const int32_t from[] = {0, 2, 5}, to[] = {2, 4, 1};
    struct components c;
    struct csr *g;
    OK(csr_from_edges(&g, 7, 7, 3, from, to, NULL, CSR_UNDIRECTED, NULL));
    OK(components_find(&c, g));
    assert_int_equal(c.count, 4); /* 0-2-4, 1-5, 3, 6 */
    assert_int_equal(c.largest, 3);
    assert_int_equal(c.of[4], c.of[0]);
    assert_int_equal(c.of[5], 1);
    components_free(&c);
    csr_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_are_what_a_plain_search_finds),
        cmocka_unit_test(components_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
