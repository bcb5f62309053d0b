/* Trust scores: calibrated with many known edges, no worse than the best witness with few, with
 * honest intervals; and the kept edges follow from them. */
#include "check.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "graph/roles.h"
#include "match/trust.h"
#include "match/trust_inside.h"
#include "stats/stats.h"
#include "train/edge_trust.h"
#include <math.h>
#include <unistd.h>

/* Separate edges between separate nodes, with drawn witnesses. */
enum { EDGES = 3000, NODES = 2 * EDGES };

struct world {
    int32_t left[EDGES], right[EDGES], label[NODES];
    uint8_t role[NODES], same[EDGES];
    float x[EDGES * WITNESSES];
    struct edges edges;
};

/* The log-odds of agreement are informative with slope 0.8; the cosine helps a little; match, head
 * and neighbours repeat some of that; the others are noise. The first `known` edges join validation
 * nodes, all others test nodes. */
static struct world *world_new(uint64_t seed, int known)
{
    struct world *w = mem_zalloc(1, sizeof *w);
    struct rng r;
    rng_init(&r, seed, 1);
    w->edges = (struct edges){.count = EDGES, .left = w->left, .right = w->right};
    for (int e = 0; e < EDGES; e++) {
        float *x = w->x + e * WITNESSES;
        for (int k = 0; k < WITNESSES; k++)
            x[k] = (float)rng_uniform(&r);
        x[WITNESS_AGREEMENT] = (float)(1 + 2 * rng_normal(&r));
        x[WITNESS_HEAD] = (float)rng_normal(&r);
        x[WITNESS_TAUGHT] = x[WITNESS_TAUGHT_AGREEMENT] = 0;
        double odds = 0.8 * (double)x[WITNESS_AGREEMENT] + (double)x[WITNESS_FEATURES];
        w->same[e] = rng_uniform(&r) < sigmoid_of(odds);
        x[WITNESS_MATCH] += w->same[e] ? 0.4f : 0;
        x[WITNESS_HEAD] += 0.4f * x[WITNESS_AGREEMENT];
        x[WITNESS_NEIGHBOURS] += w->same[e] ? 0.2f : 0;
        w->left[e] = 2 * e;
        w->right[e] = 2 * e + 1;
        w->label[2 * e] = 0;
        w->label[2 * e + 1] = w->same[e] ? 0 : 1;
        w->role[2 * e] = w->role[2 * e + 1] = e < known ? SPLIT_VAL : SPLIT_TEST;
    }
    return w;
}

/* Labelled pairs without an edge, and their witnesses. */
struct lesson {
    struct edges pairs;
    const float *x;
};

struct scores {
    struct trust trust;
    float score[EDGES], low[EDGES], high[EDGES];
};

/* In place of trust_sample_ask(), for drawn witnesses. */
static void listen(struct heard *h, const float *x)
{
    for (int64_t i = 0; i < h->mine; i++)
        memcpy(h->own + i * WITNESSES, x + h->place[i] * WITNESSES, WITNESSES * sizeof *x);
}

static struct scores *fit_by(const struct world *w, const struct lesson *also,
                             enum trust_whose whose, bool without_match)
{
    struct scores *s = mem_zalloc(1, sizeof *s);
    struct trust_sample *sample;
    OK(trust_sample_new(&sample, &w->edges, also ? &also->pairs : NULL, w->label, w->role, NODES));
    listen(&sample->known, w->x);
    listen(&sample->usual, w->x);
    OK(trust_sample_hear(sample, also ? also->x : NULL));
    trust_fit(&s->trust, sample, whose, without_match, NULL);
    trust_apply(s->score, s->low, s->high, &s->trust, w->x, EDGES);
    trust_sample_free(sample);
    return s;
}

static struct scores *fit_to(const struct world *w, const struct lesson *also, bool without_match)
{
    return fit_by(w, also, TRUST_OF_NETWORK, without_match);
}

static struct scores *fit(const struct world *w, bool without_match)
{
    return fit_to(w, NULL, without_match);
}

static double auc_of(const struct world *w, const float *score, int stride)
{
    float column[EDGES];
    double auc;
    for (int e = 0; e < EDGES; e++)
        column[e] = score[e * stride];
    OK(stats_auc(&auc, column, w->same, EDGES));
    return auc;
}

/* Of the edges that had no part in the fit. */
static double calibration_error(const struct world *w, const float *score, int known)
{
    struct stats_reliability r;
    OK(stats_reliability(&r, score + known, w->same + known, EDGES - known, 10));
    return r.ece;
}

static void many_known_edges_calibrate(void **state)
{
    (void)state;
    enum { KNOWN = 1000 };
    struct world *w = world_new(1, KNOWN);
    struct scores *s = fit(w, false);
    assert_true(s->trust.by[1 + WITNESS_AGREEMENT] > 0.6);
    assert_true(s->trust.by[1 + WITNESS_FEATURES] > 0.3);
    assert_true(fabs(s->trust.by[1 + WITNESS_HEAD]) < 0.3);
    assert_true(calibration_error(w, s->score, KNOWN) < 0.05);
    mem_free(s);
    mem_free(w);
}

static double weight_of_agreement(const struct world *w, enum trust_whose whose)
{
    struct scores *s = fit_by(w, NULL, whose, false);
    double weight = s->trust.by[1 + WITNESS_AGREEMENT];
    mem_free(s);
    return weight;
}

/* Without known edges the weights are the prior's. Validation nodes that share no edge leave them
 * so, but from a hundred on the answers' agreement weighs more. */
static void answers_have_a_prior_of_their_own(void **state)
{
    (void)state;
    enum { VALIDATORS = 100 };
    struct world *w = world_new(3, 0);
    double network = weight_of_agreement(w, TRUST_OF_NETWORK);
    double few = weight_of_agreement(w, TRUST_OF_ANSWERS);
    for (int i = 0; i < VALIDATORS - 1; i++)
        w->role[2 * i] = SPLIT_VAL;
    assert_near(weight_of_agreement(w, TRUST_OF_ANSWERS), few, 0.03);
    w->role[2 * VALIDATORS] = SPLIT_VAL;
    assert_near(weight_of_agreement(w, TRUST_OF_NETWORK), network, 0.03);
    assert_true(weight_of_agreement(w, TRUST_OF_ANSWERS) > few + 0.1);
    assert_true(fabs(network - few) > 0.03);
    mem_free(w);
}

/* Ten known edges, ten weights: a plain fit would follow every accident. */
static void few_known_edges_do_no_harm(void **state)
{
    (void)state;
    enum { KNOWN = 10, DRAWS = 20 };
    double ahead = 0, worst = 1, error = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        struct world *w = world_new(100 + draw, KNOWN);
        struct scores *s = fit(w, false);
        double gain = auc_of(w, s->score, 1) - auc_of(w, w->x + WITNESS_AGREEMENT, WITNESSES);
        ahead += gain / DRAWS;
        worst = gain < worst ? gain : worst;
        error += calibration_error(w, s->score, KNOWN) / DRAWS;
        mem_free(s);
        mem_free(w);
    }
    assert_true(ahead > 0);
    assert_true(worst > -0.02);
    assert_true(error < 0.08);
}

/* Thirty unlucky known edges: predictions agree less on those inside a class, while over all edges
 * it is the other way round. */
static void unlucky_edges_do_not_turn_agreement(void **state)
{
    (void)state;
    enum { INSIDE = 22, BETWEEN = 8 };
    struct world *w = world_new(8, 0);
    int known[2] = {BETWEEN, INSIDE};
    for (int e = 0; e < EDGES; e++) {
        double agreement = (double)w->x[e * WITNESSES + WITNESS_AGREEMENT];
        if (known[w->same[e]] > 0 && (w->same[e] ? agreement < 1 : agreement > 1)) {
            w->role[2 * e] = w->role[2 * e + 1] = SPLIT_VAL;
            known[w->same[e]]--;
        }
    }
    struct scores *s = fit(w, false);
    double best = auc_of(w, w->x + WITNESS_AGREEMENT, WITNESSES);
    assert_true(best > 0.75);
    assert_true(auc_of(w, s->score, 1) > best - 0.05);
    for (int e = 0; e < EDGES; e++)
        assert_true(s->low[e] <= s->score[e] && s->score[e] <= s->high[e]);
    mem_free(s);
    mem_free(w);
}

static void nothing_known_is_the_prior(void **state)
{
    (void)state;
    struct world *w = world_new(2, 0);
    struct scores *s = fit(w, false);
    assert_true(s->trust.by[1 + WITNESS_AGREEMENT] > 0);
    assert_true(auc_of(w, s->score, 1) > 0.75);
    for (int e = 0; e < EDGES; e++)
        assert_true(s->low[e] <= s->score[e] && s->score[e] <= s->high[e]);
    mem_free(s);
    mem_free(w);
}

/* A model has memorised the labels of training nodes: an edge between two of them says nothing
 * about other edges. */
static void edges_between_training_nodes_are_not_read(void **state)
{
    (void)state;
    struct world *w = world_new(3, 200);
    struct scores *before = fit(w, false);
    for (int e = 1000; e < 2000; e++) { /* they say the opposite of all others */
        w->role[2 * e] = w->role[2 * e + 1] = SPLIT_TRAIN;
        w->label[2 * e + 1] = w->x[e * WITNESSES + WITNESS_AGREEMENT] > 0 ? 1 : 0;
    }
    struct scores *after = fit(w, false);
    assert_memory_equal(&before->trust, &after->trust, sizeof before->trust);
    for (int e = 1000; e < 2000; e++) /* one end validates: now they are read */
        w->role[2 * e] = SPLIT_VAL;
    struct scores *read = fit(w, false);
    assert_true(read->trust.by[1 + WITNESS_AGREEMENT] < before->trust.by[1 + WITNESS_AGREEMENT]);
    mem_free(before);
    mem_free(after);
    mem_free(read);
    mem_free(w);
}

/* Attacks aim at training nodes: if known edges of these are wrong, unknown ones get less trust. */
static void edges_of_attacked_nodes_are_doubted(void **state)
{
    (void)state;
    struct world *w = world_new(4, 400);
    for (int e = 0; e < EDGES; e++)
        if (e % 2) {
            w->x[e * WITNESSES + WITNESS_TAUGHT] = 1;
            if (e % 3)
                w->label[2 * e + 1] = 1;
            w->role[2 * e] = e < 400 ? SPLIT_TRAIN : w->role[2 * e];
        }
    struct scores *s = fit(w, false);
    assert_true(s->trust.by[1 + WITNESS_TAUGHT] < -1);
    mem_free(s);
    mem_free(w);
}

static void intervals_narrow_with_knowledge(void **state)
{
    (void)state;
    static const int known[] = {0, 40, 2000};
    double width[3] = {0};
    for (int i = 0; i < 3; i++) {
        struct world *w = world_new(5, known[i]);
        struct scores *s = fit(w, false);
        for (int e = 0; e < EDGES; e++) {
            assert_true(s->low[e] <= s->score[e] && s->score[e] <= s->high[e]);
            width[i] += (double)(s->high[e] - s->low[e]) / EDGES;
        }
        mem_free(s);
        mem_free(w);
    }
    assert_true(width[0] > width[1] && width[1] > 1.5 * width[2]);
    assert_true(width[2] > 0.005);
}

static void matching_at_chance_has_no_weight(void **state)
{
    (void)state;
    struct world *w = world_new(6, 300);
    struct scores *with = fit(w, false), *without = fit(w, true);
    assert_true(fabs(with->trust.by[1 + WITNESS_MATCH]) > 0.01);
    assert_true(fabs(without->trust.by[1 + WITNESS_MATCH]) < 0.001);
    mem_free(with);
    mem_free(without);
    mem_free(w);
}

static void numbers_travel(void **state)
{
    (void)state;
    struct world *w = world_new(7, 300);
    struct scores *s = fit(w, false);
    struct trust again;
    float number[TRUST_NUMBERS], score[EDGES];
    s->trust.temperature[0] = 0.5;
    s->trust.temperature[1] = 2;
    trust_write(number, &s->trust);
    trust_read(&again, number);
    trust_apply(score, NULL, NULL, &again, w->x, EDGES);
    assert_true(again.temperature[0] == 0.5 && again.temperature[1] == 2);
    for (int e = 0; e < EDGES; e++)
        assert_near((double)score[e], (double)s->score[e], 1e-5);
    mem_free(s);
    mem_free(w);
}

/* ---- pairs without an edge ----------------------------------------------- */

/* Five known edges say little; 2,000 labelled pairs show that the cosine decides here and agreement
 * does not. Their own bias (nearly all of them join two classes) does not move the scores. */
static void pairs_teach_what_few_edges_cannot(void **state)
{
    (void)state;
    enum { KNOWN = 5, TAUGHT = 2000 };
    struct world *w = world_new(9, KNOWN);
    struct rng r;
    rng_init(&r, 9, 2);
    float *x = mem_alloc(TAUGHT * WITNESSES, sizeof *x);
    struct lesson also = {{.count = TAUGHT, .all = TAUGHT, .left = w->left, .right = w->right}, x};
    for (int e = 0; e < EDGES; e++) {
        double cosine = rng_normal(&r);
        w->x[e * WITNESSES + WITNESS_FEATURES] = (float)cosine;
        w->x[e * WITNESSES + WITNESS_AGREEMENT] = (float)rng_normal(&r);
        w->same[e] = rng_uniform(&r) < sigmoid_of(2 * cosine);
        if (e >= TAUGHT)
            w->label[2 * e + 1] = w->same[e] ? 0 : 1;
    }
    memcpy(x, w->x, TAUGHT * WITNESSES * sizeof *x);
    for (int e = 0; e < TAUGHT; e++) { /* the same witness, three times fewer of one class */
        double cosine = (double)x[e * WITNESSES + WITNESS_FEATURES];
        w->label[2 * e + 1] = rng_uniform(&r) < sigmoid_of(2 * cosine - 3) ? 0 : 1;
    }
    struct scores *alone = fit(w, false), *taught = fit_to(w, &also, false);
    double before = auc_of(w, alone->score, 1), after = auc_of(w, taught->score, 1);
    assert_true(after > before + 0.2);
    double mean[2] = {0};
    for (int e = 0; e < EDGES; e++) {
        mean[0] += (double)alone->score[e] / EDGES;
        mean[1] += (double)taught->score[e] / EDGES;
    }
    assert_true(fabs(mean[1] - mean[0]) < 0.15);
    mem_free(x);
    mem_free(alone);
    mem_free(taught);
    mem_free(w);
}

/* What kind of edge this is: many shared neighbours, like degrees, not taught, agreeing and taught.
 */
static double kind_of(const float *x)
{
    return (double)(x[WITNESS_NEIGHBOURS] + x[WITNESS_DEGREE] - x[WITNESS_TAUGHT]) +
           (double)x[WITNESS_TAUGHT_AGREEMENT] / 2;
}

/* After an attack an edge's kind says whether it joins one class. Among pairs, which nobody
 * attacks, it says the opposite here. The pairs leave the edges' weights of it as they are. */
static void pairs_do_not_say_how_edges_came_to_be(void **state)
{
    (void)state;
    enum { KNOWN = 300, PAIRS = 2000 };
    static const int of_edges[] = {WITNESS_NEIGHBOURS, WITNESS_DEGREE, WITNESS_TAUGHT,
                                   WITNESS_TAUGHT_AGREEMENT};
    struct world *w = world_new(10, KNOWN);
    struct rng r;
    rng_init(&r, 10, 2);
    for (int e = 0; e < EDGES; e++) { /* the first are edges, the others pairs */
        float *x = w->x + e * WITNESSES;
        x[WITNESS_TAUGHT] = (float)(e % 2);
        x[WITNESS_TAUGHT_AGREEMENT] = (float)(e % 2) * x[WITNESS_AGREEMENT];
        double odds = (e < KNOWN ? 2 : -2) * kind_of(x);
        w->label[2 * e + 1] = rng_uniform(&r) < sigmoid_of(odds) ? 0 : 1;
    }
    struct lesson also = {
        {.count = PAIRS, .all = PAIRS, .left = w->left + KNOWN, .right = w->right + KNOWN},
        w->x + KNOWN * WITNESSES,
    };
    struct scores *alone = fit(w, false), *taught = fit_to(w, &also, false);
    for (size_t k = 0; k < sizeof of_edges / sizeof *of_edges; k++) {
        double before = alone->trust.by[1 + of_edges[k]], after = taught->trust.by[1 + of_edges[k]];
        assert_true(fabs(after - before) < 0.15 * fabs(before) + 0.05);
    }
    mem_free(alone);
    mem_free(taught);
    mem_free(w);
}

static struct edges *pairs_of(int32_t nodes, const int32_t (*edge)[2], int64_t edges,
                              const int32_t *label, const uint8_t *role)
{
    struct csr *graph;
    struct edges *pairs;
    int32_t *from = mem_alloc((size_t)edges, sizeof *from);
    int32_t *to = mem_alloc((size_t)edges, sizeof *to);
    for (int64_t e = 0; e < edges; e++) {
        from[e] = edge[e][0];
        to[e] = edge[e][1];
    }
    OK(csr_from_edges(&graph, nodes, nodes, edges, from, to, NULL, CSR_UNDIRECTED, NULL));
    OK(trust_pairs_new(&pairs, graph, label, role, 3));
    csr_free(graph);
    mem_free(from);
    mem_free(to);
    return pairs;
}

/* A path 0 - 1 - 2 - 3 - 4 - 5 and the triangle 5 - 6 - 7. */
static void pairs_by_hand(void **state)
{
    (void)state;
    enum { N = 8 };
    static const int32_t edge[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4},
                                      {4, 5}, {5, 6}, {6, 7}, {5, 7}};
    int32_t label[N] = {0, 0, 1, 0, 1, 1, 0, 1};
    uint8_t role[N] = {SPLIT_TRAIN, SPLIT_VAL,   SPLIT_TRAIN, SPLIT_VAL,
                       SPLIT_TEST,  SPLIT_TRAIN, SPLIT_VAL,   SPLIT_TRAIN};
    struct edges *pairs = pairs_of(N, edge, 8, label, role);
    /* 0-2: both train. 1-3: yes. 2-4, 4-6, 4-7: a test node. 3-5: yes. 5-7: an edge. */
    assert_int_equal(pairs->count, 2);
    assert_int_equal(pairs->left[0], 1);
    assert_int_equal(pairs->right[0], 3);
    assert_int_equal(pairs->left[1], 3);
    assert_int_equal(pairs->right[1], 5);
    edges_free(pairs);
    label[3] = -1;
    pairs = pairs_of(N, edge, 8, label, role);
    assert_int_equal(pairs->count, 0);
    edges_free(pairs);
}

/* Around a hub of 300 leaves there are 44,850 pairs, of which 4,096 are drawn: sorted, each once,
 * and from everywhere. */
static void many_pairs_are_drawn(void **state)
{
    (void)state;
    enum { LEAVES = 300, N = LEAVES + 1 };
    int32_t edge[LEAVES][2], label[N] = {0};
    uint8_t role[N];
    double mean = 0;
    memset(role, SPLIT_VAL, sizeof role);
    for (int i = 0; i < LEAVES; i++) {
        edge[i][0] = 0;
        edge[i][1] = i + 1;
    }
    struct edges *pairs = pairs_of(N, (const int32_t(*)[2])edge, LEAVES, label, role);
    assert_int_equal(pairs->count, 4096);
    for (int64_t k = 0; k < pairs->count; k++) {
        assert_true(0 < pairs->left[k] && pairs->left[k] < pairs->right[k]);
        assert_true(
            k == 0 || pairs->left[k - 1] < pairs->left[k] ||
            (pairs->left[k - 1] == pairs->left[k] && pairs->right[k - 1] < pairs->right[k]));
        mean += (double)(pairs->left[k] + pairs->right[k]) / 2 / 4096;
    }
    assert_true(fabs(mean - (N + 0.5) / 2) < 5);
    edges_free(pairs);
}

/* ---- what is kept -------------------------------------------------------- */

static void kept_follows_from_the_score(void **state)
{
    (void)state;
    enum { COUNT = 10 };
    static const float high[COUNT] = {0.997f, 0.9f, 0.8f, 0.7f, 0.6f, 0.5f, 0.4f, 0.3f, 0.2f, 0.1f};
    static const float low[COUNT] = {0.45f, 0.4f, 0.4f, 0.4f, 0.3f, 0.2f, 0.1f, 0.1f, 0.1f, 0.1f};
    int32_t left[COUNT], right[COUNT];
    for (int e = 0; e < COUNT; e++) {
        left[e] = 2 * e;
        right[e] = 2 * e + 1;
    }
    struct edges edges = {.count = COUNT, .left = left, .right = right};
    float score[COUNT];
    uint8_t kept[COUNT];
    struct edge_trust t = {.edges = &edges, .score = score, .kept = kept};
    memcpy(score, high, sizeof high);
    OK(edge_trust_keep(&t, 0.2)); /* a half is kept whatever the ratio says */
    for (int e = 0; e < COUNT; e++)
        assert_int_equal(kept[e], score[e] >= 0.5f);
    assert_true(t.threshold == 0.5);
    OK(edge_trust_keep(&t, 0.8));
    for (int e = 0; e < COUNT; e++)
        assert_int_equal(kept[e], e < 8);
    memcpy(score, low, sizeof low);
    OK(edge_trust_keep(&t, 0.2)); /* equal scores are treated alike */
    for (int e = 0; e < COUNT; e++)
        assert_int_equal(kept[e], e < 4);
    assert_true(t.threshold == (double)0.4f);
    OK(edge_trust_keep(&t, 0));
    for (int e = 0; e < COUNT; e++)
        assert_int_equal(kept[e], 0);
}

/* ---- through a model file ------------------------------------------------ */

static double column_sum(const struct consm_edge_scores *s, int k)
{
    double sum = 0;
    for (int64_t e = 0; e < s->edges; e++)
        sum += (double)s->witness[e * s->witnesses + k];
    return sum;
}

/* A saved model knows the training labels on its own graph, and none on another. */
static void a_model_file_remembers_who_was_taught(void **state)
{
    (void)state;
    struct consm_dataset *data, *other;
    struct consm_options *options;
    struct consm_model *model, *loaded;
    struct consm_edge_scores *a, *b, *c;
    char path[] = "/tmp/test_trust_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    OK(consm_dataset_open(&data, "csbm:nodes=150,features=12,homophily=0.7,seed=1", NULL));
    OK(consm_dataset_open(&other, "csbm:nodes=150,features=12,homophily=0.7,seed=2", NULL));
    OK(consm_options_new(&options, "consm"));
    OK(consm_options_set(options, "backbone", "gcn"));
    OK(consm_options_set(options, "split", "random"));
    OK(consm_options_set(options, "per_class", "8"));
    OK(consm_options_set(options, "rounds", "1"));
    OK(consm_options_set(options, "warmup", "20"));
    OK(consm_options_set(options, "gnn_steps", "4"));
    OK(consm_options_set(options, "match_steps", "8"));
    OK(consm_train(&model, data, options));
    OK(consm_model_save(model, path));
    OK(consm_model_load(&loaded, path));
    OK(consm_score_edges(&a, model, data, 1));
    OK(consm_score_edges(&b, loaded, data, 2));
    OK(consm_score_edges(&c, loaded, other, 1));
    assert_int_equal(a->witnesses, WITNESSES);
    assert_string_equal(a->witness_name[WITNESS_TAUGHT], "taught");
    assert_memory_equal(a->score, b->score, (size_t)a->edges * sizeof *a->score);
    assert_memory_equal(a->low, b->low, (size_t)a->edges * sizeof *a->low);
    assert_true(column_sum(b, WITNESS_TAUGHT) > 0);
    assert_true(column_sum(c, WITNESS_TAUGHT) == 0);
    for (int64_t e = 0; e < a->edges; e++)
        assert_int_equal(a->kept[e], (double)a->score[e] >= a->threshold);
    consm_edge_scores_free(a);
    consm_edge_scores_free(b);
    consm_edge_scores_free(c);
    consm_model_free(model);
    consm_model_free(loaded);
    consm_options_free(options);
    consm_dataset_free(data);
    consm_dataset_free(other);
    unlink(path);
}

/* Known edges have score 0 (30 of 100 are of one class) or 1 (80 of 100): a line through two points
 * fits both shares, and 1/2 is halfway on the logistic scale. Known edges come after an unknown
 * one. With two edges of a kind there is nothing to fit. */
static void a_curve_goes_through_the_shares(void **state)
{
    (void)state;
    enum { KNOWN = 200 };
    float own[KNOWN], score[KNOWN + 1] = {0.5f}, probability[KNOWN + 1];
    int64_t place[KNOWN];
    uint8_t same[KNOWN];
    for (int e = 0; e < KNOWN; e++) {
        place[e] = e + 1;
        score[e + 1] = e < 100 ? 0 : 1;
        same[e] = e < 100 ? e < 30 : e < 180;
    }
    struct trust_sample s = {.same = same,
                             .known = {.count = KNOWN, .mine = KNOWN, .place = place, .own = own}};
    OK(trust_curve(probability, &s, score, KNOWN + 1));
    assert_near(probability[1], 0.3, 1e-3);
    assert_near(probability[KNOWN], 0.8, 1e-3);
    assert_near(probability[0], sigmoid_of((log(0.3 / 0.7) + log(0.8 / 0.2)) / 2), 1e-3);
    for (int e = 0; e < KNOWN; e++)
        same[e] = e >= 2;
    OK(trust_curve(probability, &s, score, KNOWN + 1));
    assert_near(probability[1], sigmoid_of(-2), 1e-6);
    assert_near(probability[KNOWN], sigmoid_of(2), 1e-6);
    assert_near(probability[0], 0.5, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_curve_goes_through_the_shares),
        cmocka_unit_test(many_known_edges_calibrate),
        cmocka_unit_test(answers_have_a_prior_of_their_own),
        cmocka_unit_test(few_known_edges_do_no_harm),
        cmocka_unit_test(unlucky_edges_do_not_turn_agreement),
        cmocka_unit_test(nothing_known_is_the_prior),
        cmocka_unit_test(edges_between_training_nodes_are_not_read),
        cmocka_unit_test(edges_of_attacked_nodes_are_doubted),
        cmocka_unit_test(intervals_narrow_with_knowledge),
        cmocka_unit_test(matching_at_chance_has_no_weight),
        cmocka_unit_test(numbers_travel),
        cmocka_unit_test(pairs_teach_what_few_edges_cannot),
        cmocka_unit_test(pairs_do_not_say_how_edges_came_to_be),
        cmocka_unit_test(pairs_by_hand),
        cmocka_unit_test(many_pairs_are_drawn),
        cmocka_unit_test(kept_follows_from_the_score),
        cmocka_unit_test(a_model_file_remembers_who_was_taught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
