/* Every operation's gradient against central differences, on every backend: on shapes that include
 * empty rows, a single node, isolated nodes and a single class, and every operation that walks a
 * pattern on every view of every kind of graph. */
#include "ops_trial.h"

#include <math.h>

static double loss_with(struct trial *t, int64_t at, float value)
{
    param_values(t->params)[at] = value;
    trial_run(t, 3);
    return (double)value_of(t->p, t->loss)[0];
}

/* (loss(v + h) - loss(v - h)) / 2h; size: how large the numbers are that it comes from */
static double difference(struct trial *t, int64_t at, float kept, float h, double *size)
{
    double up = loss_with(t, at, kept + h), down = loss_with(t, at, kept - h);
    double slope = (up - down) / (2 * (double)h);
    param_values(t->params)[at] = kept;
    *size = fmax(1, fmax(fabs(slope), fabs(up)));
    return slope;
}

/* A step across a kink says nothing: then a shorter one decides. A wrong gradient is wrong at every
 * step. */
static void check_element(struct trial *t, const char *name, int64_t at, int64_t k, double exact)
{
    static const float steps[] = {4e-3f, 1e-3f, 4e-4f};
    double numeric = 0, size = 1;
    float kept = param_values(t->params)[at];
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        numeric = difference(t, at, kept, steps[s], &size);
        if (fabs(numeric - exact) <= 4e-3 * size)
            return;
    }
    trial_fault(t, name, k, exact, numeric);
}

static void check_gradient(const struct op_case *c, struct spot at, struct backend *backend)
{
    struct trial t;
    float *grad;
    if (!trial_possible(c, at, backend))
        return;
    trial_make(&t, c, at, backend, true);
    trial_run(&t, 3);
    OK(NEW(grad, t.params->size));
    memcpy(grad, param_grads(t.params), (size_t)t.params->size * sizeof *grad);
    for (int i = 0; i < t.params->count; i++) {
        const struct parameter *item = &t.params->item[i];
        for (int64_t k = 0; item->trained && k < item->rows * item->cols; k++)
            check_element(&t, item->name, item->offset + k, k, (double)grad[item->offset + k]);
    }
    mem_free(grad);
    trial_free(&t);
}

/* Calls the function once for every backend there is. */
static void on_every_backend(void (*check)(struct backend *backend))
{
    for (int b = 0; backend_name(b); b++) {
        struct backend *backend;
        OK(backend_open(&backend, backend_name(b), 1));
        check(backend);
        backend_close(backend);
    }
}

static void on_shapes(struct backend *backend)
{
    static const int64_t shapes[][2] = {{7, 5}, {1, 3}, {6, 1}, {12, 9}};
    for (int c = 0; c < OP_CASES; c++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            check_gradient(&op_cases[c], (struct spot){.n = shapes[s][0], .f = shapes[s][1]},
                           backend);
}

static void on_views(struct backend *backend)
{
    for (int c = 0; c < OP_CASES; c++)
        for (int graph = 0; op_cases[c].where == VIEW && graph < GRAPH_KINDS; graph++)
            for (int view = 0; view < VIEW_COUNT; view++)
                check_gradient(&op_cases[c],
                               (struct spot){9, 2, (enum graph_kind)graph, (enum view)view},
                               backend);
}

static void gradients(void **state)
{
    (void)state;
    on_every_backend(on_shapes);
}

static void gradients_on_every_view(void **state)
{
    (void)state;
    on_every_backend(on_views);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients),
        cmocka_unit_test(gradients_on_every_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
