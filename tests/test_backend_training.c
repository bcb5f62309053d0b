/* All of training on every backend: whole models train alike on all of them, losses and final
 * logits within rounding; every procedure gives the same bits on a backend whose memory the host
 * does not see; and changes between two runs (inputs, indices, matrices, labels, weights) reach
 * every backend. */
#include "far_backend.h"
#include "narrow.h"
#include "training.h"

#include <math.h>

/* ---- whole models ---- */

/* A plain build compares values over more epochs. */
enum { ALIKE_EPOCHS = UNDER_ASAN ? 10 : 50, PLAYED_EPOCHS = UNDER_ASAN ? 2 : 4, MOST_EPOCHS = 64 };

/* In test_models_card, which simulates the kernels for cards, only that backend is tested. */
extern consm_status card_open(struct backend **out, int threads) __attribute__((weak));

/* The simulation is slow. ConSM decides by numbers that rounding may flip: the reference of a node,
 * the edges that stay. */
static int64_t alike_epochs(const char *model)
{
    return card_open ? PLAYED_EPOCHS : strcmp(model, "consm") == 0 ? EPOCHS : ALIKE_EPOCHS;
}

struct history {
    int64_t epochs, wanted;
    double loss[MOST_EPOCHS];
    float *logit;
};

static bool remember(void *ctx, const struct progress *progress)
{
    struct history *h = ctx;
    if (progress->epoch > 0 && h->epochs < MOST_EPOCHS)
        h->loss[h->epochs++] = progress->loss;
    return false;
}

/* settings: "name value name value …" on top of the model's defaults */
static void configure(struct config *c, const char *settings)
{
    char text[256], *rest = text, *name, *value;
    snprintf(text, sizeof text, "%s", settings);
    while ((name = strtok_r(rest, " ", &rest)) && (value = strtok_r(rest, " ", &rest)))
        OK(config_set(c, name, value));
}

/* Closes the backend. */
static void train_on_backend(struct history *h, const struct scene *scene,
                             const struct model_def *model, const char *settings,
                             struct backend *backend)
{
    struct session *s;
    struct train_result result;
    const float *logits;
    size_t size = (size_t)(scene->problem.nodes * scene->problem.classes);
    struct train_options o = options_for(model, alike_epochs(model->name));
    *h = (struct history){0};
    o.config.backbone = BACKBONE_GCN; /* ConSM's: rounding must not choose between several */
    if (UNDER_ASAN && strcmp(model->name, "consm") == 0)
        narrow(&o);
    configure(&o.config, settings);
    h->wanted = o.config.epochs;
    o.progress = remember;
    o.progress_ctx = h;
    OK(session_new(&s, &scene->problem, &o, backend));
    OK(session_train(s, &result));
    OK(session_logits(&logits, s));
    OK(NEW(h->logit, size));
    memcpy(h->logit, logits, size * sizeof *logits);
    session_free(s);
    backend_close(backend);
}

static struct backend *opened(const char *name)
{
    struct backend *backend;
    OK(backend_open(&backend, name, 1));
    return backend;
}

static void scene_tiny(struct scene *s)
{
    scene_open(s, "csbm:nodes=60,classes=3,degree=4,features=7,signal=1.5,homophily=0.8,seed=4", 6);
}

static void compare(const char *model, const char *backend, const struct history *mine,
                    const struct history *expected, int64_t logits)
{
    assert_true(mine->epochs >= mine->wanted - 1);
    assert_int_equal(mine->epochs, expected->epochs);
    for (int64_t k = 0; k < mine->epochs; k++)
        if (!(fabs(mine->loss[k] - expected->loss[k]) <= 1e-4 * fmax(1, expected->loss[k])))
            fail_msg("%s on %s: loss %.9g in epoch %lld, expected %.9g", model, backend,
                     mine->loss[k], (long long)k + 1, expected->loss[k]);
    for (int64_t k = 0; k < logits; k++)
        assert_near(mine->logit[k], expected->logit[k], 2e-3);
}

static bool open_next(struct backend **out, int number)
{
    if (card_open && number == 0)
        OK(card_open(out, 1));
    else if (!card_open && backend_name(number))
        *out = opened(backend_name(number));
    else
        return false;
    return true;
}

/* One model on all backends, compared with the reference. */
static void train_alike(const struct scene *s, const struct model_def *model, const char *settings)
{
    struct history expected, mine;
    struct backend *backend;
    train_on_backend(&expected, s, model, settings, opened("reference"));
    for (int b = 0; open_next(&backend, b); b++) {
        const char *name = backend->kind->name;
        train_on_backend(&mine, s, model, settings, backend);
        compare(model->name, name, &mine, &expected, s->problem.nodes * s->problem.classes);
        mem_free(mine.logit);
    }
    mem_free(expected.logit);
}

static void models_train_alike(void **state)
{
    (void)state;
    struct scene s;
    scene_tiny(&s);
    /* These two are many programs: a simulated card takes a minute for them. */
    for (const struct model_def *const *m = model_list(); *m; m++)
        if (!card_open || (strcmp((*m)->name, "consm") != 0 && strcmp((*m)->name, "gam") != 0))
            train_alike(&s, *m, "");
    scene_close(&s);
}

/* Steps over a matrix large enough for a card's threads to have several rows and entries each, and
 * for rows with several threads. */
static void long_walks_train_alike(void **state)
{
    (void)state;
    struct scene s;
    const struct model_def *model;
    OK(model_find(&model, "appnp"));
    scene_open(&s, "csbm:nodes=1500,classes=3,degree=6,features=4,signal=1.5,homophily=0.8,seed=4",
               6);
    train_alike(&s, model, "hidden 4 hops 4");
    scene_close(&s);
}

/* Deep attention over long rows (more than 64 entries): a card cuts them into pieces, whose sums
 * are kept in scratch. Heads have 16, 32, 8 and 6 columns; a card reads 4 floats at a time, or 2
 * for heads of 6. Eight heads of 16 fill a warp; of 32 they take two blocks. */
static void deep_attention_trains_alike(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "layers 5 hidden 128 norm layer dropout 0.2 attention_dropout 0",
        "layers 5 hidden 128 norm batch dropout 0.2 attention_dropout 0",
        "layers 3 hidden 256 norm layer dropout 0 attention_dropout 0.3",
        "layers 3 hidden 64 norm batch dropout 0.2 attention_dropout 0",
        "layers 3 hidden 48 norm none dropout 0.2 attention_dropout 0.6",
    };
    struct scene s;
    const struct model_def *model;
    char settings[200];
    OK(model_find(&model, "gat"));
    scene_open(&s, "csbm:nodes=100,classes=3,degree=70,features=5,signal=1.5,homophily=0.4,seed=4",
               6);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        snprintf(settings, sizeof settings,
                 "heads 8 residual yes lr 0.003 weight_decay 0 epochs %d %s", PLAYED_EPOCHS,
                 ways[k]);
        train_alike(&s, model, settings);
    }
    scene_close(&s);
}

/* A card maps to references within the matching step, other backends between two steps. */
static void matching_inside_a_step_trains_alike(void **state)
{
    (void)state;
    struct scene s;
    const struct model_def *model;
    scene_tiny(&s);
    OK(model_find(&model, "consm"));
    train_alike(&s, model,
                "profile authors zeta 0.7 match_steps 3 gnn_steps 3 rounds 2 match_layers 1");
    train_alike(
        &s, model,
        "profile authors zeta 0.7 match_steps 3 gnn_steps 3 rounds 2 match_layers 2 pool sum");
    scene_close(&s);
}

/* Regularised transport, within a step and between two, in all its uses: a card has kernels for it
 * and for the pooling of all nodes; other backends leave both to the host. */
static void transport_trains_alike(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "match_refresh 1",
        "match_refresh 2 prune_by references match_join squared",
        "match_refresh 1 map linear",
        "match_refresh 2 map linear transport nearest",
        "match_refresh 2 pool max two_hop_cap 9",
        "match_refresh 1 pool sum two_hop_cap 9 transport nearest match_join squared",
    };
    struct scene s;
    const struct model_def *model;
    char settings[200];
    scene_tiny(&s);
    OK(model_find(&model, "consm"));
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        snprintf(settings, sizeof settings, "zeta 0.7 match_steps 3 gnn_steps 3 rounds 2 %s",
                 ways[k]);
        train_alike(&s, model, settings);
    }
    scene_close(&s);
}

/* ---- memory that the host cannot reach ---- */

static void train_both(const struct scene *s, const char *name, const char *settings)
{
    const struct model_def *model;
    struct far *far = far_open(2);
    struct outcome near_out, far_out;
    char what[300];
    OK(model_find(&model, name));
    struct train_options o = options_for(model, EPOCHS);
    narrow(&o);
    configure(&o.config, "match_steps 3 match_refresh 2 grow 3");
    configure(&o.config, settings);
    snprintf(what, sizeof what, "%s %s", name, settings);
    train_on(&near_out, &s->problem, &o, 2);
    train_with(&far_out, &s->problem, &o, &far->base);
    assert_true(far->runs > 0);
    assert_same(&near_out, &far_out, what);
    outcome_free(&near_out);
    outcome_free(&far_out);
    backend_close(&far->base);
}

/* The same bits if every number must be sent: no code writes into a backend's memory unnoticed. */
static void training_sends_what_it_changes(void **state)
{
    (void)state;
    static const char *const ways[][2] = {
        {"gcn", "class_weights balanced normalize_features row"},
        {"gcn", "normalize_features standard patience 2"},
        {"grand", "normalize_features scale feature_gate yes norm batch"},
        {"gcn", "ties loss epochs 40 patience 9"},
        {"gcn", "metric macro-f1"},
        {"gcn", "propagation ngm distance squared"},
        {"gcn", "propagation p-reg norm batch residual yes"},
        {"gcn", "propagation gam"},
        {"gat", "norm layer input_dropout 0.3"},
        {"ptdnet", "rank 3 activation relu"},
        {"consm", "backbone gcn profile paper match_steps 3"},
        {"consm", "backbone gcn profile authors match_steps 3"},
        {"consm", "backbone gcn pool max match_layers 2 prune_by references"},
        {"consm", "backbone gcn map linear messages weighted"},
        {"consm", "backbone fagcn messages signed prune_by coefficients"},
        {"consm", "backbone mlp transport exact match_update ego"},
        {"consm", "backbone gcn match_update pair match_join squared"},
    };
    enum { WAYS = sizeof ways / sizeof *ways };
    struct scene s;
    scene_small(&s);
    for (const struct model_def *const *m = model_list(); *m; m++)
        train_both(&s, (*m)->name, "");
    for (size_t k = 0; k < WAYS; k++)
        train_both(&s, ways[k][0], ways[k][1]);
    for (int64_t i = 0; i < s.data->nodes; i++) /* one class: half the pairs weigh nothing */
        s.role[i] = s.role[i] == SPLIT_TRAIN && s.data->label[i] ? SPLIT_TEST : s.role[i];
    train_both(&s, ways[WAYS - 1][0], ways[WAYS - 1][1]);
    for (int64_t i = 0; i < s.data->nodes; i++) /* no validation nodes: every epoch is the best */
        s.role[i] = s.role[i] == SPLIT_VAL ? SPLIT_TEST : s.role[i];
    train_both(&s, "gcn", "");
    scene_close(&s);
}

/* ---- what changes between runs ---- */

enum { N = 6, F = 3, PICKED = 4 };

/* A program that reads everything that may change. */
struct reader {
    struct backend *backend;
    struct csr *matrix;
    struct index *picked;
    float x[N * F], other[N * F], weight[PICKED];
    int32_t label[N];
    struct params *params;
    struct program *p;
    node bound, loss;
};

static void reader_things(struct reader *r, struct backend *backend)
{
    static const int32_t from[] = {0, 1, 2, 3, 4}, to[] = {1, 2, 3, 4, 0}, picked[] = {0, 2, 3, 5};
    *r = (struct reader){.backend = backend};
    for (int k = 0; k < N * F; k++) {
        r->x[k] = (float)(k % 5) - 1.5f;
        r->other[k] = (float)(k % 7) - 2.5f;
    }
    for (int k = 0; k < PICKED; k++)
        r->weight[k] = 1 + (float)k;
    for (int i = 0; i < N; i++)
        r->label[i] = i % F;
    OK(csr_from_edges(&r->matrix, N, N, 5, from, to, (float[]){1, 2, 3, 4, 5}, CSR_DIRECTED, NULL));
    r->matrix->changes = true;
    OK(csr_transpose(r->matrix));
    OK(index_new(&r->picked, PICKED, N));
    OK(index_set(r->picked, picked));
}

static void reader_record(struct reader *r)
{
    OK(params_new(&r->params));
    OK(program_new(&r->p, r->params, true));
    r->bound = input(r->p, r->x, N, F);
    node w = param(r->p, "w", F, F, INIT_ONE);
    node z = add(r->p, spmm(r->p, r->matrix, r->bound), input(r->p, r->other, N, F));
    node loss = nll(r->p, matmul(r->p, tanh_(r->p, z), w), r->picked, r->label, r->weight);
    loss = add(r->p, loss, sum(r->p, matmul(r->p, gather(r->p, z, r->picked), w)));
    r->loss = program_minimize(r->p, loss);
    OK(program_compile(r->p, r->backend));
    float *values = param_values(r->params);
    for (int k = 0; k < F * F; k++)
        values[k] = 0.1f * (float)(k * k % 7) - 0.2f;
}

static void reader_forget(struct reader *r)
{
    program_free(r->p);
    params_free(r->params);
}

static double reader_run(struct reader *r)
{
    OK(program_run(r->p, &(struct step){1, 0}));
    return (double)value_of(r->p, r->loss)[0];
}

/* The changes, one after the other. */
enum { CHANGES = 7 };
static void reader_change(struct reader *r, int which, float moved[N * F])
{
    static const int32_t picked[] = {1, 1, 4, 2};
    switch (which) {
    case 0: OK(index_set(r->picked, picked)); break;
    case 1: /* every edge moves to the next node */
        for (int64_t k = 0; k < r->matrix->nnz; k++)
            r->matrix->col[k] = (r->matrix->col[k] + 1) % N;
        csr_drop_transpose(r->matrix);
        OK(csr_transpose(r->matrix));
        csr_touch(r->matrix);
        break;
    case 2:
        for (int64_t k = 0; k < r->matrix->nnz; k++)
            r->matrix->val[k] += 1;
        csr_drop_transpose(r->matrix);
        OK(csr_transpose(r->matrix));
        csr_touch(r->matrix);
        break;
    case 3:
        r->other[7] = 9;
        program_touch(r->p, r->other);
        break;
    case 4:
        r->label[1] = 2;
        program_touch(r->p, r->label);
        break;
    case 5:
        r->weight[2] = 0.25f;
        program_touch(r->p, r->weight);
        break;
    default:
        for (int k = 0; k < N * F; k++)
            moved[k] = 1 - 0.1f * (float)k;
        program_bind(r->p, r->bound, moved);
    }
}

/* After each change the program gives the same result as one compiled after it. */
static void changes_reach_the_backend(void **state)
{
    (void)state;
    for (int b = 0; backend_name(b); b++) {
        struct backend *backend;
        struct reader r, fresh;
        float moved[N * F];
        OK(backend_open(&backend, backend_name(b), 1));
        reader_things(&r, backend);
        reader_record(&r);
        double before = reader_run(&r);
        for (int which = 0; which < CHANGES; which++) {
            reader_change(&r, which, moved);
            double after = reader_run(&r);
            fresh = r;
            reader_record(&fresh);
            if (which == CHANGES - 1)
                program_bind(fresh.p, fresh.bound, moved);
            assert_near(after, reader_run(&fresh), 1e-6);
            if (fabs(after - before) < 1e-4)
                fail_msg("%s: change %d shows nowhere", backend_name(b), which);
            for (int k = 0; k < F * F; k++)
                assert_near(param_grads(r.params)[k], param_grads(fresh.params)[k], 1e-6);
            reader_forget(&fresh);
            before = after;
        }
        reader_forget(&r);
        csr_free(r.matrix);
        index_free(r.picked);
        backend_close(backend);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_train_alike),
        cmocka_unit_test(long_walks_train_alike),
        cmocka_unit_test(deep_attention_trains_alike),
        cmocka_unit_test(matching_inside_a_step_trains_alike),
        cmocka_unit_test(transport_trains_alike),
        cmocka_unit_test(training_sends_what_it_changes),
        cmocka_unit_test(changes_reach_the_backend),
    };
    const struct CMUnitTest on_card[] = {tests[0], tests[1], tests[2], tests[3], tests[4]};
    return card_open ? cmocka_run_group_tests(on_card, NULL, NULL)
                     : cmocka_run_group_tests(tests, NULL, NULL);
}
