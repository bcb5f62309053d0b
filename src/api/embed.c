/* Embeddings: the input of a model's last layer for each node. */
#include "app/objects.h"
#include "base/given.h"
#include "train/session.h"

#include <string.h>

/* Embeddings of an ensemble's members are side by side. */
struct embedding {
    struct consm_embedding *out;
};

static consm_status add_member(void *ctx, const struct consm_model *part, struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm_embedding *e = ((struct embedding *)ctx)->out;
    float *value = NULL, *wide = NULL;
    int64_t width = 0, n = s->problem->nodes;
    (void)part;
    TRY(session_embedding(&value, &width, s));
    TRY(NEW(wide, n * (e->width + width)));
    for (int64_t i = 0; i < n; i++) {
        float *row = wide + i * (e->width + width);
        if (e->width > 0)
            memcpy(row, e->value + i * e->width, (size_t)e->width * sizeof *row);
        memcpy(row + e->width, value + i * width, (size_t)width * sizeof *row);
    }
    mem_free(e->value);
    e->value = wide;
    e->nodes = n;
    e->width += width;
done:
    mem_free(value);
    return st;
}

static consm_status embed(void *ctx, const struct consm_model *model, const struct problem *problem,
                          struct backend *backend)
{
    return model_each_session(model, problem, backend, add_member, ctx);
}

consm_status consm_embed(struct consm_embedding **out, const struct consm_model *model,
                         const struct consm_dataset *dataset, const char *device, int threads)
{
    consm_status st = CONSM_OK;
    struct consm_embedding *e = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, model, dataset));
    TRY(ZNEW(e, 1));
    TRY(model_on_device(model, dataset, device, threads, embed, &(struct embedding){.out = e}));
    *out = e;
    e = NULL;
done:
    consm_embedding_free(e);
    return st;
}

void consm_embedding_free(struct consm_embedding *embedding)
{
    if (!embedding)
        return;
    mem_free(embedding->value);
    mem_free(embedding);
}
