/* Dense products in the shapes of graph networks, and the elementwise, row and optimiser kernels on
 * an array the size of a Cora hidden layer and on one far larger than the caches. */
#include "bench.h"

#include "cpu/gemm.h"
#include <stdio.h>

/* ---- products ------------------------------------------------------------ */

struct gemm_case {
    struct gemm g;
    void *scratch;
};

static void run_gemm(void *arg, struct worker who)
{
    struct gemm_case *c = arg;
    gemm_run(&c->g, c->scratch, who);
}

static consm_status bench_gemm_shape(struct bench *b, int64_t m, int64_t n, int64_t k, bool ta,
                                     bool tb)
{
    consm_status st = CONSM_OK;
    float *a = NULL, *x = NULL, *c = NULL, *scratch = NULL;
    char shape[64];
    snprintf(shape, sizeof shape, "gemm %d x %d x %d%s%s", (int)m, (int)n, (int)k, ta ? " A'" : "",
             tb ? " B'" : "");
    if (!bench_wants(b, shape))
        return CONSM_OK;
    const double dm = (double)m, dn = (double)n, dk = (double)k;
    TRY(bench_floats(&a, m * k));
    TRY(bench_floats(&x, k * n));
    TRY(bench_floats(&c, m * n));
    TRY(NEW(scratch, gemm_scratch_bytes(m, n, k, ta, tb) / sizeof(float)));
    struct gemm_case arg = {{c, a, x, m, n, k, ta, tb, 1, 0}, scratch};
    bench_run(b, "gemm", shape + 5, run_gemm, &arg,
              (struct work){.bytes = 4 * (dm * dk + dk * dn + dm * dn),
                            .least = 4 * (dm * dk + dk * dn + dm * dn),
                            .flops = 2 * dm * dn * dk});
done:
    mem_free(a);
    mem_free(x);
    mem_free(c);
    mem_free(scratch);
    return st;
}

consm_status bench_gemm(struct bench *b)
{
    static const struct {
        int64_t m, n, k;
        bool ta, tb;
    } shapes[] = {
        {1024, 1024, 1024, false, false}, {2708, 64, 1433, false, false},
        {1433, 64, 2708, true, false},    {2708, 7, 64, false, false},
        {2708, 64, 7, false, true},       {64, 7, 2708, true, false},
        {2708, 64, 64, false, false},     {2708, 64, 64, false, true},
        {64, 64, 2708, true, false},      {2708, 16, 64, false, false},
        {169343, 256, 128, false, false}, {169343, 40, 256, false, false},
        {169343, 256, 40, false, true},   {256, 40, 169343, true, false},
        {256, 256, 169343, true, false},
    };
    consm_status st = CONSM_OK;
    bench_title(b, "dense products");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        TRY(bench_gemm_shape(b, shapes[i].m, shapes[i].n, shapes[i].k, shapes[i].ta, shapes[i].tb));
done:
    return st;
}

/* ---- elements and rows --------------------------------------------------- */

struct dense_case {
    const struct simd *simd;
    float *w, *x, *y, *z, *partial;
    int64_t count, width;
    struct dropout drop;
    struct adam rule;
};

#define DENSE(kernel, grain, call)                                       \
    static void run_##kernel(void *arg, struct worker who)               \
    {                                                                    \
        const struct dense_case *c = arg;                                \
        const struct simd *v = c->simd;                                  \
        const int64_t rows = c->count / c->width;                        \
        int64_t from, to;                                                \
        (void)rows;                                                      \
        team_range(who, (grain) > 0 ? c->count : rows, 128, &from, &to); \
        call;                                                            \
    }

DENSE(axpby, 1, v->axpby(c->y, 0.9f, c->x, 0.1f, c->z, from, to))
DENSE(relu, 1, v->unary(UNARY_RELU, c->y, c->x, 0, from, to))
DENSE(elu, 1, v->unary(UNARY_ELU, c->y, c->x, 1, from, to))
DENSE(tanh, 1, v->unary(UNARY_TANH, c->y, c->x, 0, from, to))
DENSE(sigmoid, 1, v->unary(UNARY_SIGMOID, c->y, c->x, 0, from, to))
DENSE(dropout, 1, v->dropout(c->y, c->x, &c->drop, from, to))
DENSE(relu_grad, 1, v->relu_grad(c->y, c->x, c->z, 2, from, to))
DENSE(adam, 1, v->adam(c->w, c->x, c->y, c->z, &c->rule, from, to))
DENSE(bias_act, 0,
      v->bias_act(c->y, c->x, c->width,
                  &(struct epilogue){.bias = c->z, .relu = true, .drop = &c->drop}, from, to))
DENSE(log_softmax, 0, v->log_softmax(c->y, c->x, c->width, from, to))

static void run_col_sum(void *arg, struct worker who)
{
    const struct dense_case *c = arg;
    const int64_t rows = c->count / c->width;
    int64_t from, to;
    team_range(who, block_count(rows, COL_BLOCK), 1, &from, &to);
    c->simd->col_sum(c->partial, c->x, NULL, c->width, rows, from, to);
}

static void bench_dense_size(struct bench *b, struct dense_case *c)
{
    const double n = (double)c->count;
    char shape[64];
#define RUN(kernel, note, arrays, ops)                          \
    snprintf(shape, sizeof shape, "%d%s", (int)c->count, note); \
    bench_run(                                                  \
        b, #kernel, shape, run_##kernel, c,                     \
        (struct work){.bytes = n * 4 * (arrays), .least = n * 4 * (arrays), .flops = n * (ops)})
    RUN(axpby, "", 3, 3);
    RUN(relu, "", 2, 1);
    RUN(elu, "", 2, 0);
    RUN(tanh, "", 2, 0);
    RUN(sigmoid, "", 2, 0);
    c->drop = dropout_rule(0.5f, 1, 2, 3);
    RUN(dropout, " p 0.5", 2, 1);
    c->drop = dropout_rule(0.6f, 1, 2, 3);
    RUN(dropout, " p 0.6", 2, 1);
    c->drop = dropout_rule(0.5f, 1, 2, 3);
    RUN(bias_act, " rows of 64", 2, 3);
    RUN(relu_grad, "", 3, 1);
    RUN(adam, "", 7, 0);
    RUN(col_sum, " rows of 64", 1, 1);
    c->width = 7;
    RUN(log_softmax, " rows of 7", 2, 0);
    c->width = 64;
#undef RUN
}

consm_status bench_dense(struct bench *b)
{
    static const int64_t sizes[] = {2708 * 64, 16 << 20};
    consm_status st = CONSM_OK;
    struct dense_case c = {.simd = b->simd, .width = 64};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        c.count = sizes[i];
        c.rule = adam_rule(0.01, 0.9, 0.999, 1e-8, 5e-4, 3);
        TRY(bench_floats(&c.w, c.count));
        TRY(bench_floats(&c.x, c.count));
        TRY(bench_floats(&c.y, c.count));
        TRY(bench_floats(&c.z, c.count));
        TRY(bench_floats(&c.partial, c.count));
        for (int64_t k = 0; k < c.count; k++) /* Adam's second moment is not negative */
            c.y[k] = c.y[k] * c.y[k];
        bench_title(b, "dense");
        bench_dense_size(b, &c);
        mem_free(c.w);
        mem_free(c.x);
        mem_free(c.y);
        mem_free(c.z);
        mem_free(c.partial);
        c = (struct dense_case){.simd = b->simd, .width = 64};
    }
done:
    mem_free(c.w);
    mem_free(c.x);
    mem_free(c.y);
    mem_free(c.z);
    mem_free(c.partial);
    return st;
}
