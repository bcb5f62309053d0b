/* Structs that callers make begin with their size, so that a program and a library of different
 * versions can speak with each other: what the older side does not know is left alone. */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include "base/status.h"

/* The size of a struct up to and with a member: that of the first version that had it. */
#define SIZED_UP_TO(type, member) (offsetof(type, member) + sizeof((type *)0)->member)

/* Fills the caller's *out, whose size member is set, from our *whole of `bytes`. CONSM_EINVAL when
 * the caller's struct is smaller than `least`, the size it had when it was new. */
consm_status sized_give(void *out, const void *whole, size_t bytes, size_t least);

/* Overwrites our *whole, which holds defaults, with what the caller's *in knows of. */
consm_status sized_take(void *whole, size_t bytes, const void *in, size_t least);

#endif
