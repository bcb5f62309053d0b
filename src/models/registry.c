/* The list of models. */
#include "base/nearest.h"
#include "models/model.h"

#include <string.h>

extern const struct model_def model_mlp, model_gcn, model_dropedge, model_gat, model_gin,
    model_appnp, model_gcnii, model_h2gcn, model_fagcn, model_ptdnet, model_gam, model_grand,
    model_consm;

static const struct model_def *const models[] = {
    &model_mlp,    &model_gcn,   &model_dropedge, &model_gat,   &model_gin,
    &model_appnp,  &model_gcnii, &model_gam,      &model_h2gcn, &model_fagcn,
    &model_ptdnet, &model_grand, &model_consm,    NULL};

const struct model_def *const *model_list(void)
{
    return models;
}

static const char *model_name(void *ctx, int index)
{
    (void)ctx;
    return models[index] ? models[index]->name : NULL;
}

consm_status model_find(const struct model_def **out, const char *name)
{
    for (int i = 0; models[i]; i++)
        if (strcmp(models[i]->name, name) == 0) {
            *out = models[i];
            return CONSM_OK;
        }
    *out = NULL;
    const char *near = nearest_word(name, model_name, NULL);
    if (near)
        return status_fail(CONSM_ENOTFOUND, "no model %s; did you mean %s?", name, near);
    return status_fail(CONSM_ENOTFOUND, "no model %s; `consm models` lists them", name);
}

void model_defaults(const struct model_def *model, struct config *c)
{
    config_defaults(c);
    if (model->defaults)
        model->defaults(c);
}

const struct csr *graph_view(struct program *p, const struct inputs *in, enum view kind)
{
    const struct csr *view = views_get(in->views, kind);
    if (!view)
        program_failed(p, CONSM_ENOMEM); /* the only way a view of a sound graph can fail */
    return view;
}
