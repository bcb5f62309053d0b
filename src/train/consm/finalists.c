/* The last candidates compared by folds over all labels (train/folds.h), where so few nodes
 * validate that their order is chance. Only those within one standard error of the best take part,
 * four at most, and each trains on every part for as many updates as were best for it before: the
 * price is that of ten short trainings a finalist, or of five from 100 labels on. */
#include "train/consm/consm.h"

#include "backends/ranks.h"
#include "train/folds.h"
#include <string.h>

bool consm_folds(const struct session *s)
{
    enum config_folds asked = s->options.config.folds;
    return asked != FOLDS_NO && !s->options.offer && folds_apply(s->problem, asked == FOLDS_YES);
}

struct finalist {
    struct session *s;
    const struct trial *trial;
    const char *backbone;
};

/* After every update: progress, and a stop with a checkpoint when it is asked for. A finalist that
 * is over is not trained again. */
static consm_status hear(void *ctx)
{
    consm_status st = CONSM_OK;
    const struct finalist *f = ctx;
    struct session *s = f->s;
    const struct train_options *o = &s->options;
    struct progress heard = {.seed = o->seed,
                             .candidate = f->trial->number + 1,
                             .backbone = f->backbone,
                             .best_val = -1,
                             .fraction = s->choice->told};
    bool stop = ranks_total(o->progress && o->progress(o->progress_ctx, &heard)) != 0;
    if (stop && o->checkpoint)
        TRY(o->checkpoint(o->checkpoint_ctx, s));
    if (stop)
        TRY(status_fail(CONSM_ECANCEL, "stopped while the backbone was being chosen"));
done:
    return st;
}

static consm_status try_finalist(struct trial *t, struct session *s, struct folds *f)
{
    consm_status st = CONSM_OK;
    struct train_options options;
    double score;
    TRY(consm_trial_options(&options, s, t));
    struct finalist one = {s, t, options.model->name};
    st = folds_run(&score, f, &options, t->at.best_step, s->backend, hear, &one);
    if (st == CONSM_OK)
        t->fold = score;
    if (st == CONSM_ENUMERIC) /* with these labels */
        st = CONSM_OK;
done:
    return st;
}

static void take_best(struct candidate_choice *c)
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
    bool quick = s->options.config.candidates == CANDIDATES_FEW ||
                 s->problem->graph->nnz > CONSM_MILLION_ENTRIES;
    TRY(folds_open(&f, s->problem, &s->judge, s->options.seed, quick));
    for (int64_t i = 0; i < c->count && !session_late(s); i++) {
        struct trial *t = &c->trial[i];
        if (!t->diverged && t->val >= best - error && t->fold < 0)
            TRY(try_finalist(t, s, &f));
    }
    take_best(c);
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
