/* Trains candidate networks up to a rung, several side by side on tracks of their own.
 * Not in the paper. */

/*
 * A track is a thread with a backend: a part of the host's threads, or a stream of the card. Small
 * programs leave most of either idle, so candidates next to each other finish earlier. A candidate
 * is independent of all others, so its numbers do not depend on the tracks. A large graph has one
 * track, because several candidates might not fit into memory.
 */
#include "train/consm/race.h"

#include "base/clock.h"
#include "base/threads.h"
#include <math.h>
#include <stdio.h>

/* ---- tracks -------------------------------------------------------------- */

/* Bytes that a candidate's values take, roughly, at most: four thousand numbers a node. */
static double candidate_bytes(double nodes, double entries)
{
    enum { NUMBERS = 4096 };
    return (nodes * NUMBERS + 4 * entries) * sizeof(float);
}

int race_host_tracks(int threads, double nodes, double entries)
{
    const double room = (double)((size_t)2 << 30);
    double fit = floor(room / fmax(1, candidate_bytes(nodes, entries)));
    int count = threads > 1 && threads < 4 ? 2 : threads / 2;
    return (int)fmax(1, fmin(fmin(count, 4), fit));
}

/* On a card one for each of the host's threads, which make the programs, at most CONSM_TRACKS, and
 * only so many that their values take half of its free memory. */
static int count_tracks(const struct race *r)
{
    const struct session *s = r->s;
    const struct backend *b = s->backend;
    const struct problem *p = s->problem;
    double nodes = (double)p->nodes, entries = (double)p->graph->nnz;
    int64_t count = race_host_tracks(team_size(b->host), nodes, entries);
    if (!b->kind->another || p->graph->partition)
        return 1;
    if (r->room > 0) {
        double fit = 0.5 * (double)r->room / candidate_bytes(nodes, entries);
        count = (int64_t)fmin(fmin(team_size(b->host), CONSM_TRACKS), fit);
    }
    return (int)(count > r->of->count ? r->of->count : count);
}

static void open_track(void *arg, struct worker who)
{
    struct race *r = arg;
    struct consm_tracks *t = &((struct consm *)r->s->own)->tracks;
    const struct backend *b = r->s->backend;
    int threads = team_size(b->host), before = threads * who.id / who.size;
    consm_status st =
        b->kind->another(&t->backend[who.id], b, threads * (who.id + 1) / who.size - before);
    pthread_mutex_lock(&r->lock);
    if (st < 0)
        first_failure_keep(&r->failure, st);
    pthread_mutex_unlock(&r->lock);
}

/* Opens the tracks of a session, or none: candidates then train on the session's backend. */
static consm_status open_tracks(struct race *r)
{
    consm_status st = CONSM_OK;
    struct consm_tracks *t = &((struct consm *)r->s->own)->tracks;
    int count = count_tracks(r);
    if (count < 2)
        return CONSM_OK;
    TRY(team_new(&t->team, count));
    t->count = count;
    team_run(t->team, open_track, r);
    TRY(first_failure_report(&r->failure));
done:
    return st;
}

void consm_close_tracks(struct consm_tracks *t)
{
    for (int i = 0; i < t->count; i++)
        backend_close(t->backend[i]);
    team_free(t->team);
    *t = (struct consm_tracks){0};
}

consm_status race_open(struct race *r, struct session *s)
{
    struct backend *b = s->backend;
    *r = (struct race){.s = s, .of = s->choice, .room = b->kind->room ? b->kind->room(b) : 0};
    pthread_mutex_init(&r->lock, NULL);
    return open_tracks(r);
}

void race_close(struct race *r)
{
    for (int64_t i = 0; i < r->of->entered; i++) {
        session_free(r->of->trial[i].open);
        r->of->trial[i].open = NULL;
    }
    pthread_mutex_destroy(&r->lock);
}

/* ---- one candidate ------------------------------------------------------- */

/* The fraction of the run's time that has passed. */
static double fraction_of(const struct race *r)
{
    const struct config *c = &r->s->options.config;
    struct consm *own = r->s->own;
    struct outlook_candidate course[CONSM_CANDIDATES];
    struct outlook_rung way[RACE_RUNGS];
    for (int64_t i = 0; i < r->of->count; i++)
        course[i] = r->of->trial[i].course;
    for (int k = 0; k < RACE_RUNGS; k++)
        way[k] = (struct outlook_rung){race_updates(c, k), RACE_LOOK_EVERY, race_stay(r->s, k)};
    double left = outlook_choice(course, r->of->count, way, RACE_RUNGS);
    left /= own->tracks.count > 1 ? own->tracks.count : 1;
    outlook_choose(&own->outlook, course, r->of->count);
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
    out->config.epochs = race_length(&s->options.config);
    out->config.time_budget = 0; /* one clock for all */
    out->config.with_trees = WITH_TREES_NO;
    TRY(race_choose(&out->config, t->number, s->options.given));
    TRY(model_find(&out->model, config_names_backbone[out->config.backbone]));
done:
    return st;
}

consm_status race_new_trial(struct session **out, struct session *s, const struct problem *problem,
                            const struct trial *t, struct backend *backend)
{
    consm_status st = CONSM_OK;
    struct session *trial = NULL;
    struct train_options options;
    TRY(consm_trial_options(&options, s, t));
    TRY(session_new(&trial, problem, &options, backend));
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

consm_status race_take(struct session **out, struct race *r, struct trial *t)
{
    *out = t->open;
    t->open = NULL;
    return *out ? CONSM_OK : race_new_trial(out, r->s, r->s->problem, t, r->s->backend);
}

/* Keeps a candidate's programs if less than a tenth of the card's memory is taken by all that are
 * kept, else frees them. On a card making them takes longer than running them 50 times. */
void race_leave(struct race *r, struct trial *t, struct session *trial)
{
    if (r->room > 0 && r->s->backend->kind->room(trial->backend) >= r->room - r->room / 10)
        t->open = trial;
    else
        session_free(trial);
}

consm_status consm_save_choice(struct session *s, struct trial *t, struct session *trial,
                               int64_t updates, bool stop)
{
    consm_status st = CONSM_OK;
    const struct train_options *o = &s->options;
    s->choice->unsaved += updates;
    bool due = o->checkpoint_every > 0 && s->choice->unsaved >= o->checkpoint_every;
    stop = s->ranks->total(stop) != 0; /* any rank may have been told to stop */
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

/* After `updates` of a candidate: reports, and writes a checkpoint when one is due. The candidates
 * on other tracks are in it as they were at their last rung or checkpoint; after a stop each track
 * writes one more. */
static consm_status report(struct race *r, struct trial *t, struct session *trial, int64_t updates,
                           struct progress *heard)
{
    consm_status st = CONSM_OK;
    const struct train_options *o = &r->s->options;
    pthread_mutex_lock(&r->lock);
    t->course.done = heard->update = trial->learner.steps;
    heard->best_val = trial->learner.best;
    heard->fraction = r->of->told = o->progress ? fraction_of(r) : 0;
    bool stop = o->progress && o->progress(o->progress_ctx, heard);
    r->stop = r->stop || stop;
    st = r->failure.code;
    if (st == CONSM_OK || st == CONSM_ECANCEL)
        st = consm_save_choice(r->s, t, trial, updates, r->stop);
    pthread_mutex_unlock(&r->lock);
    return st;
}

consm_status consm_step_on(int64_t *updates, double *loss, struct session *trial, int64_t until,
                           const struct session *s)
{
    consm_status st = CONSM_OK;
    struct learner *l = &trial->learner;
    bool unseen = learner_far(l) && !trial->procedure;
    *updates = 1;
    if (!unseen)
        return session_step(trial, loss);
    TRY(learner_step_unseen(l, &l->train));
    for (; l->steps < until && !consm_looks(&s->options.config, l->steps) &&
           !consm_idle(&s->options.config, l) && !session_late(s);
         ++*updates)
        TRY(learner_step_unseen(l, &l->train));
    TRY(learner_look(l, &l->train, loss));
done:
    return st;
}

consm_status race_train(struct race *r, struct trial *t, struct session *trial, int64_t until)
{
    consm_status st = CONSM_OK;
    struct session *s = r->s;
    struct progress heard = {.seed = s->options.seed,
                             .candidate = t->number + 1,
                             .backbone = trial->options.model->name};
    if (trial->learner.best >= 0) /* until it validates again */
        heard.val_acc = trial->learner.best;
    bool late = session_late(s) && trial->learner.steps > 0, first = true;
    while (trial->learner.steps < until && !late &&
           !consm_idle(&s->options.config, &trial->learner)) {
        int64_t updates;
        double since = clock_seconds(), look = 0;
        TRY(consm_step_on(&updates, &heard.loss, trial, until, s));
        double stepped = clock_seconds();
        late = session_late(s);
        bool looks = late || consm_looks(&s->options.config, trial->learner.steps);
        if (looks) {
            TRY(session_validate(&heard.val_acc, trial));
            look = clock_seconds() - stepped;
        }
        pthread_mutex_lock(&r->lock);
        pace_update(&t->course.pace, (stepped - since) / (double)updates, first);
        if (looks)
            pace_look(&t->course.pace, look);
        pthread_mutex_unlock(&r->lock);
        first = false;
        TRY(report(r, t, trial, updates, &heard));
    }
done:
    return st;
}

/* Trains a candidate up to a rung. */
static consm_status climb(struct race *r, struct trial *t, struct session **trial, int rung)
{
    bool alone = r->of->count == 1;
    consm_status st = race_train(r, t, *trial, race_updates(&r->s->options.config, rung));
    pthread_mutex_lock(&r->lock);
    if (st == CONSM_ENUMERIC && !alone) { /* large steps do not suit every graph */
        t->diverged = true;
        t->val = -1;
        st = CONSM_OK;
        goto done;
    }
    TRY(st);
    t->val = (*trial)->learner.best;
    t->loss = (*trial)->learner.best_loss;
    TRY(snapshot_take(&t->at, &(*trial)->learner));
    if (rung == WINNER_RUNG)
        ((struct consm *)r->s->own)->winner = *trial;
    else
        race_leave(r, t, *trial);
    *trial = NULL;
done:
    pthread_mutex_unlock(&r->lock);
    return st;
}

consm_status race_finish(struct race *r)
{
    consm_status st = CONSM_OK;
    struct session *trial = NULL;
    TRY(race_take(&trial, r, &r->of->trial[0]));
    TRY(climb(r, &r->of->trial[0], &trial, WINNER_RUNG));
done:
    session_free(trial);
    return st;
}

/* ---- all of them --------------------------------------------------------- */

/* Seconds that a candidate needs up to the end of a rung; 0: it has not trained yet. */
static double seconds_of(const struct race *r, const struct trial *t, int rung)
{
    int64_t until = race_updates(&r->s->options.config, rung);
    return t->course.pace.update * (double)(until - t->course.done);
}

/* Whether those that wait for a track would wait there longer than programs take to make. */
static bool long_wait(const struct race *r, const struct backend *theirs, int rung)
{
    double seconds = 0;
    for (int64_t i = 0; i < r->of->count; i++) {
        const struct trial *t = &r->of->trial[i];
        if (!r->taken[i] && !r->ended[i] && t->open && t->open->backend == theirs)
            seconds += seconds_of(r, t, rung);
    }
    return r->makings > 0 && seconds > r->making / (double)r->makings;
}

/* What a candidate that waits costs a track: nothing if its programs are there, else that they
 * must be made; -1: it does not wait, or better where it is. */
static int cost_of(const struct race *r, int64_t i, const struct backend *mine, int rung)
{
    const struct trial *t = &r->of->trial[i];
    if (r->taken[i] || r->ended[i])
        return -1;
    if (!t->open || t->open->backend == mine)
        return t->open ? 0 : 1;
    return long_wait(r, t->open->backend, rung) ? 2 : -1;
}

/* The candidate that a track trains next, -1: none. Of equal cost the one that takes longest, so
 * that no track is left with a long one at the end; one track alone takes them in their order, so
 * that what it reports does not depend on time. Programs on another track cannot be used here: they
 * are left there and made again. When time is up, only the first one still trains. */
static int64_t next_for(struct race *r, const struct backend *mine, int rung)
{
    int64_t found = -1, count = session_late(r->s) ? 1 : r->of->count;
    bool alone = ((const struct consm *)r->s->own)->tracks.count <= 1;
    int least = 0;
    double longest = 0;
    for (int64_t i = 0; i < count; i++) {
        int cost = cost_of(r, i, mine, rung);
        double seconds = alone ? 0 : seconds_of(r, &r->of->trial[i], rung);
        if (cost >= 0 && (found < 0 || cost < least || (cost == least && seconds > longest))) {
            found = i;
            least = cost;
            longest = seconds;
        }
    }
    if (found < 0)
        return -1;
    struct trial *t = &r->of->trial[found];
    if (t->open && t->open->backend != mine) {
        r->left[r->leavers++] = t->open;
        t->open = NULL;
    }
    r->taken[found] = true;
    return found;
}

/* Makes a candidate's programs, and notes how long that takes. */
static consm_status make_trial(struct session **out, struct race *r, const struct trial *t,
                               struct backend *mine)
{
    double since = clock_seconds();
    consm_status st = race_new_trial(out, r->s, r->s->problem, t, mine);
    pthread_mutex_lock(&r->lock);
    r->making += clock_seconds() - since;
    r->makings++;
    pthread_mutex_unlock(&r->lock);
    return st;
}

/* Trains the next candidate of a track. */
static consm_status climb_next(bool *more, struct race *r, struct backend *mine, int rung)
{
    consm_status st = CONSM_OK;
    struct session *trial = NULL;
    struct trial *t = NULL;
    pthread_mutex_lock(&r->lock);
    int64_t i = r->stop || r->failure.code < 0 ? -1 : next_for(r, mine, rung);
    if (i >= 0) {
        t = &r->of->trial[i];
        trial = t->open;
        t->open = NULL;
    }
    pthread_mutex_unlock(&r->lock);
    *more = t != NULL;
    if (!t)
        return CONSM_OK;
    if (!trial)
        TRY(make_trial(&trial, r, t, mine));
    TRY(climb(r, t, &trial, rung));
    pthread_mutex_lock(&r->lock);
    r->ended[i] = true;
    for (; r->of->next < r->of->count && r->ended[r->of->next]; r->of->next++)
        ;
    pthread_mutex_unlock(&r->lock);
done:
    session_free(trial);
    return st;
}

struct climbing {
    struct race *race;
    int rung;
};

static void climb_track(void *arg, struct worker who)
{
    const struct climbing *c = arg;
    struct race *r = c->race;
    struct consm_tracks *tracks = &((struct consm *)r->s->own)->tracks;
    struct backend *mine = tracks->count > 0 ? tracks->backend[who.id] : r->s->backend;
    for (bool more = true; more;) {
        consm_status st = climb_next(&more, r, mine, c->rung);
        if (st == CONSM_OK)
            continue;
        pthread_mutex_lock(&r->lock);
        first_failure_keep(&r->failure, st);
        pthread_mutex_unlock(&r->lock);
        return;
    }
}

/* Starts with the next one: a resumed run has finished the earlier ones. */
consm_status race_climb(struct race *r, int rung)
{
    consm_status st = CONSM_OK;
    struct candidate_choice *c = r->of;
    struct climbing climbing = {r, rung};
    struct consm_tracks *tracks = &((struct consm *)r->s->own)->tracks;
    for (int64_t i = 0; i < c->count; i++) {
        r->taken[i] = false;
        r->ended[i] = i < c->next || c->trial[i].diverged;
    }
    if (tracks->team)
        team_run(tracks->team, climb_track, &climbing);
    else
        climb_track(&climbing, (struct worker){.size = 1});
    for (int64_t i = 0; i < r->leavers; i++)
        session_free(r->left[i]);
    r->leavers = 0;
    TRY(first_failure_report(&r->failure));
    c->next = 0;
done:
    return st;
}
