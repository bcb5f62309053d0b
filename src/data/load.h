/*
 * Loads a dataset from a file or folder; the format is recognised by content. And saves one, for
 * `consm convert`. data/readers/table.c lists the formats.
 */
#ifndef DATA_LOAD_H
#define DATA_LOAD_H

#include "data/readers/reader.h"

/* format NULL: recognised by content. For an unknown path the message lists what was looked for. */
consm_status data_load_path(struct dataset **out, const char *path, const char *format);

/* The same with options: files of labels and features beside a bare edge list (or a Matrix Market
 * file), and choices about columns. */
consm_status data_load_with(struct dataset **out, const char *path, const char *format,
                            struct reading_options *reading);

/* The format of a new file or folder with that name: the named one, or by the path's suffix;
 * without suffix, and for an existing folder, the format that writes folders. CONSM_EINVAL for an
 * unknown suffix, or one of a read-only format. */
consm_status data_writer(const struct reader **out, const char *path, const char *format);

/* Writes in the format that data_writer chooses. */
consm_status data_save_path(const struct dataset *d, const char *path, const char *format);

#endif
