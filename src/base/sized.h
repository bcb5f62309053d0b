/* Structs that callers make begin with their size. So a program and a library of different versions
 * work together: members that the older one lacks are left alone. */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include "base/status.h"

/* The size of a struct up to and including a member: the size of the first version that had it. */
#define SIZED_UP_TO(type, member) (offsetof(type, member) + sizeof((type *)0)->member)

/* Fills the caller's *out, whose size member is set, from our *whole of `bytes`. CONSM_EINVAL if
 * the caller's struct is smaller than `least`, the size of its first version. */
consm_status sized_give(void *out, const void *whole, size_t bytes, size_t least);

/* Overwrites our *whole, which holds defaults, with the members that the caller's *in has. */
consm_status sized_take(void *whole, size_t bytes, const void *in, size_t least);

#endif
