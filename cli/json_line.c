/* Prints one line of JSON. */
#include "json_line.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

json_t *json_figure(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

void json_line(json_t *object, int digits)
{
    /* To a terminal only ASCII, so that no character controls it; programs get names as they are.
     */
    size_t ascii = isatty(STDOUT_FILENO) ? JSON_ENSURE_ASCII : 0;
    json_dumpf(object, stdout, JSON_REAL_PRECISION((size_t)digits) | ascii);
    putchar('\n');
    json_decref(object);
}
