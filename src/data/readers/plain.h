/* Plain graphs: a folder with edges.csv and optionally nodes.csv, features.{csv,svm,npy,npz} and
 * dataset.json; or a bare edge list with separate files of labels and features.
 * docs/reference/formats.md has the rules with examples. */
#ifndef DATA_READERS_PLAIN_H
#define DATA_READERS_PLAIN_H

#include "data/readers/reader.h"

/* The files of a set; missing ones have no data. edges may also be Matrix Market. */
struct plain_files {
    struct text_file edges, nodes, labels, features, about;
    struct wanted *wanted; /* of the columns, or NULL */
};

enum { PLAIN_FILES = 5 };

/* Reads files in memory into an empty dataset and checks it. */
consm_status plain_read(struct dataset *d, const struct plain_files *files);

enum sniffed plain_sniff(const struct probe *p);

/* SHA-256 over the files in the order of struct plain_files. */
consm_status plain_load(struct dataset **out, const char *folder);
consm_status plain_load_with(struct dataset **out, const char *folder,
                             struct reading_options *reading);

/* Any file without a zero byte at its start may be an edge list. */
enum sniffed edge_list_sniff(const struct probe *p);

consm_status edge_list_load(struct dataset **out, const char *edges,
                            struct reading_options *reading);

/* Writes edges.csv, nodes.csv, features.csv or features.svm, and dataset.json, so that plain_load
 * restores everything but the hash. Other files of the folder stay; but feature files of an earlier
 * set, which would contradict, are an error. */
consm_status plain_save(const struct dataset *d, const char *folder);

#endif
