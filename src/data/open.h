/*
 * Where a dataset enters the house: what a user calls DATASET, a name or a path, becomes a struct
 * dataset. open.c asks generate/, registry/ and load.c in turn; load.c asks the table of readers.
 */
#ifndef DATA_OPEN_H
#define DATA_OPEN_H

#include "data/dataset.h"

/* How data_open finds and reads; NULL for the defaults. */
struct data_options {
    const char *data_dir;          /* where to look first */
    const char *format;            /* for paths: "npz", "plain", …; NULL: recognised by content */
    const char *labels, *features; /* files that belong to a path that is a bare edge list */
    /* Names of columns of a path's tables, or NULL; ignore is a list "a,b". */
    const char *id_column, *label_column, *weight_column, *ignore;
    const char *source_column, *target_column;
    const char *duplicates;    /* "mean", "keep-first", "error"; NULL: mean */
    const char *unknown_nodes; /* "error", "drop", "add"; NULL: error */
    /* What a model remembers of its training data: holds for what is NULL above; or NULL. */
    const struct choices *remembered;
    bool notes;                   /* keep attributes that no model reads */
    const struct partition *crew; /* of a path, to be read in shares (readers/reader.h); or NULL */
};

/* Opens what a user calls DATASET: a built-in name, a registered name, or a path (anything with a
 * "/" in it, and any other existing file or folder whose name is not registered). */
consm_status data_open(struct dataset **out, const char *name_or_path,
                       const struct data_options *o);

#endif
