/* The bytes that instructions read and write, for code that changes their order. */
#ifndef CUDA_SPANS_CUH
#define CUDA_SPANS_CUH

#include "cuda/kernels.cuh"

/* Bytes [from, to) of a place. */
struct span {
    enum place place;
    size_t from, to;
};

static inline struct span span_of(const struct operand *at, int64_t rows, int64_t cols)
{
    return {at->place, at->offset, at->offset + (size_t)(rows * cols) * sizeof(float)};
}

static inline bool spans_meet(struct span a, struct span b)
{
    return a.place == b.place && a.place != PLACE_NONE && a.place != PLACE_LEAF && a.from < b.to &&
           b.from < a.to;
}

static inline struct span span_read(const struct instr *in, int slot)
{
    return span_of(&in->src_at[slot], in->src_rows[slot], in->src_cols[slot]);
}

/* The width of updates by rows is known; the extent of other updates only to their kernel. */
static inline struct span span_updated(const struct instr *in, int slot)
{
    const struct operand *at = &in->update_at[slot];
    if (in->update_cols[slot] > 0)
        return span_of(at, in->rows, in->update_cols[slot]);
    return {at->place, at->offset, SIZE_MAX};
}

/* The result and the updates; returns their number. */
static inline int spans_written(struct span out[1 + NODE_UPDATES], const struct instr *in)
{
    int count = 0;
    out[count++] = span_of(&in->out_at, in->rows, in->cols);
    for (int i = 0; i < NODE_UPDATES; i++)
        if (in->update_at[i].place != PLACE_NONE)
            out[count++] = span_updated(in, i);
    return count;
}

static inline bool instr_reads(const struct instr *in, struct span s)
{
    for (int i = 0; i < NODE_SOURCES; i++)
        if (spans_meet(span_read(in, i), s))
            return true;
    return false;
}

static inline bool instr_writes(const struct instr *in, struct span s)
{
    struct span out[1 + NODE_UPDATES];
    const int count = spans_written(out, in);
    for (int i = 0; i < count; i++)
        if (spans_meet(out[i], s))
            return true;
    return false;
}

#endif
