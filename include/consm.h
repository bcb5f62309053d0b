/*
 * consm: label the rest of your graph, and know which of its edges to trust.
 *
 * This is the only public header. Whatever can fail returns a consm_status: 0, or a negative code
 * with a message for people in consm_errmsg(). Objects come from a call whose first parameter
 * receives them (NULL on failure) and go back through the matching _free, which accepts NULL.
 * The library never prints, exits or aborts; a log callback hears what it has to say. Distinct
 * objects may be used from distinct threads at the same time.
 */
#ifndef CONSM_H
#define CONSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CONSM_API __attribute__((visibility("default")))
#else
#define CONSM_API
#endif

/* ---- status ---------------------------------------------------------------------------------- */

typedef int consm_status;

enum {
    CONSM_OK = 0,
    CONSM_ENOMEM = -1,    /* memory could not be had                                        */
    CONSM_EINVAL = -2,    /* an argument, flag or parameter has an impossible value         */
    CONSM_EIO = -3,       /* the system refused: open, read, write, rename, network         */
    CONSM_EFORMAT = -4,   /* a file's content is not what its format says                   */
    CONSM_ENOTFOUND = -5, /* no dataset, model, file or node of that name                   */
    CONSM_EPROGRAM = -6,  /* a recorded program is faulty (shapes, names)                   */
    CONSM_ENUMERIC = -7,  /* a loss or value turned non-finite                              */
    CONSM_ECANCEL = -8,   /* a callback asked to stop                                       */
    CONSM_ELIMIT = -9,    /* would need more memory or a larger index than is allowed       */
};

/* The message of the last failure on this thread; "" when there was none. */
CONSM_API const char *consm_errmsg(void);

/* "0.1.0" */
CONSM_API const char *consm_version(void);

/* ---- memory ---------------------------------------------------------------------------------- */

/* All memory of the library comes from here. alloc returns a block aligned to 64 bytes or NULL. */
struct consm_allocator {
    void *(*alloc)(void *ctx, size_t bytes);
    void (*free)(void *ctx, void *block);
    void *ctx;
};

/* Replaces the allocator (NULL: back to the C library's). Call it before anything else is made. */
CONSM_API void consm_set_allocator(const struct consm_allocator *allocator);

/* How many blocks have been asked for since the process began; a test's proof of "no allocation".
 */
CONSM_API uint64_t consm_alloc_count(void);

/* ---- log ------------------------------------------------------------------------------------- */

enum consm_log_level { CONSM_LOG_INFO = 0, CONSM_LOG_WARN = 1 };

typedef void (*consm_log_fn)(void *ctx, enum consm_log_level level, const char *message);

/* Sends the library's messages to fn (NULL: nowhere, the default). */
CONSM_API void consm_set_log(consm_log_fn fn, void *ctx);

#ifdef __cplusplus
}
#endif
#endif
