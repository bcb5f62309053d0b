/* The rows of registry.h, for registry.c only. */
#ifndef DATA_REGISTRY_TABLE_H
#define DATA_REGISTRY_TABLE_H

#include "data/registry/registry.h"

extern const struct data_set registry_table[];
extern const int registry_sets;

#endif
