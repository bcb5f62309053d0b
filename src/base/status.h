/* Status codes with a message for people: how every fallible function of consm reports. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include "consm.h"

/* Stores the message of this thread and returns code. Only the place that finds the fault calls
 * it; everyone above passes the code on, so the innermost message is the one people read. */
consm_status status_fail(consm_status code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#ifdef __clang_analyzer__ /* which cannot see that it is the code that comes back */
#define status_fail(code, ...) ((void)status_fail(code, __VA_ARGS__), (code))
#endif

/* The same with a message of several lines. */
consm_status status_fail_lines(consm_status code, const char *lines);

/* Forgets the message, for callers that recover from a failure. */
void status_clear(void);

/* Leaves for the label done when the call fails. The function has `consm_status st`. */
#define TRY(call)              \
    do {                       \
        if ((st = (call)) < 0) \
            goto done;         \
    } while (0)

#endif
