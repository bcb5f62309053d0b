/* What a search of `consm bench` ends in. */
#ifndef STUDY_BENCH_H
#define STUDY_BENCH_H

#include "study/study.h"

/* The model and configuration that validate best on average among all that were tried on the set,
 * with that of its seeds that validates best; *val is the average. An error where a trial is
 * missing in the record of every model. */
consm_status bench_best(struct study_run *out, double *val, const struct study_view *v,
                        const char *dataset);

#endif
