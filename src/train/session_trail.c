/* Copies a session's memory to blocks of its trail and back: the base of checkpoints, and the
 * rounds over other edges that follow it. */
#include "train/session.h"

#include <stdio.h>
#include <string.h>

/* Copies blocks of the session's memory into its trail, or out of it. */
struct copying {
    consm_status status;
    struct trail *trail;
    const char *prefix;
};

static void copy_in(void *ctx, const char *name, void *data, size_t bytes)
{
    struct copying *c = ctx;
    char full[TRAIL_NAME];
    snprintf(full, sizeof full, "%.16s%.46s", c->prefix, name);
    if (c->status == CONSM_OK)
        c->status = trail_put(c->trail, full, data, bytes);
}

static void copy_out(void *ctx, const char *name, void *data, size_t bytes)
{
    struct copying *c = ctx;
    char full[TRAIL_NAME];
    snprintf(full, sizeof full, "%.16s%.46s", c->prefix, name);
    const void *block = trail_find(c->trail, full, bytes);
    if (block)
        memcpy(data, block, bytes);
    else if (c->status == CONSM_OK)
        c->status =
            status_fail(CONSM_EFORMAT, "the checkpoint has no %s of %zu bytes", full, bytes);
}

consm_status session_put_memory(struct session *s, const char *prefix)
{
    consm_status st = CONSM_OK;
    struct copying c = {.trail = &s->trail, .prefix = prefix};
    struct trail_point point = trail_point_of(&s->learner);
    TRY(session_memory(s, copy_in, &c));
    copy_in(&c, "point", &point, sizeof point);
    TRY(c.status);
done:
    return st;
}

consm_status session_take_memory(bool *found, struct session *s, const char *prefix)
{
    consm_status st = CONSM_OK;
    struct copying c = {.trail = &s->trail, .prefix = prefix};
    char name[TRAIL_NAME];
    snprintf(name, sizeof name, "%.16spoint", prefix);
    const struct trail_point *point = trail_find(&s->trail, name, sizeof *point);
    *found = point != NULL;
    if (!point)
        return CONSM_OK;
    if (s->procedure && s->procedure->place)
        TRY(s->procedure->place(s, copy_out, &c));
    TRY(c.status);
    TRY(session_memory(s, copy_out, &c));
    TRY(c.status);
    session_touch(s, NULL);
    if (!trail_point_put(&s->learner, point) ||
        (s->procedure && s->procedure->sound && !s->procedure->sound(s)))
        TRY(status_fail(CONSM_EFORMAT, "the checkpoint contains invalid values of %s", name));
done:
    return st;
}

consm_status session_fix_base(struct session *s)
{
    consm_status st = CONSM_OK;
    if (!s->options.checkpoint || s->trail.based)
        return CONSM_OK;
    TRY(s->options.checkpoint(s->options.checkpoint_ctx, s));
    TRY(session_put_memory(s, TRAIL_BASE));
    s->trail.based = true;
    s->trail.unsaved = false;
done:
    return st;
}
