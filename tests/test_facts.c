/* Facts about graphs: by hand on small ones, and the published figures on real ones. */
#include "check.h"

#include "data/facts.h"
#include "data/generate/generate.h"
#include "data/open.h"
#include "data/split.h"
#include "graph/twins.h"
#include <math.h>

/* Two triangles of class 0 and 1 joined by one edge, a node of class 1 hanging on the first, and an
 * isolated node without label; one loop, one repeat, one edge stored both ways. */
static struct dataset *small(void)
{
    static const int32_t from[] = {0, 1, 2, 3, 4, 5, 2, 0, 6, 0, 1};
    static const int32_t to[] = {1, 2, 0, 4, 5, 3, 3, 6, 6, 1, 0};
    static const int32_t label[] = {0, 0, 0, 1, 1, 1, 1, -1};
    struct dataset *d;
    OK(dataset_new(&d, "small"));
    d->nodes = 8;
    d->classes = 2;
    d->edges = 11;
    OK(NEW(d->from, 11));
    OK(NEW(d->to, 11));
    OK(NEW(d->label, 8));
    memcpy(d->from, from, sizeof from);
    memcpy(d->to, to, sizeof to);
    memcpy(d->label, label, sizeof label);
    OK(dataset_check(d));
    return d;
}

static void small_graph_by_hand(void **state)
{
    (void)state;
    struct dataset *d = small();
    struct data_facts f;
    OK(facts_measure(&f, d, NULL));
    assert_int_equal(f.entries, 11);
    assert_int_equal(f.loop_entries, 1);
    assert_int_equal(f.directed, 10);
    assert_int_equal(f.directed_loops, 1);
    assert_false(f.symmetric);
    assert_int_equal(f.edges, 8);
    assert_int_equal(f.isolated, 1);
    assert_int_equal(f.components, 2);
    assert_int_equal(f.largest_component, 7);
    assert_int_equal(f.unlabelled, 1);
    assert_int_equal(f.class_size[1], 4);
    /* degrees 3 2 3 3 2 2 1 0 */
    assert_int_equal(f.degree[0], 0);
    assert_int_equal(f.degree[2], 2);
    assert_int_equal(f.degree[6], 3);
    assert_near(f.mean_degree, 2, 1e-12);
    assert_int_equal(f.degree_count[0], 1);
    assert_int_equal(f.degree_count[1], 1);
    assert_int_equal(f.degree_count[2], 6);
    /* 6 of 8 edges inside; per node 2/3 1 2/3 2/3 1 1 0 */
    assert_near(f.homophily.edge, 0.75, 1e-12);
    assert_near(f.homophily.node, 5.0 / 7, 1e-12);
    /* D = 8, 8; h_k = 6/8, 6/8; sizes 3/7, 4/7 */
    assert_near(f.homophily.class_insensitive, (0.75 - 3.0 / 7) + (0.75 - 4.0 / 7), 1e-12);
    assert_near(f.homophily.adjusted, (0.75 - 0.5) / 0.5, 1e-12);
    /* p = .375 .125 .125 .375: I = 1 - H(.25) in bits, H(y) = 1 bit */
    assert_near(f.homophily.informativeness, 1 + 0.75 * log2(0.75) + 0.25 * log2(0.25), 1e-12);
    facts_free(&f);
    dataset_free(d);
}

static void undefined_measures_are_nan(void **state)
{
    (void)state;
    struct dataset *d = small();
    struct data_facts f;
    d->edges = 0;
    OK(facts_measure(&f, d, NULL));
    assert_true(isnan(f.homophily.edge) && isnan(f.homophily.adjusted));
    assert_int_equal(f.components, 8);
    assert_int_equal(f.twins.nodes, 8); /* all isolated, none has features */
    assert_true(isnan(f.twins.leaked_share));
    assert_int_equal(f.twins.leaked, -1);
    facts_free(&f);
    d->edges = 11;
    for (int i = 0; i < 8; i++)
        d->label[i] = 0;
    OK(facts_measure(&f, d, NULL));
    assert_near(f.homophily.edge, 1, 1e-12);
    assert_true(isnan(f.homophily.adjusted) && isnan(f.homophily.informativeness));
    facts_free(&f);
    dataset_free(d);
}

/* A star: its leaves are twins until a feature distinguishes two of them. */
static void twins_need_equal_rows(void **state)
{
    (void)state;
    const int32_t from[] = {0, 0, 0, 0}, to[] = {1, 2, 3, 4};
    const float x[] = {0, 5, 5, 6, -0.0f};
    const uint8_t role[] = {0, 1, 3, 3, 3};
    struct csr *g;
    int32_t leader[5];
    int64_t count;
    OK(csr_from_edges(&g, 5, 5, 4, from, to, NULL, CSR_UNDIRECTED, NULL));
    struct twin_view v = {.nodes = 5, .sparse = {g}};
    OK(twins_find(leader, &v));
    const int32_t by_edges[] = {0, 1, 1, 1, 1}, by_both[] = {0, 1, 1, 3, 4};
    assert_memory_equal(leader, by_edges, sizeof leader);
    OK(twins_count(&count, leader, 5));
    assert_int_equal(count, 4);
    OK(twins_shared(&count, leader, role, 5, SPLIT_TEST, SPLIT_TRAIN));
    assert_int_equal(count, 3);
    v.dense = x;
    v.width = 1;
    OK(twins_find(leader, &v));
    assert_memory_equal(leader, by_both, sizeof leader);
    OK(twins_shared(&count, leader, role, 5, SPLIT_TEST, SPLIT_TRAIN));
    assert_int_equal(count, 1);
    struct twin_view only = {.nodes = 5, .dense = x, .width = 1};
    OK(twins_find(leader, &only));
    assert_int_equal(leader[4], 0); /* -0 equals 0 */
    csr_free(g);
}

static void csbm_measures_as_asked(void **state)
{
    (void)state;
    struct dataset *d;
    struct data_facts f;
    OK(generate_named(&d, "csbm:nodes=2000,homophily=0.7,classes=5"));
    OK(facts_measure(&f, d, NULL));
    assert_near(f.homophily.edge, 0.7, 1e-3);
    assert_near(f.homophily.adjusted, (0.7 - 0.2) / 0.8, 5e-3);
    assert_near(f.mean_degree, 10, 1e-12);
    facts_free(&f);
    dataset_free(d);
}

struct published {
    const char *name;
    int64_t nodes, directed, loops, edges, features, nonzeros, classes;
    double homophily;
};

static void real_sets_give_the_published_figures(void **state)
{
    (void)state;
    static const struct published sets[] = {
        {"cora", 2708, 10556, 0, 5278, 1433, 49216, 7, 0.810},
        {"citeseer", 3327, 9104, 0, 4552, 3703, 105165, 6, 0.736},
        {"actor", 7600, 30019, 93, 26659, 932, 40977, 5, 0.217},
        {"chameleon", 2277, 36101, 50, 31371, 2325, 29157, 5, 0.230},
        {"squirrel", 5201, 217073, 140, 198353, 2089, 93477, 5, 0.222},
    };
    if (!real_data("the figures of the public sets"))
        return;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const struct published *p = &sets[i];
        struct dataset *d;
        struct data_facts f;
        OK(data_open(&d, p->name, NULL));
        OK(facts_measure(&f, d, NULL));
        assert_int_equal(d->nodes, p->nodes);
        assert_int_equal(f.directed, p->directed);
        assert_int_equal(f.directed_loops, p->loops);
        assert_int_equal(f.edges, p->edges);
        assert_int_equal(d->features, p->features);
        assert_int_equal(f.feature_nonzeros, p->nonzeros);
        assert_int_equal(d->classes, p->classes);
        assert_near(f.homophily.edge, p->homophily, 5e-4);
        if (strcmp(p->name, "chameleon") == 0)
            assert_near(f.copies.leaked_share, 0.487, 5e-4);
        facts_free(&f);
        dataset_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graph_by_hand),
        cmocka_unit_test(undefined_measures_are_nan),
        cmocka_unit_test(twins_need_equal_rows),
        cmocka_unit_test(csbm_measures_as_asked),
        cmocka_unit_test(real_sets_give_the_published_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
