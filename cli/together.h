/* One command of several processes: what mpirun started computes together, and rank 0 speaks and
 * writes for all. Without mpirun there is one rank, and all of this is nothing. */
#ifndef CLI_TOGETHER_H
#define CLI_TOGETHER_H

#include <stdbool.h>

/* Joins the others and holds them to one version and one command line. Returns the exit code to
 * leave with, EXIT_DONE to go on. */
int together_begin(int argc, char **argv);

/* Whether this process has a part in the verb: rank 0 in all of them, the others in those that
 * train or predict. CODE is filled when it has none. */
bool together_takes_part(const char *verb, int *code);

/* Parts. A failure that is this rank's alone is told, and ends all. */
int together_end(int code);

#endif
