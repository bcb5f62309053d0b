/*
 * Attributes that no model reads, as text: columns of an edge list beside its ends and its weight,
 * and columns of nodes that were ignored. They are kept only for a command that writes the graph
 * again (`consm convert`, `consm predict --graph`).
 */
#ifndef DATA_TABLE_NOTES_H
#define DATA_TABLE_NOTES_H

#include "data/table/names.h"

struct note {
    int64_t item;         /* an edge or a node; -1: the default of all that have none */
    int32_t column, text; /* places in the two lists */
};

/* All zero is empty. Notes are ordered by item. */
struct notes {
    struct names column, text;
    struct note *note;
    size_t count, capacity;
};

/* What the texts of a column are: all of them true or false, all of them numbers as JSON writes
 * them, or text. The numbers are the places of "string", "double", "boolean". */
enum note_kind { NOTE_TEXT, NOTE_NUMBER, NOTE_TRUTH };

/* The column of edges that holds their ids, as GraphML and GEXF have them. */
#define NOTES_ID "id"

/* Appends one to a column of the list, which names_add() gave its place; an empty text is no note.
 */
consm_status notes_put(struct notes *n, int64_t item, int64_t column, const char *text,
                       size_t length);
/* Appends one; an empty text is no note. The text is UTF-8 without zero bytes. */
consm_status notes_add(struct notes *n, int64_t item, const char *column, size_t column_length,
                       const char *text, size_t length);

/* Gives every item below `items` that has no note in a column the default of that column, and
 * removes the defaults. */
consm_status notes_settle(struct notes *n, int64_t items);

/* The notes of items that stay: item i becomes place[i], ascending, or -1: it goes. */
consm_status notes_select(struct notes **out, const struct notes *from, const int64_t *place);

/* Moves them into a block of their own; *out is NULL where there are none. */
consm_status notes_take(struct notes **out, struct notes *n);

/* The column of edges' ids, if no two edges have the same; -1: there is none. */
consm_status notes_ids(int64_t *column, const struct notes *n);

/* (columns) the kind of each, the caller's to free. */
consm_status notes_kinds(uint8_t **out, const struct notes *n);

/* The name of a column of edges as it is written: one that would be taken for an end or the weight
 * gets a "_" behind it. */
enum { NOTES_NAME = 256 };
const char *notes_edge_name(char out[NOTES_NAME], const struct notes *n, int64_t column);

/* Says that a format has no room for the attributes of edges; n may be NULL. */
void notes_say_lost(const struct notes *n, const char *path);

/* Frees what it holds, but not the struct itself. */
void notes_free(struct notes *n);

#endif
