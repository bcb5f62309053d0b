/* Equivalent graphs get equal answers (metamorphic tests), for every model and its main options.
 * Other names, repeated, reversed, shuffled edges, loops, other class names and features times a
 * power of two train to the same bits. With another node order, or one more isolated node, a
 * trained model gives the same answer for every node and edge. */
#include "alike.h"

#include <math.h>

static void assert_same_bits(const struct consm_prediction *a, const struct consm_prediction *b,
                             const char *model, const char *variant)
{
    size_t cells = (size_t)(a->nodes * a->classes);
    assert_int_equal(a->nodes, b->nodes);
    if (memcmp(a->probability, b->probability, cells * sizeof *a->probability) != 0 ||
        memcmp(a->label, b->label, (size_t)a->nodes * sizeof *a->label) != 0)
        fail_msg("%s, %s: another prediction", model, variant);
}

static void trains_to_the_same_bits(void **state)
{
    (void)state;
    struct dataset *base = alike_base();
    for (int k = 0; k < ALIKE_CASES; k++) {
        const struct alike_case *c = &alike_cases[k];
        struct consm_prediction *first = NULL;
        struct roles roles;
        alike_roles(&roles, base, c);
        for (enum variant v = AS_IT_IS; v < NODES_REVERSED; v++) {
            struct dataset *d = alike_make(base, v);
            struct consm_model *model;
            struct consm_prediction *p;
            alike_train(&model, &p, d, &roles, c);
            if (first)
                assert_same_bits(first, p, c->name, variant_name[v]);
            if (first)
                consm_prediction_free(p);
            else
                first = p;
            consm_model_free(model);
            dataset_free(d);
        }
        consm_prediction_free(first);
        roles_free(&roles);
    }
    dataset_free(base);
}

/* The trust of an edge between two nodes of the base, or NAN. */
static double trust_of(const struct consm_edge_scores *s, int64_t a, int64_t b)
{
    for (int64_t e = 0; e < s->edges; e++)
        if ((s->from[e] == a && s->to[e] == b) || (s->from[e] == b && s->to[e] == a))
            return (double)s->score[e];
    return (double)NAN;
}

static void compare_trust(const struct consm_model *model, struct consm_dataset *from,
                          struct consm_dataset *to, enum variant v, const char *name)
{
    struct consm_edge_scores *a, *b;
    int64_t n = from->data->nodes;
    OK(consm_score_edges(&a, model, from, 1));
    OK(consm_score_edges(&b, model, to, 1));
    assert_int_equal(a->edges, b->edges);
    for (int64_t e = 0; e < a->edges; e++) {
        double there = trust_of(b, alike_place(v, a->from[e], n), alike_place(v, a->to[e], n));
        /* One more node changes the mean cost, and with it ε, by a ninetieth. */
        double room = v == A_LONELY_NODE ? 5e-3 : 1e-4;
        if (!(fabs((double)a->score[e] - there) <= room))
            fail_msg("%s, %s: trust of edge %lld is %g and %g", name, variant_name[v], (long long)e,
                     (double)a->score[e], there);
    }
    consm_edge_scores_free(a);
    consm_edge_scores_free(b);
}

static void says_the_same_in_any_order(void **state)
{
    (void)state;
    struct dataset *base = alike_base();
    for (int k = 0; k < ALIKE_CASES; k++) {
        const struct alike_case *c = &alike_cases[k];
        struct dataset *as_is = alike_make(base, AS_IT_IS);
        struct consm_dataset *data, *other;
        struct consm_model *model;
        struct consm_prediction *first, *p;
        struct roles roles;
        alike_roles(&roles, base, c);
        alike_train(&model, NULL, as_is, &roles, c);
        OK(dataset_wrap(&data, as_is));
        OK(consm_predict(&first, model, data, 1));
        for (enum variant v = NODES_REVERSED; v < VARIANTS; v++) {
            OK(dataset_wrap(&other, alike_make(base, v)));
            OK(consm_predict(&p, model, other, 1));
            for (int64_t i = 0; i < base->nodes; i++)
                for (int32_t y = 0; y < first->classes; y++) {
                    int64_t at = alike_place(v, i, base->nodes) * first->classes + y;
                    double was = (double)first->probability[i * first->classes + y];
                    if (!(fabs(was - (double)p->probability[at]) <= 1e-4))
                        fail_msg("%s, %s: node %lld, class %d: %g and %g", c->name, variant_name[v],
                                 (long long)i, y, was, (double)p->probability[at]);
                    if (first->in_set)
                        assert_int_equal(first->in_set[i * first->classes + y], p->in_set[at]);
                }
            if (strcmp(c->model, "consm") == 0)
                compare_trust(model, data, other, v, c->name);
            consm_prediction_free(p);
            consm_dataset_free(other);
        }
        consm_prediction_free(first);
        consm_model_free(model);
        consm_dataset_free(data);
        roles_free(&roles);
    }
    dataset_free(base);
}

/* ---- test labels --------------------------------------------------------- */

/* Other labels on the test nodes: parameters, calibration, sets and predictions have the same bits;
 * only the figures of the test nodes may differ. */
static void test_labels_are_read_by_the_test_alone(void **state)
{
    (void)state;
    struct dataset *base = alike_base();
    for (int k = 0; k < ALIKE_CASES; k++) {
        const struct alike_case *c = &alike_cases[k];
        struct dataset *d = alike_make(base, AS_IT_IS);
        struct consm_model *model[2];
        struct consm_prediction *p[2];
        struct roles roles;
        alike_roles(&roles, base, c);
        for (int turn = 0; turn < 2; turn++) {
            for (int64_t i = 0; turn == 1 && i < d->nodes; i++)
                if (roles.role[i] == SPLIT_TEST)
                    d->label[i] = (d->label[i] + 1 + (int32_t)i % 2) % d->classes;
            alike_train(&model[turn], &p[turn], d, &roles, c);
        }
        assert_same_bits(p[0], p[1], c->name, "other test labels");
        assert_int_equal(model[0]->tensors, model[1]->tensors);
        for (int64_t i = 0; i < model[0]->tensors; i++) {
            const struct model_tensor *a = &model[0]->tensor[i], *b = &model[1]->tensor[i];
            if (memcmp(a->value, b->value, (size_t)(a->rows * a->cols) * sizeof *a->value) != 0)
                fail_msg("%s: test labels change %s", c->name, a->name);
        }
        assert_true(model[0]->temperature == model[1]->temperature);
        assert_true(model[0]->result.val_acc == model[1]->result.val_acc);
        assert_true(model[0]->result.best_epoch == model[1]->result.best_epoch);
        assert_true(model[0]->result.test_acc != model[1]->result.test_acc); /* they are read */
        if (p[0]->in_set) {
            assert_true(model[0]->sets.threshold == model[1]->sets.threshold);
            assert_memory_equal(p[0]->in_set, p[1]->in_set, (size_t)(p[0]->nodes * p[0]->classes));
        }
        for (int turn = 0; turn < 2; turn++) {
            consm_prediction_free(p[turn]);
            consm_model_free(model[turn]);
        }
        dataset_free(d);
        roles_free(&roles);
    }
    dataset_free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trains_to_the_same_bits),
        cmocka_unit_test(says_the_same_in_any_order),
        cmocka_unit_test(test_labels_are_read_by_the_test_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
