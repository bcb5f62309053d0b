/* An index: a list of row numbers for gathers and scatters. */

/*
 * It holds the inverse lists (the positions that name row r), so that a scatter gives each target
 * row to one thread and sums in a fixed order. Its length is fixed. Only index_set() may replace
 * its content, so that backends notice.
 */
#ifndef PROGRAM_INDEX_H
#define PROGRAM_INDEX_H

#include "base/alloc.h"

struct index {
    int64_t count, targets;
    bool fixed;     /* neither it nor labels read through it will change: a program may copy them */
    bool borrowed;  /* row belongs to someone else */
    int32_t *row;   /* (count) each in 0 … targets-1 */
    int64_t *start; /* (targets+1) positions that name row r: item[start[r] … start[r+1]-1] */
    int32_t *item;  /* (count) ascending within each row */
    uint64_t version; /* how often it was set */
};

/* Makes an index of that length into targets rows, initially zero. */
consm_status index_new(struct index **out, int64_t count, int64_t targets);
void index_free(struct index *index);

/* An index of these rows (count), which must stay as they are and outlive it. It takes no others.
 */
consm_status index_of(struct index **out, int32_t *row, int64_t count, int64_t targets);

/* Replaces the content (count rows). O(count + targets); allocates nothing. */
consm_status index_set(struct index *index, const int32_t *rows);

/* The same in O(count) for an index that is only used to gather: the inverse lists are not updated
 * and must not be read. */
consm_status index_set_rows(struct index *index, const int32_t *rows);

#endif
