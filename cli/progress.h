/* One progress line on a terminal: how much is done, how fast, how long it will take. Elsewhere a
 * line a minute, so that a log shows that it is alive. Any thread may report. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* No progress at all, from now on. */
void progress_quiet(void);

/* Begins a line that counts units ("epochs"), `total` of them; 0: how many is not known. */
void progress_begin(const char *what, const char *unit, int64_t total);

/* units more are done, and now this share of all the time it takes; 0: nobody knows yet. note (may
 * be NULL) stands at the end of the line. */
void progress_fraction(int64_t units, double share, const char *note);

/* Tests bring a clock of their own. */
void progress_use_clock(double (*seconds)(void));

/* Wipes the line so that something else can be printed; the next report draws it again. */
void progress_clear(void);

/* Removes the line for good. */
void progress_end(void);

/* Makes Ctrl-C ask for a stop instead of killing; progress_stopped() tells. A second Ctrl-C kills.
 */
void progress_catch_interrupt(void);
bool progress_stopped(void);

/* What to say when another process asks for the stop (SIGTERM), at once: it may soon kill. NULL:
 * nothing. */
void progress_last_words(const char *text);

#endif
