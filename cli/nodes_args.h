/* Nodes that a command line names: "a,b", or a file with one id in each line. */
#ifndef CLI_NODES_ARGS_H
#define CLI_NODES_ARGS_H

#include "consm.h"

/* *node (*count): their numbers, the caller's to free. CONSM_ENOTFOUND names an id that no node of
 * the dataset has. */
consm_status nodes_args_find(int64_t **node, int64_t *count, const struct consm_dataset *data,
                             const char *list);

#endif
