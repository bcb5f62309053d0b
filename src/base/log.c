/* Formats a message and passes it to the callback. Without a callback it does nothing. */
#include "base/log.h"
#include "base/number.h"

#include <stdarg.h>
#include <stdio.h>

static consm_log_fn listener;
static void *listener_ctx;

void consm_set_log(consm_log_fn fn, void *ctx)
{
    listener = fn;
    listener_ctx = ctx;
}

static void emit(enum consm_log_level level, const char *format, va_list args)
{
    char message[1024];
    if (!listener)
        return;
    number_vprint(message, sizeof message, format, args);
    listener(listener_ctx, level, message);
}

void log_info(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit(CONSM_LOG_INFO, format, args);
    va_end(args);
}

void log_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit(CONSM_LOG_WARN, format, args);
    va_end(args);
}
