/* Shared by the verbs that read data: the flags for data and split. */
#ifndef CLI_DATA_ARGS_H
#define CLI_DATA_ARGS_H

#include "args.h"
#include "data/open.h"
#include "data/readers/reader.h"
#include "data/split.h"

/* Rows for a verb's table of flags. */
#define DATA_FLAGS                                                                                 \
    {"data-dir", "DIR", "look for data files in DIR first (then $CONSM_DATA, then the cache)", 0}, \
        {"format", "NAME", "format of a path (default: detected): " READER_NAMES, 0},              \
        {"labels", "FILE", "file with the labels, for an edge list or a graph file", 0},           \
        {"features", "FILE", "file with the features, for an edge list or a graph file", 0},       \
        {"id-column", "NAME", "column of node ids (id)", 0},                                       \
        {"label-column", "NAME", "column of labels (label)", 0},                                   \
        {"weight-column", "NAME", "column of edge weights (weight)", 0},                           \
        {"source-column", "NAME", "column of an edge's first node", 0},                            \
        {"target-column", "NAME", "column of an edge's second node", 0},                           \
        {"duplicates", "RULE",                                                                     \
         "weight of an edge listed more than once with different weights: mean, keep-first, "      \
         "error",                                                                                  \
         0},                                                                                       \
        {"unknown-nodes", "RULE",                                                                  \
         "edges to nodes that are not in the node table: error, drop, add", 0},                    \
    {                                                                                              \
        "ignore", "NAMES", "columns to ignore, as in name,comment", 0                              \
    }
/* For the verbs that work on graphs in parts. */
#define PARTS_FLAG                                                           \
    {                                                                        \
        "in-parts", NULL,                                                    \
            "each process reads its part of a plain folder or an edge list " \
            "(docs/how-to/distributed.md)",                                  \
            0                                                                \
    }
#define SAFE_CSV_FLAG                                                                        \
    {                                                                                        \
        "safe-csv", NULL, "prefix names that a spreadsheet would read as formulas with '", 0 \
    }
#define SPLIT_FLAGS                                                                              \
    {"split", "SPLIT",                                                                           \
     "paper, public, random, labels:N, 48/32/20, file:I, or a file written by `consm split`; "   \
     "train: also auto, the default for your own graph",                                         \
     0},                                                                                         \
        {"per-class", "N", "training nodes per class, for paper and random (20)", 0},            \
        {"train-ratio", "R", "random: share of each class for training, instead of --per-class", \
         0},                                                                                     \
        {"val-ratio", "R", "random: share of each class for validation", 0},                     \
    {                                                                                            \
        "pooled", NULL, "random: draw from all classes together, not per class", 0               \
    }

/* The flags as options of consm_dataset_open_with, and of data_open, for verbs that access the data
 * directly. */
struct consm_open_options data_args_how(const struct args *args);
struct data_options data_args_options(const struct args *args);

/* The dataset's name: args->item[0], or default_name if it is missing and default_name is not NULL.
 * EXIT_DONE, or the exit code with the line printed. */
int data_args_name(const char **out, const struct args *args, const char *default_name);

/* Opens what data_args_name() names. */
int data_args_open(struct dataset **out, const struct args *args, const char *default_name);

/* Reads the split flags over the defaults. */
int data_args_split(struct split_options *o, const struct args *args);

#endif
