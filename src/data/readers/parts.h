/*
 * A folder that `consm partition` wrote, for training in parts: graph.safetensors, which is a
 * dataset by itself, and rows.safetensors, the cleaned graph as rows of ascending columns, so that
 * a process finds the rows it owns without looking at others. docs/reference/formats.md lists the
 * tensors.
 *
 * Opening maps both and looks at what is there for every node (where rows begin, labels, names);
 * columns, weights and features are left alone until somebody owns them.
 */
#ifndef DATA_READERS_PARTS_H
#define DATA_READERS_PARTS_H

#include "data/readers/reader.h"

enum sniffed parts_sniff(const struct probe *p);
consm_status parts_load(struct dataset **out, const char *path);

/* Writes rows.safetensors beside the graph.safetensors of an ordered dataset. first (parts+1):
 * where parts begin; shift, scale (f): what dense columns are standardised by, or NULL. */
consm_status parts_save(const struct dataset *d, const char *folder, const int64_t *first,
                        int64_t parts, const float *shift, const float *scale);

/* Where the parts of the folder begin and the last ends: *first (count), in the mapped file; count
 * 0: it does not say. */
consm_status parts_borders(const int64_t **first, int64_t *count, const struct dataset *d);

/* Whether rows low … high-1 are sound: columns in range, ascending, no loops; weights and features
 * finite. */
consm_status parts_check_rows(const struct dataset *d, int64_t low, int64_t high);

#endif
