/* The rows that matching trains on: who is within two steps, and that their numbers came along. */
#include "check.h"

#include "graph/csr.h"
#include "match/reach.h"

enum { NODES = 20, FEATURES = 3 };

/* A path 0 - 1 - … - 19 with node 10 labelled, X_ij = 10 i + j + 1 where j = i mod 3, else 0. */
struct scene {
    struct csr *graph, *sparse;
    float dense[NODES * FEATURES];
    int32_t label[NODES], train[2];
    struct match_data data;
};

static void scene_new(struct scene *s, int64_t labelled)
{
    int32_t from[NODES], to[NODES];
    *s = (struct scene){.train = {10, 3}};
    for (int32_t i = 0; i + 1 < NODES; i++) {
        from[i] = i;
        to[i] = i + 1;
    }
    for (int32_t i = 0; i < NODES; i++) {
        s->label[i] = i % 4;
        s->dense[i * FEATURES + i % FEATURES] = (float)(10 * i + i % FEATURES + 1);
    }
    OK(csr_from_edges(&s->graph, NODES, NODES, NODES - 1, from, to, NULL, CSR_UNDIRECTED, NULL));
    OK(csr_from_dense(&s->sparse, s->dense, NODES, FEATURES));
    s->data = (struct match_data){.nodes = NODES,
                                  .features = FEATURES,
                                  .classes = 4,
                                  .graph = s->graph,
                                  .label = s->label,
                                  .train = s->train,
                                  .labelled = labelled};
}

static void scene_free(struct scene *s)
{
    csr_free(s->graph);
    csr_free(s->sparse);
}

static void two_steps_and_no_more(void **state)
{
    struct scene s;
    struct reach r;
    (void)state;
    scene_new(&s, 1);
    for (int dense = 0; dense < 2; dense++) {
        s.data.sparse = dense ? NULL : s.sparse;
        s.data.dense = dense ? s.dense : NULL;
        OK(reach_new(&r, &s.data));
        assert_int_equal(r.count, 5);
        for (int32_t i = 8; i <= 12; i++) {
            int32_t at = r.place[i];
            assert_int_equal(at, i - 8);
            assert_int_equal(r.label[at], s.label[i]);
            const float *x = s.dense + i * FEATURES;
            if (dense)
                assert_memory_equal(r.dense + at * FEATURES, x, FEATURES * sizeof *x);
            else
                assert_true(r.sparse->val[r.sparse->start[at]] == x[i % FEATURES]);
        }
        assert_int_equal(dense ? 5 : r.sparse->rows, 5);
        reach_free(&r);
    }
    scene_free(&s);
}

/* Two labelled nodes reach ten of the twenty; four that reach all of them cost no copy. */
static void nearly_all_is_all(void **state)
{
    struct scene s;
    struct reach r;
    (void)state;
    scene_new(&s, 2);
    s.data.dense = s.dense;
    OK(reach_new(&r, &s.data));
    assert_int_equal(r.count, 10);
    assert_int_equal(r.place[10], 7);
    reach_free(&r);
    scene_free(&s);

    scene_new(&s, 2);
    int32_t middle[] = {2, 7, 12, 17};
    s.data.dense = s.dense;
    s.data.train = middle;
    s.data.labelled = 4;
    OK(reach_new(&r, &s.data));
    assert_int_equal(r.count, NODES);
    assert_ptr_equal(r.dense, s.dense);
    assert_ptr_equal(r.label, s.label);
    for (int32_t i = 0; i < NODES; i++)
        assert_int_equal(r.place[i], i);
    reach_free(&r);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_steps_and_no_more),
        cmocka_unit_test(nearly_all_is_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
