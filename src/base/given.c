/* Finds the name of a NULL argument, for the message. */
#include "base/given.h"

#include <string.h>

void given_fail(const char *function, const char *names, int index)
{
    for (int i = 0; i < index; i++) {
        names += strcspn(names, ",");
        names += strspn(names, ", ");
    }
    status_fail(CONSM_EINVAL, "%s: %.*s is NULL", function, (int)strcspn(names, ","), names);
}
