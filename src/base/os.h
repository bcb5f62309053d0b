/* System calls that POSIX does not define and that differ between Linux and macOS: random bytes,
 * available processors, page hints, exchanging two names at once. */
#ifndef BASE_OS_H
#define BASE_OS_H

#include <stdbool.h>
#include <stddef.h>

/* Fills a block (at most 256 bytes) from the system's generator; false if it fails. */
bool os_random(void *out, size_t bytes);

/* Processors that this process may use; 1 if unknown. */
int os_processors(void);

/* Asks for huge pages in a range; does nothing if the system has none. */
void os_want_huge_pages(void *begin, size_t bytes);

/* Renames a file or folder; with exchange the two swap names in one step. Returns 0, or -1 with
 * errno. */
int os_rename(const char *from, const char *to, bool exchange);

#endif
