/* The changes of a growing graph: a tree that shares what a write leaves alone. Old states stay as
 * they were, a write costs memory for what it changes, and repeated changes of the same nodes lead
 * to a new base. */
#include "check.h"

#include "app/growing.h"
#include "base/rng.h"

enum { STATES = 6, NUMBERS = 400 };

/* Number i: close together at first, then farther and farther apart, up to the largest. */
static int64_t number_at(int64_t i)
{
    return i < 150 ? i : i < 300 ? 150 + (i - 150) * 700 : INT32_MAX - (400 - i) * 5000011LL;
}

static consm_status count_up(void *ctx, const struct change *c)
{
    int64_t *seen = ctx; /* count, last number, sum of labels */
    assert_true(c->node > seen[1]);
    seen[0]++;
    seen[1] = c->node;
    seen[2] += c->label;
    return CONSM_OK;
}

/* States[s] has label[s][i] for number i, -1: no change. */
static void states_stay_as_they_were(void **state)
{
    struct delta d[STATES];
    static int32_t label[STATES][NUMBERS];
    struct rng r;
    (void)state;
    rng_init(&r, 5, 1);
    for (int s = 0; s < STATES; s++) {
        OK(delta_next(&d[s], s ? &d[s - 1] : NULL));
        for (int i = 0; i < NUMBERS; i++)
            label[s][i] = s ? label[s - 1][i] : -1;
        int limit = s < 2 ? 150 : NUMBERS; /* the first two trees are low */
        for (int k = 0; k < 120; k++) {
            int i = (int)rng_below(&r, (uint64_t)limit);
            struct change *c;
            OK(delta_touch(&c, &d[s], number_at(i)));
            assert_int_equal(c->node, number_at(i));
            c->label = label[s][i] = 1000 * s + k;
        }
    }
    for (int s = 0; s < STATES; s++) {
        int64_t all[3] = {0, -1, 0}, later[3] = {0, -1, 0}, count = 0, sum = 0, differ = 0;
        for (int i = 0; i < NUMBERS; i++) {
            const struct change *c = delta_find(&d[s], number_at(i));
            assert_int_equal(c ? c->label : -1, label[s][i]);
            count += c != NULL;
            sum += c ? c->label : 0;
            differ += s > 0 && label[s][i] != label[s - 1][i];
        }
        assert_null(delta_find(&d[s], 149 + 64 * 700 + 1));
        assert_int_equal(d[s].count, count);
        OK(delta_each(&d[s], NULL, count_up, all));
        assert_true(all[0] == count && all[2] == sum);
        if (s > 0)
            OK(delta_each(&d[s], &d[s - 1], count_up, later));
        assert_true(s == 0 || (later[0] >= differ && later[0] <= count));
    }
    OK(delta_each(&d[3], &d[3], count_up, (int64_t[3]){0, INT32_MAX, 0})); /* visits none */
    for (int s = 0; s < STATES; s++) /* in an order that is not that of the writes */
        delta_free(&d[(s * 5 + 2) % STATES]);
}

static struct consm_graph *graph_of(const char *spec)
{
    struct consm_dataset *d;
    struct consm_graph *g;
    OK(consm_dataset_open(&d, spec, NULL));
    OK(consm_graph_new(&g, d));
    consm_dataset_free(d);
    return g;
}

/* One edge after a write of thousands takes as little memory as before it. */
static void a_write_costs_what_it_changes(void **state)
{
    enum { EDGES = 9000 };
    static int64_t from[EDGES], to[EDGES];
    struct consm_graph *g = graph_of("csbm:nodes=30000,features=2,degree=4");
    size_t bytes[2];
    (void)state;
    for (int64_t k = 0; k < EDGES; k++) {
        from[k] = 3 * k;
        to[k] = 3 * k + 1;
    }
    for (int round = 0; round < 2; round++) {
        size_t before = delta_bytes(&g->now->changed);
        OK(consm_graph_add_edges(g, (int64_t[]){29998}, (int64_t[]){17}, NULL, 1));
        bytes[round] = delta_bytes(&g->now->changed) - before;
        OK(consm_graph_remove_edges(g, (int64_t[]){29998}, (int64_t[]){17}, 1));
        if (round == 0)
            OK(consm_graph_add_edges(g, from, to, NULL, EDGES));
    }
    assert_true(bytes[0] > 0 && bytes[0] < 16 << 10);
    assert_true(bytes[1] < 16 << 10);
    consm_graph_free(g);
}

/* Replaced rows keep their memory until there is a new base, so memory decides, too. */
static void the_same_edge_leads_to_a_new_base(void **state)
{
    struct consm_graph *g = graph_of("csbm:nodes=200,features=2,degree=4");
    const struct consm_dataset *first = g->now->base;
    (void)state;
    g->aside = false;
    g->most_bytes = 100 << 10;
    for (int k = 0; k < 100; k++) {
        OK(consm_graph_add_edges(g, (int64_t[]){3}, (int64_t[]){190}, NULL, 1));
        OK(consm_graph_remove_edges(g, (int64_t[]){3}, (int64_t[]){190}, 1));
        assert_true(delta_bytes(&g->now->changed) <= (100 << 10));
    }
    assert_true(g->now->base != first);
    consm_graph_free(g);
}

/* While a base is being built, which may take long, writers go on. */
static void a_writer_does_not_wait_for_a_new_base(void **state)
{
    struct consm_graph *g = graph_of("csbm:nodes=200,features=2,degree=4");
    const struct consm_dataset *first = g->now->base;
    (void)state;
    g->most = 3;
    g->building = true; /* as if a thread were at it */
    for (int64_t k = 0; k < 90; k++)
        OK(consm_graph_add_edges(g, &k, (int64_t[]){k + 100}, NULL, 1));
    assert_true(g->now->changed.count == 180 && g->now->base == first);
    g->building = false;
    g->aside = false;
    OK(consm_graph_add_edges(g, (int64_t[]){0}, (int64_t[]){199}, NULL, 1));
    assert_true(g->now->changed.count == 0 && g->now->base != first);
    consm_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_stay_as_they_were),
        cmocka_unit_test(a_write_costs_what_it_changes),
        cmocka_unit_test(the_same_edge_leads_to_a_new_base),
        cmocka_unit_test(a_writer_does_not_wait_for_a_new_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
