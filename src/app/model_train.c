/* Training a model, or an ensemble of them, to the end: the model, and what it predicts. Above
 * model.c, ensemble.c and predict.c, which know nothing of each other's callers. */
#include "app/refit.h"
#include "io/file.h"
#include "train/session.h"

#include <unistd.h>

/* Where a plain run's session goes. */
struct plain {
    struct consm_model **model;
    struct consm_prediction **prediction; /* may be NULL */
    const struct training_request *request;
};

static consm_status take_plain(void *ctx, struct session *s, const struct train_result *result)
{
    consm_status st = CONSM_OK;
    const struct plain *to = ctx;
    const float *logits;
    TRY(model_of_session(to->model, s, to->request->custom));
    (*to->model)->result = *result;
    TRY(session_logits(&logits, s));
    TRY(model_complete(*to->model, to->request, s->problem, logits, s->backend));
    if (to->prediction)
        TRY(model_prediction(to->prediction, *to->model, s->problem, logits));
done:
    return st;
}

consm_status model_train(struct consm_model **out, struct consm_prediction **prediction,
                         const struct training_request *request)
{
    struct refit_listener listener;
    struct training_request first = *request;
    bool refit = refit_wanted(request);
    if (refit)
        refit_prepare(&first, &listener);
    struct plain to = {out, refit ? NULL : prediction, &first};
    *out = NULL;
    consm_status st = request->ensemble > 1 ? model_train_ensemble(out, to.prediction, &first)
                                            : model_run(&first, take_plain, &to);
    if (st == CONSM_OK)
        (*out)->config.refit = REFIT_NO;
    if (st == CONSM_OK && refit)
        st = refit_model(*out, prediction, request);
    if (st == CONSM_OK && refit && request->checkpoint && file_writes())
        unlink(request->checkpoint); /* of the first run's end: there is nothing to go on with */
    if (st < 0) {
        consm_model_free(*out);
        *out = NULL;
    }
    return st;
}
