/* One line of JSON. */
#include "json_line.h"

#include <stdio.h>

void json_line(json_t *object, int digits)
{
    json_dumpf(object, stdout, JSON_REAL_PRECISION((size_t)digits));
    putchar('\n');
    json_decref(object);
}
