/* Attacks against hand counts: how many edges they change and which; the surrogate's gradient
 * against differences; the low-rank graph of two cliques. */
#include "check.h"

#include <math.h>

#include "attack/attack.h"
#include "base/rng.h"

/* Two cliques of four, classes 0 and 1, and an edge between them: 13 edges, 12 inside classes. */
enum { NODES = 8, EDGES = 13, INSIDE = 12 };
static const int32_t label[NODES] = {0, 0, 0, 0, 1, 1, 1, 1};

static struct csr *cliques(bool joined)
{
    int32_t from[EDGES], to[EDGES];
    struct csr *graph;
    int64_t count = 0;
    for (int32_t i = 0; i < NODES; i++)
        for (int32_t j = i + 1; j < NODES; j++)
            if (i / 4 == j / 4 || (joined && i == 3 && j == 4)) {
                from[count] = i;
                to[count++] = j;
            }
    OK(csr_from_edges(&graph, NODES, NODES, count, from, to, NULL, CSR_UNDIRECTED, NULL));
    return graph;
}

/* Every change is possible and none occurs twice; counts removals and additions. */
static void check_changes(const struct changes *c, const struct csr *graph, int64_t *added,
                          int64_t *removed)
{
    *added = *removed = 0;
    for (int64_t i = 0; i < c->count; i++) {
        assert_true(c->left[i] < c->right[i]);
        assert_int_equal(csr_find(graph, c->left[i], c->right[i]) < 0, c->added[i]);
        *added += c->added[i];
        *removed += !c->added[i];
        for (int64_t k = 0; k < i; k++)
            assert_false(c->left[k] == c->left[i] && c->right[k] == c->right[i]);
    }
}

static void dice_disconnects_inside_and_connects_outside(void **state)
{
    (void)state;
    struct csr *graph = cliques(true), *after;
    struct changes c;
    for (uint64_t seed = 0; seed < 5; seed++) {
        int64_t added, removed;
        OK(attack_dice(&c, graph, label, 7, seed));
        check_changes(&c, graph, &added, &removed);
        assert_int_equal(removed, 3); /* half of 7, rounded down */
        assert_int_equal(added, 4);
        for (int64_t i = 0; i < c.count; i++)
            assert_int_equal(label[c.left[i]] != label[c.right[i]], c.added[i]);
        OK(changes_apply(&after, graph, &c));
        assert_int_equal(after->nnz, 2 * (EDGES - 3 + 4));
        csr_free(after);
        changes_free(&c);
    }
    csr_free(graph);
}

static void dice_goes_on_with_few_edges_inside(void **state)
{
    (void)state;
    static const int32_t from[] = {0, 1}, to[] = {1, 6}, some[] = {0, 0, -1, 0, 1, 1, 1, 1};
    struct csr *graph;
    struct changes c;
    int64_t added, removed;
    OK(csr_from_edges(&graph, NODES, NODES, 2, from, to, NULL, CSR_UNDIRECTED, NULL));
    OK(attack_dice(&c, graph, some, 6, 0));
    check_changes(&c, graph, &added, &removed);
    assert_int_equal(removed, 1);
    assert_int_equal(added, 5);
    for (int64_t i = 0; i < c.count; i++) /* the class of node 2 is unknown */
        assert_true(c.left[i] != 2 && c.right[i] != 2);
    changes_free(&c);
    FAILS(attack_dice(&c, graph, some, 60, 0), CONSM_EINVAL,
          "too few unconnected pairs for 59 more");
    assert_null(c.left);
    csr_free(graph);
}

static void weights_stay_with_their_edges(void **state)
{
    (void)state;
    static const int32_t from[] = {0, 1, 2}, to[] = {1, 2, 3};
    static const float weight[] = {2, 3, 4};
    struct csr *graph, *after;
    struct changes c;
    OK(csr_from_edges(&graph, 4, 4, 3, from, to, weight, CSR_UNDIRECTED, NULL));
    OK(changes_new(&c, 2));
    changes_add(&c, 2, 1, false);
    changes_add(&c, 3, 0, true);
    OK(changes_apply(&after, graph, &c));
    assert_int_equal(after->nnz, 6);
    assert_near(after->val[csr_find(after, 0, 1)], 2, 0);
    assert_near(after->val[csr_find(after, 3, 2)], 4, 0);
    assert_near(after->val[csr_find(after, 0, 3)], 1, 0);
    assert_true(csr_find(after, 1, 2) < 0);
    csr_free(after);
    csr_free(graph);
    changes_free(&c);
}

/* ---- gradients ------------------------------------------------------------------------------- */

enum { HIDDEN = 5, CLASSES = 3 };
static float h[NODES * HIDDEN], b1[HIDDEN], w2[HIDDEN * CLASSES], b2[CLASSES];
static int32_t truth[NODES];
static uint8_t attacked[NODES];

static struct surrogate drawn_surrogate(void)
{
    struct rng rng;
    rng_init(&rng, 5, 1);
    for (int i = 0; i < NODES * HIDDEN; i++)
        h[i] = (float)rng_normal(&rng);
    for (int i = 0; i < HIDDEN; i++)
        b1[i] = 0.3f * (float)rng_normal(&rng);
    for (int i = 0; i < HIDDEN * CLASSES; i++)
        w2[i] = (float)rng_normal(&rng);
    for (int i = 0; i < CLASSES; i++)
        b2[i] = 0.1f * (float)rng_normal(&rng);
    for (int i = 0; i < NODES; i++) {
        truth[i] = i % CLASSES;
        attacked[i] = i != 2;
    }
    return (struct surrogate){NODES, HIDDEN, CLASSES, h, b1, w2, b2};
}

/* The loss with one pair's weight changed, by the same function on another graph. */
static double loss_with(const struct surrogate *m, const struct csr *graph, int32_t i, int32_t j,
                        float weight)
{
    struct victims v = {truth, attacked};
    struct edges *own;
    struct csr *other;
    int32_t from[2 * EDGES], to[2 * EDGES];
    float by[2 * EDGES];
    double loss;
    int64_t count = 0;
    OK(edges_new(&own, graph));
    for (int64_t e = 0; e < own->count; e++) {
        from[count] = own->left[e];
        to[count] = own->right[e];
        by[count++] = own->left[e] == i && own->right[e] == j ? 1 + weight : 1;
    }
    if (csr_find(graph, i, j) < 0) {
        from[count] = i;
        to[count] = j;
        by[count++] = weight;
    }
    OK(csr_from_edges(&other, NODES, NODES, count, from, to, by, CSR_UNDIRECTED, NULL));
    OK(surrogate_gradient(&loss, NULL, m, &v, other, NULL, NULL, 0));
    csr_free(other);
    edges_free(own);
    return loss;
}

static void gradients_are_those_of_the_loss(void **state)
{
    (void)state;
    struct surrogate m = drawn_surrogate();
    struct victims v = {truth, attacked};
    struct csr *graph = cliques(true);
    const float step = 1.0f / 1024;
    int moved = 0;
    for (int32_t i = 0; i < NODES; i++)
        for (int32_t j = i + 1; j < NODES; j++) {
            double loss, gradient;
            OK(surrogate_gradient(&loss, &gradient, &m, &v, graph, &i, &j, 1));
            double forward = (loss_with(&m, graph, i, j, step) - loss) / (double)step;
            double central =
                csr_find(graph, i, j) < 0
                    ? forward
                    : (loss_with(&m, graph, i, j, step) - loss_with(&m, graph, i, j, -step)) /
                          (2 * (double)step);
            assert_near(gradient, central, csr_find(graph, i, j) < 0 ? 3e-3 : 1e-5);
            moved += fabs(gradient) > 1e-3;
        }
    assert_true(moved > 15);
    csr_free(graph);
}

/* Z = Â relu(Â H + b1) W2 + b2 of two nodes and an edge, by hand: Â = 1/2 everywhere. */
static void the_loss_by_hand(void **state)
{
    (void)state;
    static const float hand_h[] = {4, -2}, hand_b1[] = {1}, hand_w2[] = {3, 1},
                       hand_b2[] = {0.5f, 0};
    static const int32_t from[] = {0}, to[] = {1}, right[] = {0, 1};
    static const uint8_t both[] = {1, 1}, second[] = {0, 1};
    struct surrogate m = {2, 1, 2, hand_h, hand_b1, hand_w2, hand_b2};
    struct csr *graph;
    double loss;
    OK(csr_from_edges(&graph, 2, 2, 1, from, to, NULL, CSR_UNDIRECTED, NULL));
    /* P = 1 + 1 = 2 for both, Y = (6, 2), Z = (6.5, 2): node 0 has margin 4.5, node 1 is lost. */
    OK(surrogate_gradient(&loss, NULL, &m, &(struct victims){right, both}, graph, NULL, NULL, 0));
    assert_near(loss, 4.5 / 2, 1e-12);
    OK(surrogate_gradient(&loss, NULL, &m, &(struct victims){right, second}, graph, NULL, NULL, 0));
    assert_near(loss, 0, 0);
    csr_free(graph);
}

static double loss_after(const struct surrogate *m, const struct csr *graph,
                         const struct changes *c)
{
    struct victims v = {truth, attacked};
    struct csr *after;
    double loss;
    OK(changes_apply(&after, graph, c));
    OK(surrogate_gradient(&loss, NULL, m, &v, after, NULL, NULL, 0));
    csr_free(after);
    return loss;
}

static void pgd_keeps_its_budget_and_hurts(void **state)
{
    (void)state;
    struct surrogate m = drawn_surrogate();
    struct csr *graph = cliques(true);
    struct changes none = {0}, c, again;
    double before = loss_after(&m, graph, &none), last = before;
    for (int64_t budget = 1; budget <= 5; budget += 2) {
        int64_t added, removed;
        struct pgd o = {.graph = graph,
                        .surrogate = m,
                        .victims = {truth, attacked},
                        .budget = budget,
                        .candidates = 10,
                        .steps = 40,
                        .seed = 3};
        OK(attack_pgd(&c, &o));
        check_changes(&c, graph, &added, &removed);
        assert_in_range(c.count, 1, budget);
        double after = loss_after(&m, graph, &c);
        assert_true(after < before && after <= last + 1e-9);
        last = after;
        OK(attack_pgd(&again, &o));
        assert_int_equal(again.count, c.count);
        assert_memory_equal(again.left, c.left, (size_t)c.count * sizeof *c.left);
        changes_free(&again);
        changes_free(&c);
    }
    csr_free(graph);
}

/* With one change PGD finds what trying every change finds. */
static void one_change_is_among_the_best(void **state)
{
    (void)state;
    struct surrogate m = drawn_surrogate();
    struct csr *graph = cliques(true);
    struct changes c, one;
    double best = 1e9, worst = 0;
    int better = 0, all = 0;
    struct pgd o = {.graph = graph,
                    .surrogate = m,
                    .victims = {truth, attacked},
                    .budget = 1,
                    .candidates = 7,
                    .steps = 60};
    OK(attack_pgd(&c, &o));
    assert_int_equal(c.count, 1);
    double found = loss_after(&m, graph, &c);
    for (int32_t i = 0; i < NODES; i++)
        for (int32_t j = i + 1; j < NODES; j++) {
            OK(changes_new(&one, 1));
            changes_add(&one, i, j, csr_find(graph, i, j) < 0);
            double loss = loss_after(&m, graph, &one);
            best = fmin(best, loss);
            worst = fmax(worst, loss);
            better += loss < found - 1e-12;
            all++;
            changes_free(&one);
        }
    assert_int_equal(all, NODES * (NODES - 1) / 2);
    assert_true(better <= 5 && found < (best + worst) / 2); /* of 28; 8 were not candidates */
    changes_free(&c);
    csr_free(graph);
}

static void trusted_attackers_join_listed_pairs_only(void **state)
{
    (void)state;
    static const int32_t left[] = {0, 1, 2, 0, 3}, right[] = {5, 6, 7, 7, 6};
    struct surrogate m = drawn_surrogate();
    struct victims v = {truth, attacked};
    struct csr *graph = cliques(true);
    struct trusted_pairs pairs = {5, left, right};
    struct changes c, none = {0};
    double gradient[5], loss;
    int64_t added, removed, helpful = 0;
    OK(surrogate_gradient(&loss, gradient, &m, &v, graph, left, right, 5));
    for (int e = 0; e < 5; e++)
        helpful += gradient[e] < 0;
    assert_in_range(helpful, 1, 5);
    OK(attack_trusted(&c, &m, &v, graph, &pairs, 1)); /* one change: the steepest */
    assert_int_equal(c.count, 1);
    for (int e = 0; e < 5; e++)
        if (left[e] == c.left[0] && right[e] == c.right[0])
            for (int k = 0; k < 5; k++)
                assert_true(gradient[e] <= gradient[k]);
    assert_true(loss_after(&m, graph, &c) < loss_after(&m, graph, &none));
    changes_free(&c);
    OK(attack_trusted(&c, &m, &v, graph, &pairs, 20));
    check_changes(&c, graph, &added, &removed);
    assert_int_equal(removed, 0);
    assert_in_range(added, 1, 5);
    changes_free(&c);
    pairs.count = 0;
    OK(attack_trusted(&c, &m, &v, graph, &pairs, 20));
    assert_int_equal(c.count, 0);
    changes_free(&c);
    csr_free(graph);
}

/* ---- low rank -------------------------------------------------------------------------------- */

/* A clique of four has the eigenvalues 3, -1, -1, -1, the first with the vector of halves: rank two
 * of two cliques gives 3/4 inside each and 0 between them. */
static void two_cliques_have_rank_two(void **state)
{
    (void)state;
    struct csr *graph = cliques(false), *low;
    OK(attack_low_rank(&low, graph, 2, 1000, 0));
    assert_int_equal(low->nnz, 2 * INSIDE);
    for (int64_t e = 0; e < low->nnz; e++)
        assert_near(low->val[e], 0.75, 1e-5);
    assert_true(csr_find(low, 3, 4) < 0);
    csr_free(low);
    /* All eigenvalues: the graph itself. */
    OK(attack_low_rank(&low, graph, 20, 1000, 0));
    assert_int_equal(low->nnz, 2 * INSIDE);
    for (int64_t e = 0; e < low->nnz; e++)
        assert_near(low->val[e], 1, 1e-5);
    csr_free(low);
    csr_free(graph);
}

/* Of a weighted star the largest weight is the largest entry of rank two. */
static void the_largest_entries_stay(void **state)
{
    (void)state;
    static const int32_t from[] = {0, 0, 0}, to[] = {1, 2, 3};
    static const float weight[] = {1, 4, 2};
    struct csr *graph, *low;
    OK(csr_from_edges(&graph, 4, 4, 3, from, to, weight, CSR_UNDIRECTED, NULL));
    OK(attack_low_rank(&low, graph, 2, 2, 0)); /* a star has rank two */
    assert_int_equal(low->nnz, 4);
    assert_near(low->val[csr_find(low, 0, 2)], 4, 1e-4);
    assert_near(low->val[csr_find(low, 0, 3)], 2, 1e-4);
    csr_free(low);
    csr_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dice_disconnects_inside_and_connects_outside),
        cmocka_unit_test(dice_goes_on_with_few_edges_inside),
        cmocka_unit_test(weights_stay_with_their_edges),
        cmocka_unit_test(gradients_are_those_of_the_loss),
        cmocka_unit_test(the_loss_by_hand),
        cmocka_unit_test(pgd_keeps_its_budget_and_hurts),
        cmocka_unit_test(one_change_is_among_the_best),
        cmocka_unit_test(trusted_attackers_join_listed_pairs_only),
        cmocka_unit_test(two_cliques_have_rank_two),
        cmocka_unit_test(the_largest_entries_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
