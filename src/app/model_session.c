/* A session that evaluates a saved model on a problem: its equations, with its parameters. Of
 * one plain model; ensemble.c asks several. */
#include "app/objects.h"
#include "graph/neighbour_columns.h"
#include "train/forest.h"
#include "train/session.h"

#include <string.h>

const struct model_def *model_equations(const struct consm_model *m)
{
    const struct model_def *def = m->def;
    if (strcmp(def->name, "consm") == 0 &&
        model_find(&def, config_names_backbone[m->config.backbone]) < 0)
        def = m->def;
    return def;
}

const struct consm_model *model_predicts(const struct consm_model *m)
{
    return m->trees ? m->trees : m;
}

static const struct model_tensor *find_tensor(const struct consm_model *m, const char *name)
{
    for (int64_t i = 0; i < m->tensors; i++)
        if (strcmp(m->tensor[i].name, name) == 0)
            return &m->tensor[i];
    return NULL;
}

const float *model_answers_weights(const struct consm_model *m)
{
    const struct model_tensor *t = find_tensor(m, MODEL_ANSWERS_TRUST);
    return t && t->rows * t->cols == TRUST_NUMBERS ? t->value : NULL;
}

bool model_weighs_answers(const struct consm_model *m)
{
    bool some = model_answers_weights(m) != NULL;
    for (int64_t i = 0; i < m->members; i++)
        some = some || model_answers_weights(m->member[i]);
    return some;
}

/* Gives the session the model's parameters; each must be there in its shape. */
static consm_status set_parameters(struct session *s, const struct consm_model *m)
{
    struct params *params = session_params(s);
    float *value;
    consm_status st = params_write(&value, params, PLACE_VALUE);
    if (st < 0)
        return st;
    for (int i = 0; i < params->count; i++) {
        const struct parameter *to = &params->item[i];
        const struct model_tensor *from = find_tensor(m, to->name);
        if (!from)
            return status_fail(CONSM_EFORMAT, "the model has no parameter %s, but %s needs it",
                               to->name, m->def->name);
        if (from->rows != to->rows || from->cols != to->cols)
            return status_fail(CONSM_EFORMAT,
                               "the model's parameter %s is %lld x %lld: expected %lld x %lld",
                               to->name, (long long)from->rows, (long long)from->cols,
                               (long long)to->rows, (long long)to->cols);
        memcpy(value + to->offset, from->value, (size_t)(to->rows * to->cols) * sizeof(float));
    }
    return CONSM_OK;
}

/* The shift and scale of columns, for a session on another graph. */
static consm_status set_standard(struct train_options *o, const struct consm_model *m)
{
    const struct model_tensor *shift = find_tensor(m, "feature_shift");
    const struct model_tensor *scale = find_tensor(m, "feature_scale");
    if (!config_scales_columns(&m->config))
        return CONSM_OK;
    if (!shift || !scale || shift->rows * shift->cols != m->features ||
        scale->rows * scale->cols != m->features)
        return status_fail(CONSM_EFORMAT,
                           "the model scales %lld features, but its means and scales are missing",
                           (long long)m->features);
    o->shift = shift->value;
    o->scale = scale->value;
    return CONSM_OK;
}

static void set_taught(struct train_options *o, const struct consm_model *m)
{
    const struct model_tensor *taught = find_tensor(m, "taught");
    if (!taught || taught->cols != TAUGHT_COLUMNS)
        return;
    o->taught = taught->value;
    o->taughts = taught->rows;
}

consm_status model_check_forest(const struct consm_model *m)
{
    consm_status st = CONSM_OK;
    struct forest forest = {0};
    const struct model_tensor *trees = find_tensor(m, "forest");
    if (m->def->build || m->def == &m->own)
        return CONSM_OK;
    if (!trees || trees->cols != FOREST_COLUMNS)
        return status_fail(CONSM_EFORMAT, "the model has no tensor \"forest\" with %d columns",
                           FOREST_COLUMNS);
    TRY(forest_open(&forest, trees->value, trees->rows, neighbour_columns_count(m->features),
                    m->classes));
done:
    forest_close(&forest);
    return st;
}

/* The trees; the model keeps them. */
static consm_status set_forest(struct train_options *o, const struct consm_model *m)
{
    consm_status st = model_check_forest(m);
    const struct model_tensor *trees = find_tensor(m, "forest");
    if (st < 0 || m->def->build || !trees)
        return st;
    o->forest = trees->value;
    o->forest_nodes = trees->rows;
    return CONSM_OK;
}

static consm_status open_session(struct session **out, const struct consm_model *model,
                                 const struct problem *problem, struct backend *backend,
                                 bool parts_only)
{
    consm_status st = CONSM_OK;
    struct train_options options = {.model = model->def,
                                    .config = model->config,
                                    .seed = model->result.seed,
                                    .context = &model->custom,
                                    .eval_only = true,
                                    .parts_only = parts_only};
    /* Enough for a good message about a wrong shape, but bounded against hostile files. */
    options.most_params = 1 << 20;
    for (int64_t i = 0; i < model->tensors; i++)
        options.most_params += 2 * model->tensor[i].rows * model->tensor[i].cols;
    *out = NULL;
    if (model->def == &model->own && !model->custom.build)
        return status_fail(
            CONSM_EINVAL,
            "%s is a custom model: give its build function to consm_model_build() first",
            model->def->name);
    TRY(set_standard(&options, model));
    TRY(set_forest(&options, model));
    set_taught(&options, model);
    TRY(session_new(out, problem, &options, backend));
    TRY(set_parameters(*out, model));
    TRY(session_loaded(*out));
done:
    if (st < 0) {
        session_free(*out);
        *out = NULL;
    }
    return st;
}

consm_status model_session(struct session **out, const struct consm_model *model,
                           const struct problem *problem, struct backend *backend)
{
    return open_session(out, model, problem, backend, false);
}

/* Whether ConSM weighs, drops or adds edges, also for companions, which needs predictions of the
 * whole graph. */
static bool settles_edges(const struct consm_model *m)
{
    const struct config *c = &m->config;
    return strcmp(m->def->name, "consm") == 0 &&
           (c->messages != MESSAGES_NONE || c->drop_below > 0 || c->add_above > 0 ||
            model_companions_below(m) > 0);
}

consm_status model_part_session(struct session **out, const struct consm_model *model,
                                const struct problem *problem, struct backend *backend)
{
    return open_session(out, model, problem, backend, !settles_edges(model));
}
