/* Shared by reading the header of an edge list and reading its rows. */
#ifndef DATA_READERS_EDGE_TEXT_INSIDE_H
#define DATA_READERS_EDGE_TEXT_INSIDE_H

#include "data/readers/edge_text.h"
#include "data/table/notes.h"
#include "io/csv.h"
#include "io/faults.h"

enum id_mode {
    KNOWN_IDS,  /* look ids up */
    NUMBER_IDS, /* store the numbers as they are */
    NEW_NAMES   /* add ids to the list */
};

/* Rows with text ids wait for a batch, so that their hash table lookups overlap. Their fields stay
 * in the file. */
enum { BATCH = 32 };

struct waiting_row {
    struct csv_field end[2];
    uint64_t hash[2];
    int64_t line;
    size_t note; /* the first of its notes */
};

struct edge_reader {
    struct csv csv;
    struct faults faults;
    struct wanted *wanted;
    struct waiting_row waiting[BATCH];
    int waiters;
    struct node_ids *ids;
    enum id_mode mode;
    int source, target, weight; /* columns; weight -1: none */
    int columns;
    int *kept; /* columns whose cells are notes, in the order of notes.column; or NULL */
    int kepts;
    struct notes notes;
    bool not_numbers; /* NUMBER_IDS met something else and stopped */
    int32_t *from, *to;
    float *value;
    int64_t count, capacity;
    int64_t dropped;              /* rows that name an unknown node */
    const struct text_file *file; /* of edge_blocks_…: the whole file, and its first edge */
    struct csv_place first;
};

/* Reads the first rows. A header names a source and a target, or is words above numbers; the next
 * row is the first edge. */
consm_status edge_columns_find(struct edge_reader *r);

#endif
