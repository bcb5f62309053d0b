/* Every rewrite of a program against the recorded program: nothing fused, restricted, written out,
 * reused or packed (all values are kept), run by the plain loops of the reference backend. If the
 * other side were also rewritten, both could share a fault. */
#include "programs.h"

#include "base/rng.h"
#include "models/model.h"
#include "nn/layers.h"
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

/* program_compile() without its rewrites. */
static void compile_as_recorded(struct program *p, struct backend *backend)
{
    p->backend = backend;
    for (node x = 0; x < p->count; x++)
        program_keep(p, x);
    OK(program_differentiate(p));
    OK(program_plan(p));
    OK(program_emit(p));
    OK(backend->kind->compile(backend, &p->ready, &p->plan));
    OK(program_join(p));
    p->compiled = true;
}

/* Loss and gradients, the caller's to free; size of them. */
struct ran {
    double loss;
    float *grad;
    int64_t size;
    int fused, attends; /* operations that only a rewrite records, and those of attention */
};

static int count_fused(const struct program *p, bool attention)
{
    int found = 0;
    for (node x = 0; x < p->count; x++)
        found += p->node[x].live &&
                 (p->node[x].op == OP_ATTEND ||
                  (!attention && (p->node[x].op == OP_SPMM_FUSED || p->node[x].op == OP_SPMM_ADD ||
                                  p->node[x].op == OP_BIAS_RELU_DROPOUT)));
    return found;
}

typedef node (*record_fn)(struct program *p, const struct scene *s, const void *how);

static void run_recorded(struct ran *out, const struct scene *s, record_fn record, const void *how,
                         bool as_recorded)
{
    struct params *params;
    struct program *p;
    struct backend *backend;
    struct step step = {1, 0};
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    OK(backend_open(&backend, as_recorded ? "reference" : NULL, 1));
    node logits = record(p, s, how), value = nll(p, logits, s->rows, s->label, NULL);
    for (node x = 0; x < p->count; x++)
        if (p->node[x].op == OP_DROPOUT && p->node[x].rows == NODES)
            program_number(p, x, s->number);
    program_keep(p, value);
    program_minimize(p, value);
    if (as_recorded)
        compile_as_recorded(p, backend);
    else
        OK(program_compile(p, backend));
    OK(params_init(params, 7));
    OK(program_run(p, &step));
    *out = (struct ran){.loss = (double)value_of(p, value)[0], .size = params->size};
    out->fused = count_fused(p, false);
    out->attends = count_fused(p, true);
    out->grad = mem_alloc((size_t)params->size, sizeof *out->grad);
    memcpy(out->grad, param_grads(params), (size_t)params->size * sizeof *out->grad);
    program_free(p);
    params_free(params);
    backend_close(backend);
}

static void compare(const struct scene *s, record_fn record, const void *how, const char *what)
{
    struct ran plain, rewritten;
    run_recorded(&plain, s, record, how, true);
    run_recorded(&rewritten, s, record, how, false);
    assert_int_equal(plain.size, rewritten.size);
    assert_int_equal(plain.fused, 0);
    if (rewritten.fused ==
        0) /* every program here has something to fuse, otherwise it shows nothing */
        fail_msg("%s: nothing was fused", what);
    if ((strncmp(what, "gat", 3) == 0 || strncmp(what, "fagcn", 5) == 0) && rewritten.attends == 0)
        fail_msg("%s: attention was not fused", what);
    if (!(fabs(plain.loss - rewritten.loss) <= 2e-5 * fmax(1, fabs(plain.loss))))
        fail_msg("%s: loss %.9g as recorded, %.9g rewritten", what, plain.loss, rewritten.loss);
    double largest = 1e-3;
    for (int64_t k = 0; k < plain.size; k++)
        largest = fabs((double)plain.grad[k]) > largest ? fabs((double)plain.grad[k]) : largest;
    for (int64_t k = 0; k < plain.size; k++)
        if (!(fabs((double)plain.grad[k] - (double)rewritten.grad[k]) <= 1e-4 * largest))
            fail_msg("%s: gradient %lld is %.9g as recorded, %.9g rewritten", what, (long long)k,
                     (double)plain.grad[k], (double)rewritten.grad[k]);
    mem_free(plain.grad);
    mem_free(rewritten.grad);
}

/* ---- small programs ------------------------------------------------------ */

/* a·x + b·y with a sparse product on either side, after a layer with parameters. */
static node record_axpby(struct program *p, const struct scene *s, const void *how)
{
    const int side = *(const int *)how;
    const struct csr *adj = views_get(s->views, VIEW_GCN);
    assert_non_null(adj);
    node x = input(p, s->x, NODES, FEATURES);
    node h = linear(p, "h", x, CLASSES), other = linear(p, "o", x, CLASSES);
    node product = spmm(p, adj, h);
    return side ? axpby(p, 0.3f, other, -1.7f, product) : axpby(p, 0.3f, product, -1.7f, other);
}

static void scaled_sums(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    for (int side = 0; side < 2; side++)
        compare(&s, record_axpby, &side, side ? "a·y + b·S·h" : "a·S·h + b·y");
    scene_close(&s);
}

/* ---- models -------------------------------------------------------------- */

struct how {
    const struct model_def *model;
    struct config config;
    bool sparse;
};

static node record_model(struct program *p, const struct scene *s, const void *ctx)
{
    const struct how *how = ctx;
    struct inputs in = {.x = how->sparse ? sparse(p, s->sparse) : input(p, s->x, NODES, FEATURES),
                        .nodes = NODES,
                        .features = FEATURES,
                        .classes = CLASSES,
                        .views = s->views};
    return how->model->build(p, &in, &how->config);
}

static void every_model(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    for (const struct model_def *const *m = model_list(); *m; m++) {
        if (strcmp((*m)->name, "consm") == 0)
            continue; /* its build is its backbone's */
        for (int variant = 0; variant < 4; variant++) {
            struct how how = {.model = *m, .sparse = variant % 2};
            char what[80];
            model_defaults(*m, &how.config);
            how.config.hidden = 8;
            how.config.heads = 2;
            how.config.attention_dropout = how.config.edge_dropout = 0;
            how.config.layers = variant < 2 ? 2 : 3;
            snprintf(what, sizeof what, "%s, %d layers, %s features", (*m)->name,
                     variant < 2 ? 2 : 3, variant % 2 ? "sparse" : "dense");
            compare(&s, record_model, &how, what);
        }
    }
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaled_sums),
        cmocka_unit_test(every_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
