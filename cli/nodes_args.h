/* Nodes named on the command line: "a,b", or a file with one id per line. */
#ifndef CLI_NODES_ARGS_H
#define CLI_NODES_ARGS_H

#include "consm.h"

/* node (*count): their numbers, which the caller frees. CONSM_ENOTFOUND names an unknown id. */
consm_status nodes_args_find(int64_t **node, int64_t *count, const struct consm_dataset *data,
                             const char *list);

#endif
