/* The rows that matching trains on: nodes within two steps and their data; mapping only these
 * between two steps equals mapping all. */
#include "programs.h"

#include "match/matcher_inside.h"
#include "models/model.h"
#include "program/internal.h"

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
            assert_int_equal(r.node[at], i);
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

/* Two labelled nodes reach ten of twenty; four that reach all of them cost no copy. */
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
    assert_null(r.node);
    for (int32_t i = 0; i < NODES; i++)
        assert_int_equal(r.place[i], i);
    reach_free(&r);
    scene_free(&s);
}

/* The parameters after some steps; all: every node is mapped between them. */
static void train(float *out, const struct scene *s, const char *transport, bool all)
{
    const struct model_def *model;
    struct backend *backend;
    struct edges *edges;
    struct matcher *m;
    struct config c;
    struct match_data data = s->data;
    const float *values;
    OK(model_find(&model, "consm"));
    model_defaults(model, &c);
    OK(config_set(&c, "profile", "authors"));
    OK(config_set(&c, "transport", transport));
    c.match_width = 8;
    c.match_pairs = 2;
    OK(edges_new(&edges, s->graph));
    data.edges = edges;
    OK(backend_open(&backend, NULL, 2));
    OK(matcher_new(&m, &data, &c, 4, backend));
    assert_int_equal(m->near != NULL, strcmp(transport, "sinkhorn") != 0);
    if (m->near)
        assert_ptr_equal(m->learner.train.program->source, data.sparse ? m->near : NULL);
    if (all) {
        program_free(m->near);
        m->near = NULL;
    }
    OK(matcher_prune(m, 0.8, NULL));
    OK(matcher_train(m, 9, NULL));
    OK(params_read(&values, m->learner.params, PLACE_VALUE));
    assert_true(m->learner.params->size <= 2048);
    for (int64_t i = 0; i < m->learner.params->count; i++) {
        const struct parameter *item = &m->learner.params->item[i];
        if (item->trained)
            memcpy(out + item->offset, values + item->offset,
                   (size_t)(item->rows * item->cols) * sizeof *out);
    }
    matcher_free(m);
    backend_close(backend);
    edges_free(edges);
}

static void mapping_those_in_reach_is_enough(void **state)
{
    static const char *const transports[] = {"nearest", "exact", "sinkhorn"};
    struct scene s;
    (void)state;
    scene_new(&s, 2);
    for (int dense = 0; dense < 2; dense++)
        for (int i = 0; i < 3; i++) {
            float found[2][2048] = {{0}};
            s.data.sparse = dense ? NULL : s.sparse;
            s.data.dense = dense ? s.dense : NULL;
            for (int all = 0; all < 2; all++)
                train(found[all], &s, transports[i], all);
            assert_memory_equal(found[0], found[1], sizeof *found);
        }
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_steps_and_no_more),
        cmocka_unit_test(nearly_all_is_all),
        cmocka_unit_test(mapping_those_in_reach_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
