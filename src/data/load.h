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

/* The same, told how: files of labels and features beside a bare edge list (or a Matrix Market
 * file), and what there is to say about columns. */
consm_status data_load_with(struct dataset **out, const char *path, const char *format,
                            struct reading_options *reading);

/* Which format a new file or folder of that name would have: the one named, or by the path's
 * suffix; without suffix, and for a folder that is there, the one that writes folders. An unknown
 * suffix, or one of a format that is only read, is CONSM_EINVAL. */
consm_status data_writer(const struct reader **out, const char *path, const char *format);

/* Writes in the format that data_writer finds. */
consm_status data_save_path(const struct dataset *d, const char *path, const char *format);

#endif
