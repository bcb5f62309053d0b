/* Elementwise, dropout, optimiser and row kernels of every instruction set of this machine against
 * plain double-precision loops, over many widths, in ranges of every kind. */
#include "simd_check.h"

enum { N = 43 };

/* ---- elements ------------------------------------------------------------ */

static void test_elementwise(void **state)
{
    (void)state;
    enum { COUNT = 203 };
    const struct simd *v;
    struct rng r;
    rng_init(&r, 1, 0);
    FOR_ALL_SETS(v)
    {
        float *x = floats(&r, COUNT), *z = floats(&r, COUNT), *out = floats(NULL, COUNT);
        float *again = floats(NULL, COUNT);
        WHOLE_AND_SHARED(COUNT, out, again, COUNT, v->axpby(y, 0.9f, x, 0.1f, z, from, to));
        for (int i = 0; i < COUNT; i++)
            assert_near(out[i], 0.9f * (double)x[i] + 0.1f * (double)z[i], 1e-6);
        WHOLE_AND_SHARED(COUNT, out, again, COUNT, v->mul(y, x, z, from, to));
        for (int i = 0; i < COUNT; i++)
            assert_true(out[i] == x[i] * z[i]);
        WHOLE_AND_SHARED(COUNT, out, again, COUNT, v->scale(y, 3, x, from, to));
        for (int i = 0; i < COUNT; i++)
            assert_true(out[i] == 3 * x[i]);
        WHOLE_AND_SHARED(COUNT, out, again, COUNT, v->square_diff(y, x, z, from, to));
        for (int i = 0; i < COUNT; i++)
            assert_near(out[i], ((double)x[i] - z[i]) * ((double)x[i] - z[i]), 1e-6);
        WHOLE_AND_SHARED(COUNT, out, again, COUNT, v->relu_grad(y, x, z, 2, from, to));
        for (int i = 0; i < COUNT; i++)
            assert_true(out[i] == (z[i] > 0 ? 2 * x[i] : 0));
        WHOLE_AND_SHARED(COUNT, out, again, COUNT, v->fill(y, 7, from, to));
        for (int i = 0; i < COUNT; i++)
            assert_true(out[i] == 7);
        RELEASE(x, z, out, again);
    }
}

static void test_dropout(void **state)
{
    (void)state;
    enum { COUNT = 20011 };
    static const struct {
        float p;
        uint32_t bits;
    } cases[] = {{0, 1},       {0.5f, 1},  {0.25f, 2}, {0.75f, 2}, {0.125f, 4},
                 {0.0625f, 4}, {0.6f, 16}, {0.8f, 16}, {0.1f, 16}, {1 / 256.0f, 8}};
    const struct simd *v;
    struct rng r;
    rng_init(&r, 2, 0);
    FOR_ALL_SETS(v)
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct dropout d = dropout_rule(cases[c].p, 0x123456789abcdefull, 5, 6);
        float *x = floats(&r, COUNT), *out = floats(NULL, COUNT), *again = floats(NULL, COUNT);
        int64_t kept = 0;
        assert_int_equal(d.bits, cases[c].bits);
        WHOLE_AND_SHARED(COUNT, out, again, COUNT, v->dropout(y, x, &d, from, to));
        for (int64_t i = 0; i < COUNT; i++) {
            assert_true(out[i] == (stays(&d, i) ? x[i] * d.scale : 0));
            kept += stays(&d, i);
        }
        double p = cases[c].p, sigma = sqrt(p * (1 - p) / COUNT);
        assert_true(fabs((double)kept / COUNT - (1 - p)) <= 4 * sigma);
        memcpy(again, x, sizeof(float) * COUNT);
        v->dropout(again, again, &d, 128, 3000); /* in place, in the middle */
        same_bits(again + 128, out + 128, 3000 - 128);
        same_bits(again, x, 128);
        same_bits(again + 3000, x + 3000, COUNT - 3000);
        RELEASE(x, out, again);
    }
}

/* Three steps of Adam written out in double precision. */
static void test_adam(void **state)
{
    (void)state;
    enum { COUNT = 77 };
    const struct simd *v;
    struct rng r;
    rng_init(&r, 3, 0);
    FOR_ALL_SETS(v)
    {
        float *w = floats(&r, COUNT), *m = floats(NULL, COUNT), *s = floats(NULL, COUNT);
        float *g = floats(&r, COUNT), *w2 = copy(w, COUNT), *m2 = floats(NULL, COUNT);
        float *s2 = floats(NULL, COUNT);
        double dw[COUNT], dm[COUNT] = {0}, ds[COUNT] = {0};
        v->fill(m, 0, 0, COUNT);
        v->fill(s, 0, 0, COUNT);
        v->fill(m2, 0, 0, COUNT);
        v->fill(s2, 0, 0, COUNT);
        for (int i = 0; i < COUNT; i++)
            dw[i] = w[i];
        for (int t = 1; t <= 3; t++) {
            struct adam rule = adam_rule(0.01, 0.9, 0.999, 1e-8, 5e-4, t);
            v->adam(w, m, s, g, &rule, 0, COUNT);
            for (int64_t at = 0; at < COUNT; at += 9)
                v->adam(w2, m2, s2, g, &rule, at, at + 9 < COUNT ? at + 9 : COUNT);
            for (int i = 0; i < COUNT; i++) {
                double grad = g[i] + 5e-4 * dw[i];
                dm[i] = 0.9 * dm[i] + 0.1 * grad;
                ds[i] = 0.999 * ds[i] + 0.001 * grad * grad;
                double root = sqrt(ds[i]) / sqrt(1 - pow(0.999, t)) + 1e-8;
                dw[i] -= 0.01 / (1 - pow(0.9, t)) * dm[i] / root;
                assert_near(w[i], dw[i], 1e-6);
            }
        }
        same_bits(w, w2, COUNT);
        same_bits(m, m2, COUNT);
        same_bits(s, s2, COUNT);
        RELEASE(w, m, s, g, w2, m2, s2);
    }
}

/* ---- rows ---------------------------------------------------------------- */

static void check_rows(const struct simd *v, struct rng *r, int64_t w)
{
    int64_t size = N * w;
    float *x = floats(r, size), *z = floats(r, size), *a = floats(r, w), *b = floats(r, w);
    float *d = floats(r, w), *s = floats(r, N), *out = floats(NULL, size);
    float *again = floats(NULL, size), *norm = floats(NULL, N), *inverse = floats(NULL, N);
    struct dropout drop = dropout_rule(0.5f, 4, 5, 6);
    struct epilogue end = {.bias = b, .relu = true, .drop = &drop};
    WHOLE_AND_SHARED(N, out, again, size, v->bias_act(y, x, w, &end, from, to));
    for (int64_t i = 0; i < size; i++) {
        float t = x[i] + b[i % w];
        assert_true(out[i] == (t > 0 && stays(&drop, i) ? t * 2 : 0));
    }
    WHOLE_AND_SHARED(N, out, again, size, v->col_affine(y, a, x, b, z, d, w, from, to));
    for (int64_t i = 0; i < size; i++)
        assert_near(out[i], (double)a[i % w] * x[i] + (double)b[i % w] * z[i] + d[i % w], 1e-6);
    v->col_affine(out, NULL, x, NULL, NULL, d, w, 0, N);
    for (int64_t i = 0; i < size; i++)
        assert_true(out[i] == x[i] + d[i % w]);
    v->col_affine(out, NULL, x, NULL, z, NULL, w, 0, N);
    for (int64_t i = 0; i < size; i++)
        assert_true(out[i] == x[i] + z[i]);
    WHOLE_AND_SHARED(N, out, again, size, v->row_scale(y, s, x, w, from, to));
    for (int64_t i = 0; i < size; i++)
        assert_near(out[i], (double)s[i / w] * x[i], 1e-6);
    WHOLE_AND_SHARED(N, norm, inverse, N, v->row_dot(y, x, z, w, from, to));
    v->row_dot(inverse, x, NULL, w, 0, N);
    for (int64_t i = 0; i < N; i++) {
        double dot = 0, sum = 0;
        for (int64_t c = 0; c < w; c++) {
            dot += (double)x[i * w + c] * z[i * w + c];
            sum += x[i * w + c];
        }
        assert_near(norm[i], dot, 1e-5);
        assert_near(inverse[i], sum, 1e-5);
    }
    v->fill(x, 0, 5 * w, 6 * w); /* a row of zeros */
    v->row_norm(norm, inverse, x, w, 1e-3f, 0, N);
    v->row_scale(out, inverse, x, w, 0, N);
    v->row_normalize_grad(again, z, out, inverse, w, 1e-3f, 0, N);
    for (int64_t i = 0; i < N; i++) {
        double square = 0, along = 0;
        for (int64_t c = 0; c < w; c++) {
            square += (double)x[i * w + c] * x[i * w + c];
            along += (double)out[i * w + c] * z[i * w + c];
        }
        double length = fmax(sqrt(square), 1e-3);
        assert_near(norm[i], length, 1e-6);
        assert_near(inverse[i] * length, 1, 1e-6);
        along = sqrt(square) < 1e-3 ? 0 : along;
        for (int64_t c = 0; c < w; c++)
            assert_near(again[i * w + c] * length, z[i * w + c] - out[i * w + c] * along, 1e-5);
    }
    RELEASE(x, z, a, b, d, s, out, again, norm, inverse);
}

/* w heads of 8, of 3 and of 1 number: the same bits as the loop that every set follows. */
static void check_heads(const struct simd *v, struct rng *r, int64_t w)
{
    static const int64_t dims[] = {8, 3, 1};
    for (int i = 0; i < 3; i++) {
        const int64_t d = dims[i];
        float *x = floats(r, N * w * d), *a = floats(r, w * d);
        float *out = floats(NULL, N * w), *again = floats(NULL, N * w);
        WHOLE_AND_SHARED(N, out, again, N * w, v->head_dot(y, x, a, w, d, from, to));
        for (int64_t k = 0; k < N * w; k++) {
            float part[4] = {0};
            for (int64_t c = 0; c < d; c++)
                part[c < d / 4 * 4 ? c % 4 : 0] += x[k * d + c] * a[k % w * d + c];
            assert_true(out[k] == (part[0] + part[1]) + (part[2] + part[3]));
        }
        RELEASE(x, a, out, again);
    }
}

static void check_copies(const struct simd *v, struct rng *r, int64_t w)
{
    float *x = floats(r, N * w), *y = floats(r, N * (w + 3)), *before = copy(y, N * (w + 3));
    int32_t row[2 * N];
    for (int i = 0; i < 2 * N; i++)
        row[i] = (int32_t)rng_below(r, N);
    v->copy_cols(y + 2, w + 3, x, w, w, 0, 20);
    v->copy_cols(y + 2, w + 3, x, w, w, 20, N);
    for (int64_t i = 0; i < N; i++)
        for (int64_t c = 0; c < w + 3; c++) {
            float old = before[i * (w + 3) + c], expected = old;
            if (c >= 2 && c < w + 2)
                expected = x[i * w + c - 2];
            assert_true(y[i * (w + 3) + c] == expected);
        }
    float *rows = floats(NULL, 2 * N * w);
    v->gather(rows, x, row, w, 0, 31);
    v->gather(rows, x, row, w, 31, 2 * N);
    for (int64_t i = 0; i < 2 * N; i++)
        same_bits(rows + i * w, x + row[i] * w, w);
    RELEASE(x, y, before, rows);
}

static void test_rows(void **state)
{
    (void)state;
    const struct simd *v;
    struct rng r;
    rng_init(&r, 4, 0);
    FOR_ALL_SETS(v)
    for (int64_t w = 1; w <= 140; w += w < 40 ? 1 : 13) {
        check_rows(v, &r, w);
        check_copies(v, &r, w);
        if (w <= 12)
            check_heads(v, &r, w);
    }
}

/* C += AᵀB over few and many rows, the last stretch of them being shorter. */
static void test_tall(void **state)
{
    (void)state;
    static const int64_t shape[][3] = {{4, 16, 1}, {8, 32, 63}, {4, 48, 64}, {12, 16, 131}};
    const struct simd *v;
    struct rng r;
    rng_init(&r, 6, 0);
    FOR_ALL_SETS(v)
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++) {
        int64_t m = shape[s][0], n = shape[s][1], k = shape[s][2];
        float *a = floats(&r, k * m), *b = floats(&r, k * n), *before = floats(&r, m * n);
        float *c = copy(before, m * n);
        v->tall_product(c, a, b, m, n, k);
        for (int64_t i = 0; i < m * n; i++) {
            double sum = before[i];
            for (int64_t q = 0; q < k; q++)
                sum += (double)a[q * m + i / n] * b[q * n + i % n];
            assert_near(c[i], sum, 1e-5);
        }
        RELEASE(a, b, before, c);
    }
}

/* AᵀB with few columns: bit-identical to a panel, whatever remains at the edges. */
static void test_thin(void **state)
{
    (void)state;
    const struct simd *v;
    struct rng r;
    rng_init(&r, 7, 0);
    FOR_ALL_SETS(v)
    for (int64_t n = 1; n <= THIN_COLS; n++)
        for (int64_t m = 1; m <= 70; m += m < 20 ? 3 : 11) {
            const int64_t k = 1 + (int64_t)rng_below(&r, 90), stride = m + m % 2, row = n + m % 3;
            float *a = floats(&r, k * stride), *b = floats(&r, k * n), *c = floats(&r, m * row);
            float *panel = floats(NULL, k * PANEL_WIDTH), *expected = copy(c, m * row);
            struct panel p = {.c_row = row, .a = a, .a_row = 1, .a_inner = stride, .n = n, .k = k};
            for (int beta = 0; beta <= 2; beta++) {
                p.beta = 0.75f * (float)beta;
                p.c = expected;
                v->panel_pack(panel, b, n, 1, n, k, 1);
                v->panel_product(&p, panel, 0, m);
                p.c = c;
                v->thin_product(&p, b, m);
                same_bits(c, expected, m * row);
            }
            RELEASE(a, b, c, panel, expected);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elementwise), cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_adam),        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_tall),        cmocka_unit_test(test_thin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
