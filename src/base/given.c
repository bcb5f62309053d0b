/* Finds the name of a NULL argument, for the message. */
#include "base/given.h"

#include <string.h>

consm_status given(const char *function, const char *names, const void *const *pointer, int count)
{
    for (int i = 0; i < count; i++) {
        names += strspn(names, ", ");
        size_t length = strcspn(names, ",");
        if (!pointer[i])
            return status_fail(CONSM_EINVAL, "%s: %.*s is NULL", function, (int)length, names);
        names += length;
    }
    return CONSM_OK;
}
