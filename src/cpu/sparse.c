/* Sparse products and per-edge operations. Rows are divided by entries. */
#include "cpu/kernels.h"

#include "base/rng.h"
#include <math.h>
#include <string.h>

/* The rows of a pattern with its own values. */
static struct sparse own_values(const struct csr *a)
{
    return (struct sparse){a->start, a->col, a->val, NULL};
}

/* The rows of an operation's pattern with the values of a node; a transpose reads them through
 * t_entry, because they are stored in the order of the original. */
static struct sparse node_values(const struct instr *in, const float *values)
{
    const struct csr *a = pattern(in);
    return (struct sparse){a->start, a->col, values,
                           in->attr.transposed ? in->attr.csr->t_entry : NULL};
}

/* Entries whose value dropout set to zero add nothing. If there are many, the others are moved
 * together before they are multiplied. The sums have the same bits. */
enum { GATHER_ROWS = 64 };
static const float worth_gathering = 0.3f;

static bool gathers(const struct instr *in)
{
    return in->op == OP_SPMM_VALUES && in->attr.heads == 1 && in->attr.a >= worth_gathering;
}

/* Long rows that gather from a matrix too large for a core's cache (the gradient of a weight on
 * sparse features) process it in blocks of its rows, so that a block's rows are fetched once and
 * reused. The sums have the same bits. (Blocks for the first-level cache cost more than they gain:
 * the rows' entries then come in pieces that are not prefetched.) */
enum { BLOCK_BYTES = 512 << 10, BLOCK_ENTRIES = 32 };

/* Rows of x in a block; 0: no blocks. */
static int64_t block_rows(const struct instr *in)
{
    const struct csr *a = in->attr.csr; /* its transpose may not exist yet */
    const bool fixed = in->op == OP_SPMM && in->cols > 0 && !a->changes && a->val;
    const int64_t n = fixed ? in->src_rows[0] : 0;
    const int64_t rows = n > 0 ? BLOCK_BYTES / (in->cols * (int64_t)sizeof(float)) : 0;
    if (rows < 1 || n < 4 * rows || a->nnz < in->rows * block_count(n, rows) * BLOCK_ENTRIES)
        return 0;
    return rows;
}

size_t scratch_sparse(const struct instr *in)
{
    if (block_rows(in) > 0)
        return (size_t)in->rows * sizeof(int64_t);
    if (gathers(in))
        return (size_t)in->attr.csr->nnz * (sizeof(int32_t) + sizeof(float));
    return in->op == OP_EDGE_DROP ? (size_t)in->attr.csr->rows * sizeof(float) : 0;
}

/* Rows [from, to), block by block; the scratch holds each row's position. */
static void spmm_blocks(const struct instr *in, const struct sparse *rows, int64_t block,
                        int64_t from, int64_t to)
{
    struct epilogue end = {.scale = 1, .cursor = (int64_t *)(void *)in->scratch};
    memcpy(end.cursor + from, rows->start + from, (size_t)(to - from) * sizeof *end.cursor);
    for (end.below = block; end.below - block < in->src_rows[0]; end.below += block) {
        end.carry = end.below > block;
        simd_best()->spmm(in->out, rows, in->src[0], in->cols, &end, from, to);
    }
}

KERNEL(spmm)
{
    int64_t from, to, block = block_rows(in);
    const struct csr *a = pattern(in);
    struct sparse rows = own_values(a);
    (void)step;
    range_entries(a->start, a->rows, who, &from, &to);
    if (block > 0)
        spmm_blocks(in, &rows, block, from, to);
    else
        simd_best()->spmm(in->out, &rows, in->src[0], in->cols, NULL, from, to);
}

KERNEL(spmm_fused)
{
    int64_t from, to;
    const struct csr *a = in->attr.csr;
    struct sparse rows = own_values(a);
    struct dropout drop = dropout_at(in, step);
    bool drops = in->attr.a > 0, numbered = drops && in->attr.number;
    struct epilogue end = {
        .scale = 1, .bias = in->src[1], .relu = true, .drop = drops && !numbered ? &drop : NULL};
    range_entries(a->start, a->rows, who, &from, &to);
    simd_best()->spmm(in->out, &rows, in->src[0], in->cols, &end, from, to);
    if (numbered)
        drop_numbered(in->out, in->out, in, step, from, to);
}

KERNEL(spmm_add)
{
    int64_t from, to;
    const struct csr *a = pattern(in);
    struct sparse rows = own_values(a);
    struct epilogue end = {.scale = in->attr.a, .add = in->src[1], .add_scale = in->attr.b};
    (void)step;
    range_entries(a->start, a->rows, who, &from, &to);
    simd_best()->spmm(in->out, &rows, in->src[0], in->cols, &end, from, to);
}

/* Rows [from, to) with the entries that dropout kept, a few rows at a time; the scratch has a place
 * for every entry, so that workers do not collide. */
static void spmm_gathered(const struct instr *in, const struct sparse *rows, int64_t from,
                          int64_t to)
{
    int32_t *col = (int32_t *)(void *)(in->scratch + in->attr.csr->nnz);
    float *val = in->scratch;
    int64_t start[GATHER_ROWS + 1];
    for (int64_t r = from; r < to; r += GATHER_ROWS) {
        int64_t count = to - r < GATHER_ROWS ? to - r : GATHER_ROWS, first = rows->start[r];
        struct sparse left = {start, col + first, val + first, NULL};
        int64_t at = 0;
        for (int64_t i = 0; i < count; i++) {
            start[i] = at;
            for (int64_t k = rows->start[r + i]; k < rows->start[r + i + 1]; k++) {
                float value = rows->val[rows->index ? rows->index[k] : k];
                val[first + at] = value;
                col[first + at] = rows->col[k];
                at += value != 0;
            }
        }
        start[count] = at;
        simd_best()->spmm(in->out + r * in->cols, &left, in->src[1], in->cols, NULL, 0, count);
    }
}

KERNEL(spmm_values)
{
    int64_t from, to, heads = in->attr.heads;
    const struct csr *a = pattern(in);
    struct sparse rows = node_values(in, in->src[0]);
    (void)step;
    range_entries(a->start, a->rows, who, &from, &to);
    if (gathers(in))
        spmm_gathered(in, &rows, from, to);
    else if (heads == 1)
        simd_best()->spmm(in->out, &rows, in->src[1], in->cols, NULL, from, to);
    else
        simd_best()->spmm_heads(in->out, &rows, in->src[1], heads, in->cols / heads, NULL, from,
                                to);
}

KERNEL(sddmm)
{
    int64_t from, to, heads = in->attr.heads;
    const struct csr *a = in->attr.csr;
    struct sparse rows = own_values(a);
    (void)step;
    range_entries(a->start, a->rows, who, &from, &to);
    simd_best()->sddmm(in->out, &rows, in->src[0], in->src[1], heads, in->src_cols[0] / heads, from,
                       to);
}

KERNEL(edge_add)
{
    int64_t from, to;
    const struct csr *a = in->attr.csr;
    struct sparse rows = own_values(a);
    (void)step;
    range_entries(a->start, a->rows, who, &from, &to);
    simd_best()->edge_add(in->out, &rows, in->src[0], in->src[1], in->cols, in->attr.a, from, to);
}

KERNEL(edge_sum)
{
    int64_t from, to;
    const struct csr *a = pattern(in);
    struct sparse rows = node_values(in, NULL);
    (void)step;
    range_entries(a->start, a->rows, who, &from, &to);
    simd_best()->edge_row_sum(in->out, &rows, in->src[0], in->cols, from, to);
}

KERNEL(edge_softmax)
{
    int64_t from, to;
    const struct csr *a = in->attr.csr;
    struct sparse rows = own_values(a);
    (void)step;
    range_entries(a->start, a->rows, who, &from, &to);
    simd_best()->edge_softmax(in->out, &rows, in->src[0], in->cols, from, to);
}

KERNEL(edge_softmax_grad)
{
    int64_t from, to;
    const struct csr *a = in->attr.csr;
    struct sparse rows = own_values(a);
    (void)step;
    range_entries(a->start, a->rows, who, &from, &to);
    simd_best()->edge_softmax_grad(in->out, &rows, in->src[1], in->src[0], in->cols, from, to);
}

/* Whether the edge between a and b is kept at this step: a function of its two ends, so that both
 * directions agree without a table. */
static bool edge_stays(const struct instr *in, const struct step *step, int64_t a, int64_t b)
{
    uint32_t key[2] = {(uint32_t)step->seed, (uint32_t)(step->seed >> 32)}, word[4];
    const int64_t *number = in->attr.number;
    a = number ? number[a] : a;
    b = number ? number[b] : b;
    uint32_t counter[4] = {(uint32_t)(a < b ? a : b), (uint32_t)(a < b ? b : a) | 0x80000000u,
                           (uint32_t)step->number, in->attr.stream};
    philox4x32(word, counter, key);
    return (float)(word[0] >> 8) * 0x1p-24f >= in->attr.a;
}

void edge_drop_keep(float *inverse_root, const struct instr *in, const struct step *step,
                    int64_t from, int64_t to)
{
    const struct csr *a = in->attr.csr;
    for (int64_t r = from; r < to; r++) {
        float degree = 0;
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
            bool stays = in->attr.a == 0 || a->col[k] == r || edge_stays(in, step, r, a->col[k]);
            in->out[k] = stays ? (a->val ? a->val[k] : 1) : 0;
            degree += in->out[k];
        }
        inverse_root[r] = degree > 0 ? 1 / sqrtf(degree) : 0;
    }
}

void edge_drop_scale(const float *inverse_root, const struct instr *in, int64_t from, int64_t to)
{
    const struct csr *a = in->attr.csr;
    for (int64_t r = from; r < to; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            in->out[k] *= inverse_root[r] * inverse_root[a->col[k]];
}

KERNEL(edge_drop)
{
    int64_t from, to;
    const struct csr *a = in->attr.csr;
    range_entries(a->start, a->rows, who, &from, &to);
    edge_drop_keep(in->scratch, in, step, from, to);
    team_barrier(who);
    edge_drop_scale(in->scratch, in, from, to);
}
