/* Attention in one walk, on every instruction set of this machine, against plain double-precision
 * loops over its parts: empty rows, short ones, and ones longer than a piece; and the same bits
 * however rows and columns are divided. */
#include "simd_check.h"

enum { ROWS = 21, COLS = 700, MOST_HEADS = 16 };

/* A row of every column, empty rows, short ones; and the transpose. */
struct pattern {
    int64_t start[ROWS + 1], t_start[COLS + 1], t_entry[ROWS * COLS];
    int32_t col[ROWS * COLS], t_col[ROWS * COLS];
    float val[ROWS * COLS], t_val[ROWS * COLS];
};

static void pattern_fill(struct pattern *p, struct rng *r)
{
    int64_t nnz = 0, at = 0;
    for (int i = 0; i < ROWS; i++) {
        double density = i % 5 == 1 ? 0 : i == 7 ? 1 : i % 2 ? 0.01 : 0.1;
        p->start[i] = nnz;
        for (int32_t c = 0; c < COLS; c++)
            if (rng_uniform(r) < density) {
                p->val[nnz] = (float)rng_uniform(r);
                p->col[nnz++] = c;
            }
    }
    p->start[ROWS] = nnz;
    for (int32_t c = 0; c < COLS; c++) {
        p->t_start[c] = at;
        for (int32_t i = 0; i < ROWS; i++)
            for (int64_t k = p->start[i]; k < p->start[i + 1]; k++)
                if (p->col[k] == c) {
                    p->t_col[at] = i;
                    p->t_val[at] = p->val[k];
                    p->t_entry[at++] = k;
                }
    }
    p->t_start[COLS] = at;
}

/* All inputs and outputs, for `heads` heads of `dim` columns. */
struct scene {
    struct pattern p;
    struct attention t;
    struct dropout drop;
    float *left, *right, *z, *g, *keep; /* keep (nnz, heads): what dropout makes of ones */
    float *y, *bent, *totals, *packed, *gz, *gright;
};

static int64_t entries(const struct scene *s)
{
    return s->p.start[ROWS];
}

static void scene_make(struct scene *s, const struct simd *v, struct rng *r, int64_t heads,
                       int64_t dim, bool gate, float rate)
{
    pattern_fill(&s->p, r);
    int64_t cells = entries(s) * heads, width = heads * dim;
    s->drop = dropout_rule(rate, 5, 6, 7);
    s->t = (struct attention){heads, dim, gate ? 1 : 0.2f, gate, rate > 0 ? &s->drop : NULL};
    s->left = floats(r, ROWS * heads);
    s->right = floats(r, COLS * heads);
    s->z = floats(r, COLS * width);
    s->g = floats(r, ROWS * width);
    s->keep = floats(NULL, cells);
    for (int64_t k = 0; k < cells; k++)
        s->keep[k] = 1;
    if (rate > 0)
        v->dropout(s->keep, s->keep, &s->drop, 0, cells);
    s->y = floats(NULL, ROWS * width);
    s->bent = floats(NULL, ROWS * width);
    s->totals = floats(NULL, ROWS * 2 * heads);
    s->packed = floats(NULL, ROWS * 3 * heads);
    s->gz = floats(NULL, COLS * width);
    s->gright = floats(NULL, COLS * heads);
}

static void scene_free(struct scene *s)
{
    RELEASE(s->left, s->right, s->z, s->g, s->keep, s->y, s->bent, s->totals, s->packed, s->gz,
            s->gright);
}

/* exp(score) of an entry, or its gate; *slope: by what the score's derivative is multiplied. */
static double power_of(const struct scene *s, int64_t i, int64_t k, int64_t h, double *slope)
{
    int64_t heads = s->t.heads;
    double sum = (double)s->left[i * heads + h] + s->right[s->p.col[k] * heads + h];
    *slope = sum < 0 ? (double)s->t.slope : 1;
    if (!s->t.gate)
        return exp(sum * *slope);
    *slope = 1 / tanh(sum) - tanh(sum);
    return tanh(sum) * s->p.val[k];
}

/* Σ of the powers of a row and of their slopes; a gate has 1 and 0. */
static double row_total(const struct scene *s, int64_t i, int64_t h, double *slopes)
{
    double total = 0, slope;
    *slopes = 0;
    for (int64_t k = s->p.start[i]; !s->t.gate && k < s->p.start[i + 1]; k++) {
        double power = power_of(s, i, k, h, &slope);
        total += power;
        *slopes += slope * power;
    }
    *slopes = total > 0 ? *slopes / total : 0;
    return s->t.gate ? 1 : total;
}

static void check_rows(struct scene *s)
{
    int64_t heads = s->t.heads, dim = s->t.dim;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t h = 0; h < heads; h++) {
            double slopes, total = row_total(s, i, h, &slopes), along = 0;
            for (int64_t c = h * dim; c < (h + 1) * dim; c++) {
                double sum = 0, bent = 0, slope;
                for (int64_t k = s->p.start[i]; k < s->p.start[i + 1]; k++) {
                    double w = power_of(s, i, k, h, &slope) / total * s->keep[k * heads + h];
                    sum += w * s->z[s->p.col[k] * heads * dim + c];
                    bent += w * slope * s->z[s->p.col[k] * heads * dim + c];
                }
                assert_near(s->y[i * heads * dim + c], sum, 2e-5);
                assert_near(s->bent[i * heads * dim + c], bent, 4e-5);
                along += sum * s->g[i * heads * dim + c];
            }
            if (!s->t.gate) {
                assert_near(s->totals[i * 2 * heads + h], total > 0 ? log(total) : 0, 1e-5);
                assert_near(s->totals[i * 2 * heads + heads + h], slopes, 1e-5);
            }
            float *packed = s->packed + i * 3 * heads + h;
            packed[0] = s->left[i * heads + h];
            packed[heads] = s->t.gate || total == 0 ? 0 : (float)log(total);
            packed[2 * heads] = s->t.gate ? 0 : (float)along;
        }
}

static void check_columns(const struct scene *s)
{
    int64_t heads = s->t.heads, dim = s->t.dim, width = heads * dim;
    double total[ROWS * MOST_HEADS], slopes;
    for (int64_t i = 0; i < ROWS * heads; i++)
        total[i] = row_total(s, i / heads, i % heads, &slopes);
    for (int64_t j = 0; j < COLS; j++)
        for (int64_t h = 0; h < heads; h++) {
            double right = 0, slope;
            for (int64_t c = h * dim; c < (h + 1) * dim; c++) {
                double sum = 0;
                for (int64_t q = s->p.t_start[j]; q < s->p.t_start[j + 1]; q++) {
                    int64_t k = s->p.t_entry[q], i = s->p.t_col[q];
                    double w = power_of(s, i, k, h, &slope) / total[i * heads + h];
                    sum += w * s->keep[k * heads + h] * s->g[i * width + c];
                    right += slope * w *
                             (s->keep[k * heads + h] * (double)s->g[i * width + c] *
                                  s->z[j * width + c] -
                              s->packed[i * 3 * heads + 2 * heads + h] / (double)dim);
                }
                assert_near(s->gz[j * width + c], sum, 2e-5);
            }
            assert_near(s->gright[j * heads + h], right, 4e-5);
        }
}

static void check_attention(const struct simd *v, struct rng *r, int64_t heads, int64_t dim,
                            bool gate, float rate)
{
    struct scene s;
    scene_make(&s, v, r, heads, dim, gate, rate);
    const int64_t width = heads * dim;
    struct sparse a = {s.p.start, s.p.col, s.p.val, NULL};
    struct sparse turned = {s.p.t_start, s.p.t_col, s.p.t_val, s.p.t_entry};
    float *again = floats(NULL, COLS * width), *beside = floats(NULL, ROWS * width),
          *totals = floats(NULL, ROWS * 2 * heads), *scores = floats(NULL, COLS * heads);
    WHOLE_AND_SHARED(ROWS, s.y, again, ROWS * width,
                     v->attend(y, way ? beside : s.bent, way ? totals : s.totals, &s.t, &a, s.left,
                               s.right, s.z, from, to));
    same_bits(s.bent, beside, ROWS * width);
    check_rows(&s);
    WHOLE_AND_SHARED(COLS, s.gz, again, COLS * width,
                     v->attend_columns(y, way ? scores : s.gright, &s.t, &turned, s.packed, s.right,
                                       s.z, s.g, from, to));
    same_bits(s.gright, scores, COLS * heads);
    check_columns(&s);
    v->attend(again, NULL, NULL, &s.t, &a, s.left, s.right, s.z, 0, ROWS); /* as in evaluation */
    same_bits(s.y, again, ROWS * width);
    RELEASE(again, beside, totals, scores);
    scene_free(&s);
}

static void test_softmax(void **state)
{
    static const int64_t shapes[][2] = {{1, 1}, {1, 7}, {1, 16}, {2, 5}, {3, 4}, {8, 8}, {16, 4}};
    (void)state;
    const struct simd *v;
    struct rng r;
    rng_init(&r, 6, 0);
    FOR_ALL_SETS(v)
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check_attention(v, &r, shapes[i][0], shapes[i][1], false, 0.5f);
        check_attention(v, &r, shapes[i][0], shapes[i][1], false, 0);
        check_attention(v, &r, shapes[i][0], shapes[i][1], false, 0.3f);
    }
}

static void test_gate(void **state)
{
    (void)state;
    const struct simd *v;
    struct rng r;
    rng_init(&r, 7, 0);
    FOR_ALL_SETS(v)
    for (int64_t dim = 1; dim <= 19; dim += 6) {
        check_attention(v, &r, 1, dim, true, 0);
        check_attention(v, &r, 1, dim, true, 0.5f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_softmax), cmocka_unit_test(test_gate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
