/* Suspicious data in a readable dataset: a header that became a node, a class called NaN, two
 * spellings of one class. Nothing is certain, so nothing is an error; the caller decides (`consm
 * train` warns, with --strict it refuses). */
#ifndef DATA_SUSPECT_H
#define DATA_SUSPECT_H

#include "data/dataset.h"

enum { SUSPICIONS = 20, SUSPICION_LENGTH = 320 };

struct suspicions {
    int count; /* the first SUSPICIONS are kept */
    char text[SUSPICIONS][SUSPICION_LENGTH];
};

/* O(nodes + edges + classes² + nodes · dense features). */
consm_status dataset_suspect(struct suspicions *out, const struct dataset *d);

#endif
