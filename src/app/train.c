/* Trains by options, for the public interface and the command. */
#include "app/checkpoint.h"
#include "app/defaults.h"
#include "app/learned.h"
#include "app/limits.h"
#include "app/refit.h"
#include "app/warm.h"
#include "base/nearest.h"
#include "io/file.h"

#include <stdio.h>
#include <string.h>

static const char *nth_class(void *ctx, int index)
{
    const struct dataset *d = ctx;
    return d->class_name && index < d->classes ? d->class_name[index] : NULL;
}

/* Our progress function, which calls the caller's. */
struct listener {
    consm_progress_fn fn;
    void *ctx;
};

static bool tell(void *ctx, const struct progress *p)
{
    const struct listener *listener = ctx;
    struct consm_progress progress = {.size = sizeof progress,
                                      .seed = p->seed,
                                      .epoch = p->epoch,
                                      .epochs = p->epochs,
                                      .loss = p->loss,
                                      .val_acc = p->val_acc,
                                      .best_val = p->best_val,
                                      .member = p->member,
                                      .members = p->members,
                                      .share = p->fraction,
                                      .candidate = p->candidate,
                                      .update = p->update,
                                      .backbone = p->backbone,
                                      .refit = p->refit};
    return listener->fn(listener->ctx, &progress);
}

/* The configuration with defaults filled in. */
static struct config whole_config(const struct consm_options *o, const struct consm_dataset *d)
{
    struct config config = o->config;
    defaults_config(&config, d->data, d->known, o->given);
    if (config.with_trees == WITH_TREES_AUTO && d->data->features == 0)
        config.with_trees = WITH_TREES_NO;
    return config;
}

static const char *whole_split(const struct consm_options *o, const struct consm_dataset *d)
{
    return o->split ? o->split : defaults_split(d->known);
}

void options_choose(struct consm_options *o, const struct run_choices *choices)
{
    o->config = choices->config;
    memcpy(o->given, choices->given, sizeof o->given);
    o->split_options = choices->split;
    o->seed = choices->seed;
    o->ensemble = choices->ensemble;
    o->member_jobs = choices->member_jobs;
}

const struct config *options_config(const struct consm_options *o)
{
    return &o->config;
}

const bool *options_given(const struct consm_options *o)
{
    return o->given;
}

const struct model_def *options_method(const struct consm_options *o)
{
    return o->model;
}

consm_status options_set_text(char **to, const char *text)
{
    char *copy = mem_strdup(text);
    if (!copy)
        return CONSM_ENOMEM;
    mem_free(*to);
    *to = copy;
    return CONSM_OK;
}

consm_status options_resolve(struct consm_options *o, const struct consm_dataset *dataset)
{
    o->config = whole_config(o, dataset);
    return options_set_text(&o->split, whole_split(o, dataset));
}

consm_status options_can_stop(const struct consm_options *o)
{
    struct train_options options = {.model = o->model, .config = o->config};
    return checkpoint_possible(&options);
}

consm_status options_roles(struct roles *out, const struct consm_dataset *dataset,
                           const struct consm_options *o, uint64_t seed)
{
    consm_status st = CONSM_OK;
    *out = (struct roles){0};
    if (dataset->data->classes < 1)
        return status_fail(CONSM_EINVAL, "%s has no labels to learn from", dataset->data->name);
    TRY(roles_make(out, dataset->data, whole_split(o, dataset), seed, &o->split_options));
    if (o->config.coverage > 0)
        TRY(roles_set_aside(out, dataset->data->nodes, seed));
done:
    return st;
}

/* 1 + the class with that name, or with that number if classes have no names; NULL: 0. */
static consm_status class_of(int32_t *out, const struct dataset *d, const char *option,
                             const char *name)
{
    char number[24];
    *out = 0;
    for (int32_t k = 0; name && k < d->classes; k++) {
        snprintf(number, sizeof number, "%d", k);
        if (strcmp(name, d->class_name ? d->class_name[k] : number) == 0)
            *out = k + 1;
    }
    if (!name || *out)
        return CONSM_OK;
    const char *near = nearest_word(name, nth_class, (void *)d);
    return status_fail(CONSM_EINVAL, "%s %s: %s does not have this class%s%s%s", option, name,
                       d->name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static consm_status name_classes(struct training_request *r, const struct dataset *d,
                                 const struct consm_options *o)
{
    consm_status st = CONSM_OK;
    TRY(class_of(&r->options.positive, d, "positive", o->positive));
    TRY(class_of(&r->threshold_for, d, "threshold_for", o->threshold_for));
    if (!r->threshold_for && (o->at_precision > 0 || o->at_recall > 0))
        TRY(status_fail(CONSM_EINVAL, "at_precision and at_recall need threshold_for"));
    if (o->at_precision > 0 && o->at_recall > 0)
        TRY(status_fail(CONSM_EINVAL, "use at_precision or at_recall, not both"));
    /* The class with a threshold is also the metric's class. */
    if (r->options.positive == 0)
        r->options.positive = r->threshold_for;
    r->at_precision = o->at_precision;
    r->at_recall = o->at_recall;
done:
    return st;
}

consm_status options_metric(enum config_metric *metric, int32_t *positive,
                            const struct consm_dataset *dataset, const struct roles *roles,
                            const struct consm_options *o)
{
    consm_status st = CONSM_OK;
    const struct dataset *d = dataset->data;
    struct training_request request = {0};
    struct problem problem = {
        .nodes = d->nodes, .classes = d->classes, .label = d->label, .role = roles->role};
    TRY(name_classes(&request, d, o));
    *metric = o->config.metric;
    *positive = request.options.positive - 1;
    TRY(judge_choose(metric, positive, &problem));
done:
    return st;
}

/* Whether requested trees can take part, and fit into memory. */
static consm_status check_trees(const struct dataset *d, const struct roles *roles,
                                const struct consm_options *o)
{
    bool asked = o->config.with_trees == WITH_TREES_YES;
    if (asked && o->ensemble <= 1 && !options_race_trees(o->model, &o->config))
        return status_fail(CONSM_EINVAL,
                           "with_trees yes works with ConSM (backbone auto) or an ensemble; set "
                           "ensemble to 2 or more, or train the model trees");
    return asked || !o->model->build
               ? limits_check_trees(d, roles->count[SPLIT_TRAIN] + roles->count[SPLIT_VAL])
               : CONSM_OK;
}

consm_status run_by_options(struct trained_run *out, const struct consm_dataset *dataset,
                            const struct consm_options *o, uint64_t seed, int threads)
{
    consm_status st = CONSM_OK;
    struct listener listener = {o->progress, o->progress_ctx};
    struct training_request request = {
        .roles = &out->roles,
        .custom = o->custom,
        .threads = threads,
        .ensemble = o->ensemble,
        .jobs = o->member_jobs > 1 ? o->member_jobs : 1,
        .options = {.model = o->model,
                    .config = whole_config(o, dataset),
                    .device = o->device[0] ? o->device : NULL,
                    .seed = seed,
                    .given = o->given,
                    .progress = o->progress ? tell : NULL,
                    .progress_ctx = &listener},
    };
    *out = (struct trained_run){0};
    TRY(options_roles(&out->roles, dataset, o, seed));
    TRY(name_classes(&request, dataset->data, o));
    if (o->from) {
        TRY(warm_check(o->from, dataset->data));
        TRY(warm_start(&request.options, o->from));
    }
    TRY(dataset_prepared(&request.prepared, dataset));
    if (request.threads == 0 && prepare_is_small(request.prepared, &o->config))
        request.threads = 1;
    TRY(check_trees(dataset->data, &out->roles, o));
    if (o->checkpoint && o->ensemble > 1)
        TRY(status_fail(CONSM_EINVAL, "an ensemble cannot be resumed"));
    if (o->checkpoint) {
        request.checkpoint = o->checkpoint;
        request.options.checkpoint_every = o->checkpoint_every;
        request.resume = o->resume && file_kind(o->checkpoint) != FILE_MISSING;
    }
    TRY(model_train(&out->model, &out->prediction, &request));
    TRY(learned_mark(&out->prediction->seen, out->model, dataset->data, NULL,
                     out->prediction->nodes));
    out->result = out->model->result;
    out->ensemble = out->model->ensemble;
done:
    if (st < 0)
        run_free(out);
    return st;
}

void run_free(struct trained_run *r)
{
    consm_model_free(r->model);
    consm_prediction_free(r->prediction);
    roles_free(&r->roles);
    *r = (struct trained_run){0};
}
