/* Restriction: if the loss reads only labelled rows, or a kept value gathers only some rows, the
 * program computes only the rows in their receptive field. The needed rows are found backwards from
 * there; then the recording is rewritten with smaller matrices. Gradients stay the same, because
 * the other rows have none. */

/*
 * It runs before differentiation, so the backward pass shrinks too. Kept nodes, operations that mix
 * rows (batch norm, pairs) and matrices that change between runs need all their rows.
 */
#include "base/known.h"
#include "program/internal.h"

#include <string.h>

/* Which rows of a node are needed. */
struct need {
    bool any, all;
    int64_t count;
    uint8_t *row; /* (rows), NULL when all or none */
};

struct restriction {
    struct program *p;
    struct need *need;     /* (nodes) */
    struct node_info *old; /* the recording */
    node count;            /* of the recording */
    node *renamed;         /* (nodes) */
};

/* How the rows of a source follow from the rows of the result. */
enum follows { FOLLOW_ALL, FOLLOW_SAME, FOLLOW_COLUMNS, FOLLOW_INDEX };

/* Whether the matrix can be made smaller: its entries do not change, and all are here. */
static bool shrinks(const struct csr *s)
{
    return !s->changes && !s->partition;
}

/* Whether the operation can be computed for some rows only. source_rows: of its first source. */
static bool divisible(const struct node_info *info, int64_t source_rows)
{
    return op_makes_rows(info->op, &info->attr, info->rows, source_rows) &&
           !op_reads_any(info->op, "noitp") && (!op_walks(info->op) || shrinks(info->attr.csr));
}

/* Whether the operation reads the rows that an index names: their labels, or to copy them. */
static bool reads_by_index(const struct node_info *info, int slot)
{
    return op_reads(info->op, slot) == 'l' || info->op == OP_GATHER;
}

static enum follows follows(const struct node_info *info, const struct node_info *source, int slot)
{
    char letter = op_reads(info->op, slot);
    if (reads_by_index(info, slot))
        return info->attr.index->fixed ? FOLLOW_INDEX : FOLLOW_ALL;
    if (!divisible(info, source->rows))
        return FOLLOW_ALL;
    if (letter == 'c')
        return FOLLOW_COLUMNS;
    return (letter == 'e' || letter == 'r') && source->rows == info->rows ? FOLLOW_SAME
                                                                          : FOLLOW_ALL;
}

/* ---- backwards: who needs what ------------------------------------------- */

static void need_all(struct need *n, int64_t rows)
{
    mem_free(n->row);
    *n = (struct need){.any = true, .all = true, .count = rows};
}

static consm_status need_some(struct need *n, int64_t rows)
{
    if (n->all || n->row)
        return CONSM_OK;
    n->any = true;
    return ZNEW(n->row, rows);
}

static void need_row(struct need *n, int64_t row)
{
    n->count += !n->row[row];
    n->row[row] = 1;
}

/* Saving a tenth is not worth the copies. Nor is half of a step of a walk: it reads its start at
 * every step, and its gradient is a walk only if its steps are equal (ops/sparse.c). */
static bool not_worth_it(const struct node_info *info, int64_t needed)
{
    return info->op == OP_SPMM_ADD ? needed * 2 > info->rows : needed * 10 > info->rows * 9;
}

/* Adds the columns of the rows that the user of a source needs, until the source computes all its
 * rows anyway: finding the rest would take most of the time on a large graph. */
static void need_columns(struct need *theirs, const struct node_info *source,
                         const struct need *mine, const struct node_info *info)
{
    const struct csr *a = info->attr.csr;
    for (int64_t i = 0; i < info->rows && !not_worth_it(source, theirs->count); i++)
        for (int64_t k = a->start[i]; (mine->all || mine->row[i]) && k < a->start[i + 1]; k++)
            need_row(theirs, a->col[k]);
    if (not_worth_it(source, theirs->count))
        need_all(theirs, source->rows);
}

/* Adds what one source must provide for the rows that its user needs. */
static consm_status pass_need(struct restriction *r, const struct need *mine,
                              const struct node_info *info, int slot)
{
    consm_status st = CONSM_OK;
    const struct node_info *source = &r->old[info->src[slot]];
    struct need *theirs = &r->need[info->src[slot]];
    enum follows rule = follows(info, source, slot);
    if (theirs->all)
        return CONSM_OK;
    if (rule == FOLLOW_ALL || (rule == FOLLOW_SAME && mine->all)) {
        need_all(theirs, source->rows);
        return CONSM_OK;
    }
    TRY(need_some(theirs, source->rows));
    if (rule == FOLLOW_INDEX)
        for (int64_t k = 0; k < info->attr.index->count; k++)
            need_row(theirs, info->attr.index->row[k]);
    for (int64_t i = 0; rule == FOLLOW_SAME && i < info->rows; i++)
        if (mine->row[i])
            need_row(theirs, i);
    KNOWN(info->attr.csr || rule != FOLLOW_COLUMNS);
    if (rule == FOLLOW_COLUMNS)
        need_columns(theirs, source, mine, info);
done:
    return st;
}

static consm_status find_needs(struct restriction *r)
{
    consm_status st = CONSM_OK;
    for (node x = r->count - 1; x >= 0; x--) {
        const struct node_info *info = &r->old[x];
        int64_t source_rows = info->src[0] == POISON ? 0 : r->old[info->src[0]].rows;
        struct need *mine = &r->need[x];
        if (info->keep)
            need_all(mine, info->rows);
        if (!mine->any)
            continue;
        if (!mine->all && (!divisible(info, source_rows) || not_worth_it(info, mine->count)))
            need_all(mine, info->rows);
        for (int slot = 0; slot < NODE_SOURCES; slot++)
            if (info->src[slot] != POISON)
                TRY(pass_need(r, mine, info, slot));
    }
done:
    return st;
}

/* ---- forwards: the smaller recording ------------------------------------- */

static void free_csr(void *thing)
{
    csr_free(thing);
}

static void free_index(void *thing)
{
    index_free(thing);
}

/* The needed rows as a list; NULL for all. */
static consm_status list_rows(int32_t **out, const struct need *n, int64_t rows)
{
    consm_status st = CONSM_OK;
    int64_t at = 0;
    *out = NULL;
    if (n->all)
        return CONSM_OK;
    TRY(NEW(*out, n->count));
    for (int64_t i = 0; i < rows; i++)
        if (n->row[i])
            (*out)[at++] = (int32_t)i;
done:
    return st;
}

/* position[i]: the position of row i among the needed ones; only filled for needed rows. */
static consm_status list_positions(int32_t **out, const struct need *n, int64_t rows)
{
    consm_status st = CONSM_OK;
    int32_t at = 0;
    TRY(NEW(*out, rows));
    for (int64_t i = 0; i < rows; i++) {
        (*out)[i] = at;
        at += n->all || n->row[i];
    }
done:
    return st;
}

static bool same_need(const struct need *a, const struct need *b, int64_t rows)
{
    if (a->all || b->all)
        return a->all && b->all;
    KNOWN(a->row && b->row);
    return a->count == b->count && memcmp(a->row, b->row, (size_t)rows) == 0;
}

/* The remaining rows, for common.c; NULL for all, or if not needed. */
static consm_status list_part(const int32_t **out, struct restriction *r, const struct need *n,
                              int64_t rows)
{
    consm_status st = CONSM_OK;
    int32_t *part;
    *out = NULL;
    if (n->all || !r->p->backend->kind->reuses)
        return CONSM_OK;
    TRY(list_rows(&part, n, rows));
    TRY(program_own(r->p, part, mem_free));
    *out = part;
done:
    return st;
}

/* A gather from the rows in `have` to those in `want`. */
static consm_status bridge(node *out, struct restriction *r, node x, const struct need *have,
                           const struct need *want, int64_t rows)
{
    consm_status st = CONSM_OK;
    struct index *index = NULL;
    int32_t *position = NULL;
    int64_t at = 0;
    TRY(list_positions(&position, have, rows));
    TRY(index_new(&index, want->count, have->count));
    TRY(program_own(r->p, index, free_index));
    for (int64_t i = 0; i < rows; i++)
        if (want->all || want->row[i])
            index->row[at++] = position[i];
    TRY(index_set(index, index->row));
    index->fixed = true;
    *out = gather(r->p, x, index);
    if (*out != POISON)
        TRY(list_part(&r->p->node[*out].part, r, want, rows));
done:
    mem_free(position);
    return st;
}

/* The columns of its matrix that an operation keeps: the rows of its sources. If sources differ,
 * only those it reads; the caller then frees *own. */
static consm_status needed_columns(struct need *out, uint8_t **own, const struct restriction *r,
                                   node x)
{
    consm_status st = CONSM_OK;
    const struct node_info *old = &r->old[x];
    const struct csr *a = old->attr.csr;
    const struct need *mine = &r->need[x];
    const struct need *first = NULL;
    bool same = true;
    for (int slot = 0; slot < NODE_SOURCES; slot++)
        if (op_reads(old->op, slot) == 'c') {
            first = first ? first : &r->need[old->src[slot]];
            same = same && same_need(first, &r->need[old->src[slot]], a->cols);
        }
    *out = *first;
    if (same)
        return CONSM_OK;
    *out = (struct need){0};
    TRY(need_some(out, a->cols));
    *own = out->row;
    for (int64_t i = 0; i < old->rows; i++)
        for (int64_t k = a->start[i]; (mine->all || mine->row[i]) && k < a->start[i + 1]; k++)
            need_row(out, a->col[k]);
done:
    return st;
}

/* The sub-matrix for the rows of the result and those columns. */
static consm_status shrink_matrix(struct restriction *r, struct node_info *info, node x,
                                  const struct need *columns)
{
    consm_status st = CONSM_OK;
    const struct node_info *old = &r->old[x];
    const struct need *mine = &r->need[x];
    int32_t *rows = NULL, *cols = NULL;
    struct csr *sub = NULL;
    if (mine->all && columns->all)
        return CONSM_OK;
    TRY(list_rows(&rows, mine, old->rows));
    TRY(list_rows(&cols, columns, old->attr.csr->cols));
    TRY(csr_submatrix(&sub, old->attr.csr, rows, mine->count, cols, columns->count));
    TRY(program_own(r->p, sub, free_csr));
    info->whole = old->attr.csr;
    info->attr.csr = sub;
done:
    mem_free(rows);
    mem_free(cols);
    return st;
}

/* Rows that an index names, and their labels, in the numbering of the remaining rows. */
static consm_status shrink_index(struct restriction *r, struct node_info *info, node x)
{
    consm_status st = CONSM_OK;
    const struct node_info *old = &r->old[x];
    const struct need *theirs = &r->need[old->src[0]];
    int64_t rows = r->old[old->src[0]].rows;
    int32_t *position = NULL, *label = NULL;
    struct index *index = NULL;
    if (theirs->all)
        return CONSM_OK;
    TRY(list_positions(&position, theirs, rows));
    if (old->attr.label) {
        TRY(NEW(label, theirs->count));
        TRY(program_own(r->p, label, mem_free));
    }
    for (int64_t i = 0; label && i < rows; i++)
        if (theirs->row[i])
            label[position[i]] = old->attr.label[i];
    TRY(index_new(&index, old->attr.index->count, theirs->count));
    TRY(program_own(r->p, index, free_index));
    for (int64_t k = 0; k < index->count; k++)
        index->row[k] = position[old->attr.index->row[k]];
    TRY(index_set(index, index->row));
    index->fixed = true;
    info->attr.index = index;
    info->attr.label = label;
done:
    mem_free(position);
    return st;
}

/* The numbers of the rows that are left. */
static consm_status shrink_numbers(struct restriction *r, struct node_info *info, node x)
{
    consm_status st = CONSM_OK;
    const struct need *mine = &r->need[x];
    int64_t *number, at = 0;
    if (mine->all)
        return CONSM_OK;
    TRY(NEW(number, mine->count));
    TRY(program_own(r->p, number, mem_free));
    for (int64_t i = 0; i < info->rows; i++)
        if (mine->row[i])
            number[at++] = info->attr.number[i];
    info->attr.number = number;
done:
    return st;
}

/* Copies one node with its sources renamed, bridged where they hold more rows than it needs. */
static consm_status copy_node(struct restriction *r, node x)
{
    consm_status st = CONSM_OK;
    struct program *p = r->p;
    struct node_info info = r->old[x];
    const struct need *mine = &r->need[x];
    struct need columns = {0};
    uint8_t *own = NULL;
    if (op_walks(info.op) && divisible(&info, 0)) {
        TRY(needed_columns(&columns, &own, r, x));
        TRY(shrink_matrix(r, &info, x, &columns));
    }
    if (info.src[0] != POISON && reads_by_index(&info, 0))
        TRY(shrink_index(r, &info, x));
    if (info.attr.number)
        TRY(shrink_numbers(r, &info, x));
    for (int slot = 0; slot < NODE_SOURCES; slot++) {
        node source = r->old[x].src[slot];
        if (source == POISON)
            continue;
        info.src[slot] = r->renamed[source];
        enum follows rule = follows(&r->old[x], &r->old[source], slot);
        const struct need *want = rule == FOLLOW_SAME      ? mine
                                  : rule == FOLLOW_COLUMNS ? &columns
                                                           : &r->need[source];
        if (!same_need(&r->need[source], want, r->old[source].rows))
            TRY(bridge(&info.src[slot], r, r->renamed[source], &r->need[source], want,
                       r->old[source].rows));
    }
    for (int i = 0; i < NODE_UPDATES; i++)
        if (info.update[i] != POISON)
            info.update[i] = r->renamed[info.update[i]];
    for (int slot = 0; slot < NODE_SOURCES && !mine->all && !info.part; slot++) {
        node source = r->old[x].src[slot];
        if (source != POISON && r->old[source].rows == r->old[x].rows &&
            same_need(&r->need[source], mine, r->old[x].rows))
            info.part = p->node[r->renamed[source]].part;
    }
    if (!info.part)
        TRY(list_part(&info.part, r, mine, r->old[x].rows));
    if (!mine->all)
        info.rows = mine->count;
    TRY(GROW(p->node, p->count, p->capacity, 1));
    p->node[p->count] = info;
    r->renamed[x] = p->count++;
done:
    mem_free(own);
    return st;
}

static consm_status rewrite(struct restriction *r)
{
    consm_status st = CONSM_OK;
    struct program *p = r->p;
    p->node = NULL;
    p->count = 0;
    p->capacity = 0;
    for (node x = 0; x < r->count; x++) {
        r->renamed[x] = POISON;
        if (r->need[x].any)
            TRY(copy_node(r, x));
    }
    if (p->loss != POISON)
        p->loss = r->renamed[p->loss];
done:
    return st;
}

consm_status program_restrict(struct program *p)
{
    consm_status st = CONSM_OK;
    struct restriction r = {.p = p, .old = p->node, .count = p->count};
    bool smaller = false;
    TRY(ZNEW(r.need, r.count));
    TRY(find_needs(&r));
    for (node x = 0; x < r.count; x++)
        smaller = smaller || (r.need[x].any && !r.need[x].all);
    if (!smaller)
        goto done;
    TRY(NEW(p->renamed, r.count));
    r.renamed = p->renamed;
    p->recorded = r.count;
    st = rewrite(&r);
    mem_free(r.old);
done:
    for (node x = 0; r.need && x < r.count; x++)
        mem_free(r.need[x].row);
    mem_free(r.need);
    return st;
}
