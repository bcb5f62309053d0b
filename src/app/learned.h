/* The nodes that a model learned from, as sorted hashes of their ids, 8 bytes each. So figures on a
 * later graph can separate nodes with labels that the model knows from new nodes. */
#ifndef APP_LEARNED_H
#define APP_LEARNED_H

#include "app/objects.h"

/* Stores the nodes whose labels train, validate or calibrate. */
consm_status learned_note(struct consm_model *m, const struct dataset *d,
                          const struct roles *roles);

/* out (count): 1 if the model learned from node number[k], or from node k if number is NULL; the
 * caller frees it. NULL: unknown, because the model stores none (older models), or because nodes
 * have no ids and the graph is not the training graph. */
consm_status learned_mark(uint8_t **out, const struct consm_model *m, const struct dataset *d,
                          const int32_t *number, int64_t count);

/* Whether the model learned from the node with that structural_key(). */
bool learned_has(const struct consm_model *m, uint64_t key);

#endif
