/* One line of JSON. */
#include "json_line.h"

#include <stdio.h>
#include <unistd.h>

void json_line(json_t *object, int digits)
{
    /* On a terminal no character may steer it; programs get names as they are. */
    size_t ascii = isatty(STDOUT_FILENO) ? JSON_ENSURE_ASCII : 0;
    json_dumpf(object, stdout, JSON_REAL_PRECISION((size_t)digits) | ascii);
    putchar('\n');
    json_decref(object);
}
