/* Stores a trail's blocks in a checkpoint as trail.NAME. The base has the names of the session's
 * memory, so a file looks the same before and after there is a base. */
#include "app/checkpoint_trail.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "trail."
enum { PREFIX_LENGTH = sizeof PREFIX - 1, BASE_LENGTH = sizeof TRAIL_BASE - 1 };

static bool is_base(const struct trail_block *b)
{
    return strncmp(b->name, TRAIL_BASE, BASE_LENGTH) == 0;
}

void checkpoint_see_trail(struct session *s, memory_fn see, void *ctx)
{
    char name[TRAIL_NAME + PREFIX_LENGTH];
    for (size_t i = 0; i < s->trail.count; i++) {
        const struct trail_block *b = &s->trail.block[i];
        snprintf(name, sizeof name, PREFIX "%s", b->name);
        if (!is_base(b))
            see(ctx, name, b->data, b->bytes);
    }
}

void checkpoint_see_base(struct session *s, memory_fn see, void *ctx)
{
    for (size_t i = 0; i < s->trail.count; i++) {
        const struct trail_block *b = &s->trail.block[i];
        if (is_base(b) && strcmp(b->name, TRAIL_BASE "point") != 0)
            see(ctx, b->name + BASE_LENGTH, b->data, b->bytes);
    }
}

/* "course.1.parameters": "parameters"; "leg.3.numbers": "numbers"; "leg.3": "point". */
static const char *kind_of(const char *name)
{
    const char *dot = strchr(name, '.');
    dot = dot ? strchr(dot + 1, '.') : NULL;
    return dot ? dot + 1 : "point";
}

consm_status checkpoint_read_trail(struct session *s, const struct safetensors *file,
                                   const char *path)
{
    consm_status st = CONSM_OK;
    for (int64_t i = 0; i < safetensors_count(file); i++) {
        const struct safetensors_tensor *t = safetensors_at(file, i);
        if (strncmp(t->name, PREFIX, PREFIX_LENGTH) != 0)
            continue;
        const char *name = t->name + PREFIX_LENGTH;
        if (t->type != SAFETENSORS_U8 || strlen(name) >= TRAIL_NAME ||
            strncmp(name, TRAIL_BASE, BASE_LENGTH) == 0)
            TRY(status_fail(CONSM_EFORMAT, "%s: block %.60s is invalid", path, name));
        TRY(checkpoint_block_sound(path, kind_of(name), t->data, t->bytes));
        TRY(trail_put(&s->trail, name, t->data, t->bytes));
    }
done:
    return st;
}

/* ---- the curve ----------------------------------------------------------- */

#define CURVE "curve"

void checkpoint_see_curve(const struct checkpoint_run *run, memory_fn see, void *ctx)
{
    const struct train_curve *c = run->curve;
    if (c && c->count > 0)
        see(ctx, CURVE, c->point, (size_t)c->count * sizeof *c->point);
}

consm_status checkpoint_read_curve(struct checkpoint_run *run, const struct safetensors *file,
                                   const char *path)
{
    consm_status st = CONSM_OK;
    const struct safetensors_tensor *t = safetensors_find(file, CURVE);
    struct train_curve *c = run->curve;
    if (!t || !c)
        return CONSM_OK;
    c->count = 0;
    if (t->type != SAFETENSORS_U8 || t->bytes % sizeof *c->point != 0)
        return status_fail(CONSM_EFORMAT, "%s: a learning curve is invalid", path);
    int64_t count = (int64_t)(t->bytes / sizeof *c->point);
    TRY(GROW(c->point, c->count, c->room, (size_t)count));
    memcpy(c->point, t->data, t->bytes);
    if (!curve_sound(c->point, count))
        TRY(status_fail(CONSM_EFORMAT, "%s: a learning curve is invalid", path));
    c->count = count;
done:
    return st;
}

/* ---- notes --------------------------------------------------------------- */

static const char *const keys[CHECKPOINT_NOTES] = {
    "format",       "version",      "model",        "dataset",    "data_sha256", "split",
    "graph_sha256", "roles_sha256", "instructions", "seed",       "config",      "asked",
    "layout",       "phase",        "steps",        "best_epoch", "best_val",    "best_loss"};

static consm_status remember(struct checkpoint_run *run, int which, const char *value)
{
    mem_free(run->note[which]);
    run->note[which] = value ? mem_strdup(value) : NULL;
    return value && !run->note[which] ? CONSM_ENOMEM : CONSM_OK;
}

consm_status checkpoint_note(struct safetensors_writer *w, struct checkpoint_run *run,
                             const char *key, const char *value)
{
    consm_status st = CONSM_OK;
    for (int i = 0; i < CHECKPOINT_NOTES; i++)
        if (strcmp(keys[i], key) == 0)
            TRY(remember(run, i, value));
    TRY(safetensors_note(w, key, value));
done:
    return st;
}

consm_status checkpoint_note_again(struct safetensors_writer *w, const struct checkpoint_run *run)
{
    consm_status st = CONSM_OK;
    for (int i = 0; i < CHECKPOINT_NOTES; i++)
        if (run->note[i])
            TRY(safetensors_note(w, keys[i], run->note[i]));
done:
    return st;
}

consm_status checkpoint_remember(struct checkpoint_run *run, const struct safetensors *file)
{
    consm_status st = CONSM_OK;
    for (int i = 0; i < CHECKPOINT_NOTES; i++)
        TRY(remember(run, i, safetensors_metadata(file, keys[i])));
done:
    return st;
}

void checkpoint_run_free(struct checkpoint_run *run)
{
    for (int i = 0; i < CHECKPOINT_NOTES; i++)
        mem_free(run->note[i]);
    memset(run->note, 0, sizeof run->note);
}
