/* Medium blocks that share huge pages. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* The size of a huge page, and the smallest block that gets one. */
enum { HUGE_PAGE = 2 << 20, PAGES_LEAST = 128 << 10 };

/* Returns PAGES_LEAST to HUGE_PAGE bytes, aligned to 4 KB; NULL if there is no memory. */
void *pages_alloc(size_t bytes);

/* Frees a block; false if it is not from here. */
bool pages_free(void *block);

/* Asks for huge pages where whole ones fit. Only a hint: without it everything works, but slower.
 */
void pages_wish(void *block, size_t bytes);

/* Bytes in all regions, used or not. */
size_t pages_held(void);

#endif
