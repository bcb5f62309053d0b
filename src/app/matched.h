/* The features of a dataset brought into the order, and by the recipe, that a model knows. */
#ifndef APP_MATCHED_H
#define APP_MATCHED_H

#include "app/objects.h"

/* What had to be made; nothing where the dataset's own features are in order already. */
struct matched {
    struct csr *sparse;
    float *dense, *structural;
};

consm_status matched_open(struct matched *out, const struct consm_model *m,
                          const struct prepared *p);
void matched_free(struct matched *m, const struct prepared *p);

/* The problem a model sees with them. */
struct problem matched_problem(const struct consm_model *m, const struct prepared *p,
                               const struct matched *features);

#endif
