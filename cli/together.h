/* One command in several processes: the ranks that mpirun started compute together; rank 0 prints
 * and writes for all. Without mpirun there is one rank and these calls do nothing. */
#ifndef CLI_TOGETHER_H
#define CLI_TOGETHER_H

#include <stdbool.h>

/* Joins the ranks and checks that they have one version and one command line. Returns the exit code
 * to leave with, or EXIT_DONE to continue. */
int together_begin(int argc, char **argv);

/* Whether this process takes part in the verb: rank 0 always, the others in verbs that train or
 * predict. Fills CODE if it does not. */
bool together_takes_part(const char *verb, int *code);

/* Ends the ranks. A failure of this rank alone is reported and ends all. */
int together_end(int code);

#endif
