/* Arguments from strangers: whatever must be there is, or the call fails with its name. */
#ifndef BASE_GIVEN_H
#define BASE_GIVEN_H

#include "base/status.h"

/* st = GIVEN(a, b, c): CONSM_EINVAL, with the function's and the pointer's name, when one is NULL.
 */
#define GIVEN(...)                                                    \
    given(__func__, #__VA_ARGS__, (const void *const[]){__VA_ARGS__}, \
          (int)(sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *)))

/* names: those of the pointers, as they stand in the call. */
consm_status given(const char *function, const char *names, const void *const *pointer, int count);

#endif
