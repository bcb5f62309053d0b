/*
 * The entry to datasets: a name or a path (DATASET in the help) becomes a struct dataset. open.c
 * asks generate/, registry/ and load.c in turn; load.c asks the table of readers.
 */
#ifndef DATA_OPEN_H
#define DATA_OPEN_H

#include "data/dataset.h"

/* How data_open finds and reads; NULL for the defaults. */
struct data_options {
    const char *data_dir;          /* searched first */
    const char *format;            /* for paths: "npz", "plain", …; NULL: recognised by content */
    const char *labels, *features; /* files that belong to a bare edge list */
    /* Names of columns of a path's tables, or NULL; ignore is a list "a,b". */
    const char *id_column, *label_column, *weight_column, *ignore;
    const char *source_column, *target_column;
    const char *duplicates;    /* "mean", "keep-first", "error"; NULL: mean */
    const char *unknown_nodes; /* "error", "drop", "add"; NULL: error */
    /* The reading options that a model stores, used for NULL members above; or NULL. */
    const struct choices *remembered;
    bool notes; /* keep attributes that no model reads */
    const struct partition
        *partition; /* processes that read a path in parts (readers/reader.h); or NULL */
};

/* Opens what the help calls DATASET: a built-in name, a registered name, or a path (anything with a
 * "/", and any other existing file or folder whose name is not registered). */
consm_status data_open(struct dataset **out, const char *name_or_path,
                       const struct data_options *o);

#endif
