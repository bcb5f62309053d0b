/* The nodes most probably of the class that somebody asked for, and why: for people who will look
 * at them one by one. */
#ifndef APP_SUSPECTS_H
#define APP_SUSPECTS_H

#include "app/objects.h"

enum { SUSPECTS_LISTED = 100, SUSPECTS_EXPLAINED = 20, SUSPECTS_REASONS = 3 };

struct suspect_node {
    int64_t node;
    char *reasons; /* what speaks for the class, the strongest first; NULL: nobody asked */
};

struct suspects {
    int32_t class_index; /* -1: no class was asked for */
    int64_t count;
    struct suspect_node *row;              /* (count) the most probable first */
    struct consm_explanation *explanation; /* of the first one, or NULL */
    int64_t explained;                     /* its node */
};

/* Of the nodes that neither trained nor validated, or where there are none, of those that did not
 * train. Reasons are
 * given on graphs that are small enough to ask in seconds. Where no class was asked for, explains
 * the most uncertain of these nodes. */
consm_status suspects_find(struct suspects *out, const struct consm_model *m,
                           const struct consm_dataset *set, const struct consm_prediction *p,
                           const struct roles *roles, int threads);
void suspects_free(struct suspects *s);

/* suspects.csv; nothing where no class was asked for. */
consm_status suspects_write(const char *path, const struct suspects *s, const struct consm_model *m,
                            const struct consm_dataset *set, const struct consm_prediction *p,
                            bool safe_csv);

#endif
