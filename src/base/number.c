/* Uses the C locale for the calling thread during one call. */
#include "base/number.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t plain; /* 0 if it could not be made: then the thread's locale stays */

static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Returns the previous locale, to restore it. */
static locale_t use_plain(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_plain);
    return uselocale(plain);
}

double number_parse(const char *text, char **end)
{
    locale_t before = use_plain();
    double value = strtod(text, end);
    uselocale(before);
    return value;
}

int number_vprint(char *out, size_t size, const char *format, va_list args)
{
    locale_t before = use_plain();
    int length = vsnprintf(out, size, format, args);
    uselocale(before);
    return length;
}

int number_print(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = number_vprint(out, size, format, args);
    va_end(args);
    return length;
}
