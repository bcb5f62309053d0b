/* Checks the arguments of public functions: a required pointer that is NULL fails with its name. */
#ifndef BASE_GIVEN_H
#define BASE_GIVEN_H

#include "base/status.h"

/* st = GIVEN(a, b, c): CONSM_EINVAL, with the name of the function and of the pointer, if one is
 * NULL. */
#define GIVEN(...)                                                    \
    given(__func__, #__VA_ARGS__, (const void *const[]){__VA_ARGS__}, \
          (int)(sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *)))

/* names: the arguments as written in the call. */
consm_status given(const char *function, const char *names, const void *const *pointer, int count);

#endif
