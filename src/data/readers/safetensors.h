/* Datasets in a safetensors file, our own container: opened by mapping, without copying, so a graph
 * of 100 million edges opens in milliseconds. docs/reference/formats.md lists the tensors. */

/*
 * Opening reads and checks labels, splits, names and sparse features. Edges and dense features are
 * not read (dataset.unchecked): dataset_graph() and every writer check them first. Files of other
 * programs (edge_index and y as I64, unaligned tensors) are copied and checked at once.
 */
#ifndef DATA_READERS_SAFETENSORS_H
#define DATA_READERS_SAFETENSORS_H

#include "data/readers/reader.h"
#include "io/safetensors.h"

enum sniffed safetensors_dataset_sniff(const struct probe *p);

/* The hash of a file that we wrote is its seal. It is trusted here; only safetensors_dataset_verify
 * recomputes it. The hash of any other file is computed from its bytes. */
consm_status safetensors_dataset_load(struct dataset **out, const char *path);

/* The same from bytes in memory, always by copying. */
consm_status safetensors_dataset_read(struct dataset **out, const char *name, const void *data,
                                      size_t size);

/* Stores everything: names, splits, weights, direction, whether features are sparse. */
consm_status safetensors_dataset_save(const struct dataset *d, const char *path);

/* Reads a mapped dataset completely and checks its seal and content. Succeeds for any other
 * dataset. */
consm_status safetensors_dataset_verify(const struct dataset *d);

#endif
