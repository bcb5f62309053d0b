/* Embeddings as a file, for `consm train` and `consm predict --embeddings`. */
#ifndef CLI_EMBEDDINGS_OUTPUT_H
#define CLI_EMBEDDINGS_OUTPUT_H

#include "consm.h"

/* CONSM_EINVAL if the name ends in neither .npy nor .csv. Accepts NULL. */
consm_status embeddings_check(const char *path);

/* .npy: an array (nodes, width) in node order; .csv: id,e0,e1,… . path NULL: nothing. */
consm_status embeddings_write(const char *path, const struct consm_model *model,
                              const struct consm_dataset *data, const char *device, int threads);

#endif
