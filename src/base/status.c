/* The thread-local message of consm_errmsg(). The buffer is fixed, so that out-of-memory can be
 * reported too. Messages quote files, so terminal control characters become '?'. A message is one
 * line, except for lists of faults. */
#include "base/status.h"
#include "base/number.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define QUOTED(x) #x
#define TEXT(x)   QUOTED(x)

/* Room for a list of a file's faults (io/faults.h). */
static _Thread_local char message[8192];

/* In parentheses, because for the analyser it is also a macro. */
consm_status(status_fail)(consm_status code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    number_vprint(message, sizeof message, format, args);
    va_end(args);
    utf8_tame(message);
    return code;
}

consm_status status_fail_lines(consm_status code, const char *lines)
{
    char *line, *end;
    snprintf(message, sizeof message, "%s", lines);
    for (line = message; line; line = end ? end + 1 : NULL) {
        if ((end = strchr(line, '\n')) != NULL)
            *end = 0;
        utf8_tame(line);
        if (end)
            *end = '\n';
    }
    return code;
}

void first_failure_keep(struct first_failure *f, consm_status code)
{
    if (f->code != CONSM_OK)
        return;
    f->code = code;
    snprintf(f->message, sizeof f->message, "%.1023s", message);
}

consm_status first_failure_report(const struct first_failure *f)
{
    return f->code < 0 ? status_fail(f->code, "%s", f->message) : CONSM_OK;
}

void status_clear(void)
{
    message[0] = 0;
}

const char *consm_errmsg(void)
{
    return message;
}

const char *consm_version(void)
{
    return TEXT(CONSM_VERSION_MAJOR) "." TEXT(CONSM_VERSION_MINOR) "." TEXT(CONSM_VERSION_PATCH);
}

int consm_version_number(void)
{
    return CONSM_VERSION_NUMBER;
}
