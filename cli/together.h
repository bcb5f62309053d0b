/* One command in several processes: the ranks that mpirun started compute together; rank 0 prints
 * and writes for all. Without mpirun there is one rank and these calls do nothing. */
#ifndef CLI_TOGETHER_H
#define CLI_TOGETHER_H

#include "backends/ranks.h"

struct together {
    const struct ranks *joined; /* all processes of the command */
    const struct ranks *ranks;  /* those that compute each run together */
    struct workers workers;     /* those that take whole runs, each on its own */
};

/* Joins the ranks and checks that they have one version and one command line. Returns the exit code
 * to leave with, or EXIT_DONE to continue. */
int together_begin(struct together *t, int argc, char **argv);

/* Whether this process takes part in the verb: rank 0 always, the others in verbs that train or
 * predict. Fills CODE if it does not. */
bool together_takes_part(struct together *t, const char *verb, int *code);

/* Ends the ranks. A failure of this rank alone is reported and ends all. */
int together_end(const struct together *t, int code);

#endif
