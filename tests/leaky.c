/* Loses blocks that the library allocated: the test `leak_is_found` of the AddressSanitizer build
 * wants them reported, so that tests/leaks.c leaves out no search that was needed. */
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
