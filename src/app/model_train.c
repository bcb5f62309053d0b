/* Trains a model or an ensemble to the end and predicts with it. Uses model.c, ensemble_train.c,
 * refit.c and predict.c, which do not use it. */
#include "app/refit.h"
#include "io/file.h"
#include "train/session.h"

#include <pthread.h>
#include <unistd.h>

/* Receives a plain run's session. */
struct plain {
    struct consm_model **model;
    struct consm_prediction **prediction; /* may be NULL */
    const struct training_request *request;
};

static consm_status take_plain(void *ctx, struct session *s, const struct train_result *result)
{
    consm_status st = CONSM_OK;
    const struct plain *to = ctx;
    const struct train_options *o = &s->options;
    struct training_request request = *to->request;
    const float *logits;
    request.session = s;
    TRY(model_of_session(to->model, s, to->request->custom));
    (*to->model)->result = *result;
    for (int64_t i = 0; i < (*to->model)->companions; i++)
        (*to->model)->result.params += (*to->model)->companion[i]->trained;
    TRY(session_answers(&logits, s));
    TRY(model_complete(*to->model, &request, s->problem, logits, s->backend));
    if (o->checkpoint && o->checkpoint_end && s->trail.unsaved) /* for what follows */
        TRY(o->checkpoint(o->checkpoint_ctx, s));
    if (to->prediction)
        TRY(model_prediction(to->prediction, *to->model, s->problem, logits));
done:
    return st;
}

/* Records a run's curve before passing progress on. */
struct hearing {
    struct train_curve curve;
    pthread_mutex_t lock; /* of the curve: members of an ensemble train side by side */
    progress_fn fn;
    void *ctx;
};

static bool hear(void *ctx, const struct progress *progress)
{
    struct hearing *h = ctx;
    bool stop = h->fn && h->fn(h->ctx, progress);
    pthread_mutex_lock(&h->lock);
    bool heard = curve_hear(&h->curve, progress);
    pthread_mutex_unlock(&h->lock);
    return !heard || stop;
}

/* Gives the model the recorded curve. */
static consm_status keep_curve(struct consm_model *m, struct hearing *h)
{
    int64_t chosen = m->result.candidates > 0 ? m->result.candidate[0].number : 0;
    consm_status st = curve_settle(&h->curve, chosen, m->members ? NULL : m->backbone,
                                   m->members ? -1 : m->result.student.taken);
    curve_free(&m->curve);
    m->curve = h->curve;
    h->curve = (struct train_curve){0};
    return st;
}

consm_status model_train(struct consm_model **out, struct consm_prediction **prediction,
                         const struct training_request *request)
{
    struct refit_listener listener;
    struct hearing hearing = {.fn = request->options.progress,
                              .ctx = request->options.progress_ctx};
    struct training_request first = *request;
    bool refit = refit_wanted(request);
    pthread_mutex_init(&hearing.lock, NULL);
    first.options.progress = hear;
    first.options.progress_ctx = &hearing;
    first.curve = &hearing.curve;
    if (refit)
        refit_prepare(&first, &listener);
    first.options.checkpoint_end = refit || request->threshold_for > 0;
    struct plain to = {out, refit ? NULL : prediction, &first};
    *out = NULL;
    if (refit && !request->resume)
        refit_forget(request);
    consm_status st = request->ensemble > 1 ? model_train_ensemble(out, to.prediction, &first)
                                            : model_run(&first, take_plain, &to);
    if (hearing.curve.lost)
        st = status_fail(CONSM_ENOMEM, "out of memory for the learning curve");
    if (st == CONSM_OK) {
        (*out)->config.refit = REFIT_NO;
        st = keep_curve(*out, &hearing);
    }
    curve_free(&hearing.curve);
    pthread_mutex_destroy(&hearing.lock);
    if (st == CONSM_OK && refit)
        st = refit_model(*out, prediction, request);
    if (st == CONSM_OK && refit && request->checkpoint) { /* nothing to continue from */
        refit_forget(request);
        if (file_writes())
            unlink(request->checkpoint);
    }
    if (st < 0) {
        consm_model_free(*out);
        *out = NULL;
    }
    return st;
}
