/* Vector versions of exp, log, tanh and related functions against libm in double precision, in
 * units in the last place, with the special values; and their gradients. */
#include "check.h"

#include "base/rng.h"
#include "cpu/simd.h"
#include <float.h>
#include <math.h>

/* Distance of y from the exact value in units of the exact value's last place. */
static double ulps(float y, double exact)
{
    int exponent;
    if (isnan(exact))
        return isnan(y) ? 0 : INFINITY;
    float rounded = (float)exact;
    if (isinf(rounded) || isinf(y))
        return y == rounded || (!isinf(y) && y == copysignf(FLT_MAX, rounded)) ? 0 : INFINITY;
    frexp(exact, &exponent);
    if (exponent < -125)
        exponent = -125;
    return fabs((double)y - exact) / ldexp(1, exponent - 24);
}

static double log_sigmoid(double x)
{
    return x < 0 ? x - log1p(exp(x)) : -log1p(exp(-x));
}

static double exact(enum unary op, double x, double p)
{
    switch (op) {
    case UNARY_RELU: return x <= 0 ? 0 : x;
    case UNARY_LEAKY_RELU: return x < 0 ? p * x : x;
    case UNARY_ELU: return x <= 0 ? p * expm1(x) : x;
    case UNARY_TANH: return tanh(x);
    case UNARY_SIGMOID: return 1 / (1 + exp(-x));
    case UNARY_LOG_SIGMOID: return log_sigmoid(x);
    case UNARY_EXP: return exp(x);
    case UNARY_ABS: return fabs(x);
    case UNARY_SQUARE: return x * x;
    }
    return 0;
}

enum { COUNT = 4099 };

/* Uniform in [-range, range], then every power of two, then the special values. */
static void fill_inputs(float *x, struct rng *r, double range)
{
    static const float special[] = {0.0f, -0.0f, 1, -1, INFINITY, -INFINITY, FLT_MIN, -FLT_MIN};
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)((rng_uniform(r) * 2 - 1) * range);
    for (int i = 0; i < 270; i++)
        x[1000 + i] = (i & 1 ? -1.0f : 1.0f) * ldexpf(1.3f, i - 148);
    for (int i = 0; i < 8; i++)
        x[2000 + i] = special[i];
    x[2008] = NAN;
}

static void check_accuracy(const struct simd *v, enum unary op, double range, float p, double bound)
{
    static float x[COUNT], y[COUNT], shared[COUNT];
    struct rng r;
    rng_init(&r, (uint64_t)op, 1);
    fill_inputs(x, &r, range);
    v->unary(op, y, x, p, 0, COUNT);
    for (int i = 0; i < COUNT; i++) {
        double distance = ulps(y[i], exact(op, x[i], p));
        if (!(distance <= bound))
            fail_msg("%s: op %d(%.9g) = %.9g, exact %.17g: %.2f ulp", v->name, op, x[i], y[i],
                     exact(op, x[i], p), distance);
    }
    for (int64_t at = 0; at < COUNT; at += 37) /* any shares, in place */
        memcpy(shared + at, x + at, sizeof(float) * (size_t)(COUNT - at < 37 ? COUNT - at : 37));
    for (int64_t at = 0; at < COUNT; at += 37)
        v->unary(op, shared, shared, p, at, at + 37 < COUNT ? at + 37 : COUNT);
    assert_memory_equal(shared, y, sizeof y);
}

static void test_accuracy(void **state)
{
    (void)state;
    const struct simd *v;
    for (int i = 0; (v = simd_table(i)) != NULL; i++) {
        check_accuracy(v, UNARY_RELU, 5, 0, 0);
        check_accuracy(v, UNARY_LEAKY_RELU, 5, 0.25f, 0.5);
        check_accuracy(v, UNARY_ELU, 20, 1, 2);
        check_accuracy(v, UNARY_ELU, 1, 0.7f, 2.6);
        check_accuracy(v, UNARY_TANH, 10, 0, 2.6);
        check_accuracy(v, UNARY_TANH, 0.5, 0, 2.6);
        check_accuracy(v, UNARY_SIGMOID, 100, 0, 2.6);
        check_accuracy(v, UNARY_SIGMOID, 3, 0, 2.6);
        check_accuracy(v, UNARY_LOG_SIGMOID, 100, 0, 2.6);
        check_accuracy(v, UNARY_LOG_SIGMOID, 3, 0, 2.6);
        check_accuracy(v, UNARY_EXP, 105, 0, 1.6);
        check_accuracy(v, UNARY_EXP, 1, 0, 1.6);
        check_accuracy(v, UNARY_ABS, 5, 0, 0);
        check_accuracy(v, UNARY_SQUARE, 5, 0, 0.5);
    }
}

/* Gradients against central differences of the exact function. */
static void test_gradients(void **state)
{
    (void)state;
    enum { N = 101 };
    const struct simd *v;
    float x[N], y[N], g[N], gx[N];
    struct rng r;
    rng_init(&r, 8, 0);
    for (int t = 0; (v = simd_table(t)) != NULL; t++)
        for (enum unary op = UNARY_RELU; op <= UNARY_SQUARE; op++) {
            float p = 0.3f;
            for (int i = 0; i < N; i++) {
                x[i] = (float)(rng_uniform(&r) * 4 - 2);
                if (fabsf(x[i]) < 0.01f)
                    x[i] = 0.5f;
                g[i] = (float)(rng_uniform(&r) * 2 - 1);
            }
            v->unary(op, y, x, p, 0, N);
            const float *saved = unary_grad_takes_input(op) ? x : y;
            v->unary_grad(op, gx, g, saved, p, 0, 50);
            v->unary_grad(op, gx, g, saved, p, 50, N);
            for (int i = 0; i < N; i++) {
                double h = 1e-5, slope = exact(op, x[i] + h, p) - exact(op, x[i] - h, p);
                assert_near(gx[i], g[i] * slope / (2 * h), 2e-5);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_accuracy),
                                       cmocka_unit_test(test_gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
