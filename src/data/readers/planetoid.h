/* The Planetoid files ind.NAME.{x,tx,allx,y,ty,ally,graph,test.index} of Cora, Citeseer and Pubmed
 * (Yang, Cohen and Salakhutdinov 2016), pickled by Python 2. */

/*
 * Their contents, read as in the public loaders:
 *   - allx, ally are the features and one-hot labels of nodes 0, 1, …; row k of tx, ty belongs to
 *     the node in line k of test.index. x, y are the first rows of allx, ally: the training nodes.
 *   - Citeseer's test.index leaves out 15 isolated nodes of its range. They get no features and,
 *     like any all-zero row of labels, class 0, as by an argmax (264 nodes of class 0 instead of
 *     249).
 *   - graph lists each undirected edge in both directions, some twice, and a few loops. Repeats and
 *     loops are left out: Cora has 10,556 stored edges, Citeseer 9,104 and Pubmed 88,648.
 *   - The public split: the rows of y train, the next 500 nodes validate, test.index tests.
 */
#ifndef DATA_READERS_PLANETOID_H
#define DATA_READERS_PLANETOID_H

#include "data/readers/reader.h"

enum sniffed planetoid_sniff(const struct probe *p);

/* A folder with one set, or one of a set's files. */
consm_status planetoid_load_path(struct dataset **out, const char *path);

/* Reads folder/ind.NAME.*; all eight files must be there. */
consm_status planetoid_load(struct dataset **out, const char *folder, const char *name);

enum { PLANETOID_FILES = 8 };

/* The same from bytes in memory, in the order of the list above; path names them in messages. */
consm_status planetoid_read(struct dataset **out, const char *name,
                            const struct file_map file[PLANETOID_FILES],
                            char *const path[PLANETOID_FILES]);

#endif
