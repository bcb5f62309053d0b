/* Built-in data: the karate club as published, and csbm's parameters having their effect. */
#include "check.h"

#include "data/generate/generate.h"
#include <math.h>

static struct csr *clean(const struct dataset *d, struct edge_facts *facts)
{
    struct csr *g;
    OK(dataset_check(d));
    OK(dataset_graph(&g, d, facts));
    return g;
}

static double same_class_share(const struct dataset *d)
{
    int64_t same = 0;
    for (int64_t e = 0; e < d->edges; e++)
        same += d->label[d->from[e]] == d->label[d->to[e]];
    return (double)same / (double)d->edges;
}

static void karate_is_zacharys(void **state)
{
    (void)state;
    struct dataset *d;
    struct edge_facts facts;
    OK(generate_karate(&d));
    struct csr *g = clean(d, &facts);
    assert_int_equal(d->nodes, 34);
    assert_int_equal(d->edges, 78);
    assert_int_equal(facts.kept, 156);
    /* The instructor, the officer and the two members next to him, as published. */
    assert_int_equal(g->start[1] - g->start[0], 16);
    assert_int_equal(g->start[34] - g->start[33], 17);
    assert_int_equal(g->start[33] - g->start[32], 12);
    int officers = 0;
    for (int i = 0; i < 34; i++)
        officers += d->label[i];
    assert_int_equal(officers, 17);
    assert_int_equal(d->features, 34);
    assert_string_equal(d->class_name[0], "Mr. Hi");
    csr_free(g);
    dataset_free(d);
}

static void csbm_has_the_homophily_asked_for(void **state)
{
    (void)state;
    const double wanted[] = {0, 0.1, 0.5, 0.9, 1};
    for (int i = 0; i < 5; i++)
        for (int law = 0; law < 2; law++) {
            struct csbm_options o = csbm_defaults();
            struct dataset *d;
            struct edge_facts facts;
            o.homophily = wanted[i];
            o.exponent = law ? 2.5 : 0;
            o.seed = (uint64_t)i;
            OK(generate_csbm(&d, &o));
            struct csr *g = clean(d, &facts);
            assert_int_equal(d->edges, 5000);
            assert_int_equal(facts.loops, 0);
            assert_int_equal(facts.repeats, 0);
            assert_int_equal(facts.kept, 10000);
            assert_near(same_class_share(d), wanted[i], 1.0 / 5000);
            int64_t most = 0;
            for (int64_t r = 0; r < d->nodes; r++)
                most = g->start[r + 1] - g->start[r] > most ? g->start[r + 1] - g->start[r] : most;
            assert_true(law ? most > 45 : most < 30);
            csr_free(g);
            dataset_free(d);
        }
}

/* Full or nearly full blocks: the pass over all pairs, and the limit itself. */
static void dense_blocks_work(void **state)
{
    (void)state;
    struct csbm_options o = csbm_defaults();
    struct dataset *d;
    struct edge_facts facts;
    o.nodes = 40;
    o.homophily = 1;
    o.degree = 9; /* four classes of ten: complete graphs */
    OK(generate_csbm(&d, &o));
    struct csr *g = clean(d, &facts);
    assert_int_equal(facts.kept, 360);
    csr_free(g);
    dataset_free(d);
    o.degree = 10;
    FAILS(generate_csbm(&d, &o), CONSM_EINVAL, "would need 50 edges but have only 45 pairs");
    assert_null(d);
}

static void same_seed_same_data(void **state)
{
    (void)state;
    struct dataset *a, *b, *c;
    OK(generate_named(&a, "csbm:nodes=300,seed=5,exponent=3"));
    OK(generate_named(&b, "csbm:nodes=300,exponent=3,seed=5"));
    OK(generate_named(&c, "csbm:nodes=300,seed=6,exponent=3"));
    assert_memory_equal(a->label, b->label, 300 * sizeof *a->label);
    assert_memory_equal(a->from, b->from, (size_t)a->edges * sizeof *a->from);
    assert_memory_equal(a->dense, b->dense, (size_t)(300 * a->features) * sizeof *a->dense);
    assert_memory_not_equal(a->dense, c->dense, (size_t)(300 * a->features) * sizeof *a->dense);
    assert_memory_not_equal(a->from, c->from, (size_t)a->edges * sizeof *a->from);
    dataset_free(a);
    dataset_free(b);
    dataset_free(c);
}

/* The class means are `signal` long and the noise has variance 1: measured on many nodes. */
static void features_carry_the_signal(void **state)
{
    (void)state;
    struct dataset *d;
    OK(generate_named(&d, "csbm:nodes=40000,classes=2,features=8,signal=3,degree=1"));
    for (int k = 0; k < 2; k++) {
        double mean[8] = {0}, length = 0, variance = 0, count = 20000;
        for (int64_t i = 0; i < d->nodes; i++)
            for (int j = 0; j < 8 && d->label[i] == k; j++)
                mean[j] += d->dense[i * 8 + j] / count;
        for (int j = 0; j < 8; j++)
            length += mean[j] * mean[j];
        for (int64_t i = 0; i < d->nodes; i++)
            for (int j = 0; j < 8 && d->label[i] == k; j++)
                variance += pow(d->dense[i * 8 + j] - mean[j], 2) / (8 * count);
        assert_near(sqrt(length), 3, 0.02);
        assert_near(variance, 1, 0.02);
    }
    dataset_free(d);
}

static void words_are_sparse_and_topical(void **state)
{
    (void)state;
    struct dataset *d;
    OK(generate_named(&d, "csbm:nodes=500,features=100,words=10,signal=1"));
    OK(dataset_check(d));
    assert_non_null(d->sparse);
    assert_null(d->dense);
    int64_t own = 0;
    for (int64_t i = 0; i < d->nodes; i++)
        for (int64_t k = d->sparse->start[i]; k < d->sparse->start[i + 1]; k++) {
            own += d->sparse->col[k] / 25 == d->label[i];
            if (k > d->sparse->start[i])
                assert_true(d->sparse->col[k] > d->sparse->col[k - 1]);
        }
    /* Half of the draws from the own quarter, the others anywhere: 1/2 + 1/2 · 1/4, repeats less */
    assert_near((double)own / (double)d->sparse->nnz, 0.6, 0.03);
    dataset_free(d);
}

static void faults_name_the_key(void **state)
{
    (void)state;
    struct dataset *d;
    FAILS(generate_named(&d, "csbm:nods=5"), CONSM_EINVAL, "unknown key nods; did you mean nodes?");
    FAILS(generate_named(&d, "csbm:qqqqqqqqqq=5"), CONSM_EINVAL, "expected nodes, classes");
    FAILS(generate_named(&d, "csbm:nodes"), CONSM_EINVAL, "expected key=value");
    FAILS(generate_named(&d, "csbm:nodes=0"), CONSM_EINVAL, "nodes=0: expected a whole number");
    FAILS(generate_named(&d, "csbm:nodes=1e3"), CONSM_EINVAL, "nodes=1e3");
    FAILS(generate_named(&d, "csbm:homophily=1.5"), CONSM_EINVAL, "homophily=1.5: expected");
    FAILS(generate_named(&d, "csbm:homophily=nan"), CONSM_EINVAL, "homophily=nan: expected");
    FAILS(generate_named(&d, "csbm:exponent=1.5"), CONSM_EINVAL, "0 (no power law) or above 2");
    FAILS(generate_named(&d, "csbm:seed=-1"), CONSM_EINVAL, "seed=-1");
    FAILS(generate_named(&d, "csbm:nodes=10,degree=10"), CONSM_EINVAL, "degree=10");
    FAILS(generate_named(&d, "csbm:nodes=4,degree=1,homophily=1"), CONSM_EINVAL, "0 pairs");
    FAILS(generate_named(&d, "kerate"), CONSM_ENOTFOUND, "kerate");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(karate_is_zacharys),
        cmocka_unit_test(csbm_has_the_homophily_asked_for),
        cmocka_unit_test(dense_blocks_work),
        cmocka_unit_test(same_seed_same_data),
        cmocka_unit_test(features_carry_the_signal),
        cmocka_unit_test(words_are_sparse_and_topical),
        cmocka_unit_test(faults_name_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
