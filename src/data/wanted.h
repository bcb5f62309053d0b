/*
 * What somebody says about the columns of his tables: which one holds ids, labels or weights, and
 * which are to be passed over. A name that no table has is a mistake, and is told so.
 */
#ifndef DATA_WANTED_H
#define DATA_WANTED_H

#include "data/choices.h"

enum { WANTED_MOST = 64, WANTED_SEEN = 24, WANTED_NAME = 48 };

/* An edge that names a node which no table lists: is an error, is left out, or makes the node. */
enum unknown_nodes { UNKNOWN_ERROR, UNKNOWN_DROP, UNKNOWN_ADD, UNKNOWN_KINDS };
extern const char *const unknown_nodes_name[UNKNOWN_KINDS]; /* "error", "drop", "add" */

struct names;

/* All zero: nothing is said. */
struct wanted {
    const char *id, *label, *weight; /* names of columns, or NULL */
    const char *ignore;              /* "a,b": names of columns, or NULL */
    const char *source, *target;     /* of an edge list's columns, or NULL */
    enum unknown_nodes unknown;      /* ids that the edges name and no table of nodes has */
    /* Bits of enum choice: a model remembers these names, nobody typed them. They need not be met.
     */
    unsigned remembered;
    bool notes; /* keep columns that no model reads (data/table/notes.h) */
    const struct names
        *attributes; /* columns of edges that the file says are none of ours; or NULL */
    bool found_id, found_label, found_weight, found_source, found_target;
    uint64_t ignored; /* the names of the list that were met, a bit each */
    /* The first columns that the tables have, for messages. */
    char seen[WANTED_SEEN][WANTED_NAME];
    int seen_count;
};

/* Whether a column of that name is the one; remembers that it was met. wanted may be NULL. */
bool wanted_id(struct wanted *w, const char *name, size_t length);
bool wanted_label(struct wanted *w, const char *name, size_t length);
bool wanted_weight(struct wanted *w, const char *name, size_t length);
bool wanted_source(struct wanted *w, const char *name, size_t length);
bool wanted_target(struct wanted *w, const char *name, size_t length);
bool wanted_ignores(struct wanted *w, const char *name, size_t length);

/* Whether a column that no model reads is kept: what a model remembers to ignore is, what a person
 * ignores now is not. */
bool wanted_keeps(struct wanted *w, const char *name, size_t length);

/* Something is said about columns. */
static inline bool wanted_any(const struct wanted *w)
{
    return w && (w->id || w->label || w->weight || w->ignore || w->source || w->target);
}
/* The same, by a person: so there must be a table with a header. */
bool wanted_typed(const struct wanted *w);

/* The label's column is remembered from training and not met yet: then only a column called label
 * may take its place, since "y" and "class" were features there. */
static inline bool wanted_only_label(const struct wanted *w)
{
    return w && (w->remembered >> CHOICE_LABEL & 1);
}

/* CONSM_EINVAL when a name is too much for us. */
consm_status wanted_check(const struct wanted *w);
/* The same as wanted_met() where one of these columns was typed and not met so far (bits of enum
 * choice); else CONSM_OK. For a header that cannot be understood. */
consm_status wanted_first(struct wanted *w, unsigned choices, const char *where);
/* CONSM_EINVAL names the flag, the column that no table had, the nearest that there is, and all. */
consm_status wanted_met(struct wanted *w, const char *where);

#endif
