/* The text files of Geom-GCN (Pei et al. 2020): out1_graph_edges.txt, a directed edge per line, and
 * out1_node_feature_label.txt with id, features and label, tab-separated, each with a header. */

/*
 * The feature column is a list of 0/1 values in most sets, and of the indices of the ones in film.
 * Ten splits come as NAME_split_0.6_0.2_I.npz, in the folder, in its splits/, or in ../splits/.
 */
#ifndef DATA_READERS_GEOM_GCN_H
#define DATA_READERS_GEOM_GCN_H

#include "data/readers/reader.h"

/* Node k is the one with id k; ids are 0 … n-1 in any order. */
consm_status geom_gcn_read(struct dataset *d, const struct text_file *edges,
                           const struct text_file *nodes);

enum sniffed geom_gcn_sniff(const struct probe *p);

/* A folder with both files, or one of the files. SHA-256 over edges, nodes, then the splits found,
 * in order. */
consm_status geom_gcn_load(struct dataset **out, const char *path);

#endif
