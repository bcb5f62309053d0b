/* Every operation's gradient against central differences, on shapes that include empty rows, a
 * single node, isolated nodes and a single class, and every operation that walks a pattern on every
 * view of every kind of graph. Threads: two, so that shares are exercised too. THREADED */
#include "ops_cases.h"

#include <math.h>

/* A case recorded and compiled: the loss is a fixed random mix of its values. */
struct trial {
    struct world w;
    struct params *params;
    struct program *p;
    node loss;
    float *mix;
};

static void trial_make(struct trial *t, const struct op_case *c, struct spot at,
                       struct backend *backend)
{
    struct rng r;
    rng_init(&r, 8, 0);
    world_make(&t->w, at);
    OK(params_new(&t->params));
    OK(program_new(&t->p, t->params, true));
    t->w.x = own(t->p, "x", at.n, at.f);
    t->w.y = own(t->p, "y", at.n, at.f);
    node out = c->build(t->p, &t->w);
    int64_t rows = program_rows(t->p, out), cols = program_cols(t->p, out);
    OK(NEW(t->mix, rows * cols));
    for (int64_t k = 0; k < rows * cols; k++)
        t->mix[k] = random_in(&r, -1, 1);
    t->loss = program_minimize(t->p, dot(t->p, out, input(t->p, t->mix, rows, cols)));
    OK(program_compile(t->p, backend));
    spread_values(t->params);
}

static void trial_free(struct trial *t)
{
    mem_free(t->mix);
    program_free(t->p);
    params_free(t->params);
    world_free(&t->w);
}

static double run_loss(struct trial *t)
{
    struct step step = {42, 3};
    OK(program_run(t->p, &step));
    return (double)value_of(t->p, t->loss)[0];
}

/* (loss(v + h) - loss(v - h)) / 2h; size: how large the numbers are that it comes from */
static double difference(struct trial *t, int64_t at, float h, double *size)
{
    float kept = param_values(t->params)[at];
    param_values(t->params)[at] = kept + h;
    double up = run_loss(t);
    param_values(t->params)[at] = kept - h;
    double down = run_loss(t);
    param_values(t->params)[at] = kept;
    double slope = (up - down) / (2 * (double)h);
    *size = fmax(1, fmax(fabs(slope), fabs(up)));
    return slope;
}

/* A step that crosses a kink says nothing: then a shorter one decides. A wrong gradient is wrong at
 * every step. */
static void check_gradient(const struct op_case *c, struct spot at, struct backend *backend)
{
    static const float steps[] = {4e-3f, 1e-3f, 4e-4f};
    struct trial t;
    float *grad;
    trial_make(&t, c, at, backend);
    run_loss(&t);
    OK(NEW(grad, t.params->size));
    memcpy(grad, param_grads(t.params), (size_t)t.params->size * sizeof *grad);
    for (int i = 0; i < t.params->count; i++) {
        const struct parameter *item = &t.params->item[i];
        for (int64_t k = 0; item->trained && k < item->rows * item->cols; k++) {
            double exact = (double)grad[item->offset + k], numeric = 0, size = 1;
            bool agrees = false;
            for (size_t s = 0; !agrees && s < sizeof steps / sizeof *steps; s++) {
                numeric = difference(&t, item->offset + k, steps[s], &size);
                agrees = fabs(numeric - exact) <= 4e-3 * size;
            }
            if (!agrees)
                fail_msg("%s (%lld x %lld), %s view of the %s graph: %s[%lld]: %g by differences, "
                         "%g recorded",
                         c->name, (long long)at.n, (long long)at.f, view_name[at.view],
                         graph_name[at.graph], item->name, (long long)k, numeric, exact);
        }
    }
    mem_free(grad);
    trial_free(&t);
}

static void gradients(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{7, 5}, {1, 3}, {6, 1}, {12, 9}};
    struct backend *backend;
    OK(backend_open(&backend, NULL, 2));
    for (int c = 0; c < OP_CASES; c++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            check_gradient(&op_cases[c], (struct spot){.n = shapes[s][0], .f = shapes[s][1]},
                           backend);
    backend_close(backend);
}

static void gradients_on_every_view(void **state)
{
    (void)state;
    struct backend *backend;
    OK(backend_open(&backend, NULL, 2));
    for (int c = 0; c < OP_CASES; c++)
        for (int graph = 0; op_cases[c].where == VIEW && graph < GRAPH_KINDS; graph++)
            for (int view = 0; view < VIEW_COUNT; view++)
                check_gradient(&op_cases[c],
                               (struct spot){9, 2, (enum graph_kind)graph, (enum view)view},
                               backend);
    backend_close(backend);
}

/* Faults poison quietly and are reported once, with the name of the node. */
static void faults_are_reported(void **state)
{
    (void)state;
    struct backend *backend;
    struct params *params;
    struct program *p;
    OK(backend_open(&backend, NULL, 1));
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    node x = param(p, "x", 4, 3, INIT_ZERO), y = param(p, "weights", 5, 3, INIT_ZERO);
    node bad = relu(p, matmul(p, x, y));
    assert_int_equal(bad, POISON);
    assert_int_equal(add(p, bad, x), POISON);
    program_minimize(p, sum(p, bad));
    FAILS(program_compile(p, backend), CONSM_EPROGRAM, "matmul of x (4 x 3) and weights");
    program_free(p);
    params_free(params);
    backend_close(backend);
}

static void count_lines(void *ctx, const char *text)
{
    int *lines = ctx;
    assert_true(strlen(text) > 0);
    ++*lines;
}

static void dump_lists_every_node(void **state)
{
    (void)state;
    struct backend *backend;
    struct params *params;
    struct program *p;
    int lines = 0;
    OK(backend_open(&backend, NULL, 1));
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    node x = param(p, "x", 4, 3, INIT_ONE);
    program_minimize(p, sum(p, square(p, x)));
    OK(program_compile(p, backend));
    program_dump(p, count_lines, &lines);
    assert_true(lines > 5);
    program_free(p);
    params_free(params);
    backend_close(backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients),
        cmocka_unit_test(gradients_on_every_view),
        cmocka_unit_test(faults_are_reported),
        cmocka_unit_test(dump_lists_every_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
