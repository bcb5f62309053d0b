/*
 * A path, to a file or to a folder, as a dataset: which format it is shows in what it holds. And
 * the way back, for `consm convert`.
 */
#ifndef DATA_LOAD_H
#define DATA_LOAD_H

#include "data/dataset.h"

/* The names of the formats, for messages and help. */
#define DATA_FORMATS      "plain, edges, npz, safetensors, mtx, geom-gcn, planetoid"
#define DATA_SAVE_FORMATS "plain, npz, safetensors"

/* format NULL: recognised by content. A path that is nothing known gets a line that lists what was
 * looked for. */
consm_status data_load_path(struct dataset **out, const char *path, const char *format);

/* A bare edge list (or a Matrix Market file) with files of labels and features; either may be NULL.
 * With neither, the same as data_load_path. */
consm_status data_load_parts(struct dataset **out, const char *path, const char *format,
                             const char *labels, const char *features);

/* format NULL: .npz and .safetensors by their names, else a plain folder. */
consm_status data_save_path(const struct dataset *d, const char *path, const char *format);

#endif
