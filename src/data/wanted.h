/*
 * A user's choices about columns: which hold ids, labels or weights, and which to ignore. A name
 * that no table has is an error.
 */
#ifndef DATA_WANTED_H
#define DATA_WANTED_H

#include "data/choices.h"

enum { WANTED_MOST = 64, WANTED_SEEN = 24, WANTED_NAME = 48 };

/* What to do with an edge to a node that no table lists: fail, leave it out, or add the node. */
enum unknown_nodes { UNKNOWN_ERROR, UNKNOWN_DROP, UNKNOWN_ADD, UNKNOWN_KINDS };
extern const char *const unknown_nodes_name[UNKNOWN_KINDS]; /* "error", "drop", "add" */

struct names;

/* All zero: no choices. */
struct wanted {
    const char *id, *label, *weight; /* names of columns, or NULL */
    const char *ignore;              /* "a,b": names of columns, or NULL */
    const char *source, *target;     /* of an edge list's columns, or NULL */
    enum unknown_nodes unknown;      /* for ids of edges that no table of nodes has */
    /* Bits of enum choice: names that a model remembers and the user did not type. They need not
     * exist. */
    unsigned remembered;
    bool notes;                     /* keep columns that no model reads (data/table/notes.h) */
    const struct names *attributes; /* edge columns that the file declares as attributes; or NULL */
    bool found_id, found_label, found_weight, found_source, found_target;
    uint64_t ignored; /* a bit for each name of the list that was found */
    /* The first columns that the tables have, for messages. */
    char seen[WANTED_SEEN][WANTED_NAME];
    int seen_count;
};

/* Whether this is the chosen column; records that it was found. wanted may be NULL. */
bool wanted_id(struct wanted *w, const char *name, size_t length);
bool wanted_label(struct wanted *w, const char *name, size_t length);
bool wanted_weight(struct wanted *w, const char *name, size_t length);
bool wanted_source(struct wanted *w, const char *name, size_t length);
bool wanted_target(struct wanted *w, const char *name, size_t length);
bool wanted_ignores(struct wanted *w, const char *name, size_t length);

/* Whether to keep a column that no model reads: one that a model remembers to ignore, not one that
 * the user ignores now. */
bool wanted_keeps(struct wanted *w, const char *name, size_t length);

/* Whether there are choices about columns. */
static inline bool wanted_any(const struct wanted *w)
{
    return w && (w->id || w->label || w->weight || w->ignore || w->source || w->target);
}
/* The same for choices of the user: then there must be a table with a header. */
bool wanted_typed(const struct wanted *w);

/* The label column is remembered from training and not found yet: then only a column called label
 * may replace it, because "y" and "class" were features there. */
static inline bool wanted_only_label(const struct wanted *w)
{
    return w && (w->remembered >> CHOICE_LABEL & 1);
}

/* CONSM_EINVAL if a name is too long. */
consm_status wanted_check(const struct wanted *w);
/* As wanted_met(), if one of these columns was typed and not found so far (bits of enum choice);
 * else CONSM_OK. For an unreadable header. */
consm_status wanted_first(struct wanted *w, unsigned choices, const char *where);
/* CONSM_EINVAL names the flag, the missing column, the nearest name, and all names. */
consm_status wanted_met(struct wanted *w, const char *where);

#endif
