/* The uncertainty of a rare class's validation figures. */
#ifndef APP_RARE_H
#define APP_RARE_H

#include "consm.h"
#include "stats/stats.h"

/* With fewer validation nodes of the class every choice is uncertain. */
enum { RARE_FEW = 10 };

struct rare_facts {
    int32_t class_index;
    int64_t positives, said, hits; /* validation nodes of the class, predicted as it, both */
    struct stats_interval precision, recall; /* Wilson's, 95 %; NaN: unknown */
};

/* For the class with a threshold, else for the metric's class; false: there is none, or no node
 * validates. */
bool rare_measure(struct rare_facts *out, const struct consm_model *m);

/* "1.000 (2 of 2; 95 % interval 0.342 to 1.000)", or "unknown (0 of 0)". */
const char *rare_share(char out[96], int64_t hits, int64_t of, const struct stats_interval *at);

#endif
