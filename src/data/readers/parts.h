/* A folder written by `consm partition`, for training in parts: graph.safetensors, which is a
 * dataset by itself, and rows.safetensors, the cleaned graph as rows of ascending columns, so that
 * a process finds its own rows without reading others. docs/reference/formats.md lists the tensors.
 * */

/*
 * Opening maps both and reads what exists for every node (row starts, labels, names). Columns,
 * weights and features are read only by the process that owns them.
 */
#ifndef DATA_READERS_PARTS_H
#define DATA_READERS_PARTS_H

#include "data/readers/reader.h"

enum sniffed parts_sniff(const struct probe *p);
consm_status parts_load(struct dataset **out, const char *path);

/* Writes rows.safetensors beside the graph.safetensors of an ordered dataset. first (parts+1):
 * starts of the parts; shift, scale (f): standardisation of dense columns, or NULL. */
consm_status parts_save(const struct dataset *d, const char *folder, const int64_t *first,
                        int64_t parts, const float *shift, const float *scale);

/* Starts of the folder's parts and the end of the last: *first (count), in the mapped file; count
 * 0: not stored. */
consm_status parts_borders(const int64_t **first, int64_t *count, const struct dataset *d);

/* Checks rows low … high-1: columns in range, ascending, no loops; weights and features finite. */
consm_status parts_check_rows(const struct dataset *d, int64_t low, int64_t high);

#endif
