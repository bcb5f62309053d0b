/* Constants in programs: the first run computes their sparse products, and graph convolutions use
 * this without changing results. */
#include "programs.h"

#include "nn/layers.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A path of four nodes, each with its neighbour before it. */
static struct csr *small_chain(void)
{
    static const int32_t row[4] = {0, 1, 2, 3}, col[4] = {0, 0, 1, 2};
    struct csr *s;
    OK(csr_from_edges(&s, 4, 4, 4, row, col, NULL, CSR_DIRECTED, NULL));
    return s;
}

/* The first run computes the product of a constant, and it survives the memory reuse of later runs:
 * the squares come first and would fit into the same place. */
static void products_of_constants_are_computed_once(void **state)
{
    (void)state;
    struct params *params;
    struct program *p;
    struct backend *backend;
    struct csr *s = small_chain();
    float fixed[4] = {1, 2, 3, 4}, moving[4] = {1, 1, 1, 1}, other[4] = {10, 20, 30, 40};
    OK(backend_open(&backend, NULL, 1));
    OK(params_new(&params));
    OK(program_new(&p, params, false));
    node y = input(p, moving, 4, 1), squares = sum(p, mul(p, y, y));
    node x = constant(p, fixed, 4, 1), total = add(p, squares, dot(p, spmm(p, s, x), y));
    assert_true(program_is_constant(p, x));
    assert_false(program_is_constant(p, y));
    program_keep(p, total);
    OK(program_compile(p, backend));
    OK(program_run(p, &(struct step){0, 0}));
    assert_near(value_of(p, total)[0], 4 + (1 + 1 + 2 + 3), 1e-6);
    for (int i = 0; i < 4; i++)
        moving[i] = 2;
    program_touch(p, moving);
    fixed[0] = 100; /* against the promise: it is not read again */
    OK(program_run(p, &(struct step){0, 1}));
    assert_near(value_of(p, total)[0], 16 + 2 * (1 + 1 + 2 + 3), 1e-6);
    program_bind(p, x, other);
    OK(program_run(p, &(struct step){0, 2}));
    assert_near(value_of(p, total)[0], 16 + 2 * (10 + 10 + 20 + 30), 1e-6);
    s->changes = true; /* a matrix that changes has no constant products */
    program_free(p);
    OK(program_new(&p, params, false));
    node product = spmm(p, s, constant(p, fixed, 4, 1));
    program_keep(p, product);
    OK(program_compile(p, backend));
    OK(program_run(p, &(struct step){0, 0}));
    fixed[0] = 7;
    program_touch(p, fixed);
    OK(program_run(p, &(struct step){0, 1}));
    assert_near(value_of(p, product)[0], 7, 1e-6);
    program_free(p);
    params_free(params);
    backend_close(backend);
    csr_free(s);
}

/* S·(X·W) as written, the layer of an input, and that of a constant. */
static node convolved(struct program *p, const struct csr *s, const float *x, int way, int64_t out)
{
    node features = way == 2 ? constant(p, x, 4, 2) : input(p, x, 4, 2);
    if (way > 0)
        return graph_conv(p, "1", s, features, out);
    return with_bias(p, "1", spmm(p, s, linear_no_bias(p, "1", features, out)));
}

/* Both orders of S·X·W give the same layer and the same gradients. */
static void the_order_of_products_changes_no_result(void **state)
{
    (void)state;
    struct backend *backend;
    struct csr *s = small_chain();
    static const float x[8] = {1, -2, 3, 0.5f, -1, 4, 0.25f, 2};
    float out[3][4 * 3], grad[3][2 * 3 + 3];
    OK(backend_open(&backend, NULL, 2));
    for (int way = 0; way < 3; way++) {
        struct params *params;
        struct program *p;
        OK(params_new(&params));
        OK(program_new(&p, params, true));
        node y = convolved(p, s, x, way, 3);
        program_keep(p, y);
        program_minimize(p, sum(p, square(p, y)));
        OK(program_compile(p, backend));
        OK(params_init(params, 3));
        for (uint64_t run = 0; run < 2; run++)
            OK(program_run(p, &(struct step){0, run}));
        memcpy(out[way], value_of(p, y), sizeof out[way]);
        for (int i = 0, at = 0; i < params->count; i++) {
            const struct parameter *item = &params->item[i];
            for (int64_t k = 0; k < item->rows * item->cols; k++)
                grad[way][at++] = param_grads(params)[item->offset + k];
        }
        program_free(p);
        params_free(params);
    }
    for (int way = 1; way < 3; way++) {
        for (int i = 0; i < 12; i++)
            assert_near(out[0][i], out[way][i], 1e-5);
        for (int i = 0; i < 9; i++)
            assert_near(grad[0][i], grad[way][i], 1e-5 * (1 + fabsf(grad[0][i])));
    }
    csr_free(s);
    backend_close(backend);
}

static void note_product(void *ctx, const char *line)
{
    if (strstr(line, "spmm"))
        snprintf(ctx, 256, "%s", line);
}

/* The sparse product takes the narrower of X and X·W. */
static void sparse_products_are_narrow(void **state)
{
    (void)state;
    struct csr *s = small_chain();
    static const float x[8] = {0};
    static const struct {
        int64_t out;
        const char *shape;
    } cases[] = {{1, " 4 x 1 "}, {2, " 4 x 2 "}, {3, " 4 x 2 "}};
    for (int i = 0; i < 3; i++) {
        struct params *params;
        struct program *p;
        char line[256] = "";
        OK(params_new(&params));
        OK(program_new(&p, params, false));
        convolved(p, s, x, 1, cases[i].out);
        program_dump(p, note_product, line);
        assert_non_null(strstr(line, cases[i].shape));
        program_free(p);
        params_free(params);
    }
    csr_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_constants_are_computed_once),
        cmocka_unit_test(the_order_of_products_changes_no_result),
        cmocka_unit_test(sparse_products_are_narrow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
