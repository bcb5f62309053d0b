/* What a run reports beyond accuracy: the data, the validation metric, rare classes, and warnings.
 */
#ifndef CLI_TRAIN_DETAIL_H
#define CLI_TRAIN_DETAIL_H

#include "data/suspect.h"
#include "train_print.h"

#include <jansson.h>

/* Further figures of a finished run for --json: metric, threshold, the first role's metrics with
 * the curve of the metric's class. NULL: out of memory. */
json_t *train_detail(const struct consm_model *m);

/* The first block of `train`'s output. */
void train_print_read(const struct training *t);

/* Warns of suspicious data; EXIT_FAILED with --strict if there is any. */
int train_suspect(const struct training *t);

/* The validation metric, if it is not accuracy. */
void train_print_metric(const struct training *t);

/* The rare class and the threshold; and on standard error the classes that were never predicted. */
void train_print_rare(const struct training *t);
void train_warn(const struct training *t);

#endif
