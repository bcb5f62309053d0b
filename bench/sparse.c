/* Sparse products, attention and edge kernels on graphs of common shapes: Cora's, Squirrel's (few
 * nodes, many edges, hubs), and a million nodes with ten million edges. */
#include "bench.h"

#include "base/rng.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct graph_shape {
    const char *name;
    int64_t nodes, edges; /* undirected */
    double skew;          /* 1: ends are uniform; larger: hubs */
};

/* Ends are floor(nodes · u^skew) in a shuffled order, so hubs are anywhere, as in real data. */
static consm_status shape_graph(struct csr **out, const struct graph_shape *shape)
{
    consm_status st = CONSM_OK;
    struct csr *plain = NULL;
    int32_t *from = NULL, *to = NULL, *name = NULL;
    struct rng r;
    *out = NULL;
    rng_init(&r, 7, 0);
    TRY(NEW(from, shape->edges));
    TRY(NEW(to, shape->edges));
    TRY(NEW(name, shape->nodes));
    for (int32_t i = 0; i < shape->nodes; i++)
        name[i] = i;
    rng_shuffle(&r, name, shape->nodes);
    for (int64_t e = 0; e < shape->edges; e++) {
        from[e] = name[(int64_t)(pow(rng_uniform(&r), shape->skew) * (double)shape->nodes)];
        to[e] = name[(int64_t)(pow(rng_uniform(&r), shape->skew) * (double)shape->nodes)];
    }
    TRY(csr_from_edges(&plain, shape->nodes, shape->nodes, shape->edges, from, to, NULL,
                       CSR_UNDIRECTED | CSR_DROP_LOOPS, NULL));
    TRY(csr_gcn_normalize(out, plain, true));
done:
    csr_free(plain);
    mem_free(from);
    mem_free(to);
    mem_free(name);
    return st;
}

struct sparse_case {
    const struct simd *simd;
    const struct csr *a;
    float *y, *x, *e, *f;
    int64_t heads, width;
    const int64_t *index; /* t_entry: values in the order of the transpose */
    struct epilogue *end;
};

static void run_spmm(void *arg, struct worker who)
{
    struct sparse_case *c = arg;
    struct sparse a = {c->a->start, c->a->col, c->a->val, NULL};
    int64_t from, to;
    bench_rows(c->a, who, &from, &to);
    c->simd->spmm(c->y, &a, c->x, c->width, c->end, from, to);
}

static void run_spmm_heads(void *arg, struct worker who)
{
    struct sparse_case *c = arg;
    struct sparse a = {c->a->start, c->a->col, c->e, c->index};
    int64_t from, to;
    bench_rows(c->a, who, &from, &to);
    c->simd->spmm_heads(c->y, &a, c->x, c->heads, c->width / c->heads, NULL, from, to);
}

static void run_sddmm(void *arg, struct worker who)
{
    struct sparse_case *c = arg;
    struct sparse a = {c->a->start, c->a->col, NULL, NULL};
    int64_t from, to;
    bench_rows(c->a, who, &from, &to);
    c->simd->sddmm(c->e, &a, c->y, c->x, c->heads, c->width / c->heads, from, to);
}

static void run_edge_add(void *arg, struct worker who)
{
    struct sparse_case *c = arg;
    struct sparse a = {c->a->start, c->a->col, NULL, NULL};
    int64_t from, to;
    bench_rows(c->a, who, &from, &to);
    c->simd->edge_add(c->e, &a, c->y, c->x, c->heads, 0.2f, from, to);
}

static void run_edge_row_sum(void *arg, struct worker who)
{
    struct sparse_case *c = arg;
    struct sparse a = {c->a->start, c->a->col, NULL, c->index};
    int64_t from, to;
    bench_rows(c->a, who, &from, &to);
    c->simd->edge_row_sum(c->y, &a, c->e, c->heads, from, to);
}

static void run_edge_softmax(void *arg, struct worker who)
{
    struct sparse_case *c = arg;
    struct sparse a = {c->a->start, c->a->col, NULL, NULL};
    int64_t from, to;
    bench_rows(c->a, who, &from, &to);
    c->simd->edge_softmax(c->f, &a, c->e, c->heads, from, to);
}

static void run_edge_softmax_grad(void *arg, struct worker who)
{
    struct sparse_case *c = arg;
    struct sparse a = {c->a->start, c->a->col, NULL, NULL};
    int64_t from, to;
    bench_rows(c->a, who, &from, &to);
    c->simd->edge_softmax_grad(c->f, &a, c->e, c->f, c->heads, from, to);
}

static struct attention attention_of(const struct sparse_case *c, const struct dropout *drop)
{
    return (struct attention){c->heads, c->width / c->heads, 0.2f, false, drop};
}

static void run_attend(void *arg, struct worker who)
{
    struct sparse_case *c = arg;
    struct sparse a = {c->a->start, c->a->col, NULL, NULL};
    struct dropout drop = dropout_rule(0.5f, 1, 2, 3);
    struct attention t = attention_of(c, &drop);
    int64_t from, to;
    bench_rows(c->a, who, &from, &to);
    c->simd->attend(c->y, c->e, c->f, &t, &a, c->x, c->x, c->x, from, to);
}

static void run_attend_columns(void *arg, struct worker who)
{
    struct sparse_case *c = arg;
    struct sparse a = {c->a->start, c->a->col, NULL, c->a->t_entry};
    struct dropout drop = dropout_rule(0.5f, 1, 2, 3);
    struct attention t = attention_of(c, &drop);
    int64_t from, to;
    bench_rows(c->a, who, &from, &to);
    c->simd->attend_columns(c->y, c->e, &t, &a, c->f, c->x, c->x, c->x, from, to);
}

static struct work product_work(const struct csr *a, int64_t width)
{
    const double n = (double)a->rows, m = (double)a->nnz, w = (double)width;
    return (struct work){.bytes = m * (w * 4 + 8) + n * w * 4,
                         .least = m * 8 + n * 8 + 2 * n * w * 4,
                         .flops = 2 * m * w,
                         .gathered = m * w * 4,
                         .table = n * w * 4};
}

static void bench_products(struct bench *b, struct sparse_case *c, const char *graph)
{
    static const int64_t widths[] = {7, 8, 16, 32, 64, 128, 256};
    struct dropout drop = dropout_rule(0.5f, 1, 2, 3);
    struct epilogue end = {.scale = 1, .bias = c->f, .relu = true, .drop = &drop};
    char shape[64];
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        c->width = widths[i];
        snprintf(shape, sizeof shape, "%s x %d", graph, (int)c->width);
        bench_run(b, "spmm", shape, run_spmm, c, product_work(c->a, c->width));
    }
    c->width = 64;
    c->end = &end;
    snprintf(shape, sizeof shape, "%s x 64 fused", graph);
    bench_run(b, "spmm", shape, run_spmm, c, product_work(c->a, 64));
    c->end = NULL;
}

static void bench_attention(struct bench *b, struct sparse_case *c, const char *graph)
{
    char shape[64];
    for (c->heads = 1; c->heads <= 8; c->heads += 7) {
        const double cells = (double)(c->a->nnz * c->heads), m = (double)c->a->nnz;
        struct work product = product_work(c->a, 64), edges = {.bytes = cells * 8};
        product.bytes += 4 * (cells - m);
        product.least += 4 * (cells - m);
        edges.least = edges.bytes;
        c->width = 64;
        snprintf(shape, sizeof shape, "%s %d x %d", graph, (int)c->heads, (int)(64 / c->heads));
        bench_run(b, "sddmm", shape, run_sddmm, c, product);
        snprintf(shape, sizeof shape, "%s %d heads", graph, (int)c->heads);
        bench_run(b, "edge_add", shape, run_edge_add, c,
                  (struct work){.bytes = cells * 8 + m * 4, .least = cells * 4 + m * 4});
        bench_run(b, "edge_softmax", shape, run_edge_softmax, c, edges);
        snprintf(shape, sizeof shape, "%s %d x %d", graph, (int)c->heads, (int)(64 / c->heads));
        bench_run(b, "spmm_heads", shape, run_spmm_heads, c, product);
        c->index = c->a->t_entry;
        snprintf(shape, sizeof shape, "%s %d x %d transposed", graph, (int)c->heads,
                 (int)(64 / c->heads));
        bench_run(b, "spmm_heads", shape, run_spmm_heads, c, product);
        snprintf(shape, sizeof shape, "%s %d heads transposed", graph, (int)c->heads);
        bench_run(b, "edge_row_sum", shape, run_edge_row_sum, c,
                  (struct work){.bytes = cells * 4 + m * 8, .least = cells * 4 + m * 8});
        c->index = NULL;
        struct work walk = product_work(c->a, 64);
        snprintf(shape, sizeof shape, "%s %d x %d", graph, (int)c->heads, (int)(64 / c->heads));
        walk.flops *= 2; /* two sums; or a sum and the dot products */
        bench_run(b, "attend", shape, run_attend, c, walk);
        c->index = c->a->t_entry;
        bench_run(b, "attend_columns", shape, run_attend_columns, c, walk);
        c->index = NULL;
        edges.bytes = edges.least = cells * 12;
        snprintf(shape, sizeof shape, "%s %d heads", graph, (int)c->heads);
        bench_run(b, "edge_softmax_grad", shape, run_edge_softmax_grad, c, edges);
    }
}

/* Whether any line about this graph passes the filter; building a large one takes a second. */
static bool wants_graph(const struct bench *b, const char *graph)
{
    static const char *const kernels[] = {"spmm",         "spmm_heads",   "sddmm",
                                          "edge_add",     "edge_softmax", "edge_softmax_grad",
                                          "edge_row_sum", "attend",       "attend_columns"};
    char label[128];
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        snprintf(label, sizeof label, "%s %s", kernels[i], graph);
        if (bench_wants(b, label) || (b->filter && strstr(b->filter, label)))
            return true;
    }
    return false;
}

consm_status bench_sparse(struct bench *b)
{
    static const struct graph_shape shapes[] = {{"cora", 2708, 5278, 1.5},
                                                {"squirrel", 5201, 216000, 1.8},
                                                {"1M/10M", 1000000, 5000000, 1}};
    consm_status st = CONSM_OK;
    struct csr *a = NULL;
    struct sparse_case c = {.simd = b->simd};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (!wants_graph(b, shapes[i].name))
            continue;
        TRY(shape_graph(&a, &shapes[i]));
        TRY(csr_transpose_entries(a));
        c.a = a;
        TRY(bench_floats(&c.x, a->cols * 256));
        TRY(bench_floats(&c.y, a->rows * 256));
        const int64_t room = a->nnz * 8 > a->rows * 64 ? a->nnz * 8 : a->rows * 64;
        TRY(bench_floats(&c.e, room));
        TRY(bench_floats(&c.f, room));
        bench_title(b, "sparse");
        bench_products(b, &c, shapes[i].name);
        bench_attention(b, &c, shapes[i].name);
        csr_free(a);
        a = NULL;
        mem_free(c.x);
        mem_free(c.y);
        mem_free(c.e);
        mem_free(c.f);
        c.x = c.y = c.e = c.f = NULL;
    }
done:
    csr_free(a);
    mem_free(c.x);
    mem_free(c.y);
    mem_free(c.e);
    mem_free(c.f);
    return st;
}
