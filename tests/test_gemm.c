/* Dense products against a plain double-precision loop, and the same bits from teams of every size.
 * THREADED. */
#include "check.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "cpu/gemm.h"
#include <math.h>

struct call {
    struct gemm g;
    void *scratch;
};

static void run(void *arg, struct worker who)
{
    struct call *call = arg;
    gemm_run(&call->g, call->scratch, who);
}

/* After the numbers come `spoilt` more that would show in every sum that reads too far. */
static float *random_array(struct rng *r, int64_t count, int64_t spoilt)
{
    float *p;
    OK(NEW(p, count + spoilt));
    for (int64_t i = count; i < count + spoilt; i++)
        p[i] = NAN;
    for (int64_t i = 0; i < count; i++)
        p[i] = (float)(rng_uniform(r) * 2 - 1);
    return p;
}

static void compare(const struct gemm *g, const float *before)
{
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            double sum = 0, size = 1;
            for (int64_t k = 0; k < g->k; k++) {
                double a = g->ta ? g->a[k * g->m + i] : g->a[i * g->k + k];
                double b = g->tb ? g->b[j * g->k + k] : g->b[k * g->n + j];
                sum += a * b;
                size += a * b > 0 ? a * b : -a * b;
            }
            double expected = g->alpha * sum;
            if (g->beta != 0)
                expected += g->beta * before[i * g->n + j];
            assert_near(g->c[i * g->n + j] / size, expected / size, 1e-6);
        }
}

static void check_shape(struct rng *r, int64_t m, int64_t n, int64_t k, bool ta, bool tb,
                        float alpha, float beta, int64_t spoilt)
{
    float *a = random_array(r, m * k, spoilt), *b = random_array(r, k * n, spoilt);
    float *c = random_array(r, m * n, 0);
    float *first = NULL, *out;
    void *scratch;
    const int sizes[] = {1, 2, 3, 7};
    OK(NEW(out, m * n));
    scratch = mem_alloc(gemm_scratch_bytes(m, n, k, ta, tb), 1);
    assert_non_null(scratch);
    for (int t = 0; t < 4; t++) {
        struct call call = {{out, a, b, m, n, k, ta, tb, alpha, beta}, scratch};
        struct team *team;
        OK(team_new(&team, sizes[t]));
        for (int64_t i = 0; i < m * n; i++)
            out[i] = beta == 0 ? 0.0f / 0.0f : c[i];
        team_run(team, run, &call);
        team_free(team);
        if (t == 0) {
            compare(&call.g, c);
            OK(NEW(first, m * n));
            memcpy(first, out, sizeof(float) * (size_t)(m * n));
        }
        assert_memory_equal(out, first, sizeof(float) * (size_t)(m * n));
    }
    mem_free(a);
    mem_free(b);
    mem_free(c);
    mem_free(first);
    mem_free(out);
    mem_free(scratch);
}

static void test_shapes(void **state)
{
    (void)state;
    static const int64_t shape[][3] = {{1, 1, 1},      {7, 5, 3},     {300, 7, 64},  {300, 64, 7},
                                       {64, 7, 1500},  {16, 16, 700}, {600, 9, 20},  {3, 600, 40},
                                       {64, 64, 2100}, {5, 1, 1100},  {257, 16, 33}, {513, 15, 31},
                                       {40, 33, 600},  {1, 17, 1030}, {530, 3, 130}, {37, 200, 90},
                                       {25, 33, 513},  {13, 31, 7},   {260, 300, 40}};
    struct rng r;
    rng_init(&r, 3, 0);
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
        for (int form = 0; form < 4; form++) {
            bool ta = form & 1, tb = form & 2;
            check_shape(&r, shape[s][0], shape[s][1], shape[s][2], ta, tb, 1, 0, 0);
            check_shape(&r, shape[s][0], shape[s][1], shape[s][2], ta, tb, -0.5f, 0.25f, 0);
        }
}

/* Weight gradients of a large graph, which are not copied first; the odd row count takes the usual
 * path. The last block is shorter, and what follows it spoils the sums: if the arrays ended at the
 * end of a page of zeros, reading on would not show. */
static void test_long_inner(void **state)
{
    (void)state;
    enum { SPOILT = 4096 };
    struct rng r;
    rng_init(&r, 4, 0);
    check_shape(&r, 8, 32, 135000, true, false, 1, 0, SPOILT);
    check_shape(&r, 4, 48, 135001, true, false, 1, 0.5f, SPOILT);
    check_shape(&r, 5, 32, 135000, true, false, 1, 0, SPOILT);
}

static void test_nothing(void **state)
{
    (void)state;
    float c[2] = {3, 4};
    struct call call = {{c, c, c, 1, 2, 0, false, false, 1, 0.5f}, NULL};
    struct worker alone = {0, 1, NULL};
    assert_int_equal(gemm_scratch_bytes(1, 2, 0, true, false), 0);
    run(&call, alone);
    assert_true(c[0] == 1.5f && c[1] == 2);
    call.g.beta = 0;
    run(&call, alone);
    assert_true(c[0] == 0 && c[1] == 0);
    call.g.m = 0;
    run(&call, alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_long_inner),
                                       cmocka_unit_test(test_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
