/* Compares the last candidates by cross-validation over all labels (train/folds.h), if validation
 * nodes are too few to rank them. Not in the paper. */

/* Only those within one standard error of the best take part,
 * at most four. Each trains on every fold for its best number of updates so far. A finalist costs
 * ten short trainings, or five with 100 labels or more. */
#include "train/consm/race.h"

#include "train/folds.h"
#include <string.h>

bool consm_folds(const struct session *s)
{
    enum config_folds asked = s->options.config.folds;
    return asked != FOLDS_NO && !s->options.offer &&
           folds_apply(s->problem, s->judge.positive, asked == FOLDS_YES);
}

struct finalist {
    struct session *s;
    const struct trial *trial;
    const char *backbone;
    struct folds *folds;
    struct folds_course course;
};

/* Records how far a finalist's folds are, with the current fold's network. */
static consm_status note_fold(struct finalist *f, struct session *network)
{
    consm_status st = CONSM_OK;
    struct choice_fold *to = &f->s->choice->fold;
    struct snapshot at = to->own ? (struct snapshot){0} : to->at;
    if (to->own)
        choice_fold_free(to);
    st = snapshot_take(&at, &network->learner);
    to->at = at; /* also if it failed: it may have grown */
    TRY(st);
    *to = (struct choice_fold){.number = f->trial->number + 1,
                               .repeat = f->course.repeat,
                               .fold = f->course.fold,
                               .score = f->course.score,
                               .count = f->folds->judge.rows * f->folds->judge.classes,
                               .once = f->folds->once,
                               .logits = f->folds->logits,
                               .at = at};
done:
    return st;
}

/* Resumes this finalist from a checkpoint. */
static consm_status take_fold(struct finalist *f)
{
    struct choice_fold *from = &f->s->choice->fold;
    struct folds *folds = f->folds;
    int64_t count = folds->judge.rows * folds->judge.classes;
    if (from->number != f->trial->number + 1 || !from->own)
        return CONSM_OK;
    if (from->count != count || from->repeat >= folds->repeats || from->fold >= FOLDS)
        return status_fail(CONSM_EFORMAT, "the checkpoint contains invalid folds");
    memcpy(folds->once, from->once, (size_t)count * sizeof(float));
    memcpy(folds->logits, from->logits, (size_t)count * sizeof(float));
    f->course = (struct folds_course){from->repeat, from->fold, from->score, from->at};
    from->at = (struct snapshot){0};
    choice_fold_free(from);
    return CONSM_OK;
}

/* After every update: reports progress and writes a checkpoint when one is due or the run must
 * stop. */
static consm_status hear(void *ctx, struct session *network)
{
    consm_status st = CONSM_OK;
    struct finalist *f = ctx;
    struct session *s = f->s;
    const struct train_options *o = &s->options;
    struct progress heard = {.seed = o->seed,
                             .candidate = f->trial->number + 1,
                             .backbone = f->backbone,
                             .best_val = -1,
                             .fraction = s->choice->told};
    bool stop = s->ranks->total(o->progress && o->progress(o->progress_ctx, &heard)) != 0;
    bool due = o->checkpoint_every > 0 && ++s->choice->unsaved >= o->checkpoint_every;
    if (o->checkpoint && (stop || due)) {
        s->choice->unsaved = 0;
        TRY(note_fold(f, network));
        TRY(o->checkpoint(o->checkpoint_ctx, s));
    }
    if (stop)
        TRY(status_fail(CONSM_ECANCEL, "stopped during the choice of the backbone"));
done:
    return st;
}

static consm_status try_finalist(struct trial *t, struct session *s, struct folds *f)
{
    consm_status st = CONSM_OK;
    struct train_options options;
    double score;
    TRY(consm_trial_options(&options, s, t));
    struct finalist one = {.s = s, .trial = t, .backbone = options.model->name, .folds = f};
    TRY(take_fold(&one));
    st = folds_run(&score, f, &options, t->at.best_step, s->backend, &one.course, hear, &one);
    snapshot_free(&one.course.at);
    choice_fold_free(&s->choice->fold); /* its arrays belong to the folds */
    t->folded = st == CONSM_OK || st == CONSM_ENUMERIC;
    if (st == CONSM_OK)
        t->fold = score;
    if (st == CONSM_ENUMERIC) /* it diverged with these labels */
        st = CONSM_OK;
done:
    return st;
}

void consm_take_folded(struct candidate_choice *c)
{
    int64_t best = 0;
    for (int64_t i = 1; i < c->count; i++)
        if (c->trial[i].fold > c->trial[best].fold)
            best = i;
    struct trial taken = c->trial[best];
    memmove(&c->trial[1], &c->trial[0], (size_t)best * sizeof taken);
    c->trial[0] = taken;
}

consm_status consm_compare_finalists(struct session *s)
{
    consm_status st = CONSM_OK;
    struct candidate_choice *c = s->choice;
    struct folds f = {0};
    double best = c->trial[0].val, error = folds_error(best < 0 ? 0 : best, &s->judge);
    TRY(folds_open(&f, s->problem, &s->judge, s->options.seed, race_quick(s)));
    for (int64_t i = 0; i < c->count && !session_late(s); i++) {
        struct trial *t = &c->trial[i];
        if (!t->diverged && t->val >= best - error && !t->folded)
            TRY(try_finalist(t, s, &f));
    }
    consm_take_folded(c);
    if (c->trial[0].fold >= 0)
        c->folds = (struct train_folds){
            .labels = f.judge.rows,
            .validating = s->judge.rows,
            .folds = FOLDS,
            .repeats = f.repeats,
            .score = c->trial[0].fold,
            .error = folds_error(c->trial[0].fold, &f.judge),
        };
done:
    folds_close(&f);
    return st;
}
