/* The products of multi-head attention: y = A x with one weight per entry and head, and the
 * gradient of those weights, the dot products of rows at the entries. */
#include "cpu/simd/spmm.h"

/* ---- spmm_heads ---------------------------------------------------------- */

/* A strip of `vectors` vectors holds whole heads of `per_head` vectors each; both are constants
 * after inlining, so the sums stay in registers. */
#define HEADS_EACH(M) \
    M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)

/* Finishes a vector of row r and stores it at column `at`. */
COPIED void heads_finish(const struct spmm_job *j, const struct epilogue *end, vf sum, int64_t r,
                         int64_t at)
{
    if (end) {
        sum = sum * v_set(end->scale);
        if (j->add)
            sum = v_fma(v_set(end->add_scale), v_load(j->add + r * j->stride + at), sum);
        if (j->bias)
            sum = sum + v_load(j->bias + at);
        if (end->relu)
            sum = v_relu(sum);
    }
    v_store(j->y + r * j->stride + at, sum);
}

COPIED void heads_rows(const struct spmm_job *j, int64_t column, int64_t head, const int vectors,
                       const int per_head, int64_t from, int64_t to)
{
    const struct epilogue *end = j->end;
    const float *x = j->x + column;
    const int64_t all = j->start[to];
#define HEADS_DECLARE(i) vf a##i = v_set(0);
#define HEADS_FMA(i)   \
    if ((i) < vectors) \
        a##i = v_fma(v_set(w[(i) / per_head]), v_load(from_x + (i)*LANES), a##i);
#define HEADS_FINISH(i) \
    if ((i) < vectors)  \
        heads_finish(j, end, a##i, r, column + (i)*LANES);
    for (int64_t r = from; r < to; r++) {
        HEADS_EACH(HEADS_DECLARE)
        for (int64_t k = j->start[r]; k < j->start[r + 1]; k++) {
            const int64_t entry = j->index ? j->index[k] : k;
            const float *w = j->val + entry * j->val_stride + head;
            const float *from_x = x + j->col[k] * j->stride;
            const int64_t ahead = k + SPMM_AHEAD < all ? k + SPMM_AHEAD : k;
            if (j->index && k + SPMM_EARLY < all) /* a transpose also reads the weights at random */
                __builtin_prefetch(j->val + j->index[k + SPMM_EARLY] * j->val_stride + head);
            if (j->reach != SPMM_NEAR)
                v_prefetch(x + j->col[ahead] * j->stride, vectors * LANES);
            HEADS_EACH(HEADS_FMA)
        }
        HEADS_EACH(HEADS_FINISH)
    }
}

/* Takes as many whole strips of the given shape as fit; returns the heads done. */
#define HEADS_STRIPS(per_head, strip)                                                             \
    static int64_t heads_strips_##per_head(const struct spmm_job *j, int64_t heads, int64_t from, \
                                           int64_t to)                                            \
    {                                                                                             \
        const int64_t step = (strip) / (per_head);                                                \
        int64_t h = 0;                                                                            \
        for (; h + step <= heads; h += step)                                                      \
            heads_rows(j, h *(per_head)*LANES, h, strip, per_head, from, to);                     \
        return h;                                                                                 \
    }
#if defined(__x86_64__) && !defined(__AVX512F__)
HEADS_STRIPS(1, 8)
HEADS_STRIPS(2, 8)
HEADS_STRIPS(4, 8)
#else
HEADS_STRIPS(1, 8)
HEADS_STRIPS(2, 16)
HEADS_STRIPS(4, 16)
#endif

#if LANES == 16
/* Eight heads of eight columns: two of them share a vector. */
static void heads_eights(const struct spmm_job *j, int64_t head, int64_t from, int64_t to)
{
    const __m512i pick0 = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m512i two = _mm512_set1_epi32(2), pick1 = _mm512_add_epi32(pick0, two);
    const __m512i pick2 = _mm512_add_epi32(pick1, two), pick3 = _mm512_add_epi32(pick2, two);
    const struct epilogue *end = j->end;
    const int64_t column = head * 8, all = j->start[to];
#define EIGHTS_EACH(M)    M(0) M(1) M(2) M(3)
#define EIGHTS_DECLARE(i) vf a##i = v_set(0);
#define EIGHTS_FMA(i) \
    a##i = v_fma((vf)_mm512_permutexvar_ps(pick##i, weights), v_load(from_x + (i)*LANES), a##i);
#define EIGHTS_FINISH(i) heads_finish(j, end, a##i, r, column + (i)*LANES);
    for (int64_t r = from; r < to; r++) {
        EIGHTS_EACH(EIGHTS_DECLARE)
        for (int64_t k = j->start[r]; k < j->start[r + 1]; k++) {
            const int64_t entry = j->index ? j->index[k] : k;
            const float *from_x = j->x + column + j->col[k] * j->stride;
            const int64_t ahead = k + SPMM_AHEAD < all ? k + SPMM_AHEAD : k;
            const __m512 weights =
                _mm512_castps256_ps512(_mm256_loadu_ps(j->val + entry * j->val_stride + head));
            if (j->index && k + SPMM_EARLY < all)
                __builtin_prefetch(j->val + j->index[k + SPMM_EARLY] * j->val_stride + head);
            if (j->reach != SPMM_NEAR)
                v_prefetch(j->x + column + j->col[ahead] * j->stride, 64);
            EIGHTS_EACH(EIGHTS_FMA)
        }
        EIGHTS_EACH(EIGHTS_FINISH)
    }
}
#endif

static void heads_group(const struct spmm_job *job, int64_t heads, int64_t dim, int64_t from,
                        int64_t to)
{
    int64_t h = 0;
    if (dim == LANES)
        h = heads_strips_1(job, heads, from, to);
    else if (dim == 2 * LANES)
        h = heads_strips_2(job, heads, from, to);
    else if (dim == 4 * LANES)
        h = heads_strips_4(job, heads, from, to);
#if LANES == 16
    for (; dim == 8 && h + 8 <= heads; h += 8)
        heads_eights(job, h, from, to);
#endif
    for (; h < heads; h++) { /* a single head is an ordinary product with strides */
        struct spmm_job one = *job;
        one.width = dim;
        one.y += h * dim;
        one.x += h * dim;
        one.add = job->add ? job->add + h * dim : NULL;
        one.bias = job->bias ? job->bias + h * dim : NULL;
        one.val += h;
        SIMD(spmm_strips)(&one, from, to);
    }
}

void SIMD(spmm_heads)(float *y, const struct sparse *a, const float *x, int64_t heads, int64_t dim,
                      const struct epilogue *end, int64_t from, int64_t to)
{
    const int64_t width = heads * dim;
    struct spmm_job job = {.y = y,
                           .x = x,
                           .add = end ? end->add : NULL,
                           .bias = end ? end->bias : NULL,
                           .stride = width,
                           .width = width,
                           .start = a->start,
                           .col = a->col,
                           .val = a->val,
                           .index = a->index,
                           .val_stride = heads,
                           .kind = SPMM_LOOKED_UP,
                           .end = end};
    if (heads == 1) {
        SIMD(spmm)(y, a, x, dim, end, from, to);
        return;
    }
    job.reach = spmm_reach(&job, from, to);
    job.limit = job.start[to];
    for (int64_t r = from; r < to && width > 0;) {
        int64_t stop = spmm_group_end(r, to, width);
        heads_group(&job, heads, dim, r, stop);
        if (end && end->drop)
            SIMD(dropout)(y, y, end->drop, r * width, stop * width);
        r = stop;
    }
}

/* ---- sddmm --------------------------------------------------------------- */

/* Lanes of <g, x> over dim columns, a multiple of LANES, before they are summed. */
INLINE v4 dot_lanes(const float *g, const float *x, int64_t dim)
{
    vf a = v_set(0), b = a;
    int64_t i = 0;
    for (; i + 2 * LANES <= dim; i += 2 * LANES) {
        a = v_fma(v_load(g + i), v_load(x + i), a);
        b = v_fma(v_load(g + i + LANES), v_load(x + i + LANES), b);
    }
    if (i < dim)
        a = v_fma(v_load(g + i), v_load(x + i), a);
    return v_fold(a + b);
}

/* The entries of one row, one head, four entries at a time; `all` entries follow in this range. */
static void sddmm_one(float *e, const int32_t *col, int64_t entries, int64_t all, const float *g,
                      const float *x, int64_t dim)
{
    int64_t k = 0;
    if (dim % LANES == 0)
        for (; k + 4 <= entries; k += 4) {
            for (int64_t ahead = k + SPMM_AHEAD; ahead < k + SPMM_AHEAD + 4 && ahead < all; ahead++)
                v_prefetch(x + col[ahead] * dim, dim);
            v4 s = v4_sums(
                dot_lanes(g, x + col[k] * dim, dim), dot_lanes(g, x + col[k + 1] * dim, dim),
                dot_lanes(g, x + col[k + 2] * dim, dim), dot_lanes(g, x + col[k + 3] * dim, dim));
            v4_store(e + k, s);
        }
    for (; k < entries; k++) {
        float s = v_dot(g, x + col[k] * dim, dim);
        e[k] = s;
    }
}

/* The same in vectors of four, for heads narrower than LANES. */
INLINE v4 dot_fours(const float *g, const float *x, int64_t dim)
{
    v4 a = v4_set(0);
    for (int64_t i = 0; i < dim; i += 4)
        a = v4_fma(v4_load(g + i), v4_load(x + i), a);
    return a;
}

/* All heads of one entry, four heads at a time. */
COPIED void sddmm_heads(float *e, const float *g, const float *x, int64_t heads, int64_t dim)
{
    int64_t h = 0;
    if (dim % LANES == 0)
        for (; h + 4 <= heads; h += 4) {
            const float *gh = g + h * dim, *xh = x + h * dim;
            v4 s = v4_sums(dot_lanes(gh, xh, dim), dot_lanes(gh + dim, xh + dim, dim),
                           dot_lanes(gh + 2 * dim, xh + 2 * dim, dim),
                           dot_lanes(gh + 3 * dim, xh + 3 * dim, dim));
            v4_store(e + h, s);
        }
    else if (dim % 4 == 0 && dim < LANES)
        for (; h + 4 <= heads; h += 4) {
            const float *gh = g + h * dim, *xh = x + h * dim;
            v4 s = v4_sums(dot_fours(gh, xh, dim), dot_fours(gh + dim, xh + dim, dim),
                           dot_fours(gh + 2 * dim, xh + 2 * dim, dim),
                           dot_fours(gh + 3 * dim, xh + 3 * dim, dim));
            v4_store(e + h, s);
        }
    for (; h < heads; h++) {
        float s = v_dot(g + h * dim, x + h * dim, dim);
        e[h] = s;
    }
}

void SIMD(sddmm)(float *e, const struct sparse *a, const float *g, const float *x, int64_t heads,
                 int64_t dim, int64_t from, int64_t to)
{
    const int64_t width = heads * dim, all = a->start[to];
    for (int64_t r = from; r < to; r++) {
        const int64_t first = a->start[r], stop = a->start[r + 1];
        const float *gr = g + r * width;
        if (heads == 1)
            sddmm_one(e + first, a->col + first, stop - first, all - first, gr, x, dim);
        for (int64_t k = first; k < stop && heads > 1; k++) {
            const float *xc = x + a->col[k] * width;
            v_prefetch(x + a->col[k + SPMM_AHEAD < all ? k + SPMM_AHEAD : k] * width, width);
            if (dim == LANES) /* constants where they matter: the loops unroll */
                sddmm_heads(e + k * heads, gr, xc, heads, LANES);
#if LANES == 16
            else if (dim == 8 && heads % 8 == 0)
                for (int64_t h = 0; h < heads; h += 8)
                    v_dot_eights(e + k * heads + h, gr + h * 8, xc + h * 8);
#endif
            else if (dim == 8)
                sddmm_heads(e + k * heads, gr, xc, heads, 8);
            else if (dim == 2 * LANES)
                sddmm_heads(e + k * heads, gr, xc, heads, 2 * LANES);
            else
                sddmm_heads(e + k * heads, gr, xc, heads, dim);
        }
    }
}
