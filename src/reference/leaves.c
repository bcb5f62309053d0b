/* Copies floats, labels, row numbers, indices, and sparse matrices with their transposes. Arrays
 * are allocated again only if they have grown. */
#include "reference/leaves.h"

#include "base/alloc.h"
#include <string.h>

static consm_status make_room(struct leaf_copy *copy, enum leaf_part part, size_t bytes)
{
    consm_status st = CONSM_OK;
    char *fresh = NULL;
    if (copy->part[part] && bytes <= copy->room[part])
        return CONSM_OK;
    TRY(NEW(fresh, bytes));
    mem_free(copy->part[part]);
    copy->part[part] = fresh;
    copy->room[part] = bytes;
done:
    return st;
}

/* field = a copy of count elements at from; NULL of NULL */
#define COPY(field, which, from, count)                            \
    do {                                                           \
        (field) = NULL;                                            \
        if (from) {                                                \
            const size_t bytes = (size_t)(count) * sizeof *(from); \
            TRY(make_room(copy, which, bytes));                    \
            (field) = copy->part[which];                           \
            memcpy(copy->part[which], from, bytes);                \
        }                                                          \
    } while (0)

static consm_status copy_numbers(struct leaf_copy *copy, const struct leaf *leaf)
{
    consm_status st = CONSM_OK;
    const char *from = leaf->data;
    size_t each = leaf->kind == LEAF_FLOATS   ? sizeof(float)
                  : leaf->kind == LEAF_LABELS ? sizeof(int32_t)
                                              : sizeof(int64_t);
    COPY(copy->data, PART_NUMBERS, from, (size_t)leaf->count * each);
done:
    return st;
}

static consm_status copy_index(struct leaf_copy *copy, const struct index *from)
{
    consm_status st = CONSM_OK;
    copy->index = *from;
    COPY(copy->index.row, PART_ROW, from->row, from->count);
    COPY(copy->index.item, PART_ITEM, from->item, from->count);
    COPY(copy->index.start, PART_START, from->start, from->targets + 1);
    copy->data = &copy->index;
done:
    return st;
}

static consm_status copy_matrix(struct leaf_copy *copy, const struct csr *from)
{
    consm_status st = CONSM_OK;
    const struct csr *t = from->t;
    copy->matrix = *from;
    COPY(copy->matrix.start, PART_START, from->start, from->rows + 1);
    COPY(copy->matrix.col, PART_COL, from->col, from->nnz);
    COPY(copy->matrix.val, PART_VAL, from->val, from->nnz);
    COPY(copy->matrix.t_entry, PART_ENTRY, from->t_entry, from->nnz);
    if (t == from) {
        copy->matrix.t = &copy->matrix;
    } else if (t) {
        copy->transpose = *t;
        copy->transpose.t = NULL;
        COPY(copy->transpose.start, PART_T_START, t->start, t->rows + 1);
        COPY(copy->transpose.col, PART_T_COL, t->col, t->nnz);
        COPY(copy->transpose.val, PART_T_VAL, t->val, t->nnz);
        copy->matrix.t = &copy->transpose;
    }
    copy->data = &copy->matrix;
done:
    return st;
}

consm_status leaf_follow(struct leaf_copy *copy, const struct leaf *leaf, bool *changed)
{
    consm_status st = CONSM_OK;
    const uint64_t version = leaf_version(leaf);
    if (copy->data && copy->version == version)
        return CONSM_OK;
    *changed = true;
    switch (leaf->kind) {
    case LEAF_INDEX: TRY(copy_index(copy, leaf->data)); break;
    case LEAF_CSR: TRY(copy_matrix(copy, leaf->data)); break;
    default: TRY(copy_numbers(copy, leaf));
    }
    copy->version = version;
done:
    return st;
}

void leaf_forget(struct leaf_copy *copy)
{
    for (int part = 0; part < PARTS; part++)
        mem_free(copy->part[part]);
}
