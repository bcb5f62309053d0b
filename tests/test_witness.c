/* What each witness says about an edge, by hand: on a small graph with a hub, with dense, sparse
 * and binary features, with and without training labels, on one thread and on three. */
#include "check.h"

#include "match/trust.h"
#include <math.h>

enum { NODES = 20, HUB = 19, CLASSES = 3, FEATURES = 3, MOST = 200 };

/* Node 19 is a neighbour of all others; besides there are 0-1, 3-4 and 5-6. */
struct world {
    struct csr graph;
    int64_t start[NODES + 1];
    int32_t col[MOST];
    struct edges *edges;
    struct team *team;
};

static bool joined(int i, int j)
{
    int low = i < j ? i : j, high = i < j ? j : i;
    return low != high && (high == HUB || (high == low + 1 && (low == 0 || low == 3 || low == 5)));
}

static void world_open(struct world *w, int threads)
{
    int64_t at = 0;
    for (int i = 0; i < NODES; i++) {
        for (int j = 0; j < NODES; j++)
            if (joined(i, j))
                w->col[at++] = j;
        w->start[i + 1] = at;
    }
    w->start[0] = 0;
    w->graph =
        (struct csr){.rows = NODES, .cols = NODES, .nnz = at, .start = w->start, .col = w->col};
    OK(edges_new(&w->edges, &w->graph));
    assert_int_equal(w->edges->count, NODES - 1 + 3);
    OK(team_new(&w->team, threads));
}

static void world_close(struct world *w)
{
    edges_free(w->edges);
    team_free(w->team);
}

static const float *row(const struct world *w, const float *x, int32_t i, int32_t j)
{
    int64_t e = pair_find(w->edges->left, w->edges->right, w->edges->count, i, j);
    assert_true(e >= 0);
    return x + e * WITNESSES;
}

static void expect(const struct world *w, const float *x, int32_t i, int32_t j, enum witness which,
                   double value)
{
    double found = (double)row(w, x, i, j)[which];
    if (!(fabs(found - value) <= 1e-5))
        fail_msg("%s of %d-%d: %.6f, expected %.6f", witness_names[which], i, j, found, value);
}

/* ---- data ---------------------------------------------------------------- */

/* Lengths 3, 3, 0, 1 … and 5; sums 5, 5, 0, 1 … and 7. */
static const float *dense_rows(void)
{
    static float x[NODES * FEATURES] = {1, 2, 2, 2, -1, 2};
    for (int i = 3; i < HUB; i++)
        x[i * FEATURES] = 1;
    x[HUB * FEATURES + 1] = 3;
    x[HUB * FEATURES + 2] = 4;
    return x;
}

/* The data's witnesses in their columns of x. */
static void data_rows(float *x, const struct witness_data *d, struct team *team)
{
    float stored[MOST * DATA_WITNESSES];
    OK(witness_data_only(stored, d, team));
    for (int64_t e = 0; e < d->edges->count; e++)
        memcpy(x + e * WITNESSES + WITNESS_DATA, stored + e * DATA_WITNESSES,
               DATA_WITNESSES * sizeof *x);
}

static void expect_data(const struct world *w, const float *x)
{
    expect(w, x, 0, 1, WITNESS_FEATURES, 4 / 9.0);
    expect(w, x, 0, HUB, WITNESS_FEATURES, 14 / 15.0);
    expect(w, x, 1, HUB, WITNESS_FEATURES, 5 / 15.0);
    expect(w, x, 2, HUB, WITNESS_FEATURES, 0); /* node 2 has no features */
    expect(w, x, 3, HUB, WITNESS_FEATURES, 0);
    expect(w, x, 3, 4, WITNESS_FEATURES, 1);
    expect(w, x, 0, 1, WITNESS_MASS, 0);
    expect(w, x, 0, HUB, WITNESS_MASS, -log(8 / 6.0));
    expect(w, x, 2, HUB, WITNESS_MASS, -log(8));
    expect(w, x, 3, HUB, WITNESS_MASS, -log(8 / 2.0));
}

static void the_data_by_hand(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        struct world w;
        float x[MOST * WITNESSES];
        world_open(&w, threads);
        struct witness_data d = {.edges = w.edges,
                                 .graph = &w.graph,
                                 .dense = dense_rows(),
                                 .features = FEATURES,
                                 .classes = CLASSES};
        data_rows(x, &d, w.team);
        expect_data(&w, x);
        expect(&w, x, 0, 1, WITNESS_NEIGHBOURS, sqrt(1 / 3.0));    /* {1,19} and {0,19} */
        expect(&w, x, 0, HUB, WITNESS_NEIGHBOURS, sqrt(1 / 20.0)); /* 1, among all 20 */
        expect(&w, x, 3, 4, WITNESS_NEIGHBOURS, sqrt(1 / 3.0));
        expect(&w, x, 2, HUB, WITNESS_NEIGHBOURS, 0);
        expect(&w, x, 0, 1, WITNESS_DEGREE, 0);
        expect(&w, x, 0, HUB, WITNESS_DEGREE, -log(20 / 3.0));
        expect(&w, x, 2, HUB, WITNESS_DEGREE, -log(20 / 2.0));
        world_close(&w);
    }
}

static void sparse_features_by_hand(void **state)
{
    (void)state;
    struct world w;
    float x[MOST * WITNESSES], val[NODES * FEATURES];
    const float *dense = dense_rows();
    int32_t col[NODES * FEATURES];
    int64_t start[NODES + 1] = {0}, at = 0;
    world_open(&w, 1);
    for (int i = 0; i < NODES; i++) {
        for (int k = 0; k < FEATURES; k++)
            if (dense[i * FEATURES + k] != 0) {
                col[at] = k;
                val[at++] = dense[i * FEATURES + k];
            }
        start[i + 1] = at;
    }
    struct csr sparse = {
        .rows = NODES, .cols = FEATURES, .nnz = at, .start = start, .col = col, .val = val};
    struct witness_data d = {.edges = w.edges,
                             .graph = &w.graph,
                             .sparse = &sparse,
                             .features = FEATURES,
                             .classes = CLASSES};
    data_rows(x, &d, w.team);
    expect_data(&w, x);
    sparse.val = NULL; /* words: three, three, none, one … and two */
    data_rows(x, &d, w.team);
    expect(&w, x, 0, 1, WITNESS_FEATURES, 1);
    expect(&w, x, 0, HUB, WITNESS_FEATURES, 2 / sqrt(6));
    expect(&w, x, 0, HUB, WITNESS_MASS, -log(4 / 3.0));
    expect(&w, x, 3, HUB, WITNESS_FEATURES, 0);
    world_close(&w);
}

/* ---- model --------------------------------------------------------------- */

/* Logits whose softmax at this temperature is p for nodes 0, 1 and the hub; 3 and 4 are certain of
 * the first class, 5 and 6 of different ones. */
static void logits_of(float *x, const double p[3][CLASSES], double temperature)
{
    static const int32_t node[3] = {0, 1, HUB};
    memset(x, 0, NODES * CLASSES * sizeof *x);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < CLASSES; k++)
            x[node[i] * CLASSES + k] = (float)(7 + temperature * log(p[i][k]));
    x[3 * CLASSES] = x[4 * CLASSES] = x[5 * CLASSES] = x[6 * CLASSES + 2] = 100;
}

/* All witnesses, those of the data as stored. Scores of them are the same with and without room for
 * them, also in place of the coefficients, and those of a few edges are among them. */
static void model_rows(float *x, const struct world *w, const struct witness_data *d,
                       const struct witness_model *m)
{
    enum { FEW = 3 };
    static const int64_t place[FEW] = {5, 0, 20};
    float stored[MOST * DATA_WITNESSES], few[FEW * WITNESSES], again[MOST * WITNESSES];
    float score[MOST], low[MOST], high[MOST], alone[MOST];
    struct trust trust = {.by = {0.5, 1, -1, 0.3, 2, -0.1, 0.7, 0.2, 0.4, -2, 1}};
    struct witnesses all = {*d, stored, *m, NULL, w->team};
    int64_t count = d->edges->count;
    for (int64_t k = 0; k < count * DATA_WITNESSES; k++)
        stored[k] = 0.1f * (float)(k % 13);
    for (int k = 0; k < TRUST_PAIRS; k++)
        trust.spread[k] = 0.01 * k;
    all.room = mem_alloc((size_t)witness_room(d->classes, w->team), sizeof *all.room);
    witness_ask(x, &all, NULL, count);
    for (int64_t e = 0; e < count; e++)
        assert_memory_equal(x + e * WITNESSES + WITNESS_DATA, stored + e * DATA_WITNESSES,
                            DATA_WITNESSES * sizeof *x);
    witness_ask(few, &all, place, FEW);
    for (int i = 0; i < FEW; i++)
        assert_memory_equal(few + i * WITNESSES, x + place[i] * WITNESSES, WITNESSES * sizeof *x);
    trust_score(score, low, high, again, &trust, &all);
    assert_memory_equal(again, x, (size_t)count * WITNESSES * sizeof *x);
    memcpy(alone, m->w, sizeof alone);
    all.model.w = alone;
    trust_score(alone, NULL, NULL, NULL, &trust, &all);
    assert_memory_equal(alone, score, (size_t)count * sizeof *score);
    trust_apply(alone, again, again + count, &trust, x, count);
    assert_memory_equal(alone, score, (size_t)count * sizeof *score);
    assert_memory_equal(again, low, (size_t)count * sizeof *low);
    assert_memory_equal(again + count, high, (size_t)count * sizeof *high);
    mem_free(all.room);
}

static double odds(double p)
{
    return log(p / (1 - p));
}

static const double said[3][CLASSES] = {{0.5, 0.25, 0.25}, {0.2, 0.2, 0.6}, {0.1, 0.8, 0.1}};
static const double head_said[3][CLASSES] = {{0.6, 0.3, 0.1}, {0.6, 0.2, 0.2}, {0.25, 0.25, 0.5}};

static void the_model_by_hand(void **state)
{
    (void)state;
    struct world w;
    float x[MOST * WITNESSES], logits[NODES * CLASSES], head[NODES * CLASSES], match[MOST];
    world_open(&w, 3);
    logits_of(logits, said, 2);
    logits_of(head, head_said, 0.5);
    for (int64_t e = 0; e < w.edges->count; e++)
        match[e] = 0.01f * (float)e;
    struct witness_data d = {.edges = w.edges, .graph = &w.graph, .classes = CLASSES};
    model_rows(x, &w, &d, &(struct witness_model){logits, head, match, {2, 0.5}});
    for (int64_t e = 0; e < w.edges->count; e++)
        assert_true(x[e * WITNESSES + WITNESS_MATCH] == match[e]);
    expect(&w, x, 0, 1, WITNESS_AGREEMENT, odds(0.3));
    expect(&w, x, 0, HUB, WITNESS_AGREEMENT, odds(0.275));
    expect(&w, x, 1, HUB, WITNESS_AGREEMENT, odds(0.24));
    expect(&w, x, 3, 4, WITNESS_AGREEMENT, odds(0.999)); /* bounded */
    expect(&w, x, 5, 6, WITNESS_AGREEMENT, odds(0.001));
    expect(&w, x, 0, 1, WITNESS_HEAD, odds(0.44));
    expect(&w, x, 0, HUB, WITNESS_HEAD, odds(0.275));
    expect(&w, x, 1, HUB, WITNESS_HEAD, odds(0.3));
    expect(&w, x, 0, 1, WITNESS_CONFIDENCE, 0.5);
    expect(&w, x, 0, HUB, WITNESS_CONFIDENCE, 0.5);
    expect(&w, x, 1, HUB, WITNESS_CONFIDENCE, 0.6);
    expect(&w, x, 3, 4, WITNESS_CONFIDENCE, 1);
    expect(&w, x, 0, 1, WITNESS_TAUGHT, 0);
    expect(&w, x, 0, 1, WITNESS_TAUGHT_AGREEMENT, 0);
    world_close(&w);
}

/* Nodes 1 (class 2), 3 and 4 (class 1), 5 (class 0) and 6 (class 2) have training labels, of which
 * one in fifty is taken to be drawn anew. */
static void training_labels_by_hand(void **state)
{
    (void)state;
    struct world w;
    float x[MOST * WITNESSES], logits[NODES * CLASSES], match[MOST] = {0};
    int32_t taught[NODES];
    const double other = 0.02 / 3, own = 0.98 + other;
    world_open(&w, 1);
    logits_of(logits, said, 1);
    for (int i = 0; i < NODES; i++)
        taught[i] = -1;
    taught[1] = 2;
    taught[3] = taught[4] = 1;
    taught[5] = 0;
    taught[6] = 2;
    struct witness_data d = {
        .edges = w.edges, .graph = &w.graph, .classes = CLASSES, .taught = taught};
    model_rows(x, &w, &d, &(struct witness_model){logits, logits, match, {1, 1}});
    for (enum witness k = WITNESS_AGREEMENT; k <= WITNESS_TAUGHT_AGREEMENT; k++) {
        if (k != WITNESS_AGREEMENT && k != WITNESS_HEAD && k != WITNESS_TAUGHT_AGREEMENT)
            continue;
        expect(&w, x, 0, 1, k, odds(own * 0.25 + other * 0.75));
        expect(&w, x, 1, HUB, k, odds(own * 0.1 + other * 0.9));
        expect(&w, x, 3, 4, k, odds(own * own + 2 * other * other));
        expect(&w, x, 5, 6, k, odds(2 * own * other + other * other));
        expect(&w, x, 0, HUB, k, k == WITNESS_TAUGHT_AGREEMENT ? 0 : odds(0.275));
    }
    expect(&w, x, 0, 1, WITNESS_CONFIDENCE, 0.5);
    expect(&w, x, 1, HUB, WITNESS_CONFIDENCE, 0.8);
    expect(&w, x, 3, 4, WITNESS_CONFIDENCE, own);
    expect(&w, x, 0, 1, WITNESS_TAUGHT, 1);
    expect(&w, x, 1, HUB, WITNESS_TAUGHT, 1);
    expect(&w, x, 0, HUB, WITNESS_TAUGHT, 0);
    world_close(&w);
}

/* For models without a matching module: the same Σ_k p_ik p_jk, as a probability. */
static void agreement_alone(void **state)
{
    (void)state;
    struct world w;
    float agreement[MOST], logits[NODES * CLASSES];
    world_open(&w, 1);
    logits_of(logits, said, 1);
    witness_agreement(agreement, logits, CLASSES, w.edges);
    const struct edges *e = w.edges;
    assert_near(agreement[pair_find(e->left, e->right, e->count, 0, 1)], 0.3, 1e-6);
    assert_near(agreement[pair_find(e->left, e->right, e->count, 1, HUB)], 0.24, 1e-6);
    assert_near(agreement[pair_find(e->left, e->right, e->count, 3, 4)], 1, 1e-6);
    assert_near(agreement[pair_find(e->left, e->right, e->count, 5, 6)], 0, 1e-6);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_data_by_hand),  cmocka_unit_test(sparse_features_by_hand),
        cmocka_unit_test(the_model_by_hand), cmocka_unit_test(training_labels_by_hand),
        cmocka_unit_test(agreement_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
