/*
 * Maps the ids of a text file to node numbers. Ids are any texts, but mostly numbers; then a bitmap
 * with counts is much faster than a hash table. Callers do not see which one is used.
 */
#ifndef DATA_READERS_NODE_IDS_H
#define DATA_READERS_NODE_IDS_H

#include "data/dataset.h"
#include "data/table/names.h"
#include "io/token.h"

/* All zero is empty. */
struct node_ids {
    int64_t count;      /* nodes */
    struct names names; /* the ids in node order; empty if the bitmap holds all */
    bool places;        /* ids are exactly 0 … count-1 in order */
    uint64_t *bits;     /* (limit) bits: which numbers are ids; NULL: not all ids are numbers */
    uint32_t *before;   /* ids before each word of bits */
    int64_t limit;
    int32_t *order;       /* (count) the node of the k-th smallest number; NULL: k itself */
    const char *expected; /* "a node of nodes.csv": for the message about an unknown id */
};

void node_ids_free(struct node_ids *ids);

/* Nodes 0 … count-1, named by their number + first. */
consm_status node_ids_rows(struct node_ids *ids, int64_t first, int64_t count);

/* Nodes in the order of ids->names, complete. */
consm_status node_ids_index(struct node_ids *ids);

/* Nodes are the numbers in the arrays and in ids->names (all numbers), ascending. The arrays are
 * rewritten to node numbers. *dense: whether this was done; numbers may be too sparse for a bitmap.
 */
consm_status node_ids_from_numbers(bool *dense, struct node_ids *ids, int32_t *from, int32_t *to,
                                   int64_t edges);

/* Nodes are ids->names; if all are numbers they are sorted, and the arrays, which hold positions in
 * that list, are rewritten. */
consm_status node_ids_from_names(struct node_ids *ids, int32_t *from, int32_t *to, int64_t edges);

/* The node of a number that is an id, or -1. Only for ids->bits or ids->places. */
static inline int64_t node_ids_number(const struct node_ids *ids, uint64_t number)
{
    if (ids->places)
        return number < (uint64_t)ids->count ? (int64_t)number : -1;
    if (number >= (uint64_t)ids->limit)
        return -1;
    uint64_t word = ids->bits[number / 64], bit = (uint64_t)1 << number % 64;
    if (!(word & bit))
        return -1;
    int64_t rank = ids->before[number / 64] + __builtin_popcountll(word & (bit - 1));
    return ids->order ? ids->order[rank] : rank;
}

/* The node of that id, or -1. */
static inline int64_t node_ids_find(const struct node_ids *ids, const char *text, size_t length)
{
    if (!ids->places && !ids->bits)
        return names_find(&ids->names, text, length);
    int64_t number = token_number(text, length);
    return number < 0 ? -1 : node_ids_number(ids, (uint64_t)number);
}

/* Sets d->nodes and d->node_id. */
consm_status node_ids_give(struct dataset *d, const struct node_ids *ids);

#endif
