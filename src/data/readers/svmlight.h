/*
 * Sparse features in the text format of SVM-light (Joachims 1999): a line per node, an optional
 * target, then index:value pairs. Targets and qid pairs are ignored: labels come from elsewhere.
 */
#ifndef DATA_READERS_SVMLIGHT_H
#define DATA_READERS_SVMLIGHT_H

#include "graph/csr.h"
#include "io/csv.h"
#include "io/file.h"

/* (rows, features) as in the file. Indices count from 1, unless an index 0 occurs or a first line
 * "# features: F, first index: I" says otherwise; that line also gives the number of columns. */
consm_status svmlight_read(struct csr **out, const struct text_file *file);

/* The same with only the partition's rows; and the number of all rows. Every process reads all
 * lines. */
consm_status svmlight_read_in_parts(struct csr **out, const struct text_file *file,
                                    const struct partition *partition);
consm_status svmlight_rows(int64_t *rows, const struct text_file *file);

/* Writes that line, and one line a row with target[r] (NULL: 0) in front. */
consm_status svmlight_write(struct file_writer *w, const struct csr *features,
                            const int32_t *target);

#endif
