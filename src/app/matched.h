/* The features of a dataset in the order, and by the recipe, of a model. */
#ifndef APP_MATCHED_H
#define APP_MATCHED_H

#include "app/objects.h"

/* What had to be made; empty if the dataset's own features match. */
struct matched {
    struct csr *sparse;
    float *dense, *structural;
};

consm_status matched_open(struct matched *out, const struct consm_model *m,
                          const struct prepared *p);
void matched_free(struct matched *m, const struct prepared *p);

/* The problem for a model with these features. */
struct problem matched_problem(const struct consm_model *m, const struct prepared *p,
                               const struct matched *features);

#endif
