/* Attention as one operation: binds it and its gradient to the vector kernels. */
#include "cpu/kernels.h"

/* The arguments of both walks. The caller provides drop, because they point to it. */
static struct attention attention_of(const struct instr *in, int64_t width,
                                     const struct dropout *drop)
{
    bool gate = in->attr.function == OP_TANH;
    return (struct attention){.heads = in->attr.heads,
                              .dim = width / in->attr.heads,
                              .slope = gate ? 1 : in->attr.b,
                              .gate = gate,
                              .drop = in->attr.a > 0 ? drop : NULL};
}

KERNEL(attend)
{
    int64_t from, to;
    const struct csr *a = in->attr.csr;
    struct dropout drop = dropout_at(in, step);
    struct attention t = attention_of(in, in->cols, &drop);
    struct sparse rows = {a->start, a->col, a->val, NULL};
    range_entries(a->start, a->rows, who, &from, &to);
    simd_best()->attend(in->out, in->update[0], in->update[1], &t, &rows, in->src[0], in->src[1],
                        in->src[2], from, to);
}

/* x̄_i = ⟨g_i, bent_i⟩ - ⟨g_i, y_i⟩·slopes_i per head, and what the columns' walk needs from a row
 */
static void attend_rows_piece(const struct instr *in, int64_t first, int64_t rows, float *along,
                              float *bent)
{
    const int64_t heads = in->attr.heads, width = in->src_cols[0], at = first * width;
    const bool gate = in->attr.function == OP_TANH;
    const struct simd *simd = simd_best();
    if (!gate)
        simd->row_dot(along, in->src[0] + at, in->src[1] + at, width / heads, 0, rows * heads);
    simd->row_dot(bent, in->src[0] + at, in->src[2] + at, width / heads, 0, rows * heads);
    for (int64_t r = 0; r < rows; r++) {
        const float *totals = in->src[3] + (first + r) * 2 * heads;
        for (int64_t h = 0; h < heads; h++) {
            const int64_t k = r * heads + h;
            in->out[first * heads + k] = gate ? bent[k] : bent[k] - along[k] * totals[heads + h];
            if (!in->update[0])
                continue;
            float *packed = in->update[0] + (first + r) * 3 * heads + h;
            packed[0] = in->src[4][first * heads + k];
            packed[heads] = gate ? 0 : totals[h];
            packed[2 * heads] = along[k];
        }
    }
}

KERNEL(attend_rows)
{
    enum { CELLS = 1024 }; /* rows times heads that are processed at a time */
    float along[CELLS] = {0}, bent[CELLS];
    int64_t from, to, room = CELLS / in->attr.heads;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    for (int64_t r = from; r < to; r += room)
        attend_rows_piece(in, r, to - r < room ? to - r : room, along, bent);
}

KERNEL(attend_columns)
{
    int64_t from, to;
    const struct csr *stored = in->attr.csr, *a = stored->t;
    struct dropout drop = dropout_at(in, step);
    struct attention t = attention_of(in, in->cols, &drop);
    struct sparse columns = {a->start, a->col, a->val, stored->t_entry};
    range_entries(a->start, a->rows, who, &from, &to);
    simd_best()->attend_columns(in->out, in->update[0], &t, &columns, in->src[0], in->src[1],
                                in->src[2], in->src[3], from, to);
}
