/* A backend's own copy of a leaf. */
#ifndef REFERENCE_LEAVES_H
#define REFERENCE_LEAVES_H

#include "program/backend.h"

enum leaf_part {
    PART_NUMBERS, /* of floats, labels, row numbers */
    PART_ROW,     /* of an index */
    PART_ITEM,
    PART_START, /* of an index or a matrix */
    PART_COL,   /* of a matrix */
    PART_VAL,
    PART_ENTRY,
    PART_T_START, /* of its transpose */
    PART_T_COL,
    PART_T_VAL,
    PARTS
};

struct leaf_copy {
    const void *data; /* the copy, of the leaf's kind; NULL: none yet */
    uint64_t version; /* of what was copied */
    struct csr matrix, transpose;
    struct index index;
    void *part[PARTS]; /* the arrays, each of room[i] bytes */
    size_t room[PARTS];
};

/* Copies the leaf unless the copy is current; sets *changed if it did. */
consm_status leaf_follow(struct leaf_copy *copy, const struct leaf *leaf, bool *changed);
void leaf_forget(struct leaf_copy *copy);

#endif
