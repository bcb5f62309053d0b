/* Reshapes values whose rows are divided among ranks, without moving numbers. */
#include "mpi/inside.h"

/* Whether ranks that own whole rows own whole rows in either shape. */
bool reshape_divides(const struct compiled *c, const struct instr *in)
{
    const struct value *v = compiled_value(c, &in->src_at[0]);
    bool other = in->op == OP_RESHAPE && in->rows != in->src_rows[0] && in->cols > 0;
    if (!other || !is_spread(c, v) || in->src_at[0].place == PLACE_LEAF)
        return false;
    for (int p = 0; p < world.ranks.size; p++)
        if (v->axis->cut[p] * v->cols % in->cols != 0)
            return false;
    return true;
}

consm_status divide_reshape(struct compiled *c, const struct instr *in)
{
    consm_status st = CONSM_OK;
    const struct value *v = compiled_value(c, &in->src_at[0]);
    const size_t one = sizeof(float);
    struct axis *axis;
    struct instr mine = *in;
    int64_t *cut = world.os->zalloc((size_t)world.ranks.size + 1, sizeof *cut);
    if (!cut)
        return CONSM_ENOMEM;
    for (int p = 0; p <= world.ranks.size; p++)
        cut[p] = v->axis->cut[p] * v->cols / in->cols;
    TRY(axis_cut(&axis, c->owner, in->rows, cut));
    int64_t low = axis_low(axis), rows = axis_high(axis) - low;
    mine.rows = rows;
    mine.src_rows[0] = axis_high(v->axis) - axis_low(v->axis);
    mine.src_at[0].offset += (size_t)(low * in->cols) * one;
    mine.out_at.offset += (size_t)(low * in->cols) * one;
    if (rows > 0)
        TRY(add_instr(c, &mine));
    TRY(note_value(
        c, &in->out_at,
        (struct value){.rows = in->rows, .cols = in->cols, .axis = axis, .once = in->once}));
done:
    world.os->free(cut);
    return st;
}
