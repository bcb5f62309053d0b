/* How each operation is divided: the one table that knows operations. What it does not name is
 * computed whole by every rank. */
#include "mpi/inside.h"

#include <string.h>

#define ROWS_RULE(...) ((struct rule){.division = BY_ROWS, .reads = {__VA_ARGS__}})

/* The pattern's rows are the result's, or the result has a value for each entry. */
static struct rule matrix_rule(const struct instr *in)
{
    int64_t heads = in->attr.heads;
    struct rule rule = {.division = BY_ROWS};
    enum reads *reads = rule.reads;
    switch (in->op) {
    case OP_SPMM:
    case OP_SPMM_FUSED: return ROWS_RULE(READS_COLUMNS, READS_WHOLE);
    case OP_SPMM_ADD: return ROWS_RULE(READS_COLUMNS, READS_ROWS);
    case OP_SPMM_VALUES: return ROWS_RULE(READS_ENTRIES, READS_COLUMNS);
    case OP_EDGE_SUM: return ROWS_RULE(READS_ENTRIES);
    case OP_ATTEND:
        rule = ROWS_RULE(READS_ROWS, READS_COLUMNS, READS_COLUMNS);
        rule.update_cols[0] = in->cols;
        rule.update_cols[1] = 2 * heads;
        return rule;
    case OP_ATTEND_COLUMNS:
        rule = ROWS_RULE(READS_COLUMNS, READS_ROWS, READS_ROWS, READS_COLUMNS);
        rule.update_cols[0] = heads;
        return rule;
    case OP_SDDMM:
    case OP_EDGE_ADD:
        rule.division = BY_ENTRIES;
        reads[0] = READS_ROWS;
        reads[1] = READS_COLUMNS;
        return rule;
    case OP_EDGE_SOFTMAX:
    case OP_EDGE_SOFTMAX_GRAD:
        rule.division = BY_ENTRIES;
        reads[0] = reads[1] = READS_ENTRIES;
        return rule;
    default: return (struct rule){.division = NOT_DIVIDED};
    }
}

static struct rule index_rule(const struct instr *in)
{
    switch (in->op) {
    case OP_GATHER:
    case OP_SEGMENT_MEAN_GRAD: return ROWS_RULE(READS_INDEXED);
    case OP_SEGMENT_SUM:
    case OP_SEGMENT_MEAN:
    case OP_SEGMENT_MAX: return ROWS_RULE(READS_ITEMS);
    case OP_PAIR_COSINE:
    case OP_PAIR_SQUARED: return ROWS_RULE(READS_PAIRS);
    default: return (struct rule){.division = NOT_DIVIDED};
    }
}

static struct rule row_rule(const struct instr *in)
{
    struct rule all = ROWS_RULE(READS_ROWS, READS_ROWS, READS_ROWS, READS_ROWS, READS_ROWS);
    switch (in->op) {
    case OP_ADD_BIAS:
    case OP_BIAS_RELU_DROPOUT:
    case OP_SCALE_BY:
    case OP_HEAD_DOT:
    case OP_HEAD_SPREAD: return ROWS_RULE(READS_ROWS, READS_WHOLE);
    case OP_MATMUL:
        return in->attr.transposed ? (struct rule){.division = NOT_DIVIDED}
                                   : ROWS_RULE(READS_ROWS, READS_WHOLE);
    case OP_EXPAND: return in->src_rows[0] == in->rows ? all : ROWS_RULE(READS_WHOLE);
    case OP_RESHAPE:
        return in->src_rows[0] == in->rows ? all : (struct rule){.division = NOT_DIVIDED};
    case OP_NLL_GRAD: return ROWS_RULE(READS_WHOLE, READS_ROWS);
    case OP_BCE_GRAD:
    case OP_L1_GRAD:
    case OP_MSE_GRAD: all.reads[0] = READS_WHOLE; return all;
    case OP_BATCH_NORM:
        return in->attr.running
                   ? ROWS_RULE(READS_ROWS, READS_WHOLE, READS_WHOLE, READS_WHOLE, READS_WHOLE)
                   : (struct rule){.division = NOT_DIVIDED};
    case OP_ATTEND_ROWS: all.update_cols[0] = 3 * in->attr.heads; return all;
    case OP_FILL:
    case OP_NOISE:
    case OP_AXPBY:
    case OP_SCALE:
    case OP_MUL:
    case OP_SCALE_ROWS:
    case OP_BIAS_RELU_DROPOUT_GRAD:
    case OP_CONCAT:
    case OP_SLICE:
    case OP_PAD:
    case OP_ROW_SUM:
    case OP_RELU:
    case OP_LEAKY_RELU:
    case OP_ELU:
    case OP_TANH:
    case OP_SIGMOID:
    case OP_LOG_SIGMOID:
    case OP_EXP:
    case OP_LOG:
    case OP_SQUARE:
    case OP_ABS:
    case OP_CLAMP:
    case OP_UNARY_GRAD:
    case OP_DROPOUT:
    case OP_ROW_NORMALIZE:
    case OP_ROW_NORMALIZE_GRAD:
    case OP_SOFTMAX:
    case OP_SOFTMAX_GRAD:
    case OP_LOG_SOFTMAX:
    case OP_LOG_SOFTMAX_GRAD: return all;
    default: return (struct rule){.division = NOT_DIVIDED};
    }
}

/* Whether values of a matrix's entries lie with its rows. */
static bool entries_follow(const struct divided *d, const struct rule *rule, const struct csr *s)
{
    bool reads = rule->division == BY_ENTRIES;
    for (int i = 0; i < NODE_SOURCES; i++)
        reads = reads || rule->reads[i] == READS_ENTRIES;
    return !reads || axis_follows(d, s);
}

struct rule rule_of(const struct divided *d, const struct instr *in)
{
    struct rule rule = matrix_rule(in);
    if (rule.division != NOT_DIVIDED) {
        const struct csr *s = in->attr.csr;
        if ((s->changes && !s->share) || (in->attr.transposed && !s->t) ||
            !entries_follow(d, &rule, s))
            return (struct rule){.division = NOT_DIVIDED};
        return rule;
    }
    rule = index_rule(in);
    if (rule.division != NOT_DIVIDED)
        return parts_index(in->attr.index) && parts_index(in->attr.other)
                   ? rule
                   : (struct rule){.division = NOT_DIVIDED};
    return row_rule(in);
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

/* by_row: the inverse lists are read for a range of rows, else the list itself for a range of
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
    return in->op == OP_NOISE ||
           ((in->op == OP_DROPOUT || in->op == OP_BIAS_RELU_DROPOUT || in->op == OP_SPMM_FUSED) &&
            in->attr.a > 0);
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
    if (matrix_rule(in).division != NOT_DIVIDED)
        TRY(view_matrix(in, k, low, high));
    if (in->op == OP_NLL_GRAD || rule->reads[0] == READS_ITEMS)
        TRY(view_index(&in->attr.index, k, true, low, high));
    else if (rule->reads[0] == READS_INDEXED || rule->reads[0] == READS_PAIRS)
        TRY(view_index(&in->attr.index, k, false, low, high));
    if (rule->reads[0] == READS_PAIRS)
        TRY(view_index(&in->attr.other, k, false, low, high));
    if (in->op == OP_NLL_GRAD)
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
        move_by(&in->update_at[i], (size_t)(low * rule->update_cols[i]) * one);
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
