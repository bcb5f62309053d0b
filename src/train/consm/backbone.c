/* Chooses ConSM's backbone, or only the features of a given one, by successive halving (Jamieson
 * and Talwalkar 2016): all candidates train for part of the warm-up, the best by validation
 * continue, until one has completed it. The warm-up takes its parameters over and is then finished.
 * Only training and validation labels are read. */
#include "train/consm/consm.h"

#include "backends/ranks.h"
#include "base/clock.h"
#include <math.h>
#include <string.h>

/* The rungs: after a share of the whole length, and a minimum of updates, this many candidates
 * stay. The first, at five updates, only measures the time of each, to estimate the total. Those
 * that stay after the third are trained to the end. Learned offline (studies/portfolio): leaving 8
 * at a fifth and 4 at two fifths costs less than a tenth of a point; shorter rungs cost more;
 * brackets for slow starters gained nothing. Half as many stay if the user asked for few candidates
 * or the graph is large. */
enum { RUNGS = 5, OFFERED = 4 };
static const struct {
    double share;
    int64_t least, stay;
} rungs[RUNGS] = {{0, 5, CONSM_CANDIDATES}, {0.2, 60, 8}, {0.4, 120, 4}, {1, 1, 1}, {1, 1, 1}};

/* Validates only every LOOK_EVERY updates until the last tenth: validation costs almost as much as
 * an update, and the best come late. The warm-up of a given backbone does the same, so that naming
 * the chosen backbone repeats a run to the bit. */
enum { LOOK_EVERY = 5 };

/* A candidate gets the warm-up's number of updates, at least one. */
static int64_t trial_epochs(const struct config *c)
{
    int64_t warmup = c->warmup > 0 ? c->warmup : 1;
    return c->epochs < warmup ? c->epochs : warmup;
}

/* Rare classes are found late: with a metric other than accuracy no candidate is dropped before two
 * fifths. */
static int64_t rung_epochs(const struct config *c, int r)
{
    int64_t whole = trial_epochs(c), least = rungs[r].least;
    double share = rungs[r].share;
    if (r > 0 && c->metric != METRIC_ACCURACY && c->metric != METRIC_AUTO) {
        share *= 2;
        least *= 2;
    }
    int64_t part = (int64_t)(share * (double)whole);
    part = part > least ? part : least;
    return part < whole ? part : whole;
}

static int64_t rung_stay(const struct session *s, int r)
{
    bool quick = s->options.config.candidates == CANDIDATES_FEW ||
                 s->problem->graph->nnz > CONSM_MILLION_ENTRIES;
    return quick && r > 0 ? (rungs[r].stay + 1) / 2 : rungs[r].stay;
}

/* A candidate is finished if nothing was better for a quarter of the whole length, and at least 100
 * updates; so is the warm-up of a given backbone. */
bool consm_idle(const struct config *c, const struct learner *l)
{
    int64_t patience = trial_epochs(c) / 4;
    return l->best_step > 0 && l->steps - l->best_step >= (patience > 100 ? patience : 100);
}

bool consm_looks(const struct config *c, int64_t update)
{
    int64_t whole = trial_epochs(c);
    return update % LOOK_EVERY == 0 || update > whole - whole / 10 || update == whole;
}

/* The number of configurations to choose from; 0 if everything is given. */
static int64_t choices(const struct config *c)
{
    if (c->backbone == BACKBONE_AUTO)
        return c->candidates == CANDIDATES_FEW ? CONSM_CANDIDATES / 2 : CONSM_CANDIDATES;
    return c->normalize_features == FEATURES_AUTO ? 2 : 0;
}

/* Configuration i: a candidate, or the given backbone with features as stored, then row-normalised.
 */
static consm_status choose(struct config *c, int64_t i, const bool *given)
{
    if (c->backbone == BACKBONE_AUTO)
        return consm_apply_candidate(c, i, given);
    c->normalize_features = i == 0 ? FEATURES_NONE : FEATURES_ROW;
    return CONSM_OK;
}

/* ---- one candidate ------------------------------------------------------- */

/* The choice of a session. */
struct field {
    struct session *s;
    struct candidate_choice *of;
    size_t room; /* free memory of the card when it began; 0: programs are in the host's memory */
};

/* The share of the run's time that has passed. */
static double share_of(const struct field *f)
{
    const struct config *c = &f->s->options.config;
    struct consm *own = f->s->own;
    struct outlook_candidate course[CONSM_CANDIDATES];
    struct outlook_rung way[RUNGS];
    for (int64_t i = 0; i < f->of->count; i++)
        course[i] = f->of->trial[i].course;
    for (int r = 0; r < RUNGS; r++)
        way[r] = (struct outlook_rung){rung_epochs(c, r), LOOK_EVERY, rung_stay(f->s, r)};
    double left = outlook_choice(course, f->of->count, way, RUNGS);
    outlook_choose(&own->outlook, course, f->of->count);
    left += consm_after_choice(&own->outlook, c);
    double elapsed = clock_seconds() - own->outlook.begun;
    if (c->time_budget > 0 && left > c->time_budget - elapsed)
        left = c->time_budget > elapsed ? c->time_budget - elapsed : 0;
    return outlook_fraction(elapsed, left);
}

consm_status consm_trial_options(struct train_options *out, const struct session *s,
                                 const struct trial *t)
{
    consm_status st = CONSM_OK;
    *out = (struct train_options){
        .seed = s->options.seed, .config = s->options.config, .positive = s->options.positive};
    out->config.epochs = trial_epochs(&s->options.config);
    out->config.time_budget = 0; /* one clock for all */
    out->config.with_trees = WITH_TREES_NO;
    TRY(choose(&out->config, t->number, s->options.given));
    TRY(model_find(&out->model, config_names_backbone[out->config.backbone]));
done:
    return st;
}

static consm_status open_trial(struct session **out, struct session *s,
                               const struct problem *problem, const struct trial *t)
{
    consm_status st = CONSM_OK;
    struct session *trial = NULL;
    struct train_options options;
    TRY(consm_trial_options(&options, s, t));
    TRY(session_new(&trial, problem, &options, s->backend));
    if (t->at.size > 0 && t->at.size != trial->learner.params->size)
        TRY(status_fail(
            CONSM_EFORMAT, "the checkpoint has %lld parameters of a candidate (%s): expected %lld",
            (long long)t->at.size, options.model->name, (long long)trial->learner.params->size));
    TRY(snapshot_put(&t->at, &trial->learner));
    *out = trial;
    return CONSM_OK;
done:
    session_free(trial);
    return st;
}

consm_status consm_save_choice(struct session *s, struct trial *t, struct session *trial, bool stop)
{
    consm_status st = CONSM_OK;
    const struct train_options *o = &s->options;
    bool due = o->checkpoint_every > 0 && ++s->choice->unsaved >= o->checkpoint_every;
    stop = ranks_total(stop) != 0; /* any rank may have been told to stop */
    if (o->checkpoint && (stop || due)) {
        s->choice->unsaved = 0;
        TRY(snapshot_take(&t->at, &trial->learner));
        TRY(o->checkpoint(o->checkpoint_ctx, s));
    }
    if (stop)
        TRY(status_fail(CONSM_ECANCEL, o->vote ? "stopped during the refit"
                                               : "stopped during the choice of the backbone"));
done:
    return st;
}

/* Trains a candidate up to that number of updates and reports every validation. */
static consm_status go_on(struct field *f, struct trial *t, struct session *trial, int64_t until)
{
    consm_status st = CONSM_OK;
    struct session *s = f->s;
    struct progress heard = {.seed = s->options.seed,
                             .candidate = t->number + 1,
                             .backbone = trial->options.model->name};
    if (trial->learner.best >= 0) /* until it validates again */
        heard.val_acc = trial->learner.best;
    bool late = session_late(s) && trial->learner.steps > 0, first = true;
    while (trial->learner.steps < until && !late &&
           !consm_idle(&s->options.config, &trial->learner)) {
        double since = clock_seconds();
        TRY(session_step(trial, &heard.loss));
        double stepped = clock_seconds();
        pace_update(&t->course.pace, stepped - since, first);
        first = false;
        late = session_late(s);
        if (late || consm_looks(&s->options.config, trial->learner.steps)) {
            TRY(session_validate(&heard.val_acc, trial));
            pace_look(&t->course.pace, clock_seconds() - stepped);
        }
        t->course.done = trial->learner.steps;
        heard.update = trial->learner.steps;
        heard.best_val = trial->learner.best;
        heard.fraction = f->of->told = s->options.progress ? share_of(f) : 0;
        TRY(consm_save_choice(s, t, trial,
                              s->options.progress &&
                                  s->options.progress(s->options.progress_ctx, &heard)));
    }
done:
    return st;
}

/* Takes a candidate's programs, or makes them. */
static consm_status take_trial(struct session **out, struct field *f, struct trial *t)
{
    *out = t->open;
    t->open = NULL;
    return *out ? CONSM_OK : open_trial(out, f->s, f->s->problem, t);
}

/* Keeps a candidate's programs if less than a tenth of the card's memory is taken by all that are
 * kept, else frees them. On a card making them takes longer than running them 50 times. */
static void leave_trial(struct field *f, struct trial *t, struct session *trial)
{
    struct backend *b = f->s->backend;
    if (f->room > 0 && b->kind->room(b) >= f->room - f->room / 10)
        t->open = trial;
    else
        session_free(trial);
}

static consm_status climb(struct field *f, struct trial *t, int r)
{
    consm_status st = CONSM_OK;
    struct session *s = f->s, *trial = NULL;
    TRY(take_trial(&trial, f, t));
    st = go_on(f, t, trial, rung_epochs(&s->options.config, r));
    if (st == CONSM_ENUMERIC && f->of->count > 1) { /* large steps do not suit every graph */
        t->diverged = true;
        t->val = -1;
        st = CONSM_OK;
        goto done;
    }
    TRY(st);
    t->val = trial->learner.best;
    t->loss = trial->learner.best_loss;
    TRY(snapshot_take(&t->at, &trial->learner));
    if (r == RUNGS - 1) /* the winner keeps its session */
        ((struct consm *)s->own)->winner = trial;
    else
        leave_trial(f, t, trial);
    trial = NULL;
done:
    session_free(trial);
    return st;
}

/* ---- all of them --------------------------------------------------------- */

/* Trains all candidates up to a rung and sorts them, best first. Those that the clock leaves out
 * have no validation and come last. Starts with the next one: a resumed run has finished the
 * earlier ones. */
static consm_status climb_all(struct field *f, int r)
{
    consm_status st = CONSM_OK;
    struct candidate_choice *c = f->of;
    for (; c->next < c->count && (c->next == 0 || !session_late(f->s)); c->next++)
        if (!c->trial[c->next].diverged)
            TRY(climb(f, &c->trial[c->next], r));
    c->next = 0;
    choice_order(c);
done:
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

/* With a handful of positives average precision hardly distinguishes candidates. Among those within
 * one standard error of the best, the one with the lowest validation loss is taken. */
enum { FEW_POSITIVES = 30 };
static void take_the_likeliest(struct field *f)
{
    const struct judge *j = &f->s->judge;
    struct trial *trial = f->of->trial;
    int64_t count = positives(j), least = 0;
    double best = trial[0].val;
    if (j->metric != METRIC_AVERAGE_PRECISION || count == 0 || count >= FEW_POSITIVES)
        return;
    double error = sqrt(best * (1 - best) / (double)count);
    for (int64_t i = 1; i < f->of->count; i++)
        if (!trial[i].diverged && trial[i].val >= best - error && trial[i].loss < trial[least].loss)
            least = i;
    struct trial taken = trial[least];
    memmove(&trial[1], &trial[0], (size_t)least * sizeof taken);
    trial[0] = taken;
}

/* All candidates that were trained to the end vote, with their best parameters. */
static consm_status gather_committee(struct committee *out, struct field *f)
{
    consm_status st = CONSM_OK;
    struct session *member = NULL;
    for (int64_t i = 0; i < f->of->count; i++) {
        if (f->of->trial[i].diverged || f->of->trial[i].at.best_step == 0)
            continue;
        TRY(take_trial(&member, f, &f->of->trial[i]));
        TRY(learner_restore(&member->learner));
        TRY(committee_hear(out, member));
        TRY(snapshot_put(&f->of->trial[i].at, &member->learner));
        leave_trial(f, &f->of->trial[i], member);
        member = NULL;
    }
    TRY(consm_hear_trees(out, f->s));
done:
    session_free(member);
    return st;
}

/* Trains the winner's network on the committee's votes, or resumes that. */
static consm_status train_student(struct field *f, const int32_t *vote)
{
    consm_status st = CONSM_OK;
    struct problem problem;
    struct voted voted = {0};
    struct session *session = NULL;
    struct trial *student = &f->of->student;
    TRY(voted_problem(&problem, &voted, vote, f->s->problem));
    TRY(open_trial(&session, f->s, &problem, student));
    st = go_on(f, student, session, trial_epochs(&f->s->options.config));
    if (st == CONSM_ENUMERIC) { /* keep the winner */
        student->diverged = true;
        st = CONSM_OK;
        goto done;
    }
    TRY(st);
    student->val = session->learner.best;
    student->loss = session->learner.best_loss;
    TRY(snapshot_take(&student->at, &session->learner));
done:
    session_free(session);
    voted_free(&voted);
    return st;
}

/* Trains a student and puts it in the winner's place if it may have it; the votes are kept for
 * networks trained from scratch later. */
static consm_status teach_student(struct field *f)
{
    consm_status st = CONSM_OK;
    struct committee committee = {0};
    struct trial *winner = &f->of->trial[0], *student = &f->of->student;
    int32_t *vote = NULL;
    int64_t votes;
    if (!consm_has_student(f->s) || session_late(f->s))
        return CONSM_OK;
    TRY(gather_committee(&committee, f));
    if (committee.members < 2)
        goto done;
    TRY(committee_vote(&vote, &votes, &committee, f->s->problem));
    if (votes == 0)
        goto done;
    if (student->at.size == 0)
        *student = (struct trial){.number = winner->number, .val = -1};
    TRY(train_student(f, vote));
    f->of->taught = !student->diverged && student_replaces(student->val, winner->val, &f->s->judge);
    if (f->of->taught) {
        f->of->replaced = winner->val;
        struct snapshot at = winner->at;
        winner->at = student->at;
        student->at = at;
        session_free(winner->open); /* its programs learn other targets */
        winner->open = NULL;
        f->of->vote = vote;
        f->of->votes = f->s->problem->nodes;
        vote = NULL;
    }
done:
    mem_free(vote);
    committee_free(&committee);
    return st;
}

/* Trains the best after the first rung to the end, offers each to the ensemble, and continues with
 * the best. */
static consm_status offer_best(struct field *f)
{
    consm_status st = CONSM_OK;
    struct session *s = f->s, *whole = NULL;
    struct trial *trial = f->of->trial;
    TRY(climb_all(f, 0));
    TRY(climb_all(f, 1));
    choice_keep(f->of, OFFERED);
    for (int64_t i = 0; i < f->of->count && !trial[i].diverged; i++) {
        TRY(take_trial(&whole, f, &trial[i]));
        TRY(go_on(f, &trial[i], whole, trial_epochs(&s->options.config)));
        trial[i].val = whole->learner.best;
        trial[i].loss = whole->learner.best_loss;
        TRY(snapshot_take(&trial[i].at, &whole->learner));
        TRY(learner_restore(&whole->learner));
        TRY(s->options.offer(s->options.offer_ctx, whole));
        session_free(whole);
        whole = NULL;
    }
    choice_order(f->of);
    TRY(teach_student(f));
    TRY(climb(f, &trial[0], RUNGS - 1));
done:
    session_free(whole);
    return st;
}

static consm_status halve(struct field *f)
{
    consm_status st = CONSM_OK;
    struct candidate_choice *c = f->of;
    for (; c->rung < RUNGS - 1; c->rung++) {
        TRY(climb_all(f, (int)c->rung));
        if (c->rung == RUNGS - 2) {
            if (consm_folds(f->s))
                TRY(consm_compare_finalists(f->s));
            else
                take_the_likeliest(f);
            TRY(teach_student(f));
        }
        choice_keep(c, rung_stay(f->s, (int)c->rung));
    }
    TRY(climb(f, &c->trial[0], RUNGS - 1));
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
        if (choose(&c, trial[i].number, NULL) == CONSM_OK)
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
void consm_settle_length(struct session *s)
{
    struct config *c = &s->options.config;
    const bool *given = s->options.given;
    double stretch = sqrt(consm_labels_a_class(s->problem) / 20);
    stretch = stretch > 3 ? 3 : stretch < 1 ? 1 : stretch;
    if ((given && given[CONFIG_ROW_warmup]) || c->round_patience == 0)
        stretch = 1;
    c->stretch = isnan(c->stretch) ? stretch : c->stretch;
    c->warmup = (int64_t)((double)c->warmup * c->stretch + 0.5);
    c->stretch = 1;
}

bool consm_take_choice(struct session *s)
{
    return choice_take(s->choice, RUNGS, trial_epochs(&s->options.config), s->problem->nodes);
}

consm_status consm_choose_backbone(struct session *s)
{
    consm_status st = CONSM_OK;
    bool list = s->options.config.backbone == BACKBONE_AUTO;
    if (s->options.vote && s->options.config.warmup > 0)
        return consm_repeat_student(s);
    if (choices(&s->options.config) == 0)
        return CONSM_OK;
    TRY(ZNEW(s->choice, 1));
    struct candidate_choice *of = s->choice;
    struct field field = {s, of, s->backend->kind->room ? s->backend->kind->room(s->backend) : 0};
    enter(of, s);
    if (of->entered == 0)
        TRY(status_fail(
            CONSM_EINVAL,
            "no candidate backbone allows these parameters; choose one with --backbone"));
    if (s->options.take_up)
        TRY(s->options.take_up(s->options.checkpoint_ctx, s));
    if (!of->over && list)
        TRY(consm_train_trees(s));
    if (!of->over)
        TRY(s->options.offer ? offer_best(&field) : halve(&field));
    of->over = true;
    trial_free(&of->student);
    for (int64_t i = 0; i < of->entered; i++)
        trial_free(&of->trial[i]);
    if (list)
        note_standing(s);
    TRY(choose(&s->options.config, of->trial[0].number, s->options.given));
done:
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
done:
    return st;
}
