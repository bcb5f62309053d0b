/* Operations over the rows of a matrix in turns (PTDNet's spectra, DropEdge's degrees): each rank
 * processes its own rows in every turn, and what the next turn needs goes to all. */
#include "mpi/inside.h"

bool walk_divides(const struct compiled *c, const struct instr *in)
{
    const struct csr *s = in->attr.csr;
    return s && world.os->walks->is(in) && !s->changes && s->rows == s->cols &&
           axis_follows(c->owner, s) &&
           (!world.os->walks->turns(in) || (s->t && s->t_entry && s->t->rows == s->rows));
}

/* Values of entries that the walk along the transpose reads and another rank computed. */
static consm_status bring_values(struct compiled *c, const struct instr *in,
                                 const struct axis *rows)
{
    consm_status st = CONSM_OK;
    struct instr along = *in;
    struct value *v = compiled_value(c, &in->src_at[0]);
    int32_t first = c->pieces;
    along.attr.transposed = true;
    if (!world.os->walks->turns(in) || !v || !v->axis || v->gathered == c)
        return CONSM_OK;
    TRY(add_exchange(c, &along, 0, v, READS_ENTRIES, rows, NULL));
    TRY(add_waits(c, first));
done:
    return st;
}

consm_status divide_walk(struct compiled *c, const struct instr *in)
{
    consm_status st = CONSM_OK;
    const struct csr *s = in->attr.csr;
    const struct axis *rows = axis_find(c->owner, s->rows);
    size_t work = world.os->walks->work_bytes(in);
    struct piece *piece;
    TRY(bring_values(c, in, rows));
    TRY(add_piece(c, &piece, PIECE_WALK));
    piece->once = in->once;
    piece->sum = *in;
    piece->rows = rows;
    c->work_bytes = work > c->work_bytes ? work : c->work_bytes;
    TRY(note_value(c, &in->out_at,
                   (struct value){.rows = in->rows,
                                  .cols = in->cols,
                                  .axis = in->rows == s->nnz && in->op != OP_NUCLEAR
                                              ? axis_find(c->owner, s->nnz)
                                              : NULL,
                                  .once = in->once}));
done:
    return st;
}

void walk_run(struct compiled *c, struct piece *piece, const struct step *step)
{
    const struct axis *rows = piece->rows;
    struct instr *in = &piece->sum;
    struct between b = {.array = in};
    resolve_here(c, in);
    for (int64_t turn = 0; b.array; turn++) {
        b = world.os->walks->turn(c->owner->inner->host, in, step, c->work, turn, axis_low(rows),
                                  axis_high(rows));
        if (b.array)
            gather_rows(b.array, b.array, rows, (int64_t)(b.bytes / sizeof(float)));
    }
}
