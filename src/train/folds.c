/* Divides labels into folds and trains without each. */
#include "train/folds.h"

#include "base/rng.h"
#include <math.h>
#include <string.h>

bool folds_rare(const struct problem *p, int32_t positive)
{
    int64_t count[2] = {0}, positives = 0;
    for (int64_t i = 0; i < p->nodes; i++) {
        if (p->label[i] < 0 || p->role[i] != SPLIT_VAL)
            continue;
        positives += p->label[i] == positive;
        if (p->classes == 2)
            count[p->label[i]]++;
    }
    if (positive < 0)
        positives = count[0] < count[1] ? count[0] : count[1];
    return (positive >= 0 || p->classes == 2) && positives < FOLDS_FEW_POSITIVES;
}

bool folds_apply(const struct problem *p, int32_t positive, bool anyway)
{
    int64_t validating = 0, labels = 0;
    if (p->graph->partition)
        return false;
    for (int64_t i = 0; i < p->nodes; i++) {
        if (p->label[i] < 0 || (p->role[i] != SPLIT_TRAIN && p->role[i] != SPLIT_VAL))
            continue;
        labels++;
        validating += p->role[i] == SPLIT_VAL;
    }
    bool few = validating < FOLDS_FEW_NODES && labels <= FOLDS_MOST_LABELS;
    return (folds_rare(p, positive) || few || anyway) && validating > 0 &&
           labels >= FOLDS_LEAST_LABELS;
}

/* Deals the nodes of each class out in a random order; the next class starts where the last one
 * ended, so that folds have equal size. */
static consm_status deal(struct folds *f, uint64_t seed)
{
    consm_status st = CONSM_OK;
    const struct judge *j = &f->judge;
    int32_t *member = NULL;
    struct rng rng;
    TRY(NEW(member, j->rows));
    rng_init(&rng, seed, 0x666f6c6473u);
    for (int r = 0; r < f->repeats; r++) {
        int64_t dealt = 0;
        for (int32_t k = 0; k < j->classes; k++) {
            int64_t count = 0;
            for (int64_t i = 0; i < j->rows; i++)
                if (j->label[i] == k)
                    member[count++] = (int32_t)i;
            rng_shuffle(&rng, member, count);
            for (int64_t i = 0; i < count; i++)
                f->fold[r * j->rows + member[i]] = (uint8_t)(dealt++ % FOLDS);
        }
    }
done:
    mem_free(member);
    return st;
}

consm_status folds_open(struct folds *f, const struct problem *problem, const struct judge *judge,
                        uint64_t seed, bool quick)
{
    consm_status st = CONSM_OK;
    *f = (struct folds){.problem = problem, .part = *problem};
    TRY(NEW(f->role, problem->nodes));
    f->part.role = f->role;
    for (int64_t i = 0; i < problem->nodes; i++)
        f->role[i] = problem->role[i] == SPLIT_TRAIN ? (uint8_t)SPLIT_VAL : problem->role[i];
    TRY(judge_open(&f->judge, &f->part, judge->metric, judge->positive));
    f->repeats = quick || f->judge.rows >= FOLDS_FEW_LABELS ? 1 : FOLDS_MOST_REPEATS;
    TRY(NEW(f->fold, f->repeats * f->judge.rows));
    TRY(NEW(f->logits, f->judge.rows * problem->classes));
    TRY(NEW(f->once, f->judge.rows * problem->classes));
    TRY(deal(f, seed));
    return CONSM_OK;
done:
    folds_close(f);
    return st;
}

void folds_close(struct folds *f)
{
    judge_close(&f->judge);
    mem_free(f->role);
    mem_free(f->fold);
    mem_free(f->logits);
    mem_free(f->once);
    *f = (struct folds){0};
}

/* Nodes of the fold have no role; the other labelled nodes train. */
static int64_t set_roles(struct folds *f, int repeat, int fold)
{
    const struct judge *j = &f->judge;
    int64_t training = 0;
    for (int64_t i = 0; i < f->problem->nodes; i++)
        f->role[i] = SPLIT_NONE;
    for (int64_t k = 0; k < j->rows; k++)
        if (f->fold[repeat * j->rows + k] != fold) {
            f->role[j->node[k]] = SPLIT_TRAIN;
            training++;
        }
    return training;
}

static consm_status train_without(struct folds *f, const struct train_options *options,
                                  int64_t updates, struct backend *backend, struct folds_course *at,
                                  folds_heard_fn heard, void *ctx)
{
    consm_status st = CONSM_OK;
    struct session *s = NULL;
    const struct judge *j = &f->judge;
    const float *logits;
    double loss;
    size_t c = (size_t)f->problem->classes;
    int repeat = (int)at->repeat, fold = (int)at->fold;
    if (set_roles(f, repeat, fold) == 0)
        return CONSM_OK;
    TRY(session_new(&s, &f->part, options, backend));
    if (at->at.size > 0 && at->at.size != s->learner.params->size)
        TRY(status_fail(CONSM_EFORMAT,
                        "the checkpoint has %lld parameters of a fold: expected %lld",
                        (long long)at->at.size, (long long)s->learner.params->size));
    TRY(snapshot_put(&at->at, &s->learner));
    while (s->learner.steps < updates) {
        TRY(session_step(s, &loss));
        if (heard)
            TRY(heard(ctx, s));
    }
    TRY(session_logits(&logits, s));
    for (int64_t k = 0; k < j->rows; k++)
        if (f->fold[repeat * j->rows + k] == fold)
            memcpy(f->once + (size_t)k * c, logits + (size_t)j->node[k] * c, c * sizeof *logits);
done:
    session_free(s);
    return st;
}

consm_status folds_run(double *score, struct folds *f, const struct train_options *options,
                       int64_t updates, struct backend *backend, struct folds_course *course,
                       folds_heard_fn heard, void *ctx)
{
    consm_status st = CONSM_OK;
    struct train_options plain = *options;
    size_t count = (size_t)(f->judge.rows * f->problem->classes);
    plain.config.epochs = updates > 0 ? updates : 1;
    plain.config.metric = f->judge.metric;
    plain.progress = NULL;
    plain.checkpoint = NULL;
    struct folds_course begins = {0}, *at = course ? course : &begins;
    if (at->repeat == 0 && at->fold == 0)
        memset(f->logits, 0, count * sizeof *f->logits);
    for (; at->repeat < f->repeats; at->repeat++) {
        if (at->fold == 0)
            memset(f->once, 0, count * sizeof *f->once);
        for (; at->fold < FOLDS; at->fold++) {
            TRY(train_without(f, &plain, plain.config.epochs, backend, at, heard, ctx));
            snapshot_free(&at->at);
        }
        at->fold = 0;
        at->score += judge_score(&f->judge, f->once, true) / f->repeats;
        for (size_t i = 0; i < count; i++)
            f->logits[i] += f->once[i] / (float)f->repeats;
    }
    *score = at->score;
done:
    return st;
}

double folds_error(double score, const struct judge *j)
{
    int64_t count = j->rows;
    if (j->metric == METRIC_AVERAGE_PRECISION) {
        count = 0;
        for (int64_t k = 0; k < j->rows; k++)
            count += j->label[k] == j->positive;
    }
    /* Laplace's rule: a few nodes that are all right are not certainty. */
    double n = (double)count, share = (score * n + 1) / (n + 2);
    return count > 0 ? sqrt(share * (1 - share) / n) : 1;
}
