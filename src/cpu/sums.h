/* Operations that sum over rows, for callers that have only some of the rows: the partial sums of
 * some blocks, then the total. Blocks and order of addition are those of the operation's kernel, so
 * the result has the same bits. */
#ifndef CPU_SUMS_H
#define CPU_SUMS_H

#include "program/plugin.h"

/* The tables that program/plugin.h describes. */
extern const struct sums cpu_sums;
extern const struct walks cpu_walks; /* walks.c */

#endif
