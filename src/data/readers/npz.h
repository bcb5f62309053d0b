/* Graphs in NumPy archives. */

/*
 * Two layouts are read, told apart by their keys:
 *
 *   Yandex     node_features (n,f)  node_labels (n)  edges (e,2)  train_/val_/test_masks (s,n)
 *   SciPy CSR  adj_data adj_indices adj_indptr adj_shape, attr_… likewise or attr_matrix (n,f),
 *              labels (n); also with the prefixes adj_matrix. and attr_matrix., or with none:
 *              what scipy.sparse.save_npz writes is a graph without features and labels
 *
 * We write the first one, with keys of our own for what it has no place for
 * (docs/reference/formats.md): edge_weights, node_ids, class_names, feature_names, num_classes,
 * directed, and for wide sparse features node_features_data, _indices, _indptr, _shape.
 */
#ifndef DATA_READERS_NPZ_H
#define DATA_READERS_NPZ_H

#include "data/readers/reader.h"

enum sniffed npz_sniff(const struct probe *p);

/* Reads either layout. A file named …_directed.npz sets the directed hint. */
consm_status npz_load(struct dataset **out, const char *path);

/* Writes a dataset so that npz_load restores everything but its name and hash. */
consm_status npz_save(const struct dataset *d, const char *path);

/* Reads a split of the Geom-GCN family (train_mask, val_mask, test_mask) into role (nodes). */
consm_status npz_read_split(uint8_t *role, int64_t nodes, const char *path);

#endif
