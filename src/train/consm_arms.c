/* How strongly the coefficients pull (λ), over which edges (the share ζ, or all), and whether sure
 * predictions are learned as labels: chosen by validation where it is not given. Every choice is an
 * arm; all go on from one point with one round's coefficients, those that validate best get more
 * updates, the best stays for all rounds. λ = 0 is among them: a GNN that gains nothing from
 * coefficients trains without. */
#include "train/consm.h"

#include "base/clock.h"
#include <math.h>

/* Parts of a round's updates after which so many arms stay. */
static const struct {
    int64_t twentieths, stay;
} stages[] = {{1, 2}, {6, 1}, {20, 1}};
enum { STAGES = sizeof stages / sizeof *stages };

/* The same with guesses, where it is open whether they are to be heeded: those that pull over ζ if
 * there are such, and not with all strength, because every arm has its price. */
static int guessing_arms(struct consm_arm *arm, int count, const struct config *c)
{
    int more = 0;
    for (int i = 0; c->guesses == GUESSES_AUTO && i < count; i++)
        if (!isnan(c->lambda) || (arm[i].lambda <= 5 && (!arm[i].all || c->attract == ATTRACT_ALL)))
            arm[count + more++] = (struct consm_arm){arm[i].lambda, arm[i].all, true};
    return more;
}

int consm_arms(struct consm_arm arm[CONSM_ARMS], const struct config *c)
{
    static const double strengths[] = {0, 1, 5, 20};
    int count = 0, given = !isnan(c->lambda);
    for (int i = 0; i < (given ? 1 : 4); i++) {
        double lambda = given ? c->lambda : strengths[i];
        if (c->attract != ATTRACT_ALL || lambda == 0)
            arm[count++] = (struct consm_arm){lambda, false, c->guesses == GUESSES_YES};
        if (c->attract != ATTRACT_ZETA && lambda != 0)
            arm[count++] = (struct consm_arm){lambda, true, c->guesses == GUESSES_YES};
    }
    return count + guessing_arms(arm, count, c);
}

static struct consm_arm arm_now(const struct session *s)
{
    struct consm_arm arm[CONSM_ARMS];
    consm_arms(arm, &s->options.config);
    return arm[((const struct consm *)s->own)->place.arm];
}

int64_t consm_round_updates(const struct config *c, int64_t round)
{
    struct consm_arm arm[CONSM_ARMS];
    int64_t left = consm_arms(arm, c), before = 0, updates = 0;
    if (round > 1 || left == 1)
        return c->gnn_steps;
    for (int i = 0; i < STAGES; i++) {
        int64_t until = c->gnn_steps * stages[i].twentieths / 20;
        updates += left * (until - before);
        before = until;
        left = left < stages[i].stay ? left : stages[i].stay;
    }
    return updates;
}

consm_status consm_pull(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_arm arm = arm_now(s);
    s->without_extra = own->place.round == 0 || (arm.lambda == 0 && !arm.guesses);
    if (s->without_extra)
        return CONSM_OK;
    TRY(consm_propagation(own->slope, &own->constant, own->w, own->edges, s->problem->role,
                          arm.lambda, arm.all ? 1 : own->zeta, &s->options.config, own->order));
    consm_heed_guesses(s, arm.guesses);
    if (own->pulls)
        csr_touch(own->pulls);
    session_touch(s, own->slope);
    session_touch(s, &own->constant);
done:
    return st;
}

void consm_settle_arm(struct session *s)
{
    struct consm_arm arm = arm_now(s);
    s->options.config.lambda = arm.lambda;
    s->options.config.attract = arm.all ? ATTRACT_ALL : ATTRACT_ZETA;
    s->options.config.guesses = arm.guesses ? GUESSES_YES : GUESSES_NO;
}

/* ---- the choice ---------------------------------------------------------- */

/* An arm that is being tried. */
struct tried {
    int64_t number;
    struct snapshot *at; /* how far it came */
    double val;          /* the best validation accuracy on its way; -1: it was never run */
    int64_t found;       /* the update with which it found the best parameters so far; 0: none */
};

/* Updates up to the given number after the common point. */
static consm_status go_on(struct session *s, struct tried *t, int64_t until,
                          struct progress *progress)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_place *at = &own->place;
    bool fresh = t->val < 0;
    at->arm = t->number;
    TRY(snapshot_put_point(fresh ? &own->fork : t->at, &s->learner));
    TRY(consm_pull(s));
    int64_t coming = own->fork.steps + until - s->learner.steps,
            left = s->options.config.epochs - at->updates;
    session_promise(s, coming < left ? coming : left);
    while (s->learner.steps < own->fork.steps + until && at->updates < s->options.config.epochs &&
           !session_late(s)) {
        struct learner before = s->learner;
        double since = clock_seconds();
        at->updates++;
        TRY(session_epoch(s, at->updates, progress));
        consm_note_update(s, clock_seconds() - since, true, fresh);
        fresh = false;
        t->val = progress->val_acc > t->val ? progress->val_acc : t->val;
        if (s->learner.best != before.best || s->learner.best_loss != before.best_loss)
            t->found = at->updates;
        TRY(session_report(s, progress));
    }
    TRY(snapshot_take(t->at, &s->learner));
done:
    return st;
}

/* Who found the best parameters last goes first, so that naming the chosen arm repeats the run;
 * then those that validate best, of equal ones the weaker pull. */
static bool ahead(const struct tried *a, const struct tried *b)
{
    if (a->found != b->found)
        return a->found > b->found;
    return a->val != b->val ? a->val > b->val : a->number < b->number;
}

static void order(struct tried *t, int count)
{
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && ahead(&t[k], &t[k - 1]); k--) {
            struct tried swap = t[k];
            t[k] = t[k - 1];
            t[k - 1] = swap;
        }
}

consm_status consm_reserve_arms(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_arm arm[CONSM_ARMS];
    int count = consm_arms(arm, &s->options.config);
    TRY(snapshot_reserve(&own->fork, &s->learner));
    for (int i = 0; count > 1 && i < count; i++)
        TRY(snapshot_reserve(&own->way[i], &s->learner));
done:
    return st;
}

consm_status consm_fork(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    TRY(snapshot_take(&own->fork, &s->learner));
    own->place.choosing = true;
    own->place.fork_steps = s->learner.steps;
    own->place.fork_updates = own->place.updates;
done:
    return st;
}

consm_status consm_choose_arm(struct session *s, struct progress *progress)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_place *at = &own->place;
    const struct config *c = &s->options.config;
    struct consm_arm arm[CONSM_ARMS];
    struct tried tried[CONSM_ARMS];
    int count = consm_arms(arm, c);
    /* A run that was interrupted here begins the choice anew: its updates give the same again. */
    own->fork.size = s->learner.params->size;
    own->fork.steps = at->fork_steps;
    at->updates = at->fork_updates;
    for (int i = 0; i < CONSM_ARMS; i++)
        tried[i] = (struct tried){i, &own->way[i], -1, 0};
    for (int i = 0; i < STAGES; i++) {
        for (int k = 0; k < count; k++)
            TRY(go_on(s, &tried[k], c->gnn_steps * stages[i].twentieths / 20, progress));
        order(tried, count);
        count = count < stages[i].stay ? count : (int)stages[i].stay;
    }
    at->arm = tried[0].number;
    at->choosing = false;
    at->left = 0;
    TRY(snapshot_put_point(tried[0].at, &s->learner));
done:
    return st;
}
