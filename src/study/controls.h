/*
 * What ConSM's propagation adds on the backbone it chose. A control is trained with the very
 * parameters that the ConSM run of the same seed ended up with (backbone, features, learning rate,
 * weight decay, dropout, layers, as many updates), and with another propagation loss in place of
 * ConSM's, or none. So the pairs of a test differ in that loss alone.
 */
#ifndef STUDY_CONTROLS_H
#define STUDY_CONTROLS_H

#include "study/study.h"

/* λ = 0: ConSM's own rounds without its loss and its guesses. The others are losses on the plain
 * backbone; each has its weight λ from 1, 5, 20 by validation accuracy, per seed. */
enum control { CONTROL_NONE, CONTROL_NGM, CONTROL_P_REG, CONTROL_GAM, CONTROLS };

const char *control_title(enum control control);

/* Adds the runs of controls whose ConSM run is there. */
consm_status controls_plan(struct plan *plan, const struct study_view *v);

/* Test accuracies of a control over the seeds; NaN where a run is missing. */
consm_status controls_cell(struct study_cell *out, const struct study_view *v, const char *dataset,
                           enum control control);

/* Tables, and a sentence each on how ConSM fares against λ = 0 and against GAM. */
consm_status controls_render(struct report *r, const struct study_view *v);

#endif
