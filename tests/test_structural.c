/* Structural features: degrees by hand; walks that separate communities and hardly change with a
 * new edge. */
#include "check.h"

#include "graph/structural.h"
#include <math.h>

enum { F = STRUCTURAL_FEATURES };

static struct csr *graph_of(int64_t nodes, int64_t edges, int32_t (*edge)[2])
{
    struct csr *g;
    int32_t from[128], to[128];
    for (int64_t k = 0; k < edges; k++)
        from[k] = edge[k][0], to[k] = edge[k][1];
    OK(csr_from_edges(&g, nodes, nodes, edges, from, to, NULL, CSR_UNDIRECTED, NULL));
    return g;
}

static void degrees_by_hand(void **state)
{
    (void)state;
    int32_t star[3][2] = {{0, 1}, {0, 2}, {0, 3}};
    struct csr *g = graph_of(5, 3, star); /* node 4 is alone */
    uint64_t key[5] = {1, 2, 3, 4, 5};
    float x[5 * F];
    OK(structural_features(x, g, key));
    assert_near(x[0], log(4), 1e-6);
    assert_near(x[1], log(2), 1e-6);
    assert_near(x[2], 0, 1e-6);
    assert_near(x[F], log(2), 1e-6);
    assert_near(x[F + 3], log(4), 1e-6);
    assert_near(x[F + 4], log(4), 1e-6);
    for (int k = 0; k < F; k++)
        assert_true(x[4 * F + k] == 0); /* nothing is known of a lone node */
    csr_free(g);
}

static double distance(const float *a, const float *b)
{
    double sum = 0;
    for (int k = STRUCTURAL_DEGREES; k < F; k++)
        sum += pow((double)a[k] - (double)b[k], 2);
    return sqrt(sum);
}

/* Two cliques of eight joined by one edge: features must separate them, and a new node with two
 * edges into one of them must not change the rest much. */
static void walks_see_communities(void **state)
{
    (void)state;
    int32_t edge[64][2];
    int64_t m = 0;
    for (int32_t c = 0; c < 16; c += 8)
        for (int32_t i = 0; i < 8; i++)
            for (int32_t j = i + 1; j < 8; j++)
                edge[m][0] = c + i, edge[m++][1] = c + j;
    edge[m][0] = 0, edge[m++][1] = 8;
    uint64_t key[17];
    for (uint64_t i = 0; i < 17; i++)
        key[i] = 100 + i;
    float x[17 * F], y[17 * F];
    struct csr *g = graph_of(16, m, edge);
    OK(structural_features(x, g, key));
    csr_free(g);
    double inside = 0, between = 0;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            inside = fmax(inside, distance(x + i * F, x + j * F));
            between += distance(x + i * F, x + (8 + j) * F) / 64;
        }
    assert_true(inside < between);

    edge[m][0] = 16, edge[m++][1] = 3;
    edge[m][0] = 16, edge[m++][1] = 5;
    g = graph_of(17, m, edge);
    OK(structural_features(y, g, key));
    csr_free(g);
    for (int i = 0; i < 16; i++)
        assert_true(distance(x + i * F, y + i * F) < between / 2);
    assert_true(distance(y + 16 * F, y + 1 * F) < distance(y + 16 * F, y + 9 * F));
}

static void keys(void **state)
{
    (void)state;
    assert_true(structural_key("a") != structural_key("b"));
    assert_true(structural_key("node 7") == structural_key("node 7"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(degrees_by_hand),
        cmocka_unit_test(walks_see_communities),
        cmocka_unit_test(keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
