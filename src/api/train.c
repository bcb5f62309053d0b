/* Training through the public interface. */
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
                                      .best_val = p->best_val};
    return listener->fn(listener->ctx, &progress);
}

consm_status consm_train(struct consm_model **out, const struct consm_dataset *dataset,
                         const struct consm_options *options)
{
    consm_status st = CONSM_OK;
    const struct dataset *d = dataset->data;
    struct roles roles = {0};
    struct listener listener = {options->progress, options->progress_ctx};
    struct training_request request = {
        .roles = &roles,
        .custom = options->custom,
        .threads = options->threads,
        .options = {.model = options->model,
                    .config = options->config,
                    .seed = options->seed,
                    .progress = options->progress ? tell : NULL,
                    .progress_ctx = &listener},
    };
    *out = NULL;
    if (d->classes < 1)
        TRY(status_fail(CONSM_EINVAL, "%s has no labels to learn from", d->name));
    TRY(dataset_prepared(&request.prepared, dataset));
    TRY(roles_make(&roles, d, options->split ? options->split : defaults_split(dataset->known),
                   options->seed, &options->split_options));
    if (options->config.coverage > 0)
        TRY(roles_set_aside(&roles, d->nodes, options->seed));
    defaults_config(&request.options.config, d, dataset->known, options->given);
    if (request.threads == 0 && prepare_is_small(request.prepared, &options->config))
        request.threads = 1;
    if (options->checkpoint) {
        request.checkpoint = options->checkpoint;
        request.options.checkpoint_every = options->checkpoint_every;
        request.resume = options->resume && file_kind(options->checkpoint) != FILE_MISSING;
    }
    TRY(model_train(out, NULL, &request));
done:
    roles_free(&roles);
    return st;
}
