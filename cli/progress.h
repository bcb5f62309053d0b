/* A progress line on a terminal: fraction done, speed, time left. Elsewhere one line a minute, so
 * that a log shows that it is running. Any thread may report. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* No progress at all, from now on. */
void progress_quiet(void);

/* Starts a line that counts units ("epochs"), `total` of them; 0: unknown. */
void progress_begin(const char *what, const char *unit, int64_t total);

/* Adds finished units, and sets the fraction of the total time; 0: unknown. note (may be NULL) is
 * shown at the end of the line. */
void progress_fraction(int64_t units, double fraction, const char *note);

/* Replaces the clock, for tests. */
void progress_use_clock(double (*seconds)(void));

/* Clears the line so that something else can be printed; the next report draws it again. */
void progress_clear(void);

/* Removes the line for good. */
void progress_end(void);

/* Makes Ctrl-C ask for a stop instead of killing; progress_stopped() tells. A second Ctrl-C kills.
 */
void progress_catch_interrupt(void);
bool progress_stopped(void);

/* The message to print at once when another process asks for a stop (SIGTERM), because it may soon
 * kill. NULL: none. */
void progress_last_words(const char *text);

#endif
