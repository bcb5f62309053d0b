/* Splits: which nodes train, validate and test. A split is n bytes of enum split_role. A node
 * without a known label never has a role. */

/*
 *   paper     one fixed split. If the data came with Planetoid's public split: its training and
 *             test nodes, and every other node validates. Otherwise: of each class in index order
 *             the first 20 train, the first half of the rest (rounded down) validates, the
 *             remainder tests.
 *   public    the split that came with the data; of several, number seed modulo their count.
 *   random    20 per class drawn by seed, the rest halved; or by ratios.
 *   labels:N  N labels of each class, drawn by seed, as users have them: a fifth of them (at least
 *             one of two or more) validates, the rest trains, every other node tests. At most half
 *             of a class is labelled.
 *   A/B/C     percentages of each class, drawn by seed, that train, validate and test: 48/32/20.
 *   file:I    number I (from 0) of the splits that came with the data.
 *   PATH      a file written by split_write (CSV with the columns id, role).
 */
#ifndef DATA_SPLIT_H
#define DATA_SPLIT_H

#include "data/dataset.h"

struct split_options {
    int64_t per_class; /* training nodes of each class, for paper and random */
    double train, val; /* random: shares that train and validate; train 0: per_class decides */
    bool pooled;       /* random: what is not drawn per class is drawn from all classes together */
};

struct split_options split_defaults(void);

/* Fills role (n). o may be NULL for the defaults. CONSM_EINVAL, with what would be possible, if the
 * data cannot give that split. O(n), and for PATH O(n log n). */
consm_status split_make(uint8_t *role, const struct dataset *d, const char *spec, uint64_t seed,
                        const struct split_options *o);

/* Whether the data came with Planetoid's public split: 20 of each class train, 1000 nodes test. */
bool split_is_planetoid(const struct dataset *d);

/* count[r] = nodes with role r. */
void split_count(int64_t count[4], const uint8_t *role, int64_t nodes);

const char *split_role_name(enum split_role role);

/* Writes the split as CSV, a line per node; "-" is standard output. */
consm_status split_write(const char *path, const struct dataset *d, const uint8_t *role);
/* Nodes that the file does not name get no role. */
consm_status split_read(uint8_t *role, const struct dataset *d, const char *path);

#endif
