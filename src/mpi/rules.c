/* How an operation is divided, by its row in ops.def. Every rank computes operations that are made
 * as a whole. */
#include "mpi/inside.h"

#include <string.h>

static enum reads reads_of(char letter)
{
    switch (letter) {
    case 'e':
    case 'r': return READS_ROWS;
    case 'c': return READS_COLUMNS;
    case 'n':
    case 'o': return READS_ENTRIES;
    case 'i': return READS_INDEXED;
    case 't': return READS_ITEMS;
    case 'p': return READS_PAIRS;
    default: return READS_WHOLE;
    }
}

/* Whether values of a matrix's entries are with its rows. */
static bool entries_follow(const struct divided *d, const struct rule *rule, const struct csr *s)
{
    bool reads = rule->division == BY_ENTRIES;
    for (int i = 0; i < NODE_SOURCES; i++)
        reads = reads || rule->reads[i] == READS_ENTRIES;
    return !reads || axis_follows(d, s);
}

/* Whether the matrix that an operation walks can be divided. */
static bool matrix_divides(const struct divided *d, const struct instr *in, const struct rule *rule)
{
    const struct csr *s = in->attr.csr;
    return !(s->changes && !s->partition) && !(in->attr.transposed && !s->t) &&
           entries_follow(d, rule, s);
}

struct rule rule_of(const struct divided *d, const struct instr *in)
{
    const enum op op = in->op;
    struct rule rule = {.division = NOT_DIVIDED};
    if (op_made(op) == MADE_ENTRIES)
        rule.division = BY_ENTRIES;
    else if (op_makes_rows(op, &in->attr, in->rows, in->src_rows[0]))
        rule.division = BY_ROWS;
    else
        return rule;
    for (int i = 0; i < NODE_SOURCES; i++) {
        rule.reads[i] = reads_of(op_reads(op, i));
        if (rule.division == BY_ROWS && rule.reads[i] == READS_ROWS &&
            in->src_at[i].place != PLACE_NONE && in->src_rows[i] != in->rows)
            rule.reads[i] = READS_WHOLE;
    }
    if (op_walks(op) && !matrix_divides(d, in, &rule))
        return (struct rule){.division = NOT_DIVIDED};
    if (op_reads_any(op, "itp") &&
        !(partition_index(d, in->attr.index) && partition_index(d, in->attr.other)))
        return (struct rule){.division = NOT_DIVIDED};
    return rule;
}

/* ---- the instruction for a range of rows ---- */

static consm_status view_matrix(struct instr *in, struct keeper *k, int64_t low, int64_t high)
{
    struct csr *view = keep(k, 2 * sizeof *view), *rows = view;
    if (!view)
        return CONSM_ENOMEM;
    *view = *in->attr.csr;
    if (in->attr.transposed) {
        rows = view + 1;
        *rows = *in->attr.csr->t;
        view->t = rows;
    }
    rows->rows = high - low;
    rows->start += low;
    in->attr.csr = view;
    return CONSM_OK;
}

/* by_row: uses the inverse lists for a range of rows, else the list itself for a range of
 * positions. */
static consm_status view_index(const struct index **index, struct keeper *k, bool by_row,
                               int64_t low, int64_t high)
{
    struct index *view = keep(k, sizeof *view);
    if (!view)
        return CONSM_ENOMEM;
    *view = **index;
    if (by_row) {
        view->targets = high - low;
        view->start += low;
    } else {
        view->count = high - low;
        view->row += low;
    }
    *index = view;
    return CONSM_OK;
}

/* Draws random numbers by the rows' numbers in the whole. */
static bool draws(const struct instr *in)
{
    return op_is(in->op, DRAWS) && (in->op == OP_NOISE || in->attr.a > 0);
}

static void move_by(struct operand *at, size_t bytes)
{
    if (at->place != PLACE_NONE && at->place != PLACE_LEAF)
        at->offset += bytes;
}

consm_status rule_narrow(struct instr *in, struct keeper *k, const struct rule *rule,
                         struct axis *axis, int64_t low, int64_t high)
{
    consm_status st = CONSM_OK;
    const size_t one = sizeof(float);
    if (op_walks(in->op))
        TRY(view_matrix(in, k, low, high));
    if (op_is(in->op, IS_LABELLED) || rule->reads[0] == READS_ITEMS)
        TRY(view_index(&in->attr.index, k, true, low, high));
    else if (rule->reads[0] == READS_INDEXED || rule->reads[0] == READS_PAIRS)
        TRY(view_index(&in->attr.index, k, false, low, high));
    if (rule->reads[0] == READS_PAIRS)
        TRY(view_index(&in->attr.other, k, false, low, high));
    if (op_is(in->op, IS_LABELLED))
        in->attr.label += low;
    if (in->attr.number)
        in->attr.number += low;
    else if (draws(in)) {
        TRY(axis_numbers(&in->attr.number, axis));
        in->attr.number += low - axis_low(axis);
    }
    for (int i = 0; i < NODE_SOURCES; i++)
        if (rule->reads[i] == READS_ROWS && in->src_at[i].place != PLACE_NONE) {
            move_by(&in->src_at[i], (size_t)(low * in->src_cols[i]) * one);
            in->src_rows[i] = high - low;
        }
    if (rule->division == BY_ROWS) {
        move_by(&in->out_at, (size_t)(low * in->cols) * one);
        in->rows = high - low;
    }
    for (int i = 0; i < NODE_UPDATES; i++)
        move_by(&in->update_at[i], (size_t)(low * in->update_cols[i]) * one);
done:
    return st;
}

/* ---- what goes with a program ---- */

consm_status grow(void *array, size_t used, size_t *room, size_t size)
{
    void *old, *new;
    if (used < *room)
        return CONSM_OK;
    memcpy(&old, array, sizeof old);
    new = world.os->zalloc(2 * used + 8, size);
    if (!new)
        return CONSM_ENOMEM;
    if (used)
        memcpy(new, old, used * size);
    world.os->free(old);
    memcpy(array, &new, sizeof new);
    *room = 2 * used + 8;
    return CONSM_OK;
}

void *keep(struct keeper *k, size_t bytes)
{
    if (grow(&k->thing, k->count, &k->room, sizeof *k->thing) < 0)
        return NULL;
    void *thing = world.os->zalloc(1, bytes);
    if (thing)
        k->thing[k->count++] = thing;
    return thing;
}

void keeper_free(struct keeper *k)
{
    for (size_t i = 0; i < k->count; i++)
        world.os->free(k->thing[i]);
    world.os->free(k->thing);
}
