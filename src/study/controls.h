/* What ConSM's propagation loss adds on the backbone it chose. */

/*
 * A control is trained with the exact parameters of the ConSM run of the same seed (backbone,
 * features, learning rate, weight decay, dropout, layers, number of updates), and with another
 * propagation loss, or none. So the pairs of a test differ only in that loss.
 */
#ifndef STUDY_CONTROLS_H
#define STUDY_CONTROLS_H

#include "study/study.h"

/* λ = 0: ConSM's own rounds without its loss and its guesses. The others are losses on the plain
 * backbone, with one weight λ for a set: that of 1, 5, 20 with the best mean validation over the
 * seeds. So one run is compared with one run of as many updates. GAM is also compared with three
 * runs a seed, one for each weight, of which validation takes the best. */
enum control {
    CONTROL_NONE,
    CONTROL_NGM,
    CONTROL_P_REG,
    CONTROL_GAM,
    CONTROL_GAM_THRICE,
    CONTROLS
};

/* Adds the runs of controls whose ConSM run exists. */
consm_status controls_plan(struct plan *plan, const struct study_view *v);

/* Test accuracies of a control over the seeds; NaN if a run is missing. */
consm_status controls_cell(struct study_cell *out, const struct study_view *v, const char *dataset,
                           enum control control);

/* Tables, and a sentence on ConSM against λ = 0 and against GAM with one and with three runs. */
consm_status controls_render(struct report *r, const struct study_view *v);

#endif
