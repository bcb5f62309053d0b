/* Operations that sum over rows, for those who have only some of the rows: the partial sums of some
 * blocks, then what is made of all of them. The blocks and the order in which they are added are
 * those of the operation's kernel, so the result is the kernel's to the bit. */
#ifndef CPU_SUMS_H
#define CPU_SUMS_H

#include "program/plugin.h"

/* The tables that program/plugin.h describes. */
extern const struct sums cpu_sums;
extern const struct walks cpu_walks; /* walks.c */

#endif
