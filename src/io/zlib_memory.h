/* Makes zlib use our allocator, so that its memory is counted and hooked. */
#ifndef IO_ZLIB_MEMORY_H
#define IO_ZLIB_MEMORY_H

#include "base/alloc.h"
#include <zlib.h>

static inline void *zlib_alloc(void *ctx, uInt count, uInt size)
{
    (void)ctx;
    return mem_alloc(count, size);
}

static inline void zlib_free(void *ctx, void *block)
{
    (void)ctx;
    mem_free(block);
}

#endif
