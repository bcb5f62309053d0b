/* Blocks of middling size out of huge pages that they share. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* A huge page, and the smallest block for which one is worth asking. */
enum { HUGE_PAGE = 2 << 20, PAGES_LEAST = 128 << 10 };

/* PAGES_LEAST to HUGE_PAGE bytes at the beginning of a page of 4 KB; NULL when there is no memory.
 */
void *pages_alloc(size_t bytes);

/* Takes a block back; false when it is none of these. */
bool pages_free(void *block);

/* Asks for huge pages where whole ones fit. A wish: without it everything works, slower. */
void pages_wish(void *block, size_t bytes);

/* Bytes of the regions that there are, taken or not. */
size_t pages_held(void);

#endif
