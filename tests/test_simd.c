/* Sparse and edge kernels of every instruction set of this machine, against plain double-precision
 * loops, over many widths; and the same bits however the rows are divided. */
#include "simd_check.h"

#include "backends/open.h"
#include "base/processor.h"

enum { ROWS = 37, COLS = 29 };

/* A random pattern with empty rows, a row of every column, and its transpose. */
struct pattern {
    int64_t start[ROWS + 1], t_start[COLS + 1], nnz;
    int32_t col[ROWS * COLS], t_col[ROWS * COLS];
    int64_t t_entry[ROWS * COLS];
};

static void pattern_fill(struct pattern *p, struct rng *r)
{
    p->nnz = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        double density = i % 5 == 0 ? 0 : i == 7 ? 1 : i % 3 ? 0.15 : 0.5;
        p->start[i] = p->nnz;
        for (int32_t c = 0; c < COLS; c++)
            if (rng_uniform(r) < density)
                p->col[p->nnz++] = c;
    }
    p->start[ROWS] = p->nnz;
    int64_t at = 0;
    for (int32_t c = 0; c < COLS; c++) {
        p->t_start[c] = at;
        for (int32_t i = 0; i < ROWS; i++)
            for (int64_t k = p->start[i]; k < p->start[i + 1]; k++)
                if (p->col[k] == c) {
                    p->t_col[at] = i;
                    p->t_entry[at++] = k;
                }
    }
    p->t_start[COLS] = at;
}

/* A few ways to cut [0, n) into shares. */
static int64_t next_cut(int way, int64_t at, int64_t n)
{
    static const int64_t step[] = {1 << 30, 1, 3, 7};
    return n - at < step[way] ? n : at + step[way];
}
#define SHARES(way, n)                                           \
    for (int64_t from = 0, to = next_cut(way, 0, n); from < (n); \
         from = to, to = next_cut(way, to, n))
enum { WAYS = 4 };

/* ---- spmm ---------------------------------------------------------------- */

static void spmm_expected(double *y, const struct sparse *a, const float *x, int64_t heads,
                          int64_t dim, const struct epilogue *end, int64_t rows)
{
    int64_t width = heads * dim;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < width; c++) {
            double sum = 0;
            for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
                int64_t entry = (a->index ? a->index[k] : k) * heads + c / dim;
                sum += (a->val ? a->val[entry] : 1) * (double)x[a->col[k] * width + c];
            }
            if (end) {
                sum *= end->scale;
                sum += end->add ? end->add_scale * (double)end->add[r * width + c] : 0;
                sum += end->bias ? (double)end->bias[c] : 0;
                sum = end->relu && sum < 0 ? 0 : sum;
                if (end->drop)
                    sum = stays(end->drop, r * width + c) ? sum * end->drop->scale : 0;
            }
            y[r * width + c] = sum;
        }
}

static void check_product(const struct simd *v, const struct sparse *a, const float *x,
                          int64_t heads, int64_t dim, struct epilogue *end, bool in_place,
                          const float *old, int64_t rows)
{
    int64_t width = heads * dim, size = rows * width;
    float *first = floats(NULL, size), *y = floats(NULL, size);
    double *expected = malloc(sizeof(double) * (size_t)size);
    assert_non_null(expected);
    if (end && in_place)
        end->add = old;
    spmm_expected(expected, a, x, heads, dim, end, rows);
    for (int way = 0; way < WAYS; way++) {
        float *out = way ? y : first;
        if (end && in_place) {
            memcpy(out, old, sizeof(float) * (size_t)size);
            end->add = out;
        }
        SHARES(way, rows)
        if (heads == 1)
            v->spmm(out, a, x, width, end, from, to);
        else
            v->spmm_heads(out, a, x, heads, dim, end, from, to);
        if (way)
            same_bits(first, y, size);
    }
    for (int64_t i = 0; i < size; i++)
        assert_near(first[i], expected[i], 1e-5);
    free(first);
    free(y);
    free(expected);
}

static void check_width(const struct simd *v, const struct pattern *p, struct rng *r, int64_t heads,
                        int64_t dim)
{
    int64_t width = heads * dim;
    float *val = floats(r, p->nnz * heads), *x = floats(r, ROWS * width);
    float *old = floats(r, ROWS * width), *bias = floats(r, width);
    struct dropout half = dropout_rule(0.5f, 77, 3, (uint32_t)width);
    struct dropout odd = dropout_rule(0.6f, 78, 4, 9);
    struct sparse ones = {p->start, p->col, NULL, NULL}, valued = {p->start, p->col, val, NULL};
    struct sparse turned = {p->t_start, p->t_col, val, p->t_entry};
    struct epilogue add = {.scale = 1, .add_scale = 1};
    struct epilogue all = {
        .scale = 0.9f, .add = old, .add_scale = 0.1f, .bias = bias, .relu = true, .drop = &half};
    struct epilogue some = {.scale = 1, .bias = bias, .drop = &odd};
    if (heads == 1)
        check_product(v, &ones, x, 1, dim, NULL, false, NULL, ROWS);
    check_product(v, &valued, x, heads, dim, NULL, false, NULL, ROWS);
    check_product(v, &turned, x, heads, dim, NULL, false, NULL, COLS);
    check_product(v, &valued, x, heads, dim, &add, true, old, ROWS);
    check_product(v, &turned, x, heads, dim, &all, false, NULL, COLS);
    check_product(v, &valued, x, heads, dim, &some, false, NULL, ROWS);
    free(val);
    free(x);
    free(old);
    free(bias);
}

static void test_spmm(void **state)
{
    (void)state;
    static const int64_t wide[] = {128, 129, 131, 132, 191, 192, 250, 256, 257, 260};
    const struct simd *v;
    struct pattern p;
    struct rng r;
    rng_init(&r, 1, 0);
    pattern_fill(&p, &r);
    for (int i = 0; (v = simd_table(i)) != NULL; i++) {
        for (int64_t width = 1; width <= 100; width++)
            check_width(v, &p, &r, 1, width);
        for (size_t w = 0; w < sizeof wide / sizeof *wide; w++)
            check_width(v, &p, &r, 1, wide[w]);
    }
}

static void test_spmm_heads(void **state)
{
    (void)state;
    static const int64_t shape[][2] = {{2, 1}, {2, 4},  {3, 8},  {8, 8},  {16, 8}, {9, 8},
                                       {4, 7}, {8, 16}, {5, 16}, {4, 32}, {8, 4},  {17, 4},
                                       {2, 3}, {3, 64}, {6, 12}, {4, 64}};
    const struct simd *v;
    struct pattern p;
    struct rng r;
    rng_init(&r, 2, 0);
    pattern_fill(&p, &r);
    for (int i = 0; (v = simd_table(i)) != NULL; i++)
        for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
            check_width(v, &p, &r, shape[s][0], shape[s][1]);
}

/* ---- edges --------------------------------------------------------------- */

static void check_sddmm(const struct simd *v, const struct pattern *p, struct rng *r, int64_t heads,
                        int64_t dim)
{
    struct sparse a = {p->start, p->col, NULL, NULL};
    int64_t width = heads * dim, size = p->nnz * heads;
    float *g = floats(r, ROWS * width), *x = floats(r, COLS * width);
    float *first = floats(NULL, size), *e = floats(NULL, size);
    v->sddmm(first, &a, g, x, heads, dim, 0, ROWS);
    for (int way = 1; way < WAYS; way++) {
        SHARES(way, ROWS)
        v->sddmm(e, &a, g, x, heads, dim, from, to);
        same_bits(first, e, size);
    }
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t k = p->start[i]; k < p->start[i + 1]; k++)
            for (int64_t h = 0; h < heads; h++) {
                double sum = 0;
                for (int64_t d = h * dim; d < (h + 1) * dim; d++)
                    sum += (double)g[i * width + d] * x[p->col[k] * width + d];
                assert_near(first[k * heads + h], sum, 1e-5);
            }
    free(g);
    free(x);
    free(first);
    free(e);
}

static void test_sddmm(void **state)
{
    (void)state;
    static const int64_t shape[][2] = {{1, 1},  {1, 3},  {1, 7},  {1, 16}, {1, 64}, {1, 100},
                                       {8, 8},  {4, 16}, {3, 5},  {9, 4},  {2, 32}, {5, 12},
                                       {12, 1}, {8, 64}, {1, 17}, {1, 33}, {4, 8},  {6, 24}};
    const struct simd *v;
    struct pattern p;
    struct rng r;
    rng_init(&r, 4, 0);
    pattern_fill(&p, &r);
    for (int i = 0; (v = simd_table(i)) != NULL; i++)
        for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
            check_sddmm(v, &p, &r, shape[s][0], shape[s][1]);
}

/* Softmax, its gradient, sums per row and per column, sums of the ends' scores, for one number of
 * heads. */
static void check_edges(const struct simd *v, const struct pattern *p, struct rng *r, int64_t heads)
{
    struct sparse a = {p->start, p->col, NULL, NULL};
    struct sparse turned = {p->t_start, p->t_col, NULL, p->t_entry};
    int64_t size = p->nnz * heads;
    float *left = floats(r, ROWS * heads), *right = floats(r, COLS * heads), *g = floats(r, size);
    float *e = floats(NULL, size), *y = floats(NULL, size), *gx = floats(NULL, size);
    float *rows = floats(NULL, ROWS * heads), *cols = floats(NULL, COLS * heads);
    for (int64_t i = 0; i < ROWS * heads; i++)
        left[i] *= 40; /* far apart: the largest must be taken off */
    SHARES(3, ROWS)
    v->edge_add(e, &a, left, right, heads, 0.2f, from, to);
    v->edge_softmax(y, &a, e, heads, 0, ROWS);
    v->edge_softmax_grad(gx, &a, y, g, heads, 0, ROWS);
    v->edge_row_sum(rows, &a, y, heads, 0, ROWS);
    SHARES(2, COLS)
    v->edge_row_sum(cols, &turned, g, heads, from, to);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t h = 0; h < heads; h++) {
            double largest = -INFINITY, sum = 0, along = 0;
            for (int64_t k = p->start[i]; k < p->start[i + 1]; k++) {
                double s = (double)left[i * heads + h] + right[p->col[k] * heads + h];
                s = s < 0 ? 0.2 * s : s;
                assert_near(e[k * heads + h], s, 1e-6);
                largest = e[k * heads + h] > largest ? e[k * heads + h] : largest;
            }
            for (int64_t k = p->start[i]; k < p->start[i + 1]; k++)
                sum += exp(e[k * heads + h] - largest);
            for (int64_t k = p->start[i]; k < p->start[i + 1]; k++) {
                assert_near(y[k * heads + h], exp(e[k * heads + h] - largest) / sum, 1e-6);
                along += (double)y[k * heads + h] * g[k * heads + h];
            }
            for (int64_t k = p->start[i]; k < p->start[i + 1]; k++)
                assert_near(gx[k * heads + h], y[k * heads + h] * (g[k * heads + h] - along), 1e-6);
            assert_near(rows[i * heads + h], p->start[i] < p->start[i + 1] ? 1 : 0, 1e-5);
        }
    for (int64_t c = 0; c < COLS; c++)
        for (int64_t h = 0; h < heads; h++) {
            double sum = 0;
            for (int64_t k = 0; k < p->nnz; k++)
                sum += p->col[k] == c ? (double)g[k * heads + h] : 0;
            assert_near(cols[c * heads + h], sum, 1e-5);
        }
    for (int way = 1; way < WAYS; way++) { /* and in place */
        float *e2 = floats(NULL, size), *g2 = floats(NULL, size);
        memcpy(e2, e, sizeof(float) * (size_t)size);
        memcpy(g2, g, sizeof(float) * (size_t)size);
        SHARES(way, ROWS)
        {
            v->edge_softmax(e2, &a, e2, heads, from, to);
            v->edge_softmax_grad(g2, &a, e2, g2, heads, from, to);
        }
        same_bits(e2, y, size);
        same_bits(g2, gx, size);
        free(e2);
        free(g2);
    }
    float *all[] = {left, right, g, e, y, gx, rows, cols};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void test_edges(void **state)
{
    (void)state;
    const struct simd *v;
    struct pattern p;
    struct rng r;
    rng_init(&r, 5, 0);
    pattern_fill(&p, &r);
    for (int i = 0; (v = simd_table(i)) != NULL; i++)
        for (int64_t heads = 1; heads <= 18; heads++)
            check_edges(v, &p, &r, heads);
}

/* ---- the choice ---------------------------------------------------------- */

/* Every set that runs here is found by its name, and no other; an impossible CONSM_SIMD is refused
 * when a backend opens. */
static void test_names(void **state)
{
    (void)state;
    const struct simd *v;
    struct backend *backend;
    for (int i = 0; (v = simd_table(i)) != NULL; i++)
        assert_ptr_equal(simd_named(v->name), v);
    assert_ptr_equal(simd_named("base"), simd_table(0));
    assert_null(simd_named("sse9"));
    assert_ptr_equal(simd_named(simd_best()->name), simd_best());
    assert_int_equal(setenv("CONSM_SIMD", "sse9", 1), 0);
    FAILS(backend_open(&backend, "cpu", 1), CONSM_EINVAL,
          "CONSM_SIMD is sse9: on this machine expected base");
    assert_int_equal(setenv("CONSM_SIMD", "base", 1), 0);
    OK(backend_open(&backend, "cpu", 1));
    backend_close(backend);
    unsetenv("CONSM_SIMD");
}

/* Our processor detection agrees with the compiler's runtime. */
static void test_processor(void **state)
{
    (void)state;
    int expected = PROCESSOR_BASE;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        expected = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")
                       ? PROCESSOR_AVX512
                       : PROCESSOR_AVX2;
#endif
    assert_int_equal(processor_width(), expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processor),  cmocka_unit_test(test_spmm),
        cmocka_unit_test(test_spmm_heads), cmocka_unit_test(test_sddmm),
        cmocka_unit_test(test_edges),      cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
