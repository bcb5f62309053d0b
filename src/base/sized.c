/* Copies the members that both versions of a struct have. */
#include "base/sized.h"

#include <string.h>

static consm_status check(size_t size, size_t least)
{
    if (size >= least)
        return CONSM_OK;
    return status_fail(
        CONSM_EINVAL,
        "the size member of a struct is %zu: expected %zu or more; set it to the struct's sizeof",
        size, least);
}

consm_status sized_give(void *out, const void *whole, size_t bytes, size_t least)
{
    size_t size = *(const size_t *)out;
    if (check(size, least) < 0)
        return CONSM_EINVAL;
    memcpy(out, whole, size < bytes ? size : bytes);
    *(size_t *)out = size;
    return CONSM_OK;
}

consm_status sized_take(void *whole, size_t bytes, const void *in, size_t least)
{
    size_t size = *(const size_t *)in;
    if (check(size, least) < 0)
        return CONSM_EINVAL;
    memcpy(whole, in, size < bytes ? size : bytes);
    *(size_t *)whole = bytes;
    return CONSM_OK;
}
