/* GRAND with given random draws, for tests. */
#ifndef MODELS_GRAND_H
#define MODELS_GRAND_H

#include "models/model.h"

/* kept (samples, n): DropNode's factor of every node, 0 or 1/(1-δ); NULL: drawn at every step. */
node grand_record(struct program *p, const struct inputs *in, const struct config *c,
                  const float *kept);

#endif
