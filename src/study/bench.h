/* The result of a search of `consm bench`. */
#ifndef STUDY_BENCH_H
#define STUDY_BENCH_H

#include "study/study.h"

/* The model and configuration with the best mean validation among all trials on the set, with its
 * best seed on validation; *val is the mean. An error if every model's record lacks a trial. */
consm_status bench_best(struct study_run *out, double *val, const struct study_view *v,
                        const char *dataset);

#endif
