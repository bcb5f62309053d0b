/* The two halves of `consm info`. */
#ifndef CLI_CMD_INFO_H
#define CLI_CMD_INFO_H

#include "data/facts.h"
#include "data/registry/registry.h"
#include "data_args.h"

/* One JSON object. set (with its check) and spec may be NULL. */
void info_print_json(const struct dataset *d, const struct data_facts *f,
                     const struct data_set *set, const struct registry_check *check,
                     const char *spec, int64_t seed);

#endif
