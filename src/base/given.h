/* Checks the arguments of public functions: a required pointer that is NULL fails with its name. */
#ifndef BASE_GIVEN_H
#define BASE_GIVEN_H

#include "base/status.h"

/* st = GIVEN(a, b, c): CONSM_EINVAL, with the name of the function and of the pointer, if one is
 * NULL. */
#define GIVEN(...)                                                    \
    given(__func__, #__VA_ARGS__, (const void *const[]){__VA_ARGS__}, \
          (int)(sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *)))

/* Fails with the name of the argument with that index. names: the arguments as written. */
void given_fail(const char *function, const char *names, int index);

/* Inline, so that static analyzers see which pointers cannot be NULL after it. */
static inline consm_status given(const char *function, const char *names,
                                 const void *const *pointer, int count)
{
    for (int i = 0; i < count; i++)
        if (!pointer[i]) {
            given_fail(function, names, i);
            return CONSM_EINVAL;
        }
    return CONSM_OK;
}

#endif
