/* The end of `consm bench --search`: the best of all that was tried, as a model one can use and a
 * configuration that `consm train --config` takes. */
#ifndef CLI_BENCH_BEST_H
#define CLI_BENCH_BEST_H

#include "args.h"
#include <jansson.h>

/* Trains, for each set of the finished bench in folder, what validated best, with the seed that
 * did, into folder/best-NAME. args are bench's own, options what its study was run with. EXIT_DONE,
 * or the exit code with the line printed. */
int bench_best_train(const struct args *args, json_t *options, const char *folder);

#endif
