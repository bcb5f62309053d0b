/* What POSIX leaves open and Linux and macOS answer differently: random bytes, the processors that
 * this process may use, hints about pages, two names exchanged at once. */
#ifndef BASE_OS_H
#define BASE_OS_H

#include <stdbool.h>
#include <stddef.h>

/* Fills a block (at most 256 bytes) from the system's generator; false when it has nothing. */
bool os_random(void *out, size_t bytes);

/* Processors that this process may run on; 1 when the system does not say. */
int os_processors(void);

/* Asks for huge pages in a range; nothing happens where there are none. */
void os_want_huge_pages(void *begin, size_t bytes);

/* Renames a file or folder; exchange: the two trade names in one step. 0, or -1 with errno. */
int os_rename(const char *from, const char *to, bool exchange);

#endif
