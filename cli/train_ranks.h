/* Whether several ranks train a model together. */
#ifndef CLI_TRAIN_RANKS_H
#define CLI_TRAIN_RANKS_H

#include "train_print.h"

/* After the data were read: warns if one process would be faster. A small graph is trained by rank
 * 0 alone, as in one process; *mine is false on the others, which have nothing to do. */
consm_status train_ranks(bool *mine, struct training *t);

#endif
