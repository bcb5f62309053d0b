/* How strongly the coefficients pull (λ), over which edges (the share ζ, or all), whether sure
 * predictions are learned as labels, and whether unlabelled ones are made sharper (entropy.c):
 * chosen by validation where it is not given. Every choice is an
 * arm; they go on from one point with one round's coefficients, those that validate best get more
 * updates, the best stays for all rounds. λ = 0 is among them: a GNN that gains nothing from
 * coefficients trains without. Strengths are compared first, over the surest edges; the best of
 * them then pulls over all edges; guesses join last, with no pull and with the best one. What they
 * teach shows later than what a pull does: a first look would end them, and in a second one they
 * have some credit. The entropy joins then, too, with the best pull, and has none. */
#include "train/consm/consm.h"

#include "base/clock.h"
#include <math.h>

/* Twentieths of a round's updates: pulls are compared, then with guesses, then one goes on. */
enum { FIRST_LOOK = 2, SECOND_LOOK = 6 };

/* Arms that stay after the first look where guesses are not open, and those that join where they
 * are. */
enum { STAY = 2, JOIN = 2 };

/* γ where it is open. By validation on generated graphs, texas and cornell with gcn, appnp and mlp,
 * 1 gained 0.6 points on average and 0.3 a third of that. */
static const double ENTROPY = 1;

static bool guesses_open(const struct config *c)
{
    return c->guesses == GUESSES_AUTO;
}

static bool entropy_open(const struct config *c)
{
    return isnan(c->entropy);
}

/* The arms that differ in their pull alone. */
static int list_pulls(struct consm_arm arm[CONSM_ARMS], const struct config *c)
{
    static const double strengths[] = {0, 1, 5, 20};
    int count = 0, given = !isnan(c->lambda);
    struct consm_arm one = {.guesses = c->guesses == GUESSES_YES,
                            .entropy = entropy_open(c) ? 0 : c->entropy};
    for (int i = 0; i < (given ? 1 : 4); i++) {
        one.lambda = given ? c->lambda : strengths[i];
        one.all = false;
        if (c->attract != ATTRACT_ALL || one.lambda == 0)
            arm[count++] = one;
        one.all = true;
        if (c->attract != ATTRACT_ZETA && one.lambda != 0)
            arm[count++] = one;
    }
    return count;
}

/* Every pull; each with guesses; each with the entropy. */
int consm_arms(struct consm_arm arm[CONSM_ARMS], const struct config *c)
{
    int pulls = list_pulls(arm, c), count = pulls;
    for (int i = 0; guesses_open(c) && i < pulls; i++) {
        arm[count] = arm[i];
        arm[count++].guesses = true;
    }
    for (int i = 0; entropy_open(c) && i < pulls; i++) {
        arm[count] = arm[i];
        arm[count++].entropy = ENTROPY;
    }
    return count;
}

static int count_pulls(const struct config *c)
{
    struct consm_arm arm[CONSM_ARMS];
    return list_pulls(arm, c);
}

/* Where the edges are open, pulls over all of them wait for the best strength. */
static bool waits(const struct config *c, const struct consm_arm *arm)
{
    return c->attract == ATTRACT_AUTO && arm->all;
}

/* The arms of the first look: every strength, and the best of them over all edges. */
static int count_first(const struct config *c)
{
    struct consm_arm arm[CONSM_ARMS];
    int strengths = 0, pulls = count_pulls(c);
    consm_arms(arm, c);
    for (int i = 0; i < pulls; i++)
        strengths += !waits(c, &arm[i]);
    return strengths + (strengths < pulls);
}

static int count_guessing(const struct config *c)
{
    int pulls = count_pulls(c);
    return !guesses_open(c) ? 0 : pulls < JOIN ? pulls : JOIN;
}

static int count_joining(const struct config *c)
{
    return count_guessing(c) + entropy_open(c);
}

static int count_staying(const struct config *c)
{
    int pulls = count_pulls(c);
    return guesses_open(c) ? 1 : pulls < STAY ? pulls : STAY;
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
    int64_t first = c->gnn_steps * FIRST_LOOK / 20, second = c->gnn_steps * SECOND_LOOK / 20;
    if (round > 1 || consm_arms(arm, c) == 1)
        return c->gnn_steps;
    return count_first(c) * first + count_staying(c) * (second - first) +
           count_joining(c) * second + c->gnn_steps - second;
}

consm_status consm_pull(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_arm arm = arm_now(s);
    s->without_extra =
        own->place.round == 0 || (arm.lambda == 0 && !arm.guesses && arm.entropy == 0);
    if (s->without_extra)
        return CONSM_OK;
    TRY(consm_propagation(own->slope, &own->constant, own->w, own->edges, s->problem->role,
                          arm.lambda, arm.all ? 1 : own->zeta, &s->options.config, own->order));
    consm_heed_guesses(s, arm.guesses);
    consm_weigh_entropy(s, arm.entropy);
    if (own->pulls)
        csr_touch(own->pulls);
    session_touch(s, own->slope);
    session_touch(s, &own->constant);
done:
    return st;
}

void consm_settle_arm(struct session *s, struct train_arm *told)
{
    struct consm_arm arm = arm_now(s);
    *told = (struct train_arm){.known = true,
                               .lambda = arm.lambda,
                               .all = arm.all,
                               .guesses = arm.guesses,
                               .entropy = arm.entropy,
                               .dropped = s->options.config.drop_share,
                               .added = s->options.config.add_share};
    s->options.config.lambda = arm.lambda;
    s->options.config.attract = arm.all ? ATTRACT_ALL : ATTRACT_ZETA;
    s->options.config.guesses = arm.guesses ? GUESSES_YES : GUESSES_NO;
    s->options.config.entropy = arm.entropy;
}

/* ---- the choice ---------------------------------------------------------- */

/* An arm that is being tried. */
struct tried {
    int64_t number;
    struct snapshot *at; /* how far it came */
    double val;          /* the best validation accuracy on its way; -1: it was never run */
    int64_t found;       /* the update with which it found the best parameters so far; 0: none */
    bool joined;         /* with guesses, after the first look */
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

/* A pull's best is often a lucky update of its first ten. The credit is about the standard error of
 * a difference on some hundred nodes. */
bool consm_guesses_go_on(double with, double without)
{
    static const double credit = 0.01;
    return with >= without - credit;
}

/* Guesses within their credit; then who found the best parameters last, then those that validate
 * best, of equal ones the weaker pull. */
static bool ahead(const struct tried *a, const struct tried *b)
{
    if (a->joined != b->joined)
        return a->joined ? consm_guesses_go_on(a->val, b->val)
                         : !consm_guesses_go_on(b->val, a->val);
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
    const struct config *c = &s->options.config;
    int ways = count_first(c) + count_joining(c);
    TRY(snapshot_reserve(&own->fork, &s->learner));
    for (int i = 0; ways > 1 && i < ways; i++)
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
    own->place.fork_best = s->learner.best;
    own->place.fork_best_loss = s->learner.best_loss;
done:
    return st;
}

/* Every arm goes on up to the given number of updates; the best come first. */
static consm_status compare(struct session *s, struct tried *t, int count, int64_t until,
                            struct progress *progress)
{
    consm_status st = CONSM_OK;
    for (int k = 0; k < count; k++)
        TRY(go_on(s, &t[k], until, progress));
    order(t, count);
done:
    return st;
}

/* The strengths one after another, then the best of them over all edges. */
static consm_status compare_pulls(struct session *s, struct tried *t, struct progress *progress)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct config *c = &s->options.config;
    struct consm_arm arm[CONSM_ARMS];
    int64_t until = c->gnn_steps * FIRST_LOOK / 20;
    int count = 0, best = 0, pulls = count_pulls(c), wide = 0;
    consm_arms(arm, c);
    for (int i = 0; i < pulls; i++)
        if (!waits(c, &arm[i])) {
            t[count] = (struct tried){i, &own->way[count], -1, 0, false};
            count++;
        }
    TRY(compare(s, t, count, until, progress));
    if (count == pulls)
        return CONSM_OK;
    while (arm[t[best].number].lambda == 0)
        best++;
    while (!arm[wide].all || arm[wide].lambda != arm[t[best].number].lambda)
        wide++;
    t[count] = (struct tried){wide, &own->way[count], -1, 0, false};
    TRY(go_on(s, &t[count], until, progress));
    order(t, count + 1);
done:
    return st;
}

/* Behind the arms that stay: the entropy with the best pull; guesses with the weakest pull, and
 * with the best of the others. */
static void join(struct session *s, struct tried *t)
{
    struct consm *own = s->own;
    const struct config *c = &s->options.config;
    int pulls = count_pulls(c), first = count_first(c), best = 0, count = count_staying(c);
    struct snapshot *way = &own->way[first];
    while (t[best].number == 0 && best < first - 1)
        best++;
    const int64_t with[JOIN] = {0, t[best].number}, leads = t[0].number;
    if (entropy_open(c))
        t[count++] = (struct tried){(guesses_open(c) ? 2 : 1) * pulls + leads, way++, -1, 0, false};
    for (int i = 0; i < count_guessing(c); i++)
        t[count++] = (struct tried){pulls + with[i], way++, -1, 0, true};
}

consm_status consm_choose_arm(struct session *s, struct progress *progress)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_place *at = &own->place;
    const struct config *c = &s->options.config;
    struct tried tried[CONSM_ARMS];
    /* A run that was interrupted here begins the choice anew, without what it had found: its
     * updates give the same again. */
    own->fork.size = s->learner.params->size;
    own->fork.steps = at->fork_steps;
    own->fork.best_step = at->before;
    own->fork.best = at->fork_best;
    own->fork.best_loss = at->fork_best_loss;
    TRY(snapshot_put(&own->fork, &s->learner));
    at->updates = at->fork_updates;
    TRY(compare_pulls(s, tried, progress));
    join(s, tried);
    TRY(compare(s, tried, count_staying(c) + count_joining(c), c->gnn_steps * SECOND_LOOK / 20,
                progress));
    TRY(compare(s, tried, 1, c->gnn_steps, progress));
    at->arm = tried[0].number;
    at->choosing = false;
    at->left = 0;
    TRY(snapshot_put_point(tried[0].at, &s->learner));
done:
    return st;
}
