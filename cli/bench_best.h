/* The end of `consm bench --search`: the best configuration as a usable model and as a file for
 * `consm train --config`. */
#ifndef CLI_BENCH_BEST_H
#define CLI_BENCH_BEST_H

#include "args.h"
#include <jansson.h>

/* For each set of the finished bench in folder: trains the configuration and seed with the best
 * validation into folder/best-NAME. args are bench's own, options those of its study. EXIT_DONE, or
 * the exit code with the line printed. */
int bench_best_train(const struct args *args, json_t *options, const char *folder);

#endif
