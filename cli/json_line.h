/* --json: one object a line on standard output. */
#ifndef CLI_JSON_LINE_H
#define CLI_JSON_LINE_H

#include <jansson.h>

/* The number, or null if it is not finite. */
json_t *json_figure(double value);

/* Prints the object, real numbers with that many digits (0: all of them), and releases it. */
void json_line(json_t *object, int digits);

#endif
