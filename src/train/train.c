/* The epoch loop; single runs and batches of runs. */
#include "stats/score.h"
#include "train/session.h"

#include "backends/open.h"
#include "base/clock.h"
#include "base/threads.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

double accuracy(const float *logits, const struct problem *problem, enum split_role role)
{
    int64_t right = 0, rows = 0;
    int32_t c = problem->classes;
    for (int64_t i = 0; i < problem->nodes; i++) {
        if (problem->role[i] != role || problem->label[i] < 0)
            continue;
        right += score_largest(logits + i * c, c) == problem->label[i];
        rows++;
    }
    return rows ? (double)right / (double)rows : 0;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median_ms(double *seconds, int64_t count)
{
    if (count == 0)
        return 0;
    qsort(seconds, (size_t)count, sizeof *seconds, ascending);
    return 1e3 * seconds[count / 2];
}

consm_status session_epoch(struct session *s, int64_t number, struct progress *progress)
{
    consm_status st = CONSM_OK;
    double times[2] = {0};
    TRY(ahead_open(s));
    if (ahead_possible(s)) {
        TRY(ahead_epoch(s, number, progress));
        times[0] = s->ahead.seconds; /* both together: they ran as one */
    } else {
        double begin = clock_seconds();
        TRY(session_step(s, &progress->loss));
        times[0] = clock_seconds() - begin;
        TRY(session_validate(&progress->val_acc, s));
        times[1] = clock_seconds() - begin - times[0];
    }
    if (s->timed < s->time_room) {
        s->train_time[s->timed] = times[0];
        s->eval_time[s->timed++] = times[1];
    }
    progress->epoch = number;
    progress->best_val = s->learner.best;
done:
    return st;
}

consm_status session_report(struct session *s, const struct progress *progress)
{
    consm_status st = CONSM_OK;
    const struct train_options *o = &s->options;
    struct progress told = *progress;
    if (o->progress && s->procedure && s->procedure->fraction)
        told.fraction = s->procedure->fraction(s);
    else if (progress->epochs > 0)
        told.fraction = (double)progress->epoch / (double)progress->epochs;
    bool stop = o->progress && o->progress(o->progress_ctx, &told);
    s->ahead.stop = s->ahead.stop || stop;
    if (session_ahead(s)) /* the session's state is of a later epoch */
        return CONSM_OK;
    stop = s->ranks->total(s->ahead.stop) != 0; /* any rank may have been told to stop */
    s->ahead.stop = false;
    bool due = o->checkpoint_every > 0 && progress->epoch % o->checkpoint_every == 0;
    if (o->checkpoint && (stop || due))
        TRY(o->checkpoint(o->checkpoint_ctx, s));
    if (stop)
        TRY(status_fail(CONSM_ECANCEL, "stopped at epoch %lld", (long long)progress->epoch));
done:
    return st;
}

/* ---- phases -------------------------------------------------------------- */

void session_phase_begin(struct session *s)
{
    s->lengths.begun = s->learner.steps;
}

void session_phase_end(struct session *s, int64_t phase, bool better)
{
    struct train_lengths *l = &s->lengths;
    if (phase >= TRAIN_MOST_LENGTHS)
        return;
    l->updates[phase] = better ? s->learner.best_step - l->begun : 0;
    l->count = better || phase == 0 ? phase + 1 : l->count;
}

int64_t session_phase_length(const struct session *s, int64_t phase, int64_t configured)
{
    const struct train_lengths *l = s->options.lengths;
    if (!l)
        return configured;
    return phase < l->count ? l->updates[phase] : 0;
}

double train_margin(const struct train_candidate **second, bool *folds,
                    const struct train_result *r)
{
    const struct train_candidate *first = r->candidate;
    *second = NULL;
    *folds = false;
    for (int i = 1; i < r->candidates; i++) /* by cross-validation, the best of the others */
        if (first->fold >= 0 && r->candidate[i].fold >= 0 &&
            (!*second || r->candidate[i].fold > (*second)->fold))
            *second = &r->candidate[i];
    *folds = *second != NULL;
    for (int i = 1; i < r->candidates && !*second; i++) /* they are ranked */
        if (r->candidate[i].val >= 0)
            *second = &r->candidate[i];
    if (!*second)
        return 0;
    return *folds ? first->fold - (*second)->fold : first->val - (*second)->val;
}

int64_t train_updates(const struct train_lengths *lengths)
{
    int64_t updates = 0;
    for (int64_t i = 0; i < lengths->count; i++)
        updates += lengths->updates[i];
    return updates;
}

void train_repeat(struct train_options *o, const struct train_lengths *lengths)
{
    struct config *c = &o->config;
    int64_t rounds = lengths->count - 1, updates = train_updates(lengths);
    const struct procedure *procedure = NULL;
    bool phases = procedure_find(&procedure, o) == CONSM_OK && procedure && procedure->phases;
    o->lengths = lengths;
    /* ConSM over other edges has more than one course. Phases end by themselves. */
    int64_t courses = phases ? 1 + (c->drop_below > 0) + (c->add_above > 0) : 1;
    c->epochs = courses * updates + (phases || updates == 0);
    c->patience = 0;
    c->time_budget = 0;
    c->warmup = lengths->updates[0];
    /* At least one round, even without updates: a matching module learns in it. */
    c->rounds = rounds < 1 ? 1 : rounds;
    c->round_patience = c->round_patience > 0 ? c->rounds + 1 : 0;
}

consm_status session_end(struct session *s)
{
    const struct train_options *o = &s->options;
    return o->checkpoint && o->checkpoint_end ? session_fix_base(s) : CONSM_OK;
}

consm_status session_finish(struct session *s, struct train_result *result, double seconds)
{
    consm_status st = CONSM_OK;
    const float *logits;
    TRY(learner_restore(&s->learner));
    if (s->procedure && s->procedure->restore)
        TRY(s->procedure->restore(s));
    TRY(session_logits(&logits, s));
    *result = (struct train_result){
        .seed = s->options.seed,
        .val_acc = accuracy(logits, s->problem, SPLIT_VAL),
        .val_score = s->learner.best,
        .test_acc = accuracy(logits, s->problem, SPLIT_TEST),
        .best_epoch = s->learner.best_step,
        .epochs = s->learner.steps,
        .train_ms = median_ms(s->train_time, s->timed),
        .eval_ms = median_ms(s->eval_time, s->timed),
        .seconds = seconds,
        .params = s->learner.params->trained,
    };
    if (s->lengths.count == 0) /* there was only one phase */
        s->lengths = (struct train_lengths){.count = 1, .updates = {s->learner.best_step}};
    result->lengths = s->lengths;
    snprintf(result->device, sizeof result->device, "%s", s->backend->device);
done:
    return st;
}

consm_status session_train(struct session *s, struct train_result *result)
{
    consm_status st = CONSM_OK;
    const struct config *c = &s->options.config;
    struct progress progress = {.seed = s->options.seed, .epochs = c->epochs};
    double begin = clock_seconds();
    TRY(session_agree_start(s));
    int64_t sent = s->ranks->sent();
    if (s->procedure && s->procedure->fit)
        return s->procedure->fit(s, result);
    /* A restored session continues after its last epoch. */
    for (int64_t number = s->learner.steps + 1; number <= c->epochs; number++) {
        int64_t idle = s->learner.steps - s->learner.best_step;
        if (c->patience > 0 && idle >= c->patience)
            break;
        session_promise(s, c->patience > 0 && c->patience - idle <= c->epochs - number
                               ? c->patience - idle
                               : c->epochs - number + 1);
        TRY(session_epoch(s, number, &progress));
        TRY(session_report(s, &progress));
        if (session_late(s))
            break;
    }
    sent = s->ranks->sent() - sent;
    TRY(session_end(s));
    TRY(session_finish(s, result, clock_seconds() - begin));
    result->sent = s->timed > 0 ? (double)sent / (double)s->timed : 0;
    result->loss = progress.loss;
done:
    return st;
}

consm_status train_once(struct train_result *result, const struct problem *problem,
                        const struct train_options *options, int threads)
{
    consm_status st = CONSM_OK;
    struct backend *backend = NULL;
    struct session *s = NULL;
    TRY(backend_open(&backend, options->device, threads));
    TRY(session_new(&s, problem, options, backend));
    TRY(session_train(s, result));
done:
    session_free(s);
    backend_close(backend);
    return st;
}

/* What the workers of a batch share. */
struct queue {
    const struct batch *batch;
    atomic_int_fast64_t next;
    atomic_bool stop;
    pthread_mutex_t lock;
    struct first_failure failure;
};

/* Takes the next run until there is none. */
static void batch_worker(void *arg, struct worker who)
{
    struct queue *queue = arg;
    const struct batch *batch = queue->batch;
    int64_t number;
    (void)who;
    while (!atomic_load(&queue->stop) &&
           (number = atomic_fetch_add(&queue->next, 1)) < batch->count) {
        consm_status st = batch->run(batch->ctx, number, batch->threads);
        if (st == CONSM_OK)
            continue;
        pthread_mutex_lock(&queue->lock);
        first_failure_keep(&queue->failure, st);
        pthread_mutex_unlock(&queue->lock);
        atomic_store(&queue->stop, true);
    }
}

consm_status train_batch(const struct batch *batch)
{
    consm_status st = CONSM_OK;
    struct team *team = NULL;
    struct queue queue = {.batch = batch};
    int64_t jobs = batch->jobs > batch->count ? batch->count : batch->jobs;
    pthread_mutex_init(&queue.lock, NULL);
    TRY(team_new(&team, jobs < 1 ? 1 : (int)jobs));
    team_run(team, batch_worker, &queue);
    TRY(first_failure_report(&queue.failure));
done:
    team_free(team);
    pthread_mutex_destroy(&queue.lock);
    return st;
}
