/* The most probable nodes of a requested class, with reasons, for people who examine them one by
 * one. */
#ifndef APP_SUSPECTS_H
#define APP_SUSPECTS_H

#include "consm.h"

struct roles;

enum { SUSPECTS_LISTED = 100, SUSPECTS_EXPLAINED = 20, SUSPECTS_REASONS = 3 };

struct suspect_node {
    int64_t node;
    char *reasons; /* evidence for the class, strongest first; NULL: not requested */
};

struct suspects {
    int32_t class_index; /* -1: no class was requested */
    int64_t count;
    struct suspect_node *row;              /* (count) the most probable first */
    struct consm_explanation *explanation; /* of the first one, or NULL */
    int64_t explained;                     /* its node */
};

/* Chooses among nodes that neither trained nor validated, or if there are none, among those that
 * did not train. Gives reasons on graphs that are small enough for seconds. If no class was
 * requested, explains the most uncertain of these nodes. */
consm_status suspects_find(struct suspects *out, const struct consm_model *m,
                           const struct consm_dataset *set, const struct consm_prediction *p,
                           const struct roles *roles, int threads);
void suspects_free(struct suspects *s);

/* Writes suspects.csv; nothing if no class was requested. */
consm_status suspects_write(const char *path, const struct suspects *s, const struct consm_model *m,
                            const struct consm_dataset *set, const struct consm_prediction *p,
                            bool safe_csv);

#endif
