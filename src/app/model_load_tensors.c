/* The tensors of a model file: parameters of the model and its members, hashes of the nodes it
 * learned from, and the learning curve. Every tensor is checked before use. */
#include "app/model_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* name: without the member's number. */
static consm_status read_tensor(struct model_tensor *to, const struct model_source *s,
                                const struct safetensors_tensor *from, const char *name)
{
    consm_status st = CONSM_OK;
    if (from->type != SAFETENSORS_F32 || from->rank != 2)
        return status_fail(CONSM_EFORMAT,
                           "%s: tensor %.60s is %s of rank %d: expected F32 of rank 2", s->path,
                           from->name, safetensors_type_name(from->type), from->rank);
    if (strlen(name) >= sizeof to->name)
        return status_fail(CONSM_EFORMAT, "%s: the tensor name %.60s… is too long", s->path,
                           from->name);
    strcpy(to->name, name);
    to->rows = from->shape[0];
    to->cols = from->shape[1];
    TRY(NEW(to->value, from->count));
    memcpy(to->value, from->data, from->bytes);
    for (int64_t k = 0; k < from->count; k++)
        if (!isfinite(to->value[k]))
            TRY(status_fail(CONSM_EFORMAT, "%s: tensor %s contains %g: expected finite numbers",
                            s->path, to->name, (double)to->value[k]));
done:
    return st;
}

/* "trees.forest" is of the trees that predict in the owner's place. */
static void owned_by_trees(struct consm_model **owner, const char **name)
{
    const size_t length = sizeof MODEL_TREES - 1;
    if ((*owner)->trees && strncmp(*name, MODEL_TREES, length) == 0) {
        *owner = (*owner)->trees;
        *name += length;
    }
}

/* "companion.1.w1" is of the second candidate that predicts together with the owner. */
static void owned_by_companion(struct consm_model **owner, const char **name)
{
    const size_t length = sizeof MODEL_COMPANION - 1;
    const char *digit = *name + length;
    if (strncmp(*name, MODEL_COMPANION, length) == 0 && *digit >= '0' &&
        *digit < '0' + (*owner)->companions && digit[1] == '.') {
        *name = digit + 2;
        *owner = (*owner)->companion[*digit - '0'];
    }
}

/* The owner of a tensor: "3.w1" is w1 of member 3; in a plain model every name is the model's. */
static consm_status owner_of(struct consm_model **owner, const char **name, struct consm_model *m,
                             const struct model_source *s, const char *full)
{
    char *end;
    *owner = m;
    *name = full;
    if (m->members == 0)
        return CONSM_OK;
    /* Digits only: strtol would also accept spaces and signs. */
    long number = *full >= '0' && *full <= '9' ? strtol(full, &end, 10) : -1;
    if (number < 0 || number >= m->members || *end != '.')
        return status_fail(CONSM_EFORMAT,
                           "%s: tensor %.60s does not belong to any of the %lld members", s->path,
                           full, (long long)m->members);
    *owner = m->member[number];
    *name = end + 1;
    return CONSM_OK;
}

static consm_status read_tensors(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    for (int64_t i = 0; i < safetensors_count(s->file); i++) {
        const struct safetensors_tensor *from = safetensors_at(s->file, i);
        struct consm_model *owner;
        const char *name;
        if (strcmp(from->name, "sha256") == 0 || strcmp(from->name, MODEL_LEARNED) == 0 ||
            strcmp(from->name, MODEL_CURVE) == 0)
            continue;
        TRY(owner_of(&owner, &name, m, s, from->name));
        owned_by_trees(&owner, &name);
        owned_by_companion(&owner, &name);
        TRY(GROW(owner->tensor, owner->tensors, owner->tensor_room, 1));
        owner->tensor[owner->tensors] = (struct model_tensor){0};
        TRY(read_tensor(&owner->tensor[owner->tensors++], s, from, name));
    }
done:
    return st;
}

/* The nodes that it learned from, if the file has them. */
static consm_status read_learned(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    const struct safetensors_tensor *from = safetensors_find(s->file, MODEL_LEARNED);
    const char *named = safetensors_metadata(s->file, "learned_named");
    if (!from)
        return CONSM_OK;
    if (from->type != SAFETENSORS_U64 || from->rank != 1)
        return status_fail(CONSM_EFORMAT, "%s: tensor %s is %s of rank %d: expected U64 of rank 1",
                           s->path, from->name, safetensors_type_name(from->type), from->rank);
    TRY(NEW(m->learned, from->count));
    memcpy(m->learned, from->data, from->bytes);
    m->learned_count = from->count;
    m->learned_named = named && strcmp(named, "true") == 0;
    for (int64_t i = 1; i < m->learned_count; i++)
        if (m->learned[i] <= m->learned[i - 1])
            TRY(status_fail(CONSM_EFORMAT,
                            "%s: entry %lld of %s is not larger than the previous one", s->path,
                            (long long)i, from->name));
done:
    return st;
}

/* The learning curve, if the file has it. */
static consm_status read_curve(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    const struct safetensors_tensor *from = safetensors_find(s->file, MODEL_CURVE);
    struct train_curve *c = &m->curve;
    if (!from)
        return CONSM_OK;
    if (from->type != SAFETENSORS_F64 || from->rank != 2 || from->shape[1] != CURVE_COLUMNS)
        return status_fail(CONSM_EFORMAT, "%s: tensor %s is not a learning curve", s->path,
                           from->name);
    TRY(GROW(c->point, c->count, c->room, (size_t)from->shape[0]));
    memcpy(c->point, from->data, from->bytes);
    if (!curve_sound(c->point, from->shape[0]))
        TRY(status_fail(CONSM_EFORMAT, "%s: tensor %s contains invalid numbers", s->path,
                        from->name));
    c->count = from->shape[0];
done:
    return st;
}

consm_status model_read_tensors(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    TRY(read_tensors(m, s));
    TRY(read_learned(m, s));
    TRY(read_curve(m, s));
done:
    return st;
}
