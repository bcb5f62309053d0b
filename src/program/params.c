/* The parameter store. */
#include "program/params.h"

#include "base/rng.h"
#include <math.h>
#include <string.h>

enum { ALIGN_FLOATS = 16 };

consm_status params_new(struct params **out)
{
    return ZNEW(*out, 1);
}

void params_free(struct params *params)
{
    if (!params)
        return;
    mem_free(params->item);
    for (int place = 0; place < PLACES; place++)
        block_free(&params->block[place]);
    mem_free(params);
}

int params_find(const struct params *params, const char *name)
{
    for (int i = 0; i < params->count; i++)
        if (strcmp(params->item[i].name, name) == 0)
            return i;
    return -1;
}

consm_status params_add(struct params *params, int *index, const char *name, int64_t rows,
                        int64_t cols, enum init init, bool trained)
{
    consm_status st = CONSM_OK;
    int known = params_find(params, name);
    if (known >= 0) {
        const struct parameter *old = &params->item[known];
        *index = known;
        if (old->rows == rows && old->cols == cols && old->trained == trained)
            return CONSM_OK;
        return status_fail(CONSM_EPROGRAM, "parameter %s is %lld x %lld: expected %lld x %lld",
                           name, (long long)old->rows, (long long)old->cols, (long long)rows,
                           (long long)cols);
    }
    if (params->block[PLACE_VALUE].memory)
        return status_fail(CONSM_EPROGRAM, "parameter %s was added after the values were allocated",
                           name);
    if (strlen(name) >= sizeof params->item->name)
        return status_fail(CONSM_EPROGRAM, "the parameter name %s is too long", name);
    int64_t values;
    if (rows < 0 || cols < 0 || __builtin_mul_overflow(rows, cols, &values) ||
        values > PARAMS_MOST - params->size)
        return status_fail(CONSM_EPROGRAM, "parameter %s cannot be %lld x %lld", name,
                           (long long)rows, (long long)cols);
    if (params->limit > 0 && (rows > params->limit || cols > params->limit ||
                              rows * cols > params->limit - params->numbers))
        return status_fail(CONSM_EPROGRAM,
                           "parameter %s is %lld x %lld, but at most %lld numbers are allowed",
                           name, (long long)rows, (long long)cols, (long long)params->limit);
    TRY(GROW(params->item, params->count, params->capacity, 1));
    struct parameter *added = &params->item[params->count];
    *added = (struct parameter){.rows = rows, .cols = cols, .init = init, .trained = trained};
    strcpy(added->name, name);
    added->offset = params->size;
    params->size += (rows * cols + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
    params->numbers += rows * cols;
    if (trained)
        params->trained += rows * cols;
    *index = params->count++;
done:
    return st;
}

consm_status params_allocate(struct params *params, struct backend *backend, enum place place)
{
    struct block *block = &params->block[place];
    if (block->memory)
        return CONSM_OK;
    return block_new(block, backend, (size_t)params->size * sizeof(float));
}

consm_status params_read(const float **out, struct params *params, enum place place)
{
    const void *host = NULL;
    consm_status st = block_read(&host, &params->block[place]);
    *out = host;
    return st;
}

consm_status params_write(float **out, struct params *params, enum place place)
{
    void *host = NULL;
    consm_status st = block_write(&host, &params->block[place]);
    *out = host;
    return st;
}

consm_status params_overwrite(float **out, struct params *params, enum place place)
{
    void *host = NULL;
    consm_status st = block_overwrite(&host, &params->block[place]);
    *out = host;
    return st;
}

consm_status params_follow(struct params *to, struct params *from)
{
    consm_status st = CONSM_OK;
    const float *source;
    float *target;
    TRY(params_read(&source, from, PLACE_VALUE));
    TRY(params_write(&target, to, PLACE_VALUE));
    for (int i = 0; i < to->count; i++) {
        const struct parameter *item = &to->item[i];
        int other = params_find(from, item->name);
        if (other < 0 || from->item[other].rows != item->rows ||
            from->item[other].cols != item->cols)
            TRY(status_fail(CONSM_EPROGRAM,
                            "the parameters to copy from have no %s of the same shape",
                            item->name));
        memcpy(target + item->offset, source + from->item[other].offset,
               (size_t)(item->rows * item->cols) * sizeof *target);
    }
done:
    return st;
}

consm_status params_memory(struct params *params, enum place place, const char *name, memory_fn see,
                           void *ctx)
{
    float *values;
    consm_status st = params_write(&values, params, place);
    if (st == CONSM_OK)
        see(ctx, name, values, (size_t)params->size * sizeof *values);
    return st;
}

/* A stream number from a name, so that adding a layer does not change the start of the others. */
static uint64_t name_hash(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
    return hash;
}

static float draw(struct rng *r, const struct parameter *item)
{
    double in = (double)item->rows, out = (double)item->cols;
    double uniform = 2 * rng_uniform(r) - 1;
    switch (item->init) {
    case INIT_ONE: return 1;
    case INIT_GLOROT: return (float)(uniform * sqrt(6 / (in + out)));
    case INIT_LINEAR: return (float)(uniform / sqrt(in));
    case INIT_NORMAL: return (float)(0.1 * rng_normal(r));
    default: return 0;
    }
}

consm_status params_init(struct params *params, uint64_t seed)
{
    consm_status st = CONSM_OK;
    float *value, *grad;
    TRY(params_overwrite(&value, params, PLACE_VALUE));
    memset(value, 0, (size_t)params->size * sizeof *value);
    if (params->block[PLACE_GRAD].version > 0) {
        TRY(params_overwrite(&grad, params, PLACE_GRAD));
        memset(grad, 0, (size_t)params->size * sizeof *grad);
    }
    for (int i = 0; i < params->count; i++) {
        const struct parameter *item = &params->item[i];
        struct rng r;
        rng_init(&r, seed, name_hash(item->name));
        for (int64_t k = 0; k < item->rows * item->cols; k++)
            value[item->offset + k] = draw(&r, item);
    }
done:
    return st;
}
