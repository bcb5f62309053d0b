/* Every operation's gradient against central differences, on shapes that include empty rows, a
 * single node, isolated nodes and a single class. Threads: two, so that shares are exercised too.
 * THREADED */
#include "check.h"

#include "base/rng.h"
#include "cpu/backend.h"
#include "program/program.h"
#include <math.h>

/* What the cases are built from. Sparse pattern s is (n, n) with an isolated last row. */
struct world {
    int64_t n, f;
    struct csr *s;
    struct index *index, *other, *groups, *labelled;
    int32_t *label;
    float *target, *weight, *row_weight;
    node x, y; /* parameters (n, f) */
};

typedef node (*build_fn)(struct program *p, struct world *w);

static float random_in(struct rng *r, double low, double high)
{
    return (float)(low + (high - low) * rng_uniform(r));
}

static void world_make(struct world *w, int64_t n, int64_t f)
{
    struct rng r;
    int32_t from[64], to[64], rows[64];
    float weight[64];
    int64_t m = 0;
    rng_init(&r, 5, (uint64_t)(n * 100 + f));
    w->n = n;
    w->f = f;
    for (int64_t i = 0; i + 1 < n - 1 && m < 60; i++) {
        from[m] = (int32_t)i, to[m] = (int32_t)(i + 1), weight[m++] = random_in(&r, 0.5, 2);
        from[m] = 0, to[m] = (int32_t)(i + 1), weight[m++] = random_in(&r, 0.5, 2);
    }
    OK(csr_from_edges(&w->s, n, n, m, from, to, weight, CSR_DIRECTED, NULL));
    int64_t pairs = 2 * n + 1;
    OK(index_new(&w->index, pairs, n));
    OK(index_new(&w->other, pairs, n));
    OK(index_new(&w->groups, n, 4));
    for (int64_t k = 0; k < pairs; k++)
        rows[k] = (int32_t)rng_below(&r, (uint64_t)n);
    OK(index_set(w->index, rows));
    for (int64_t k = 0; k < pairs; k++)
        rows[k] = (int32_t)rng_below(&r, (uint64_t)n);
    OK(index_set(w->other, rows));
    for (int64_t k = 0; k < n; k++)
        rows[k] = (int32_t)(k % 3); /* group 3 stays empty */
    OK(index_set(w->groups, rows));
    int64_t labelled = n > 2 ? n / 2 : 1;
    OK(index_new(&w->labelled, labelled, n));
    for (int64_t k = 0; k < labelled; k++)
        rows[k] = (int32_t)(n - 1 - k);
    OK(index_set(w->labelled, rows));
    w->label = mem_zalloc((size_t)n, sizeof *w->label);
    w->target = mem_alloc((size_t)(n * f), sizeof *w->target);
    w->weight = mem_alloc((size_t)(n * f), sizeof *w->weight);
    w->row_weight = mem_alloc((size_t)labelled, sizeof *w->row_weight);
    for (int64_t i = 0; i < n; i++)
        w->label[i] = (int32_t)rng_below(&r, (uint64_t)f);
    for (int64_t k = 0; k < n * f; k++) {
        w->target[k] = random_in(&r, 0, 1);
        w->weight[k] = random_in(&r, 0.2, 2);
    }
    for (int64_t k = 0; k < labelled; k++)
        w->row_weight[k] = random_in(&r, 0.5, 2);
}

static void world_free(struct world *w)
{
    csr_free(w->s);
    index_free(w->index);
    index_free(w->other);
    index_free(w->groups);
    index_free(w->labelled);
    mem_free(w->label);
    mem_free(w->target);
    mem_free(w->weight);
    mem_free(w->row_weight);
}

static node p_named(struct program *p, const char *name, int64_t rows, int64_t cols)
{
    return param(p, name, rows, cols, INIT_NORMAL);
}

/* ---- the cases: each returns any node that depends on parameters --------- */

static node c_matmul(struct program *p, struct world *w)
{
    return matmul(p, w->x, p_named(p, "z", w->f, 3));
}
static node c_matmul_tn(struct program *p, struct world *w)
{
    return matmul_t(p, w->x, true, w->y, false);
}
static node c_matmul_nt(struct program *p, struct world *w)
{
    return matmul_t(p, w->x, false, w->y, true);
}
static node c_matmul_tt(struct program *p, struct world *w)
{
    return matmul_t(p, w->x, true, p_named(p, "z", 3, w->n), true);
}
static node c_axpby(struct program *p, struct world *w)
{
    return axpby(p, 0.3f, w->x, -1.7f, w->y);
}
static node c_scale(struct program *p, struct world *w)
{
    return scale(p, -2.5f, w->x);
}
static node c_mul(struct program *p, struct world *w)
{
    return mul(p, w->x, w->y);
}
static node c_mul_self(struct program *p, struct world *w)
{
    return mul(p, w->x, w->x);
}
static node c_scale_by(struct program *p, struct world *w)
{
    return scale_by(p, w->x, p_named(p, "s", 1, 1));
}
static node c_scale_rows(struct program *p, struct world *w)
{
    return scale_rows(p, w->x, p_named(p, "v", w->n, 1));
}
static node c_add_bias(struct program *p, struct world *w)
{
    return add_bias(p, w->x, p_named(p, "b", 1, w->f));
}
static node c_fused(struct program *p, struct world *w)
{
    node b = p_named(p, "b", 1, w->f);
    return square(p, dropout(p, relu(p, add_bias(p, w->x, b)), 0.5f));
}
static node c_fused_relu(struct program *p, struct world *w)
{
    return square(p, relu(p, add_bias(p, w->x, p_named(p, "b", 1, w->f))));
}
static node c_spmm_fused(struct program *p, struct world *w)
{
    node b = p_named(p, "b", 1, w->f);
    return square(p, dropout(p, relu(p, add_bias(p, spmm(p, w->s, w->x), b)), 0.3f));
}
static node c_concat_slice(struct program *p, struct world *w)
{
    return slice(p, concat(p, w->x, w->y), w->f / 2, w->f);
}
static node c_reshape(struct program *p, struct world *w)
{
    return square(p, col_sum(p, reshape(p, w->x, w->f, w->n)));
}
static node c_col_sum(struct program *p, struct world *w)
{
    return square(p, col_sum(p, w->x));
}
static node c_row_sum(struct program *p, struct world *w)
{
    return square(p, row_sum(p, w->x));
}
static node c_sum(struct program *p, struct world *w)
{
    return square(p, sum(p, w->x));
}
static node c_dot(struct program *p, struct world *w)
{
    return dot(p, w->x, w->y);
}
static node c_expand(struct program *p, struct world *w)
{
    node rows = expand(p, p_named(p, "b", 1, w->f), w->n, w->f);
    node cols = expand(p, p_named(p, "v", w->n, 1), w->n, w->f);
    return mul(p, add(p, rows, cols), expand(p, p_named(p, "s", 1, 1), w->n, w->f));
}
static node c_relu(struct program *p, struct world *w)
{
    return relu(p, w->x);
}
static node c_leaky(struct program *p, struct world *w)
{
    return leaky_relu(p, w->x, 0.2f);
}
static node c_elu(struct program *p, struct world *w)
{
    return elu(p, w->x);
}
static node c_tanh(struct program *p, struct world *w)
{
    return tanh_(p, w->x);
}
static node c_sigmoid(struct program *p, struct world *w)
{
    return sigmoid(p, w->x);
}
static node c_log_sigmoid(struct program *p, struct world *w)
{
    return log_sigmoid(p, w->x);
}
static node c_exp(struct program *p, struct world *w)
{
    return exp_(p, w->x);
}
static node c_log(struct program *p, struct world *w)
{
    return log_(p, exp_(p, w->x), 1e-6f);
}
static node c_square(struct program *p, struct world *w)
{
    return square(p, w->x);
}
static node c_abs(struct program *p, struct world *w)
{
    return abs_(p, w->x);
}
static node c_clamp(struct program *p, struct world *w)
{
    return clamp(p, w->x, -0.5f, 0.7f);
}
static node c_dropout(struct program *p, struct world *w)
{
    return square(p, dropout(p, w->x, 0.4f));
}
static node c_spmm(struct program *p, struct world *w)
{
    return spmm(p, w->s, w->x);
}
static node c_sparse_dropout(struct program *p, struct world *w)
{
    return matmul(p, dropout(p, sparse(p, w->s), 0.5f), w->x);
}
static node c_spmm_values(struct program *p, struct world *w)
{
    return spmm_values(p, w->s, p_named(p, "e", w->s->nnz, 1), w->x);
}
static node c_spmm_heads(struct program *p, struct world *w)
{
    node wide = concat(p, w->x, w->y);
    return spmm_values(p, w->s, p_named(p, "e", w->s->nnz, 2), wide);
}
static node c_sddmm(struct program *p, struct world *w)
{
    return sddmm(p, w->s, w->x, w->y, 1);
}
static node c_sddmm_heads(struct program *p, struct world *w)
{
    return sddmm(p, w->s, concat(p, w->x, w->y), concat(p, w->y, w->x), 2);
}
static node c_head_dot(struct program *p, struct world *w)
{
    node wide = concat(p, concat(p, w->x, w->y), w->x);
    return square(p, head_dot(p, wide, p_named(p, "a", 3, w->f)));
}
static node c_edge_add(struct program *p, struct world *w)
{
    return square(p, edge_add(p, w->s, w->x, w->y));
}
static node c_edge_leaky(struct program *p, struct world *w)
{
    return square(p, leaky_relu(p, edge_add(p, w->s, w->x, w->y), 0.2f));
}
static node c_spmm_add(struct program *p, struct world *w)
{
    node left = axpby(p, 0.7f, spmm(p, w->s, w->x), -0.3f, w->y);
    return square(p, axpby(p, 1, left, 0.4f, spmm(p, w->s, left)));
}
static node c_edge_sum(struct program *p, struct world *w)
{
    return square(p, edge_sum(p, w->s, p_named(p, "e", w->s->nnz, 2)));
}
static node c_edge_softmax(struct program *p, struct world *w)
{
    return edge_softmax(p, w->s, p_named(p, "e", w->s->nnz, 2));
}
static node c_gather(struct program *p, struct world *w)
{
    return square(p, gather(p, w->x, w->index));
}
static node c_segment_sum(struct program *p, struct world *w)
{
    return square(p, segment_sum(p, w->x, w->groups));
}
static node c_segment_mean(struct program *p, struct world *w)
{
    return square(p, segment_mean(p, w->x, w->groups));
}
static node c_segment_max(struct program *p, struct world *w)
{
    return segment_max(p, w->x, w->groups);
}
static node c_row_normalize(struct program *p, struct world *w)
{
    return row_normalize(p, w->x);
}
static node c_pair_cosine(struct program *p, struct world *w)
{
    return pair_cosine(p, w->x, w->index, w->other);
}
static node c_pair_squared(struct program *p, struct world *w)
{
    return pair_squared(p, w->x, w->index, w->other);
}
static node c_batch_norm(struct program *p, struct world *w)
{
    return batch_norm(p, "bn", w->x);
}
static node c_nuclear(struct program *p, struct world *w)
{
    return nuclear(p, w->s, p_named(p, "e", w->s->nnz, 1), 2, 500);
}
static node c_softmax(struct program *p, struct world *w)
{
    return softmax(p, w->x);
}
static node c_log_softmax(struct program *p, struct world *w)
{
    return log_softmax(p, w->x);
}
static node c_nll(struct program *p, struct world *w)
{
    return nll(p, w->x, w->labelled, w->label, NULL);
}
static node c_nll_weighted(struct program *p, struct world *w)
{
    return nll(p, w->x, w->labelled, w->label, w->row_weight);
}
static node targets(struct program *p, struct world *w)
{
    return input(p, w->target, w->n, w->f);
}
static node weights(struct program *p, struct world *w)
{
    return input(p, w->weight, w->n, w->f);
}
static node c_bce(struct program *p, struct world *w)
{
    return bce(p, w->x, targets(p, w), weights(p, w));
}
static node c_l1(struct program *p, struct world *w)
{
    return l1(p, w->x, targets(p, w), weights(p, w));
}
static node c_mse(struct program *p, struct world *w)
{
    return mse(p, w->x, targets(p, w), weights(p, w));
}

static const struct {
    const char *name;
    build_fn build;
} cases[] = {
    {"matmul", c_matmul},
    {"matmul tn", c_matmul_tn},
    {"matmul nt", c_matmul_nt},
    {"matmul tt", c_matmul_tt},
    {"axpby", c_axpby},
    {"scale", c_scale},
    {"mul", c_mul},
    {"mul self", c_mul_self},
    {"scale_by", c_scale_by},
    {"scale_rows", c_scale_rows},
    {"add_bias", c_add_bias},
    {"bias relu dropout", c_fused},
    {"bias relu", c_fused_relu},
    {"spmm fused", c_spmm_fused},
    {"concat slice", c_concat_slice},
    {"reshape", c_reshape},
    {"col_sum", c_col_sum},
    {"row_sum", c_row_sum},
    {"sum", c_sum},
    {"dot", c_dot},
    {"expand", c_expand},
    {"relu", c_relu},
    {"leaky_relu", c_leaky},
    {"elu", c_elu},
    {"tanh", c_tanh},
    {"sigmoid", c_sigmoid},
    {"log_sigmoid", c_log_sigmoid},
    {"exp", c_exp},
    {"log", c_log},
    {"square", c_square},
    {"abs", c_abs},
    {"clamp", c_clamp},
    {"dropout", c_dropout},
    {"spmm", c_spmm},
    {"sparse dropout", c_sparse_dropout},
    {"spmm_values", c_spmm_values},
    {"spmm heads", c_spmm_heads},
    {"sddmm", c_sddmm},
    {"sddmm heads", c_sddmm_heads},
    {"head_dot", c_head_dot},
    {"edge_add", c_edge_add},
    {"edge_leaky", c_edge_leaky},
    {"spmm_add", c_spmm_add},
    {"edge_sum", c_edge_sum},
    {"edge_softmax", c_edge_softmax},
    {"gather", c_gather},
    {"segment_sum", c_segment_sum},
    {"segment_mean", c_segment_mean},
    {"segment_max", c_segment_max},
    {"row_normalize", c_row_normalize},
    {"pair_cosine", c_pair_cosine},
    {"pair_squared", c_pair_squared},
    {"batch_norm", c_batch_norm},
    {"nuclear", c_nuclear},
    {"softmax", c_softmax},
    {"log_softmax", c_log_softmax},
    {"nll", c_nll},
    {"nll weighted", c_nll_weighted},
    {"bce", c_bce},
    {"l1", c_l1},
    {"mse", c_mse},
};

static float run_loss(struct program *p, node loss, struct team *team)
{
    struct step step = {42, 3};
    program_run(p, team, &step);
    return program_value(p, loss)[0];
}

/* Values a little away from the kinks of relu, abs and clamp, where differences mean nothing. */
static void spread_values(struct params *params)
{
    struct rng r;
    rng_init(&r, 11, 0);
    for (int i = 0; i < params->count; i++)
        for (int64_t k = 0; k < params->item[i].rows * params->item[i].cols; k++) {
            float *value = &params->value[params->item[i].offset + k];
            *value = random_in(&r, 0.1, 1.2) * (rng_u32(&r) & 1 ? 1.0f : -1.0f);
            if (fabsf(fabsf(*value) - 0.5f) < 0.05f || fabsf(*value - 0.7f) < 0.05f)
                *value = random_in(&r, 0.8, 1.2);
        }
}

static void check_gradient(const char *name, build_fn build, int64_t n, int64_t f,
                           struct team *team)
{
    struct world w;
    struct params *params;
    struct program *p;
    struct rng r;
    rng_init(&r, 8, 0);
    world_make(&w, n, f);
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    w.x = p_named(p, "x", n, f);
    w.y = p_named(p, "y", n, f);
    node out = build(p, &w);
    int64_t size = program_rows(p, out) * program_cols(p, out);
    float *mix = mem_alloc((size_t)size, sizeof *mix);
    for (int64_t k = 0; k < size; k++)
        mix[k] = random_in(&r, -1, 1);
    node loss = dot(p, out, input(p, mix, program_rows(p, out), program_cols(p, out)));
    program_minimize(p, loss);
    OK(program_compile(p, cpu_backend()));
    spread_values(params);
    run_loss(p, loss, team);
    float *grad = mem_alloc((size_t)params->size, sizeof *grad);
    memcpy(grad, params->grad, (size_t)params->size * sizeof *grad);
    for (int i = 0; i < params->count; i++) {
        const struct parameter *item = &params->item[i];
        for (int64_t k = 0; item->trained && k < item->rows * item->cols; k++) {
            float *value = &params->value[item->offset + k], kept = *value, h = 4e-3f;
            *value = kept + h;
            double up = (double)run_loss(p, loss, team);
            *value = kept - h;
            double down = (double)run_loss(p, loss, team);
            *value = kept;
            double numeric = (up - down) / (2 * (double)h);
            double exact = (double)grad[item->offset + k];
            double scale = fmax(1, fmax(fabs(numeric), fabs(up)));
            if (!(fabs(numeric - exact) <= 4e-3 * scale))
                fail_msg("%s (%lld x %lld): %s[%lld]: %g by differences, %g recorded", name,
                         (long long)n, (long long)f, item->name, (long long)k, numeric, exact);
        }
    }
    mem_free(grad);
    mem_free(mix);
    program_free(p);
    params_free(params);
    world_free(&w);
}

static void gradients(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{7, 5}, {1, 3}, {6, 1}, {12, 9}};
    struct team *team;
    OK(team_new(&team, 2));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            check_gradient(cases[c].name, cases[c].build, shapes[s][0], shapes[s][1], team);
    team_free(team);
}

/* Faults poison quietly and are reported once, with the name of the node. */
static void faults_are_reported(void **state)
{
    (void)state;
    struct params *params;
    struct program *p;
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    node x = param(p, "x", 4, 3, INIT_ZERO), y = param(p, "weights", 5, 3, INIT_ZERO);
    node bad = relu(p, matmul(p, x, y));
    assert_int_equal(bad, POISON);
    assert_int_equal(add(p, bad, x), POISON);
    program_minimize(p, sum(p, bad));
    FAILS(program_compile(p, cpu_backend()), CONSM_EPROGRAM, "matmul of x (4 x 3) and weights");
    program_free(p);
    params_free(params);
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
    struct params *params;
    struct program *p;
    int lines = 0;
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    node x = param(p, "x", 4, 3, INIT_ONE);
    program_minimize(p, sum(p, square(p, x)));
    OK(program_compile(p, cpu_backend()));
    program_dump(p, count_lines, &lines);
    assert_true(lines > 5);
    program_free(p);
    params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients),
        cmocka_unit_test(faults_are_reported),
        cmocka_unit_test(dump_lists_every_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
