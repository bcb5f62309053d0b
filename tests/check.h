/* For every test file: cmocka with its headers in order, and a few shorthands. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "consm.h"

/* Under AddressSanitizer everything takes about ten times as long, so tests that a plain build also
 * runs may be shorter. */
#ifdef __SANITIZE_ADDRESS__
enum { UNDER_ASAN = 1 };
#else
enum { UNDER_ASAN = 0 };
#endif

/* ThreadSanitizer looks for races. It needs no values on a single thread, and no race twice. */
#ifdef __SANITIZE_THREAD__
enum { UNDER_TSAN = 1 };
#else
enum { UNDER_TSAN = 0 };
#endif

/* The call must succeed; on failure the library's message is shown. */
#define OK(call)                                                         \
    do {                                                                 \
        consm_status check_status = (call);                              \
        if (check_status < 0)                                            \
            fail_msg("%s: %d: %s", #call, check_status, consm_errmsg()); \
    } while (0)

/* The call must fail with that code, and its message must contain that text. */
#define FAILS(call, code, text)                                                         \
    do {                                                                                \
        consm_status check_status = (call);                                             \
        if (check_status != (code) || !strstr(consm_errmsg(), (text)))                  \
            fail_msg("%s: got %d \"%s\", expected %d with \"%s\"", #call, check_status, \
                     consm_errmsg(), (code), (text));                                   \
    } while (0)

/* |a - b| <= tolerance · max(1, |a|, |b|) */
static inline void assert_near(double a, double b, double tolerance)
{
    double scale = 1, difference = a > b ? a - b : b - a;
    if (a > scale || -a > scale)
        scale = a > 0 ? a : -a;
    if (b > scale || -b > scale)
        scale = b > 0 ? b : -b;
    if (!(difference <= tolerance * scale))
        fail_msg("%.9g and %.9g differ by more than %g", a, b, tolerance);
}

/* The folder of real datasets, or NULL with one visible line about what is skipped. */
static inline const char *real_data(const char *what)
{
    const char *folder = getenv("CONSM_DATA");
    if (!folder || !*folder) {
        printf("SKIPPED: %s needs real data; set CONSM_DATA\n", what);
        return NULL;
    }
    return folder;
}

#endif
