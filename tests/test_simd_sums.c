/* Softmax, loss, reduction and pair kernels of every instruction set of this machine against plain
 * double-precision loops, over many widths, in ranges of every kind. */
#include "simd_check.h"

enum { N = 43 };

/* ---- softmax ------------------------------------------------------------- */

static void check_softmax(const struct simd *v, struct rng *r, int64_t w)
{
    int64_t size = N * w;
    float *x = floats(r, size), *g = floats(r, size), *p = floats(NULL, size);
    float *lp = floats(NULL, size), *again = floats(NULL, size), *gp = floats(NULL, size);
    float *glp = floats(NULL, size);
    for (int64_t i = 0; i < size; i++)
        x[i] *= 30;
    WHOLE_AND_SHARED(N, p, again, size, v->softmax(y, x, w, from, to));
    memcpy(again, x, sizeof(float) * (size_t)size);
    v->softmax(again, again, w, 0, N);
    same_bits(again, p, size);
    WHOLE_AND_SHARED(N, lp, again, size, v->log_softmax(y, x, w, from, to));
    v->softmax_grad(gp, g, p, w, 0, N);
    v->log_softmax_grad(glp, g, lp, w, 0, N);
    for (int64_t i = 0; i < N; i++) {
        double largest = -INFINITY, sum = 0, along = 0, total = 0;
        for (int64_t c = 0; c < w; c++)
            if (x[i * w + c] > largest)
                largest = x[i * w + c];
        for (int64_t c = 0; c < w; c++)
            sum += exp(x[i * w + c] - largest);
        for (int64_t c = 0; c < w; c++) {
            double q = x[i * w + c] - largest - log(sum);
            assert_near(p[i * w + c], exp(q), 1e-6);
            assert_near(lp[i * w + c], q, 1e-6);
            along += exp(q) * g[i * w + c];
            total += g[i * w + c];
        }
        for (int64_t c = 0; c < w; c++) {
            double q = x[i * w + c] - largest - log(sum);
            assert_near(gp[i * w + c], exp(q) * (g[i * w + c] - along), 1e-6);
            assert_near(glp[i * w + c], g[i * w + c] - exp(q) * total, 1e-5);
        }
    }
    RELEASE(x, g, p, lp, again, gp, glp);
}

static void test_softmax(void **state)
{
    (void)state;
    const struct simd *v;
    struct rng r;
    rng_init(&r, 5, 0);
    FOR_ALL_SETS(v)
    for (int64_t w = 1; w <= 70; w++)
        check_softmax(v, &r, w);
}

/* ---- sums ---------------------------------------------------------------- */

static void check_columns(const struct simd *v, struct rng *r, int64_t n, int64_t w)
{
    int64_t blocks = block_count(n, COL_BLOCK);
    float *x = floats(r, n * w), *z = floats(r, n * w), *mean = floats(r, w);
    float *partial = floats(NULL, blocks * w), *sum = floats(NULL, w), *dot = floats(NULL, w);
    float *var = floats(NULL, w);
    v->col_sum(partial, x, NULL, w, n, 0, blocks);
    v->col_combine(sum, partial, blocks, w, 1, 0, w);
    v->col_sum(partial, x, z, w, n, 0, blocks);
    v->col_combine(dot, partial, blocks, w, 0.5f, 0, w / 2);
    v->col_combine(dot, partial, blocks, w, 0.5f, w / 2, w);
    v->col_var(partial, x, mean, w, n, 0, blocks);
    v->col_combine(var, partial, blocks, w, 1, 0, w);
    for (int64_t c = 0; c < w; c++) {
        double s = 0, d = 0, q = 0;
        for (int64_t i = 0; i < n; i++) {
            s += x[i * w + c];
            d += (double)x[i * w + c] * z[i * w + c];
            q += ((double)x[i * w + c] - mean[c]) * ((double)x[i * w + c] - mean[c]);
        }
        assert_near(sum[c] / sqrt((double)n), s / sqrt((double)n), 1e-5);
        assert_near(dot[c], 0.5 * d, 1e-4);
        assert_near(var[c], q, 1e-5);
    }
    RELEASE(x, z, mean, partial, sum, dot, var);
}

static void test_columns(void **state)
{
    (void)state;
    const struct simd *v;
    struct rng r;
    rng_init(&r, 6, 0);
    FOR_ALL_SETS(v)
    {
        for (int64_t w = 1; w <= 40; w++)
            check_columns(v, &r, 23, w);
        check_columns(v, &r, 2500, 7);
        check_columns(v, &r, 1024, 64);
    }
}

/* Σ x and Σ x z over three blocks, the last of them short */
static void test_reduce(void **state)
{
    (void)state;
    enum { COUNT = 2 * REDUCE_BLOCK + 77 };
    const struct simd *v;
    struct rng r;
    rng_init(&r, 7, 0);
    FOR_ALL_SETS(v)
    for (int product = 0; product < 2; product++) {
        float *x = floats(&r, COUNT), *z = floats(&r, COUNT), out;
        double partial[3], total = 0, size = 0;
        v->reduce(partial, x, product ? z : NULL, COUNT, 0, 1);
        v->reduce(partial, x, product ? z : NULL, COUNT, 1, 3);
        v->reduce_combine(&out, partial, 3);
        for (int i = 0; i < COUNT; i++) {
            double term = product ? (double)x[i] * z[i] : x[i];
            total += term;
            size += fabs(term);
        }
        assert_near(out / size, total / size, 1e-6);
        RELEASE(x, z);
    }
}

/* ---- pairs --------------------------------------------------------------- */

static void check_pairs(const struct simd *v, struct rng *r, int64_t w)
{
    enum { PAIRS = 90 };
    float *x = floats(r, N * w), *z = floats(r, N * w), *g = floats(r, PAIRS);
    float *xs = floats(NULL, N), *zs = floats(NULL, N), *cosine = floats(NULL, PAIRS);
    float *again = floats(NULL, PAIRS);
    float *own = floats(r, PAIRS), *gx = floats(r, N * w);
    int32_t left[PAIRS], right[PAIRS], pair[PAIRS];
    int64_t start[N + 1], at = 0;
    for (int k = 0; k < PAIRS; k++) {
        left[k] = (int32_t)rng_below(r, N - 3);
        right[k] = (int32_t)rng_below(r, N);
    }
    for (int i = 0; i < N; i++) {
        start[i] = at;
        for (int32_t k = 0; k < PAIRS; k++)
            if (left[k] == i)
                pair[at++] = k;
    }
    start[N] = at;
    v->row_norm(NULL, xs, x, w, 1e-8f, 0, N);
    v->row_norm(NULL, zs, z, w, 1e-8f, 0, N);
    WHOLE_AND_SHARED(PAIRS, cosine, again, PAIRS,
                     v->pair_dot(y, x, z, xs, zs, left, right, w, from, to));
    const struct pair_lists twice[] = {{start, pair, left, right}, {start, pair, left, left}};
    v->pair_grad(gx, x, z, g, own, xs, twice, 2, w, 0, 10);
    v->pair_grad(gx, x, z, g, own, xs, twice, 2, w, 10, 11);
    v->pair_grad(gx, x, z, g, own, NULL, twice, 1, w, 11, 30);
    v->pair_grad(gx, x, z, g, NULL, NULL, twice, 1, w, 30, N);
    for (int k = 0; k < PAIRS; k++) {
        double dot = 0;
        for (int64_t c = 0; c < w; c++)
            dot += (double)x[left[k] * w + c] * z[right[k] * w + c];
        assert_near(cosine[k], dot * xs[left[k]] * zs[right[k]], 1e-6);
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t c = 0; c < w; c++) {
            double sum = 0, self = 0;
            for (int64_t t = start[i]; t < start[i + 1]; t++) {
                sum += (double)g[pair[t]] * z[right[pair[t]] * w + c];
                sum += i < 11 ? (double)g[pair[t]] * z[left[pair[t]] * w + c] : 0;
                self += own[pair[t]] * (i < 11 ? 2.0F : 1.0F);
            }
            self *= i < 11 ? xs[i] : i < 30 ? 1 : 0;
            assert_near(gx[i * w + c], sum + self * x[i * w + c], 1e-5);
        }
    RELEASE(x, z, g, xs, zs, cosine, again, own, gx);
}

static void test_pairs(void **state)
{
    (void)state;
    const struct simd *v;
    struct rng r;
    rng_init(&r, 8, 0);
    FOR_ALL_SETS(v)
    for (int64_t w = 1; w <= 100; w += w < 40 ? 1 : 7)
        check_pairs(v, &r, w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_softmax),
                                       cmocka_unit_test(test_columns),
                                       cmocka_unit_test(test_reduce), cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
