/* The second half of the study `complexity`: what a run with default parameters costs, and the
 * model behind the forecasts of `consm info`. */
#ifndef STUDY_COSTS_H
#define STUDY_COSTS_H

#include "study/study.h"

consm_status costs_plan(struct plan *plan, const struct study_view *v);
consm_status costs_render(struct report *r, const struct study_view *v);

#endif
