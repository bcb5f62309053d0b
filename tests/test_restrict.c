/* Computing only the receptive field changes neither loss nor gradients, for every model, with
 * dropout if rows keep their numbers; nor does writing out a walk. */
#include "programs.h"

#include "base/rng.h"
#include "models/model.h"
#include "program/internal.h"
#include <math.h>

enum { NODES = 300, FEATURES = 20, CLASSES = 3, LABELLED = 4 };

struct scene {
    struct csr *graph, *sparse;
    struct views *views;
    float x[NODES * FEATURES];
    int32_t label[NODES];
    struct index *rows;
    int64_t number[NODES]; /* 0, 1, …: a restricted row draws what it draws in the whole */
};

static void scene_open(struct scene *s)
{
    struct rng r;
    int32_t from[NODES], to[NODES], labelled[LABELLED] = {3, 50, 120, 299};
    rng_init(&r, 1, 1);
    for (int i = 0; i < NODES; i++) {
        from[i] = (int32_t)rng_below(&r, NODES);
        to[i] = (int32_t)rng_below(&r, NODES);
        s->label[i] = i % CLASSES;
        s->number[i] = i;
    }
    for (int k = 0; k < NODES * FEATURES; k++)
        s->x[k] = rng_u32(&r) % 3 ? 0 : (float)rng_uniform(&r);
    OK(csr_from_edges(&s->graph, NODES, NODES, NODES, from, to, NULL,
                      CSR_UNDIRECTED | CSR_DROP_LOOPS, NULL));
    OK(csr_from_dense(&s->sparse, s->x, NODES, FEATURES));
    OK(views_new(&s->views, s->graph));
    OK(index_new(&s->rows, LABELLED, NODES));
    OK(index_set(s->rows, labelled));
    s->rows->fixed = true;
}

static void scene_close(struct scene *s)
{
    views_free(s->views);
    csr_free(s->graph);
    csr_free(s->sparse);
    index_free(s->rows);
}

static struct inputs inputs_of(struct program *p, const struct scene *s, bool use_sparse)
{
    return (struct inputs){.x = use_sparse ? sparse(p, s->sparse) : input(p, s->x, NODES, FEATURES),
                           .nodes = NODES,
                           .features = FEATURES,
                           .classes = CLASSES,
                           .views = s->views};
}

/* Loss and gradients of a model; keeping the logits requires all rows. Returns the computed rows.
 */
static int64_t run_model(float **grad, float *loss, int64_t *size, const struct scene *s,
                         const struct model_def *model, const struct config *c, bool all,
                         bool use_sparse)
{
    struct params *params;
    struct program *p;
    struct backend *backend;
    struct step step = {1, 0};
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    OK(backend_open(&backend, NULL, 1));
    struct inputs in = inputs_of(p, s, use_sparse);
    node logits = model->build(p, &in, c), value = nll(p, logits, s->rows, s->label, NULL);
    for (node x = 0; x < p->count; x++)
        if (p->node[x].op == OP_DROPOUT && p->node[x].rows == NODES)
            program_number(p, x, s->number);
    if (all)
        program_keep(p, logits);
    program_minimize(p, value);
    OK(program_compile(p, backend));
    OK(params_init(params, 7));
    OK(program_run(p, &step));
    *loss = value_of(p, value)[0];
    *size = params->size;
    *grad = mem_alloc((size_t)params->size, sizeof **grad);
    memcpy(*grad, param_grads(params), (size_t)params->size * sizeof **grad);
    int64_t rows = 0;
    for (node x = 0; x < p->count; x++)
        rows += p->node[x].live && p->node[x].place == PLACE_ARENA ? p->node[x].rows : 0;
    program_free(p);
    params_free(params);
    backend_close(backend);
    return rows;
}

static void gradients_stay_the_same(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    for (const struct model_def *const *m = model_list(); *m; m++) {
        struct config c;
        model_defaults(*m, &c);
        if (strcmp((*m)->name, "consm") == 0)
            continue; /* its build is its backbone's */
        c.hidden = 8;
        c.heads = 2;
        c.attention_dropout = c.edge_dropout = 0;
        for (int variant = 0; variant < 4; variant++) {
            float *some, *all, loss_some, loss_all;
            int64_t size;
            c.layers = variant < 2 ? 2 : 3;
            run_model(&all, &loss_all, &size, &s, *m, &c, true, variant % 2);
            run_model(&some, &loss_some, &size, &s, *m, &c, false, variant % 2);
            assert_near((double)loss_some, (double)loss_all, 1e-6);
            for (int64_t k = 0; k < size; k++)
                assert_near((double)some[k], (double)all[k], 2e-6);
            mem_free(some);
            mem_free(all);
        }
    }
    scene_close(&s);
}

static void fewer_rows_are_computed(void **state)
{
    (void)state;
    struct scene s;
    const struct model_def *model;
    struct config c;
    float *grad, loss;
    int64_t size;
    scene_open(&s);
    OK(model_find(&model, "mlp"));
    model_defaults(model, &c);
    int64_t all = run_model(&grad, &loss, &size, &s, model, &c, true, true);
    mem_free(grad);
    int64_t some = run_model(&grad, &loss, &size, &s, model, &c, false, true);
    mem_free(grad);
    assert_true(some * 5 < all);
    scene_close(&s);
}

/* The logits of the labelled rows, from a program that keeps all or nothing else. Returns how many
 * numbers it computes. */
static int64_t gather_logits(float out[LABELLED * CLASSES], const struct scene *s,
                             const struct model_def *model, const struct config *c, bool all)
{
    struct params *params;
    struct program *p;
    struct backend *backend;
    OK(params_new(&params));
    OK(program_new(&p, params, false));
    OK(backend_open(&backend, NULL, 1));
    struct inputs in = inputs_of(p, s, false);
    node logits = model->build(p, &in, c), some = gather(p, logits, s->rows);
    program_keep(p, all ? logits : some);
    OK(program_compile(p, backend));
    OK(params_init(params, 7));
    OK(program_run(p, &(struct step){1, 0}));
    const float *value = value_of(p, all ? logits : some);
    for (int k = 0; k < LABELLED; k++)
        memcpy(out + k * CLASSES, value + (all ? s->rows->row[k] : k) * CLASSES,
               CLASSES * sizeof *out);
    int64_t elements = program_elements(p);
    program_free(p);
    params_free(params);
    backend_close(backend);
    return elements;
}

/* A validation program says what the whole evaluation says, to the bit. */
static void gathered_logits_stay_the_same(void **state)
{
    (void)state;
    struct scene s;
    int smaller = 0;
    scene_open(&s);
    for (const struct model_def *const *m = model_list(); *m; m++) {
        float some[LABELLED * CLASSES], all[LABELLED * CLASSES];
        struct config c;
        model_defaults(*m, &c);
        if (strcmp((*m)->name, "consm") == 0 || !(*m)->build)
            continue;
        c.hidden = 8;
        c.heads = 2;
        int64_t whole = gather_logits(all, &s, *m, &c, true);
        smaller += gather_logits(some, &s, *m, &c, false) < whole / 2;
        assert_memory_equal(some, all, sizeof all);
    }
    assert_true(smaller >= 6);
    scene_close(&s);
}

/* ---- matrices that change ---- */

/* The operations that walk a matrix to the features times w, and a product with constant features,
 * which is computed once if the matrix is constant. */
enum walk { WALK_PLAIN, WALK_FUSED, WALK_ADD, WALK_CONSTANT, WALKS };

static node walk_record(struct program *p, enum walk how, const struct scene *s)
{
    node x = input(p, s->x, NODES, FEATURES);
    node w = param(p, "w", FEATURES, CLASSES, INIT_GLOROT), z = spmm(p, s->graph, matmul(p, x, w));
    if (how == WALK_CONSTANT)
        return matmul(p, spmm(p, s->graph, constant(p, s->x, NODES, FEATURES)), w);
    if (how == WALK_FUSED)
        return scale(p, 1, relu(p, add_bias(p, z, param(p, "b", 1, CLASSES, INIT_ONE))));
    if (how == WALK_ADD)
        return scale(p, 1, axpby(p, 0.5f, z, 0.25f, slice(p, x, 0, CLASSES)));
    return scale(p, 1, z);
}

/* Row i of the same by definition, over the entries as they are now. */
static void walk_expect(double z[CLASSES], enum walk how, const struct scene *s, int64_t i,
                        const float *w)
{
    const struct csr *a = s->graph;
    for (int c = 0; c < CLASSES; c++) {
        double product = 0;
        for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
            for (int f = 0; f < FEATURES; f++)
                product += (double)s->x[a->col[k] * FEATURES + f] * w[f * CLASSES + c];
        z[c] = how == WALK_FUSED ? fmax(product + 1, 0)
               : how == WALK_ADD ? 0.5 * product + 0.25 * s->x[i * FEATURES + c]
                                 : product;
    }
}

static double walk_loss(enum walk how, const struct scene *s, const float *w)
{
    double loss = 0;
    for (int64_t q = 0; q < LABELLED; q++) {
        double z[CLASSES], total = 0;
        walk_expect(z, how, s, s->rows->row[q], w);
        for (int c = 0; c < CLASSES; c++)
            total += exp(z[c]);
        loss += (log(total) - z[s->label[s->rows->row[q]]]) / LABELLED;
    }
    return loss;
}

/* Entries seen at compile time must not replace those of a run. */
static void changing_matrices_stay_whole(void **state)
{
    (void)state;
    for (int how = 0; how < WALKS; how++) {
        struct scene s;
        struct params *params;
        struct program *p;
        struct backend *backend;
        scene_open(&s);
        struct csr *a = s.graph;
        a->changes = true;
        OK(csr_transpose(a));
        OK(params_new(&params));
        OK(program_new(&p, params, true));
        OK(backend_open(&backend, NULL, 1));
        node logits = walk_record(p, (enum walk)how, &s);
        node loss = program_minimize(p, nll(p, logits, s.rows, s.label, NULL));
        OK(program_compile(p, backend));
        OK(params_init(params, 7));
        const float *w = param_values(params) + params->item[params_find(params, "w")].offset;
        double first = walk_loss((enum walk)how, &s, w);
        for (int turn = 0; turn < 2; turn++) {
            for (int64_t k = 0; turn && k < a->nnz; k++)
                a->col[k] = (int32_t)(NODES - 1 - a->col[k]);
            csr_touch(a);
            OK(program_run(p, &(struct step){1, 0}));
            double expected = walk_loss((enum walk)how, &s, w);
            assert_near(value_of(p, loss)[0], expected, 1e-5);
            assert_true(turn == 0 || fabs(first - expected) > 1e-3);
        }
        program_free(p);
        params_free(params);
        backend_close(backend);
        scene_close(&s);
    }
}

/* ---- walks that are written out ---- */

enum { EPOCHS = 5 };

/* Losses of some epochs of APPNP; returns how many sparse steps every one of them takes. */
static int train_walk(double loss[EPOCHS], const struct scene *s, bool all)
{
    const struct model_def *model;
    struct params *params;
    struct program *p;
    struct backend *backend;
    struct config c;
    struct adam_options adam = {0.1, 0.9, 0.999, 1e-8, 0};
    int steps = 0;
    OK(model_find(&model, "appnp"));
    model_defaults(model, &c);
    c.dropout = c.input_dropout = 0;
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    OK(backend_open(&backend, NULL, 2));
    struct inputs in = inputs_of(p, s, false);
    node logits = model->build(p, &in, &c);
    node value = program_minimize(p, nll(p, logits, s->rows, s->label, NULL));
    if (all)
        program_keep(p, logits);
    program_optimize(p, &adam);
    OK(program_compile(p, backend));
    OK(params_init(params, 7));
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        OK(program_run(p, &(struct step){1, (uint64_t)epoch}));
        loss[epoch] = (double)value_of(p, value)[0];
    }
    for (node x = 0; x < p->count; x++)
        steps += p->node[x].live && p->node[x].op == OP_SPMM_ADD && !p->node[x].constant;
    program_free(p);
    params_free(params);
    backend_close(backend);
    return steps;
}

/* A fixed walk that the loss reads at four rows becomes a matrix, which the first run computes and
 * later runs reuse; one with another reader stays a walk. */
static void walks_read_at_few_rows_are_written_out(void **state)
{
    (void)state;
    struct scene s;
    double walked[EPOCHS], written[EPOCHS];
    scene_open(&s);
    assert_true(train_walk(walked, &s, true) >= 20);
    assert_int_equal(train_walk(written, &s, false), 0);
    for (int epoch = 0; epoch < EPOCHS; epoch++)
        assert_near(written[epoch], walked[epoch], 1e-5);
    assert_true(walked[EPOCHS - 1] < walked[0] - 0.05);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_stay_the_same),
        cmocka_unit_test(fewer_rows_are_computed),
        cmocka_unit_test(gathered_logits_stay_the_same),
        cmocka_unit_test(changing_matrices_stay_whole),
        cmocka_unit_test(walks_read_at_few_rows_are_written_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
