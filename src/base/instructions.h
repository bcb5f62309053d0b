/* Counts the instructions of this process in user mode. Many virtual machines and most containers
 * refuse to count; then the count is NaN. For measurements, never for results. */
#ifndef BASE_INSTRUCTIONS_H
#define BASE_INSTRUCTIONS_H

/* Begins to count: the calling thread, and all threads that it and its children start from now on.
 * Returns what instructions_end needs; -1: this machine does not count. */
int instructions_begin(void);

/* Stops. The instructions since the begin; NaN if they were not counted. */
double instructions_end(int counter);

#endif
