/* Trains once more on all labels. */

/*
 * Everything that validation chose stays: the network, its parameters, the number of updates, the
 * temperature, the threshold, the weights of trust. The validation labels now train too. Figures of
 * training and validation nodes stay those of the first run, because the new parameters have seen
 * these labels. Test nodes and prediction sets are measured anew.
 */
#ifndef APP_REFIT_H
#define APP_REFIT_H

#include "app/objects.h"

/* Whether a run ends with a refit: it was requested, or left open and there are no test nodes.
 * Never without validation nodes, because there would be no labels to add. */
bool refit_wanted(const struct training_request *request);

/* Removes the refit's checkpoint. */
void refit_forget(const struct training_request *request);

/* Gives a trained model, or each member of an ensemble, its new parameters; then makes prediction,
 * if it is not NULL. */
consm_status refit_model(struct consm_model *m, struct consm_prediction **prediction,
                         const struct training_request *request);

/* A run that is followed by a refit reports only a share of the progress, and can be resumed at its
 * end. */
struct refit_listener {
    progress_fn fn;
    void *ctx;
    double from, width; /* of the progress told */
    bool refit;
};
void refit_prepare(struct training_request *request, struct refit_listener *listener);

#endif
