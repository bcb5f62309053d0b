/* What a run says beyond accuracy: what was read, what the choices went by, rare classes, and the
 * warnings nobody should have to look for. */
#ifndef CLI_TRAIN_DETAIL_H
#define CLI_TRAIN_DETAIL_H

#include "data/suspect.h"
#include "train_print.h"

#include <jansson.h>

/* The further figures of a finished run for --json: metric, threshold, the first role's figures
 * with the curve of the class the metric speaks of. NULL: no memory. */
json_t *train_detail(const struct consm_model *m);

/* The block that `train` begins with. */
void train_print_read(const struct training *t);

/* Warns of what looks wrong with the data; EXIT_FAILED with --strict when there is something. */
int train_suspect(const struct training *t);

/* What every choice goes by, when it is not accuracy. */
void train_print_metric(const struct training *t);

/* The rare class, the threshold; and on standard error the classes that were never said. */
void train_print_rare(const struct training *t);
void train_warn(const struct training *t);

#endif
