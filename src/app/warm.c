/* Continues training from a model. Parameters that shape its equations become those of the run.
 * What a user set is not overwritten; if the shapes then differ, it fails. */
#include "app/warm.h"

#include "base/given.h"

#include <string.h>

/* Parameters in addition to those that its equations read. */
static const char *const others[] = {
    "backbone",     "normalize_features", "lr",         "weight_decay", "match_width",
    "match_hidden", "match_layers",       "match_join", "match_ego",    NULL};

/* Whether a name is in a list of words. */
static bool listed(const char *words, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = words; (at = strstr(at, name)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
            return true;
    return false;
}

static bool is_kept(const struct consm_model *m, const char *name)
{
    bool kept = listed(model_equations(m)->knobs, name);
    for (int i = 0; others[i]; i++)
        kept = kept || strcmp(others[i], name) == 0;
    return kept;
}

consm_status consm_options_from(struct consm_options *o, const struct consm_model *model)
{
    consm_status st = CONSM_OK;
    TRY(GIVEN(o, model));
    if (model->members)
        TRY(status_fail(CONSM_EINVAL,
                        "the model is an ensemble: training can only start from a single model"));
    if (!model->def->build || model->custom.build || o->custom.build)
        TRY(status_fail(CONSM_EINVAL, "training cannot start from %s", model->def->name));
    if (o->model != model->def)
        TRY(status_fail(CONSM_EINVAL, "the start model is %s: expected %s, as in the options",
                        model->def->name, o->model->name));
    const struct config_row *rows = config_rows();
    for (int i = 0; i < CONFIG_ROWS; i++)
        if (!o->given[i] && is_kept(model, rows[i].name)) {
            config_copy(&o->config, &model->config, i);
            o->given[i] = true;
        }
    o->from = model;
done:
    return st;
}

consm_status warm_check(const struct consm_model *from, const struct dataset *d)
{
    char a[24], b[24];
    if (from->classes != d->classes)
        return status_fail(CONSM_EINVAL, "%s has %d classes, but the start model has %d", d->name,
                           d->classes, from->classes);
    for (int32_t k = 0; k < d->classes; k++)
        if (strcmp(consm_model_class(from, k, a), dataset_class_name(d, k, b)) != 0)
            return status_fail(
                CONSM_EINVAL, "%s: class %d is \"%.60s\", but in the start model \"%.60s\"",
                d->name, k, dataset_class_name(d, k, b), consm_model_class(from, k, a));
    if (d->features > 0 && d->features != from->features)
        return status_fail(CONSM_EINVAL, "%s has %lld features, but the start model has %lld",
                           d->name, (long long)d->features, (long long)from->features);
    return CONSM_OK;
}

static const struct model_tensor *tensor(const struct consm_model *m, const char *name)
{
    for (int64_t i = 0; i < m->tensors; i++)
        if (strcmp(m->tensor[i].name, name) == 0)
            return &m->tensor[i];
    return NULL;
}

/* Replaces drawn parameters; those that the model lacks stay as drawn. */
static consm_status put_parameters(const void *ctx, struct params *params)
{
    consm_status st = CONSM_OK;
    const struct consm_model *m = ctx;
    float *value;
    TRY(params_write(&value, params, PLACE_VALUE));
    for (int i = 0; i < params->count; i++) {
        const struct parameter *to = &params->item[i];
        const struct model_tensor *from = tensor(m, to->name);
        if (!from)
            continue;
        if (from->rows != to->rows || from->cols != to->cols)
            TRY(status_fail(CONSM_EINVAL,
                            "parameter %s of the start model is %lld x %lld: expected %lld x %lld",
                            to->name, (long long)from->rows, (long long)from->cols,
                            (long long)to->rows, (long long)to->cols));
        memcpy(value + to->offset, from->value, (size_t)(to->rows * to->cols) * sizeof *value);
    }
done:
    return st;
}

consm_status warm_start(struct train_options *options, const struct consm_model *from)
{
    const struct model_tensor *shift = tensor(from, "feature_shift"),
                              *scale = tensor(from, "feature_scale");
    options->begin = put_parameters;
    options->begin_ctx = from;
    if (!config_scales_columns(&options->config) || !shift || !scale)
        return CONSM_OK;
    if (shift->rows * shift->cols != from->features || scale->rows * scale->cols != from->features)
        return status_fail(CONSM_EFORMAT,
                           "the start model does not say how it scales its features");
    options->shift = shift->value;
    options->scale = scale->value;
    return CONSM_OK;
}
