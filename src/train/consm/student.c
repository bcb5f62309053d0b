/* The student (--student). Not in the paper. */

/*
 * The candidates that were trained to the end vote on every node without a label. The chosen
 * network then trains again from scratch on the given labels and these votes. It replaces the
 * winner unless it validates clearly worse (self-training with a committee: Blum and Mitchell 1998,
 * Hinton et al. 2015). Validation nodes keep their role and labels, so the comparison is fair; no
 * other label is read. If the student was taken, its votes also teach networks trained from scratch
 * later: those over other edges (clean_trial.c) and a refit on all labels.
 */
#include "train/consm/race.h"
#include "train/folds.h"

#include <math.h>
#include <stdlib.h>

void committee_free(struct committee *c)
{
    mem_free(c->chance);
    *c = (struct committee){0};
}

consm_status committee_hear(struct committee *c, const float *logits, const struct problem *p)
{
    consm_status st = CONSM_OK;
    int64_t classes = p->classes;
    if (!c->chance)
        TRY(ZNEW(c->chance, p->nodes * classes));
    for (int64_t i = 0; i < p->nodes; i++) {
        const float *row = logits + i * classes;
        double most = row[0], sum = 0;
        for (int64_t k = 1; k < classes; k++)
            most = row[k] > most ? row[k] : most;
        for (int64_t k = 0; k < classes; k++)
            sum += exp(row[k] - most);
        for (int64_t k = 0; k < classes; k++)
            c->chance[i * classes + k] += exp(row[k] - most) / sum;
    }
    c->members++;
done:
    return st;
}

/* The committee's vote on a node, and its confidence: the mean probability of that class. */
struct vote {
    int32_t label;
    bool right; /* for a validation node */
    double sure;
};

static struct vote vote_on(const struct committee *c, int64_t i, int32_t classes)
{
    const double *chance = c->chance + i * classes;
    int32_t best = 0;
    for (int32_t k = 1; k < classes; k++)
        if (chance[k] > chance[best])
            best = k;
    return (struct vote){best, false, chance[best] / (double)c->members};
}

static int surest_first(const void *a, const void *b)
{
    double x = ((const struct vote *)a)->sure, y = ((const struct vote *)b)->sure;
    return x > y ? -1 : x < y;
}

/* The required confidence: the lowest at which nine in ten validation nodes of at least that
 * confidence are right; at least ten nodes. Infinite: no vote counts. */
enum { LEAST_VOTES = 10 };
static const double PRECISION = 0.9;

static consm_status find_sure(double *out, const struct committee *c, const struct problem *p)
{
    consm_status st = CONSM_OK;
    struct vote *vote = NULL;
    int64_t count = 0, right = 0;
    *out = INFINITY;
    TRY(NEW(vote, p->nodes));
    for (int64_t i = 0; i < p->nodes; i++)
        if (p->role[i] == SPLIT_VAL && p->label[i] >= 0) {
            vote[count] = vote_on(c, i, p->classes);
            vote[count].right = vote[count].label == p->label[i];
            count++;
        }
    qsort(vote, (size_t)count, sizeof *vote, surest_first);
    for (int64_t k = 0; k < count; k++) {
        right += vote[k].right;
        bool last = k + 1 == count || vote[k + 1].sure < vote[k].sure;
        if (last && k + 1 >= LEAST_VOTES && (double)right >= PRECISION * (double)(k + 1))
            *out = vote[k].sure;
    }
done:
    mem_free(vote);
    return st;
}

consm_status committee_vote(int32_t **out, int64_t *count, const struct committee *c,
                            const struct problem *p)
{
    consm_status st = CONSM_OK;
    double sure;
    *count = 0;
    TRY(find_sure(&sure, c, p));
    TRY(NEW(*out, p->nodes));
    for (int64_t i = 0; i < p->nodes; i++) {
        struct vote vote = vote_on(c, i, p->classes);
        bool voted = !consm_known(p, (int32_t)i) && vote.sure >= sure;
        (*out)[i] = voted ? vote.label : -1;
        *count += voted;
    }
done:
    return st;
}

void voted_free(struct voted *v)
{
    mem_free(v->label);
    mem_free(v->role);
    *v = (struct voted){0};
}

consm_status voted_problem(struct problem *out, struct voted *room, const int32_t *vote,
                           const struct problem *p)
{
    consm_status st = CONSM_OK;
    if (!room->label) {
        TRY(NEW(room->label, p->nodes));
        TRY(NEW(room->role, p->nodes));
        for (int64_t i = 0; i < p->nodes; i++) {
            bool known = consm_known(p, (int32_t)i);
            bool voted =
                !known && vote[i] >= 0 && vote[i] < p->classes; /* a file may hold more classes */
            room->label[i] = known ? p->label[i] : voted ? vote[i] : -1;
            room->role[i] = known ? p->role[i] : (uint8_t)(voted ? SPLIT_TRAIN : SPLIT_NONE);
        }
    }
    *out = *p;
    out->label = room->label;
    out->role = room->role;
done:
    return st;
}

const int32_t *session_votes(const struct session *s)
{
    return s->options.vote ? s->options.vote : s->choice ? s->choice->vote : NULL;
}

/* The network of the repeated warm-up, restored if a checkpoint has it. */
static consm_status open_repeat(struct session **out, struct session *s, struct problem *problem)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct session *student = NULL;
    const struct snapshot *at = &s->choice->trial[0].at;
    struct train_options options = {
        .seed = s->options.seed, .config = s->options.config, .positive = s->options.positive};
    TRY(voted_problem(problem, &own->voted, s->options.vote, s->problem));
    TRY(model_find(&options.model, config_names_backbone[options.config.backbone]));
    TRY(session_new(&student, problem, &options, s->backend));
    if (at->size > 0 && at->size != student->learner.params->size)
        TRY(status_fail(CONSM_EFORMAT,
                        "the checkpoint has %lld parameters of the refit: expected %lld",
                        (long long)at->size, (long long)student->learner.params->size));
    TRY(snapshot_put(at, &student->learner));
    *out = student;
    student = NULL;
done:
    session_free(student);
    return st;
}

consm_status consm_repeat_student(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct session *student = NULL;
    struct progress heard = {.seed = s->options.seed};
    double score;
    TRY(ZNEW(s->choice, 1));
    struct trial *t = &s->choice->trial[0];
    s->choice->asked = s->options.config;
    s->choice->entered = s->choice->count = 1;
    *t = (struct trial){.val = -1, .fold = -1};
    if (s->options.take_up)
        TRY(s->options.take_up(s->options.checkpoint_ctx, s));
    if (s->choice->over) /* the checkpoint has the session that took it over */
        return CONSM_OK;
    TRY(open_repeat(&student, s, &own->repeated));
    while (student->learner.steps < s->options.config.warmup) {
        TRY(session_step(student, &heard.loss));
        t->course.done = student->learner.steps;
        TRY(consm_save_choice(s, t, student, 1,
                              s->options.progress &&
                                  s->options.progress(s->options.progress_ctx, &heard)));
    }
    TRY(session_validate(&score, student));
    own->winner = student;
    student = NULL;
    s->choice->over = true;
    snapshot_free(&t->at);
done:
    session_free(student);
    return st;
}

/* The winner is the best of several noisy scores, which flatters it; the student has only one. So
 * it may validate worse by a standard error. */
bool student_replaces(double student, double winner, const struct judge *judge)
{
    return student >= winner - folds_error(winner, judge);
}

bool consm_counts(const struct session *s)
{
    enum config_metric by = s->judge.metric;
    return by == METRIC_ACCURACY || by == METRIC_MACRO_F1 || by == METRIC_BALANCED_ACCURACY;
}

bool consm_has_committee(const struct session *s)
{
    return s->options.config.backbone == BACKBONE_AUTO && consm_counts(s) && !race_quick(s) &&
           !s->problem->graph->partition;
}

bool consm_has_student(const struct session *s)
{
    return s->options.config.student == STUDENT_YES && consm_has_committee(s);
}
