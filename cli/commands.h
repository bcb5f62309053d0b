/* The verbs, one file each: cmd_<verb>.c defines cmd_<verb>; the list is in main.c. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "args.h"

extern const struct command cmd_train;
extern const struct command cmd_predict;
extern const struct command cmd_evaluate;
extern const struct command cmd_explain;
extern const struct command cmd_compare;
extern const struct command cmd_edges;
extern const struct command cmd_clean;
extern const struct command cmd_models;
extern const struct command cmd_fetch;
extern const struct command cmd_generate;
extern const struct command cmd_info;
extern const struct command cmd_split;
extern const struct command cmd_convert;
extern const struct command cmd_partition;
extern const struct command cmd_study;
extern const struct command cmd_bench;
extern const struct command cmd_report;

#endif
