/* Status codes with a message: how every function of consm reports failure. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include "consm.h"

/* Stores the message of this thread and returns code. Only the function that finds the fault calls
 * it; its callers pass the code on. */
consm_status status_fail(consm_status code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#ifdef __clang_analyzer__ /* it cannot see that the code is returned */
#define status_fail(code, ...) ((void)status_fail(code, __VA_ARGS__), (code))
#endif

/* The same with a message of several lines. */
consm_status status_fail_lines(consm_status code, const char *lines);

/* Clears the message, for callers that recover from a failure. */
void status_clear(void);

/* The first failure among threads, because each has a message of its own. Callers lock it. */
struct first_failure {
    consm_status code; /* CONSM_OK: none yet */
    char message[1024];
};
/* Keeps this thread's failure, unless there was one before. */
void first_failure_keep(struct first_failure *f, consm_status code);
/* Returns the kept code, and makes its message this thread's. */
consm_status first_failure_report(const struct first_failure *f);

/* Jumps to the label done if the call fails. The function has `consm_status st`. */
#define TRY(call)              \
    do {                       \
        if ((st = (call)) < 0) \
            goto done;         \
    } while (0)

#endif
