/* Attributes that no model reads, as text: columns of an edge list besides its ends and weight, and
 * ignored columns of nodes. They are kept only for a command that writes the graph again (`consm
 * convert`, `consm predict --graph`). */
#ifndef DATA_TABLE_NOTES_H
#define DATA_TABLE_NOTES_H

#include "data/table/names.h"

struct note {
    int64_t item;         /* an edge or a node; -1: the default */
    int32_t column, text; /* places in the two lists */
};

/* All zero is empty. Notes are ordered by item. */
struct notes {
    struct names column, text;
    struct note *note;
    size_t count, capacity;
};

/* The kind of a column: all true or false, all numbers as in JSON, or text. The values are the
 * indices of "string", "double", "boolean". */
enum note_kind { NOTE_TEXT, NOTE_NUMBER, NOTE_TRUTH };

/* The column of nodes' display names, GEXF's label, which no model reads. */
#define NOTES_TITLE "display_name"
/* The column of edge ids, as in GraphML and GEXF. */
#define NOTES_ID "id"

/* Appends a note to a column whose index is from names_add(); an empty text is not stored. */
consm_status notes_put(struct notes *n, int64_t item, int64_t column, const char *text,
                       size_t length);
/* Appends one; an empty text is not stored. The text is UTF-8 without zero bytes. */
consm_status notes_add(struct notes *n, int64_t item, const char *column, size_t column_length,
                       const char *text, size_t length);

/* Gives every item below `items` without a note in a column that column's default, and removes the
 * defaults. */
consm_status notes_settle(struct notes *n, int64_t items);

/* The notes of items that stay: item i becomes place[i], ascending; -1: it is dropped. */
consm_status notes_select(struct notes **out, const struct notes *from, const int64_t *place);

/* Moves them into a new block; *out is NULL if there are none. */
consm_status notes_take(struct notes **out, struct notes *n);

/* The column of edge ids, if they are distinct; -1: none. */
consm_status notes_ids(int64_t *column, const struct notes *n);

/* (columns) the kind of each; the caller frees it. */
consm_status notes_kinds(uint8_t **out, const struct notes *n);

/* The name of an edge column as written: one that would be taken for an end or the weight gets a
 * "_" appended. */
enum { NOTES_NAME = 256 };
const char *notes_edge_name(char out[NOTES_NAME], const struct notes *n, int64_t column);

/* Reports that a format cannot hold the attributes of edges; n may be NULL. */
void notes_say_lost(const struct notes *n, const char *path);

/* Frees its content, not the struct itself. */
void notes_free(struct notes *n);

#endif
