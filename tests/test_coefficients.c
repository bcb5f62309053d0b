/*
 * Edge coefficients: GAT, FAGCN and PTDNet against reference values with given parameters, ConSM
 * and GAM after a short training, and models that have none. THREADED
 */
#include <math.h>

#include "reference_scene.h"

#include "app/prepare.h"
#include "data/generate/generate.h"
#include "data/split.h"
#include "train/coefficients.h"

/* The coefficients of one entry, through a session whose parameters are the entry's. */
static float *coefficients_of(struct scene *s, const struct model_def *model, const json_t *entry,
                              struct edges **edges)
{
    struct session *session;
    uint8_t role[24] = {0};
    struct problem problem = {.nodes = s->reference.nodes,
                              .features = s->reference.features,
                              .classes = (int32_t)s->reference.classes,
                              .graph = s->graph,
                              .sparse = s->x,
                              .label = s->reference.label,
                              .role = role,
                              .views = s->views};
    struct train_options options = {.model = model, .config = entry_config(model, entry)};
    float *w;
    for (int64_t k = 0; k < s->reference.labelled; k++)
        role[s->reference.train[k]] = SPLIT_TRAIN;
    OK(csr_transpose(s->x));
    OK(session_new(&session, &problem, &options, s->backend));
    set_parameters(session_params(session), entry);
    OK(edges_new(edges, s->graph));
    OK(NEW(w, (*edges)->count));
    OK(session_coefficients(session, w, *edges));
    session_free(session);
    return w;
}

/* The file has one number per directed edge, sorted by row and column: the order of the matrix. */
static void entry_agrees(const struct model_def *model, const json_t *entry)
{
    struct scene s;
    struct edges *edges;
    scene_open(&s, NULL);
    float *w = coefficients_of(&s, model, entry, &edges);
    struct ref_tensor expected = ref_named(entry, "outputs", "edge_coefficients");
    assert_int_equal(expected.cols, s.graph->nnz);
    for (int64_t e = 0; e < edges->count; e++) {
        int64_t there = csr_find(s.graph, edges->left[e], edges->right[e]);
        int64_t back = csr_find(s.graph, edges->right[e], edges->left[e]);
        assert_near(w[e], (expected.value[there] + expected.value[back]) / 2, 1e-5);
    }
    mem_free(expected.value);
    mem_free(w);
    edges_free(edges);
    scene_close(&s);
}

static void coefficients_equal_the_reference(void **state)
{
    (void)state;
    static const char *const names[] = {"gat", "fagcn", "ptdnet"};
    for (size_t i = 0; i < 3; i++) {
        const struct model_def *model;
        json_t *root = ref_open(names[i]), *entries = ref_get(root, "entries");
        OK(model_find(&model, names[i]));
        for (size_t k = 0; k < json_array_size(entries); k++)
            entry_agrees(model, json_array_get(entries, k));
        json_decref(root);
    }
}

/* Trains a model briefly on a generated graph and reads its coefficients. */
static consm_status ask(const char *name, float *low, float *high)
{
    struct dataset *data;
    struct prepared prepared;
    struct split_options split = split_defaults();
    struct backend *backend;
    struct session *session;
    struct train_options options = {.seed = 3};
    struct train_result result;
    struct edges *edges;
    uint8_t role[120];
    float *w;
    split.per_class = 8;
    OK(generate_named(&data, "csbm:nodes=120,classes=3,degree=4,features=12,seed=2"));
    OK(prepare(&prepared, data));
    OK(split_make(role, data, "random", 1, &split));
    struct problem problem = prepare_problem(&prepared, role);
    OK(model_find(&options.model, name));
    model_defaults(options.model, &options.config);
    options.config.epochs = options.config.warmup = options.config.gnn_steps = 4;
    options.config.rounds = 2;
    options.config.match_steps = 3;
    OK(backend_open(&backend, NULL, REF_THREADS));
    OK(session_new(&session, &problem, &options, backend));
    OK(session_train(session, &result));
    OK(edges_new(&edges, prepared.graph));
    OK(NEW(w, edges->count));
    consm_status st = session_coefficients(session, w, edges);
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t e = 0; st == CONSM_OK && e < edges->count; e++) {
        assert_true(isfinite(w[e]));
        *low = fminf(*low, w[e]);
        *high = fmaxf(*high, w[e]);
    }
    mem_free(w);
    edges_free(edges);
    session_free(session);
    backend_close(backend);
    prepare_free(&prepared);
    dataset_free(data);
    return st;
}

static void trained_models_answer(void **state)
{
    (void)state;
    static const char *const names[] = {"gam", "consm", "gat", "fagcn", "ptdnet"};
    float low, high;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OK(ask(names[i], &low, &high));
        assert_true(low < high);
    }
    OK(ask("gam", &low, &high));
    assert_true(low >= 0 && high <= 1);
    FAILS(ask("mlp", &low, &high), CONSM_EINVAL, "mlp has no edge coefficients");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_equal_the_reference),
        cmocka_unit_test(trained_models_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
