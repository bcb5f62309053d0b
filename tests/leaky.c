/* Leaks blocks of the library. The test `leak_is_found` of the AddressSanitizer build expects a
 * report, so that tests/leaks.c skips no search that is needed. */
#include "base/alloc.h"

#include <stdio.h>

int main(void)
{
    char *volatile block = NULL;
    for (int i = 0; i < 100; i++) /* a stale register may still point to one of them */
        block = mem_strdup("nobody frees this");
    printf("%zu bytes\n", sizeof block);
    mem_free(block);
    return 0;
}
