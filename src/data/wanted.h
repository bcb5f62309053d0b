/*
 * What somebody says about the columns of his tables: which one holds ids, labels or weights, and
 * which are to be passed over. A name that no table has is a mistake, and is told so.
 */
#ifndef DATA_WANTED_H
#define DATA_WANTED_H

#include "base/alloc.h"

enum { WANTED_MOST = 64 };

/* All zero: nothing is said. */
struct wanted {
    const char *id, *label, *weight; /* names of columns, or NULL */
    const char *ignore;              /* "a,b": names of columns, or NULL */
    bool found_id, found_label, found_weight;
    uint64_t ignored; /* the names of the list that were met, a bit each */
};

/* Whether a column of that name is the one; remembers that it was met. wanted may be NULL. */
bool wanted_id(struct wanted *w, const char *name, size_t length);
bool wanted_label(struct wanted *w, const char *name, size_t length);
bool wanted_weight(struct wanted *w, const char *name, size_t length);
bool wanted_ignores(struct wanted *w, const char *name, size_t length);

/* Something is said about columns, so that there must be a header. */
static inline bool wanted_any(const struct wanted *w)
{
    return w && (w->id || w->label || w->weight || w->ignore);
}

/* CONSM_EINVAL when a name is too much for us. */
consm_status wanted_check(const struct wanted *w);
/* CONSM_EINVAL names the flag and the column that no table had. */
consm_status wanted_met(const struct wanted *w, const char *where);

#endif
