/* Training by options: for the public interface and for the command. */
#include "api/checkpoint.h"
#include "api/defaults.h"
#include "api/objects.h"
#include "io/file.h"

/* The caller's progress function behind ours. */
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
                                      .members = p->members};
    return listener->fn(listener->ctx, &progress);
}

/* What is left to defaults, filled in. */
static struct config whole_config(const struct consm_options *o, const struct consm_dataset *d)
{
    struct config config = o->config;
    defaults_config(&config, d->data, d->known, o->given);
    return config;
}

static const char *whole_split(const struct consm_options *o, const struct consm_dataset *d)
{
    return o->split ? o->split : defaults_split(d->known);
}

consm_status options_resolve(struct consm_options *o, const struct consm_dataset *dataset)
{
    o->config = whole_config(o, dataset);
    return consm_options_set(o, "split", whole_split(o, dataset));
}

int64_t options_planned(const struct consm_options *o, int64_t *trials)
{
    struct train_options options = {.model = o->model, .config = o->config};
    return train_planned(&options, trials);
}

consm_status options_can_stop(const struct consm_options *o)
{
    struct train_options options = {.model = o->model, .config = o->config};
    return checkpoint_possible(&options);
}

consm_status options_roles(struct roles *out, const struct consm_dataset *dataset,
                           const struct consm_options *o)
{
    consm_status st = CONSM_OK;
    *out = (struct roles){0};
    if (dataset->data->classes < 1)
        return status_fail(CONSM_EINVAL, "%s has no labels to learn from", dataset->data->name);
    TRY(roles_make(out, dataset->data, whole_split(o, dataset), o->seed, &o->split_options));
    if (o->config.coverage > 0)
        TRY(roles_set_aside(out, dataset->data->nodes, o->seed));
done:
    return st;
}

consm_status run_by_options(struct trained_run *out, bool keep, const struct consm_dataset *dataset,
                            const struct consm_options *o)
{
    consm_status st = CONSM_OK;
    struct listener listener = {o->progress, o->progress_ctx};
    struct training_request request = {
        .roles = &out->roles,
        .custom = o->custom,
        .threads = o->threads,
        .ensemble = o->ensemble,
        .jobs = o->member_jobs > 1 ? o->member_jobs : 1,
        .options = {.model = o->model,
                    .config = whole_config(o, dataset),
                    .seed = o->seed,
                    .progress = o->progress ? tell : NULL,
                    .progress_ctx = &listener},
    };
    *out = (struct trained_run){0};
    TRY(options_roles(&out->roles, dataset, o));
    TRY(dataset_prepared(&request.prepared, dataset));
    if (request.threads == 0 && prepare_is_small(request.prepared, &o->config))
        request.threads = 1;
    if (o->checkpoint && o->ensemble > 1)
        TRY(status_fail(CONSM_EINVAL, "an ensemble cannot be interrupted and resumed"));
    if (o->checkpoint) {
        request.checkpoint = o->checkpoint;
        request.options.checkpoint_every = o->checkpoint_every;
        request.resume = o->resume && file_kind(o->checkpoint) != FILE_MISSING;
    }
    if (keep || o->ensemble > 1) {
        TRY(model_train(&out->model, keep ? &out->prediction : NULL, &request));
        out->result = out->model->result;
        out->ensemble = out->model->ensemble;
    } else {
        struct problem problem = prepare_problem(request.prepared, out->roles.role);
        TRY(train_once(&out->result, &problem, &request.options, request.threads));
    }
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

consm_status consm_train(struct consm_model **out, const struct consm_dataset *dataset,
                         const struct consm_options *options)
{
    consm_status st = CONSM_OK;
    struct trained_run run;
    *out = NULL;
    TRY(run_by_options(&run, true, dataset, options));
    *out = run.model;
    run.model = NULL;
    run_free(&run);
done:
    return st;
}
