/* Numbers with nouns for messages. Regular plurals are enough. */
#include "base/counted.h"

#include <stdio.h>
#include <string.h>

struct counted counted(int64_t number, const char *noun)
{
    struct counted out;
    int first = (int)strcspn(noun, " ");
    const char *end = number == 1 ? "" : first > 0 && noun[first - 1] == 's' ? "es" : "s";
    snprintf(out.text, sizeof out.text, "%lld %.*s%s%s", (long long)number, first, noun, end,
             noun + first);
    return out;
}
