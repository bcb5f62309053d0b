/* Runs epochs ahead, as many at once as the caller promised to take, on backends whose memory the
 * host does not see. The caller then gets them one by one. */
#include "train/session.h"

#include "base/clock.h"
#include <math.h>

enum { FIRST_RUN = 8 };                 /* epochs before the time of one is known */
static const double RUN_SECONDS = 0.05; /* progress may be silent for about this long */

/* The course of the current lesson. */
static struct course **course_now(struct session *s)
{
    return &s->ahead.course[s->without_extra];
}

static consm_status open_course(struct session *s, struct course **out, const struct lesson *lesson)
{
    const struct validator *v = &s->validator;
    struct course_parts parts = {.train = lesson->program,
                                 .eval = v->program ? v->program : s->learner.eval,
                                 .loss = lesson->loss,
                                 .logits = v->program ? v->logits : s->logits,
                                 .rows = s->ahead.rows,
                                 .label = v->program ? s->judge.label : s->problem->label,
                                 .metric = judge_metric(&s->judge),
                                 .positive = s->judge.positive,
                                 .ties = s->options.config.ties == TIES_LOSS,
                                 .always = s->validation == 0};
    return course_new(out, &parts);
}

static bool possible(const struct session *s)
{
    const struct judge *j = &s->judge;
    if (j->metric != METRIC_ACCURACY &&
        (j->classes > KEEP_MOST_CLASSES || j->rows > KEEP_MOST_SCORES / j->classes))
        return false;
    return s->learner.train.program && !s->learner.params->block[PLACE_VALUE].memory->host &&
           course_possible(s->learner.eval) && s->backend->kind->supports(s->backend, OP_KEEP);
}

static consm_status list_rows(struct session *s)
{
    consm_status st = CONSM_OK;
    const int64_t count = s->judge.rows;
    int32_t *all = NULL;
    if (count > 0)
        TRY(validator_open(s));
    if (s->validator.program)
        TRY(NEW(all, count));
    for (int64_t k = 0; all && k < count; k++)
        all[k] = (int32_t)k;
    TRY(index_new(&s->ahead.rows, count, all ? count : s->problem->nodes));
    TRY(index_set(s->ahead.rows, all ? all : s->judge.node));
    s->ahead.rows->fixed = true;
done:
    mem_free(all);
    return st;
}

consm_status ahead_open(struct session *s)
{
    consm_status st = CONSM_OK;
    const struct lesson *lesson = s->without_extra ? &s->plain : &s->learner.train;
    bool opened = s->ahead.opened;
    s->ahead.opened = true;
    if (!opened && possible(s))
        TRY(list_rows(s));
    if (s->ahead.rows && lesson->program && !*course_now(s))
        TRY(open_course(s, course_now(s), lesson));
done:
    return st;
}

void ahead_close(struct session *s)
{
    for (int i = 0; i < 2; i++)
        course_free(s->ahead.course[i]);
    index_free(s->ahead.rows);
    s->ahead = (struct ahead){0};
}

bool session_ahead(const struct session *s)
{
    return s->ahead.taken < s->ahead.record.count;
}

void session_promise(struct session *s, int64_t epochs)
{
    if (!session_ahead(s))
        s->ahead.promised = epochs;
}

bool ahead_possible(const struct session *s)
{
    return s->ahead.course[s->without_extra] != NULL;
}

/* How many epochs to run now, starting with `number`. */
static int64_t how_many(const struct session *s, int64_t number)
{
    const struct ahead *a = &s->ahead;
    int64_t every = s->options.checkpoint_every;
    int64_t most = a->seconds > 0 ? (int64_t)fmin(RUN_SECONDS / a->seconds, KEEP_ROOM) : FIRST_RUN;
    most = a->promised < most ? a->promised : most;
    if (every > 0 && every - (number - 1) % every < most)
        most = every - (number - 1) % every;
    return most > 1 ? most : 1;
}

static consm_status run_ahead(struct session *s, int64_t number)
{
    consm_status st = CONSM_OK;
    struct ahead *a = &s->ahead;
    const struct learner *l = &s->learner;
    const int64_t epochs = how_many(s, number);
    const double begin = clock_seconds();
    a->record.score = l->best;
    a->record.tie = l->best_loss;
    TRY(course_run(*course_now(s), &(struct step){l->seed, (uint64_t)l->steps}, epochs,
                   &a->record));
    a->seconds = s->ranks->first((clock_seconds() - begin) / (double)epochs);
    a->promised -= epochs;
    a->taken = 0;
done:
    return st;
}

consm_status ahead_epoch(struct session *s, int64_t number, struct progress *progress)
{
    consm_status st = CONSM_OK;
    struct ahead *a = &s->ahead;
    struct learner *l = &s->learner;
    if (!session_ahead(s))
        TRY(run_ahead(s, number));
    const struct kept_epoch *now = &a->record.epoch[a->taken++];
    progress->loss = now->loss;
    TRY(learner_took(l, now->loss));
    progress->val_acc = now->score;
    if (now->kept) {
        l->best = progress->val_acc;
        l->best_loss = now->tie;
        l->best_step = l->steps;
    }
done:
    return st;
}
