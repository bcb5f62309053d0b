/*
 * Training once more on all labels. What was chosen by validation stays: the network, its
 * parameters of training, how long it trained, the temperature, the threshold, the weights of trust
 * scores. Labels that validated then train, too. Figures of training and validation nodes stay
 * those of the run that chose, because the new parameters have seen these labels; test nodes and
 * prediction sets are measured anew.
 */
#ifndef APP_REFIT_H
#define APP_REFIT_H

#include "app/objects.h"

/* Whether a run is to end so: it was asked for, or left open and nobody tests. Never without
 * validation nodes, whose labels are all that there is to add. */
bool refit_wanted(const struct training_request *request);

/* Removes a checkpoint of the second training. */
void refit_forget(const struct training_request *request);

/* Gives a model that the request trained its new parameters, or each member of an ensemble; then
 * prediction, if it is not NULL. */
consm_status refit_model(struct consm_model *m, struct consm_prediction **prediction,
                         const struct training_request *request);

/* A run that is followed by a refit tells a share of the progress only, and may be resumed at its
 * end. */
struct refit_listener {
    progress_fn fn;
    void *ctx;
    double from, width; /* of the progress told */
    bool refit;
};
void refit_prepare(struct training_request *request, struct refit_listener *listener);

#endif
