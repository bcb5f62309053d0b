/* The list of models. */
#include "base/nearest.h"
#include "models/model.h"

#include <string.h>

/* In listing order; trees, which are not a program, come last. */
#define MODELS(model)                                                                     \
    model(mlp) model(gcn) model(dropedge) model(gat) model(gin) model(appnp) model(gcnii) \
        model(gam) model(h2gcn) model(fagcn) model(ptdnet) model(grand) model(consm)

#define DECLARE(name) extern const struct model_def model_##name;
MODELS(DECLARE)
DECLARE(trees)

#define ADDRESS(name) &model_##name,
static const struct model_def *const programs[] = {MODELS(ADDRESS) NULL};
static const struct model_def *const models[] = {MODELS(ADDRESS) ADDRESS(trees) NULL};

const struct model_def *const *model_list(void)
{
    return programs;
}

const struct model_def *const *model_list_all(void)
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
        return status_fail(CONSM_ENOTFOUND, "unknown model %s; did you mean %s?", name, near);
    return status_fail(CONSM_ENOTFOUND, "unknown model %s; `consm models` lists all", name);
}

void model_defaults(const struct model_def *model, struct config *c)
{
    config_defaults(c);
    if (model->defaults)
        model->defaults(c);
}

/* A matrix that a program holds. */
struct held_view {
    struct views *views;
    enum view kind;
};

static void leave_view(void *thing)
{
    struct held_view *held = thing;
    views_leave(held->views, held->kind);
    mem_free(held);
}

const struct csr *graph_view(struct program *p, const struct inputs *in, enum view kind)
{
    struct held_view *held = mem_alloc(1, sizeof *held);
    const struct csr *view = held ? views_hold(in->views, kind) : NULL;
    if (view) {
        *held = (struct held_view){in->views, kind};
        if (program_own(p, held, leave_view) == CONSM_OK)
            return view;
    } else {
        mem_free(held);
    }
    program_failed(p, CONSM_ENOMEM); /* a view of a valid graph fails only without memory */
    return NULL;
}
