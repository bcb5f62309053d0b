/* Records finished work over other edges in the session's trail: trials ("legs"), and the rounds
 * over the best trial ("courses"). A resumed run takes the results from there. Not in the
 * paper. */
#include "train/consm/clean.h"

#include <stdio.h>
#include <string.h>

/* ---- trials -------------------------------------------------------------- */

static const char *leg_name(char out[TRAIL_NAME], const struct session *s)
{
    const struct consm *own = s->own;
    snprintf(out, TRAIL_NAME, "leg.%lld", (long long)own->clean.legs);
    return out;
}

/* Records how far a trial came; one that diverged has no session. */
static consm_status note_leg(struct session *s, struct session *trial)
{
    char name[TRAIL_NAME];
    const struct trail_point diverged = {.more = 1};
    if (!s->options.checkpoint)
        return CONSM_OK;
    if (!trial)
        return trail_put(&s->trail, leg_name(name, s), &diverged, sizeof diverged);
    return trail_put_learner(&s->trail, leg_name(name, s), &trial->learner, 0);
}

/* Resumes this trial from a checkpoint. */
consm_status consm_take_leg(struct consm_attempt *t, struct session *s)
{
    consm_status st = CONSM_OK;
    char name[TRAIL_NAME];
    const struct trail_point *point = trail_find(&s->trail, leg_name(name, s), sizeof *point);
    bool found;
    int64_t more;
    if (!t->session || !point)
        return CONSM_OK;
    if (point->more) {
        session_free(t->session);
        t->session = NULL;
        return CONSM_OK;
    }
    TRY(trail_take_learner(&found, &s->trail, name, &t->session->learner, &more));
done:
    return st;
}

/* After updates: writes a checkpoint when one is due or the run must stop. */
consm_status consm_save_leg(struct session *s, struct session *trial, int64_t updates, bool stop)
{
    consm_status st = CONSM_OK;
    const struct train_options *o = &s->options;
    struct consm_clean *clean = &((struct consm *)s->own)->clean;
    clean->unsaved += updates;
    bool due = o->checkpoint_every > 0 && clean->unsaved >= o->checkpoint_every;
    stop = s->ranks->total(stop) != 0; /* any rank may have been told to stop */
    if (o->checkpoint && (stop || due)) {
        clean->unsaved = 0;
        TRY(note_leg(s, trial));
        TRY(o->checkpoint(o->checkpoint_ctx, s));
    }
    if (stop)
        TRY(status_fail(CONSM_ECANCEL, "stopped during the trials that drop or add edges"));
done:
    return st;
}

consm_status consm_end_leg(struct session *s, struct session *trial)
{
    consm_status st = note_leg(s, trial);
    ((struct consm *)s->own)->clean.legs++;
    return st;
}

/* ---- courses ------------------------------------------------------------- */

static const char *course_name(char out[TRAIL_NAME], const struct session *s, const char *what)
{
    const struct consm *own = s->own;
    snprintf(out, TRAIL_NAME, "course.%lld.%s", (long long)own->clean.course_number, what);
    return out;
}

consm_status consm_note_course(struct session *s)
{
    consm_status st = CONSM_OK;
    const struct consm *own = s->own;
    size_t edges = (size_t)own->edges->count;
    char name[TRAIL_NAME];
    if (own->clean.course_number == 0)
        return CONSM_OK;
    TRY(session_put_memory(s, course_name(name, s, "")));
    TRY(trail_put(&s->trail, course_name(name, s, "clean.dropped"), own->clean.dropped, edges));
    TRY(trail_put(&s->trail, course_name(name, s, "clean.best"), own->clean.best, edges));
done:
    return st;
}

static bool flags_sound(const uint8_t *flag, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (flag[i] > 1)
            return false;
    return true;
}

/* Starts a course, or resumes it from a checkpoint. */
consm_status consm_begin_course(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_clean *clean = &own->clean;
    int64_t edges = own->edges->count;
    char name[TRAIL_NAME];
    bool found;
    clean->course_number = ++clean->courses;
    const uint8_t *dropped =
        trail_find(&s->trail, course_name(name, s, "clean.dropped"), (size_t)edges);
    const uint8_t *best = trail_find(&s->trail, course_name(name, s, "clean.best"), (size_t)edges);
    if (!dropped || !best)
        return CONSM_OK;
    if (!flags_sound(dropped, edges) || !flags_sound(best, edges))
        TRY(status_fail(CONSM_EFORMAT, "the checkpoint contains invalid edges"));
    if (memcmp(dropped, clean->dropped, (size_t)edges) != 0)
        TRY(consm_train_without(s, dropped));
    memcpy(clean->best, best, (size_t)edges);
    TRY(session_take_memory(&found, s, course_name(name, s, "")));
done:
    return st;
}

/* Stores the result in the trail, so that the rounds are not repeated. */
consm_status consm_end_course(struct session *s)
{
    consm_status st = CONSM_OK;
    if (s->options.checkpoint)
        TRY(consm_note_course(s));
    ((struct consm *)s->own)->clean.course_number = 0;
done:
    return st;
}
