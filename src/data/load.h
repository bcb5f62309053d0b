/*
 * A path, to a file or to a folder, as a dataset: which format it is shows in what it holds. And
 * the way back, for `consm convert`. The formats are rows of data/readers/table.c.
 */
#ifndef DATA_LOAD_H
#define DATA_LOAD_H

#include "data/readers/reader.h"

/* format NULL: recognised by content. A path that is nothing known gets a line that lists what was
 * looked for. */
consm_status data_load_path(struct dataset **out, const char *path, const char *format);

/* A bare edge list (or a Matrix Market file) with files of labels and features; either may be NULL.
 * With neither, the same as data_load_path. */
consm_status data_load_parts(struct dataset **out, const char *path, const char *format,
                             const char *labels, const char *features);

/* Which format a new file or folder of that name would have: the one named, or by the path's
 * suffix; without suffix, and for a folder that is there, the one that writes folders. An unknown
 * suffix, or one of a format that is only read, is CONSM_EINVAL. */
consm_status data_writer(const struct reader **out, const char *path, const char *format);

/* Writes in the format that data_writer finds. */
consm_status data_save_path(const struct dataset *d, const char *path, const char *format);

#endif
