/* Numbers as text, the same in every locale: a program's setlocale() must not put a comma into
 * files, options and messages. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdarg.h>
#include <stddef.h>

/* strtod, snprintf and vsnprintf in the C locale. */
double number_parse(const char *text, char **end);
int number_print(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int number_vprint(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

#endif
