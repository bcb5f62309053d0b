/* PTDNet with its random draws given, for tests against reference values. */
#ifndef MODELS_PTDNET_H
#define MODELS_PTDNET_H

#include "models/model.h"

/* Replaces the random draws; all zero: draw. */
struct ptdnet_draws {
    const float *noise; /* (layers, nnz) uniform numbers of every layer and entry */
    int64_t iterations; /* of the singular values; 0: the usual number */
};

/* Records the model; *gate becomes the last layer's s (nnz, 1), on the entries of A. */
node ptdnet_record(struct program *p, const struct inputs *in, const struct config *c,
                   const struct ptdnet_draws *draws, node *gate);

#endif
