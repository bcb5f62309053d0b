/* Sums over rows. Each rank adds up the blocks that start among its rows, with the few rows of the
 * next rank that its last block needs. The partial sums of all blocks go to all ranks, and each
 * adds them in the order of a single process. */
#include "mpi/inside.h"

#include <string.h>

/* First block that starts at or after a row. */
static int64_t first_block(const struct instr *in, const struct sum_shape *s, int64_t row)
{
    int64_t units = s->over == SUM_ELEMENTS ? row * in->src_cols[0] : row;
    if (s->over != SUM_INDEXED)
        return (units + s->length - 1) / s->length;
    int64_t low = 0, high = s->blocks;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (in->attr.index->row[middle * s->length] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether positions can go with the rows that they name, now and later. */
static bool ascending(const struct index *index)
{
    if (!index->fixed && index->count != index->targets)
        return false;
    for (int64_t k = 1; k < index->count; k++)
        if (index->row[k] < index->row[k - 1])
            return false;
    return true;
}

/* Which rank adds up which blocks. */
static consm_status block_axis(struct axis **out, struct compiled *c, const struct instr *in,
                               const struct sum_shape *s, const struct axis *rows)
{
    int size = world.ranks.size;
    bool by_row = s->over != SUM_RESULT && (s->over != SUM_INDEXED || ascending(in->attr.index));
    struct axis *a = keep(&c->keeper, sizeof *a);
    int64_t *cut = a ? keep(&c->keeper, ((size_t)size + 1) * sizeof *cut) : NULL;
    if (!cut)
        return CONSM_ENOMEM;
    *a = (struct axis){.rows = s->blocks, .cut = cut};
    for (int p = 1; p < size; p++) {
        int64_t b = by_row ? first_block(in, s, rows->cut[p]) : s->blocks * p / size;
        b = b < s->blocks ? b : s->blocks;
        cut[p] = b > cut[p - 1] ? b : cut[p - 1];
    }
    cut[size] = s->blocks;
    *out = a;
    return CONSM_OK;
}

void sum_needs(uint8_t *needed, const struct halo *h, int64_t first, int64_t last)
{
    const struct sum_shape *s = &h->shape;
    int64_t from = first * s->length, to = last * s->length, rows = h->from->rows;
    if (first == last)
        return;
    if (s->over == SUM_RESULT) {
        from = 0;
        to = rows;
    } else if (s->over == SUM_ELEMENTS) {
        from /= h->width;
        to = (to + h->width - 1) / h->width;
    } else if (s->over == SUM_INDEXED) {
        to = to < h->index->count ? to : h->index->count;
        for (int64_t k = from; k < to; k++)
            needed[h->index->row[k]] = 1;
        return;
    }
    to = to < rows ? to : rows;
    if (to > from)
        memset(needed + from, 1, (size_t)(to - from));
}

/* Whether an operation is a sum that can be divided: it has blocks, their reads are known, and one
 * of its sources is divided. */
bool sum_divides(const struct compiled *c, const struct instr *in, const struct axis **rows)
{
    const struct value *v = compiled_value(c, &in->src_at[0]),
                       *w = compiled_value(c, &in->src_at[1]);
    const struct sums *sums = world.os->sums;
    bool both = w && w->axis && in->src_rows[1] == in->src_rows[0];
    *rows = v && v->axis ? v->axis : both ? w->axis : NULL;
    if (!*rows || sums->phases(in) == 0 || in->src_rows[0] < 1)
        return false;
    return sums->shape(in).over != SUM_INDEXED || partition_index(c->owner, in->attr.index);
}

/* Rows of the sources that this rank's blocks read and another rank has. */
static consm_status bring_rows(struct compiled *c, const struct instr *in,
                               const struct sum_shape *s, const struct axis *blocks)
{
    consm_status st = CONSM_OK;
    int32_t first = c->pieces;
    for (int i = 0; i < NODE_SOURCES; i++) {
        struct value *v = compiled_value(c, &in->src_at[i]);
        if (!v || !v->axis || v->gathered == c)
            continue;
        if (in->src_rows[i] != in->src_rows[0])
            TRY(add_gather(c, &in->src_at[i], v));
        else
            TRY(add_exchange(c, in, i, v, READS_BLOCKS, blocks, s));
    }
    TRY(add_waits(c, first));
done:
    return st;
}

consm_status divide_sum(struct compiled *c, const struct instr *in, const struct axis *rows)
{
    consm_status st = CONSM_OK;
    const struct sums *sums = world.os->sums;
    struct sum_shape s = sums->shape(in);
    struct axis *blocks;
    struct piece *piece;
    size_t partial = (size_t)s.blocks * s.bytes, work = sums->work_bytes(in);
    bool by_rows = sums->phases(in) > 1;
    TRY(block_axis(&blocks, c, in, &s, rows));
    TRY(bring_rows(c, in, &s, blocks));
    TRY(add_piece(c, &piece, PIECE_SUM));
    piece->once = false;
    piece->sum = *in;
    piece->axis = blocks;
    piece->rows = rows;
    piece->cols = (int64_t)(s.bytes / sizeof(float));
    c->partial_bytes = partial > c->partial_bytes ? partial : c->partial_bytes;
    c->work_bytes = work > c->work_bytes ? work : c->work_bytes;
    TRY(note_value(
        c, &in->out_at,
        (struct value){.rows = in->rows, .cols = in->cols, .axis = by_rows ? rows : NULL}));
done:
    return st;
}

void sum_run(struct compiled *c, struct piece *piece)
{
    const struct sums *sums = world.os->sums;
    struct team *team = c->owner->inner->host;
    struct instr *in = &piece->sum;
    resolve_here(c, in);
    for (int phase = 0; phase < sums->phases(in); phase++) {
        sums->blocks(team, in, phase, c->partial, c->work, axis_low(piece->axis),
                     axis_high(piece->axis));
        gather_rows(c->partial, c->partial, piece->axis, piece->cols);
        sums->total(team, in, phase, c->partial, c->work);
    }
    if (sums->phases(in) > 1)
        sums->rows(team, in, c->work, axis_low(piece->rows), axis_high(piece->rows));
}
