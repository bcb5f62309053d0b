/*
 * Whole datasets in a safetensors file, our own container: opened by mapping, without copying, so
 * that a graph of 100 million edges is there in milliseconds. docs/reference/formats.md lists the
 * tensors.
 *
 * Opening reads labels, splits, names and sparse features and checks them. Edges and dense features
 * are left alone (dataset.unchecked): dataset_graph() and every writer check them before they are
 * used. Files of others (edge_index and y as I64, tensors out of alignment) are read too, by
 * copying; then everything is checked at once.
 */
#ifndef DATA_READERS_SAFETENSORS_H
#define DATA_READERS_SAFETENSORS_H

#include "data/readers/reader.h"
#include "io/safetensors.h"

enum sniffed safetensors_dataset_sniff(const struct probe *p);

/* The hash of a file that we wrote is its seal; it is believed here, and recomputed only by
 * safetensors_dataset_verify. The hash of any other file is computed over its bytes. */
consm_status safetensors_dataset_load(struct dataset **out, const char *path);

/* The same from bytes in memory, always by copying. */
consm_status safetensors_dataset_read(struct dataset **out, const char *name, const void *data,
                                      size_t size);

/* Everything is kept: names, splits, weights, direction, whether features are sparse. */
consm_status safetensors_dataset_save(const struct dataset *d, const char *path);

/* Reads a mapped dataset whole: its seal must hold, its content be sound. Fine for any other. */
consm_status safetensors_dataset_verify(const struct dataset *d);

#endif
