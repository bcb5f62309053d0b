/* Chooses ConSM's backbone, or only the features of a given one, by successive halving (Jamieson
 * and Talwalkar 2016). Not in the paper. */

/*
 * All candidates train for part of the warm-up, the best by validation continue, until one has
 * completed it. The warm-up takes its parameters over and is then finished. Only training and
 * validation labels are read.
 */
#include "train/consm/clean.h"
#include "train/consm/race.h"

#include <math.h>
#include <string.h>

enum { OFFERED = 4 }; /* candidates that an ensemble gets */

/* The number of configurations to choose from; 0 if everything is given. */
static int64_t choices(const struct config *c)
{
    if (c->backbone == BACKBONE_AUTO)
        return c->candidates == CANDIDATES_FEW ? CONSM_CANDIDATES / 2 : CONSM_CANDIDATES;
    return c->normalize_features == FEATURES_AUTO ? 2 : 0;
}

/* Trains all candidates up to a rung and sorts them, best first; those without validation come
 * last. */
static consm_status climb(struct race *r, int rung)
{
    consm_status st = race_climb(r, rung);
    if (st == CONSM_OK)
        choice_order(r->of);
    return st;
}

/* Validation nodes of the metric's class. */
static int64_t positives(const struct judge *j)
{
    int64_t count = 0;
    for (int64_t k = 0; k < j->rows; k++)
        count += j->label[k] == j->positive;
    return count;
}

enum { FEW_POSITIVES = 30 };

void consm_take_likeliest(struct candidate_choice *of, const struct judge *j)
{
    struct trial *trial = of->trial;
    int64_t count = positives(j), least = 0;
    double best = trial[0].val;
    if (j->metric != METRIC_AVERAGE_PRECISION || count == 0 || count >= FEW_POSITIVES)
        return;
    double error = sqrt(best * (1 - best) / (double)count);
    for (int64_t i = 1; i < of->count; i++)
        if (!trial[i].diverged && trial[i].val >= best - error && trial[i].loss < trial[least].loss)
            least = i;
    struct trial taken = trial[least];
    memmove(&trial[1], &trial[0], (size_t)least * sizeof taken);
    trial[0] = taken;
}

/* Copies a candidate's best parameters, and what it predicts with them. */
static consm_status note_finalist(struct candidate_choice *of, const struct trial *t,
                                  struct session *trained)
{
    consm_status st = CONSM_OK;
    struct choice_finalist *f = &of->finalist[of->finalists++];
    const float *logits;
    of->cells = trained->problem->nodes * trained->problem->classes;
    TRY(choice_finalist_make(f, t->number, &trained->learner));
    TRY(session_logits(&logits, trained));
    TRY(NEW(f->logits, of->cells));
    memcpy(f->logits, logits, (size_t)of->cells * sizeof *logits);
done:
    return st;
}

/* All candidates that were trained to the end, with their best parameters. */
static consm_status gather_finalists(struct race *r)
{
    consm_status st = CONSM_OK;
    struct session *member = NULL;
    choice_forget_finalists(r->of);
    for (int64_t i = 0; i < r->of->count && r->of->finalists < CHOICE_FINALISTS; i++) {
        struct trial *t = &r->of->trial[i];
        if (t->diverged || t->at.best_step == 0)
            continue;
        TRY(race_take(&member, r, t));
        TRY(learner_restore(&member->learner));
        TRY(note_finalist(r->of, t, member));
        TRY(snapshot_put(&t->at, &member->learner));
        race_leave(r, t, member);
        member = NULL;
    }
done:
    session_free(member);
    return st;
}

/* They vote, and so do trees. */
static consm_status gather_committee(struct committee *out, struct race *r)
{
    consm_status st = CONSM_OK;
    for (int64_t i = 0; i < r->of->finalists; i++)
        TRY(committee_hear(out, r->of->finalist[i].logits, r->s->problem));
    TRY(consm_hear_trees(out, r->s));
done:
    return st;
}

/* Trains the winner's network on the committee's votes, or resumes that; its programs are then in
 * student->open. */
static consm_status train_student(struct race *r, const int32_t *vote)
{
    consm_status st = CONSM_OK;
    struct consm *own = r->s->own;
    struct session *session = NULL;
    struct trial *student = &r->of->student;
    TRY(voted_problem(&own->repeated, &own->voted, vote, r->s->problem));
    TRY(race_new_trial(&session, r->s, &own->repeated, student, r->s->backend));
    st = race_train(r, student, session, race_length(&r->s->options.config));
    if (st == CONSM_ENUMERIC) { /* keep the winner */
        student->diverged = true;
        st = CONSM_OK;
        goto done;
    }
    TRY(st);
    student->val = session->learner.best;
    student->loss = session->learner.best_loss;
    TRY(snapshot_take(&student->at, &session->learner));
    student->open = session;
    session = NULL;
done:
    session_free(session);
    return st;
}

/* The student takes the winner's place, with its programs: it is trained to the end. */
static void crown_student(struct candidate_choice *of)
{
    struct trial *winner = &of->trial[0], *student = &of->student;
    struct snapshot at = winner->at;
    of->replaced = winner->val;
    winner->at = student->at;
    student->at = at;
    session_free(winner->open);
    winner->open = student->open;
    student->open = NULL;
}

/* Trains a student and puts it in the winner's place if it may have it; the votes are kept for
 * networks trained from scratch later. */
static consm_status teach_student(struct race *r)
{
    consm_status st = CONSM_OK;
    struct committee committee = {0};
    struct trial *winner = &r->of->trial[0], *student = &r->of->student;
    int32_t *vote = NULL;
    int64_t votes;
    if (!consm_has_student(r->s) || session_late(r->s))
        return CONSM_OK;
    if (r->of->finalists == 0)
        TRY(gather_finalists(r));
    TRY(gather_committee(&committee, r));
    if (committee.members < 2)
        goto done;
    TRY(committee_vote(&vote, &votes, &committee, r->s->problem));
    if (votes == 0)
        goto done;
    if (student->at.size == 0)
        *student = (struct trial){.number = winner->number, .val = -1};
    TRY(train_student(r, vote));
    r->of->taught = !student->diverged && student_replaces(student->val, winner->val, &r->s->judge);
    if (r->of->taught) {
        crown_student(r->of);
        r->of->vote = vote;
        r->of->votes = r->s->problem->nodes;
        vote = NULL;
    }
done:
    session_free(student->open);
    student->open = NULL;
    if (!r->of->taught)
        voted_free(&((struct consm *)r->s->own)->voted);
    mem_free(vote);
    committee_free(&committee);
    return st;
}

/* Trains the best after the first rung to the end, offers each to the ensemble, and continues with
 * the best. */
static consm_status offer_best(struct race *r)
{
    consm_status st = CONSM_OK;
    struct session *s = r->s, *whole = NULL;
    struct trial *trial = r->of->trial;
    TRY(climb(r, 0));
    TRY(climb(r, 1));
    choice_keep(r->of, OFFERED);
    TRY(race_climb(r, FINAL_RUNG));
    for (int64_t i = 0; i < r->of->count; i++) {
        if (trial[i].diverged || trial[i].at.best_step == 0)
            continue;
        TRY(race_take(&whole, r, &trial[i]));
        TRY(learner_restore(&whole->learner));
        TRY(s->options.offer(s->options.offer_ctx, whole));
        session_free(whole);
        whole = NULL;
    }
    choice_order(r->of);
    TRY(teach_student(r));
    choice_forget_finalists(r->of); /* the ensemble has them */
    TRY(race_finish(r));
done:
    session_free(whole);
    return st;
}

static consm_status halve(struct race *r)
{
    consm_status st = CONSM_OK;
    struct candidate_choice *c = r->of;
    for (; c->rung < WINNER_RUNG; c->rung++) {
        TRY(climb(r, (int)c->rung));
        if (c->rung == FINAL_RUNG) {
            if (consm_folds(r->s))
                TRY(consm_compare_finalists(r->s));
            else
                consm_take_likeliest(r->of, &r->s->judge);
            if (consm_has_committee(r->s) || consm_has_companions(r->s))
                TRY(gather_finalists(r));
            TRY(teach_student(r));
            if (!consm_has_companions(r->s))
                choice_forget_finalists(r->of);
        }
        choice_keep(c, race_stay(r->s, (int)c->rung));
    }
    TRY(race_finish(r));
done:
    return st;
}

/* The candidates that the graph and the user's settings allow. */
static void enter(struct candidate_choice *of, const struct session *s)
{
    const struct config *c = &s->options.config;
    bool list = c->backbone == BACKBONE_AUTO;
    int64_t all = choices(c);
    of->asked = *c;
    for (int64_t i = 0; i < all; i++)
        if (!list || consm_candidate_fits(s, i))
            of->trial[of->entered++] = (struct trial){.number = i, .val = -1, .fold = -1};
    of->count = of->entered;
}

/* Records how far each candidate came, those that stayed longest first. */
static void note_standing(struct session *s)
{
    struct consm *own = s->own;
    const struct trial *trial = s->choice->trial, *student = &s->choice->student;
    own->student = (struct train_student){student->course.done, student->val, s->choice->taught};
    for (int64_t i = 0; i < s->choice->entered; i++) {
        struct config c = s->options.config;
        if (race_choose(&c, trial[i].number, NULL) == CONSM_OK)
            own->candidate[own->candidates++] =
                (struct train_candidate){config_names_backbone[c.backbone],
                                         consm_candidate_settings(trial[i].number),
                                         trial[i].course.done,
                                         trial[i].val,
                                         trial[i].number + 1,
                                         trial[i].fold};
    }
}

/* Many labels take longer to learn than 20 per class: the warm-up grows with the root of their
 * number, up to three times. */
void consm_stretch(struct config *c, double labels_a_class, const bool *given)
{
    double stretch = sqrt(labels_a_class / 20);
    stretch = stretch > 3 ? 3 : stretch < 1 ? 1 : stretch;
    if ((given && given[CONFIG_ROW_warmup]) || c->round_patience == 0)
        stretch = 1;
    c->stretch = isnan(c->stretch) ? stretch : c->stretch;
    c->warmup = (int64_t)((double)c->warmup * c->stretch + 0.5);
    c->stretch = 1;
}

void consm_settle_length(struct session *s)
{
    consm_stretch(&s->options.config, consm_labels_a_class(s->problem), s->options.given);
}

bool consm_take_choice(struct session *s)
{
    return choice_take(s->choice, RACE_RUNGS, race_length(&s->options.config), s->problem->nodes,
                       s->problem->classes);
}

consm_status consm_choose_backbone(struct session *s)
{
    consm_status st = CONSM_OK;
    bool list = s->options.config.backbone == BACKBONE_AUTO, opened = false;
    struct race race;
    if (s->options.vote && s->options.config.warmup > 0)
        return consm_repeat_student(s);
    if (choices(&s->options.config) == 0)
        return CONSM_OK;
    TRY(ZNEW(s->choice, 1));
    struct candidate_choice *of = s->choice;
    enter(of, s);
    if (of->entered == 0)
        TRY(status_fail(
            CONSM_EINVAL,
            "no candidate backbone allows these parameters; choose one with --backbone"));
    if (s->options.take_up)
        TRY(s->options.take_up(s->options.checkpoint_ctx, s));
    if (!of->over) {
        opened = true;
        TRY(race_open(&race, s));
        consm_early_begin(s);
        if (list)
            TRY(consm_train_trees(s));
        TRY(s->options.offer ? offer_best(&race) : halve(&race));
    }
    consm_early_end(s);
    of->over = true;
    if (((struct consm *)s->own)->winner)
        consm_rest(((struct consm *)s->own)->winner);
    trial_free(&of->student);
    for (int64_t i = 0; i < of->entered; i++)
        trial_free(&of->trial[i]);
    if (list)
        note_standing(s);
    TRY(race_choose(&s->options.config, of->trial[0].number, s->options.given));
done:
    consm_early_end(s);
    if (opened)
        race_close(&race);
    return st;
}

consm_status consm_take_over(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    if (!own->winner)
        return CONSM_OK;
    TRY(learner_adopt(&s->learner, &own->winner->learner));
    session_free(own->winner);
    own->winner = NULL;
    consm_close_tracks(&own->tracks);
done:
    return st;
}
