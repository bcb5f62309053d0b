/* A file of features in any known format, recognised by its first bytes. */
#ifndef DATA_READERS_FEATURE_FILE_H
#define DATA_READERS_FEATURE_FILE_H

#include "data/readers/node_ids.h"
#include "data/wanted.h"

enum feature_kind { FEATURES_TEXT, FEATURES_SVM, FEATURES_NPY, FEATURES_NPZ };
consm_status feature_file_kind(enum feature_kind *out, const struct text_file *file);

/* Gives d its features. Rows are in node order (or have ids, in CSV); if ids is not known yet, the
 * rows make the nodes. */
consm_status feature_file_read(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                               const struct text_file *file);

#endif
