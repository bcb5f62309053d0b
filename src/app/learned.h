/* Which nodes a model learned from, as sorted hashes of their ids, 8 bytes each: so that figures on
 * a later graph can be told apart into nodes whose labels the model knows and nodes that are new.
 */
#ifndef APP_LEARNED_H
#define APP_LEARNED_H

#include "app/objects.h"

/* Keeps the nodes whose labels train, validate or calibrate. */
consm_status learned_note(struct consm_model *m, const struct dataset *d,
                          const struct roles *roles);

/* *out (count): 1 where the model learned from node number[k], or from node k where number is NULL;
 * the caller's to free. NULL: it cannot be told, because the model keeps none (models of before),
 * or because nodes have no ids and the graph is not the one of training. */
consm_status learned_mark(uint8_t **out, const struct consm_model *m, const struct dataset *d,
                          const int32_t *number, int64_t count);

/* Whether it learned from the node with that structural_key(). */
bool learned_has(const struct consm_model *m, uint64_t key);

#endif
