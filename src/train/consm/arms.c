/* Chooses by validation what was left open: how strongly coefficients pull (λ), over which edges
 * (the share ζ, or all), whether confident predictions serve as labels (guesses), and whether the
 * entropy of unlabelled predictions joins the loss (entropy.c). Every combination is an arm. Not in
 * the paper. */

/* All arms start from one point with one round's coefficients; the best by validation get more
 * updates, and one stays for all rounds. λ = 0 is among them, so a GNN that gains nothing from
 * coefficients trains without. */

/* Order: strengths are compared first, over the most confident edges; the best one is then tried
 * over all edges; then guesses join, without pull and with the best pull. Guesses help later than a
 * pull does, so they join late and get some credit. The entropy joins at the same time, with the
 * best pull and without credit. */
#include "train/consm/consm.h"

#include "base/clock.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* In twentieths of a round's updates: pulls are compared; guesses are compared; then one arm
 * continues. */
enum { FIRST_LOOK = 2, SECOND_LOOK = 6 };

/* Arms that stay after the first look if guesses are not open, and arms that join if they are. */
enum { STAY = 2, JOIN = 2 };

/* γ if it is open. By validation on generated graphs, texas and cornell with gcn, appnp and mlp, 1
 * gained 0.6 points on average and 0.3 a third of that. */
static const double ENTROPY = 1;

static bool guesses_open(const struct config *c)
{
    return c->guesses == GUESSES_AUTO;
}

static bool entropy_open(const struct config *c)
{
    return isnan(c->entropy);
}

/* The arms that differ only in their pull. */
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

/* If the edges are open, pulls over all edges wait for the best strength. */
static bool waits(const struct config *c, const struct consm_arm *arm)
{
    return c->attract == ATTRACT_AUTO && arm->all;
}

static int count_waiting(const struct config *c)
{
    struct consm_arm arm[CONSM_ARMS];
    int waiting = 0, pulls = list_pulls(arm, c);
    for (int i = 0; i < pulls; i++)
        waiting += waits(c, &arm[i]);
    return waiting;
}

/* The arms of the first look: every strength, and the best of them over all edges. */
static int count_first(const struct config *c)
{
    int waiting = count_waiting(c);
    return count_pulls(c) - waiting + (waiting > 0);
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
                          arm.lambda, arm.all ? 1 : own->zeta, &s->options.config,
                          s->backend->host));
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

/* Updates up to the given number after the common point. A resumed run is in the middle of them. */
static consm_status go_on(struct session *s, struct consm_tried *t, int64_t until,
                          struct progress *progress)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_place *at = &own->place;
    bool fresh = t->val < 0;
    if (!at->running)
        TRY(snapshot_put_point(fresh ? &own->fork : &own->way[t->way], &s->learner));
    at->running = true;
    at->arm = t->number;
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
    TRY(snapshot_take(&own->way[t->way], &s->learner));
    t->steps = s->learner.steps;
    at->running = false;
done:
    return st;
}

/* A pull's best is often a lucky update among its first ten. The credit is about the standard error
 * of a difference on some hundred nodes. */
bool consm_guesses_go_on(double with, double without)
{
    static const double credit = 0.01;
    return with >= without - credit;
}

/* Guesses within their credit come first; then the arm that found the best parameters last; then
 * the best validation; ties to the weaker pull. */
static bool ahead(const struct consm_tried *a, const struct consm_tried *b)
{
    if (a->joined != b->joined)
        return a->joined ? consm_guesses_go_on(a->val, b->val)
                         : !consm_guesses_go_on(b->val, a->val);
    if (a->found != b->found)
        return a->found > b->found;
    return a->val != b->val ? a->val > b->val : a->number < b->number;
}

void consm_order_arms(struct consm_tried *t, int count)
{
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && ahead(&t[k], &t[k - 1]); k--) {
            struct consm_tried swap = t[k];
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

/* Runs every arm up to the given number of updates and sorts them, best first. Starts with the next
 * arm. */
static consm_status compare(struct session *s, int64_t count, int64_t until,
                            struct progress *progress)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    for (; own->place.next < count; own->place.next++)
        TRY(go_on(s, &own->tried[own->place.next], until, progress));
    own->place.next = 0;
    consm_order_arms(own->tried, (int)count);
done:
    return st;
}

static struct consm_tried untried(int64_t number, int64_t way, bool joined)
{
    return (struct consm_tried){.number = number, .way = way, .joined = joined, .val = -1};
}

/* The strengths, in the order of the arms. */
static void list_strengths(struct session *s)
{
    struct consm *own = s->own;
    const struct config *c = &s->options.config;
    struct consm_arm arm[CONSM_ARMS];
    int count = 0, pulls = count_pulls(c);
    consm_arms(arm, c);
    for (int i = 0; i < pulls; i++)
        if (!waits(c, &arm[i])) {
            own->tried[count] = untried(i, count, false);
            count++;
        }
}

/* Adds the best strength over all edges after the strengths. */
static void list_wide(struct session *s, int strengths)
{
    struct consm *own = s->own;
    struct consm_arm arm[CONSM_ARMS];
    int best = 0, wide = 0;
    consm_arms(arm, &s->options.config);
    while (arm[own->tried[best].number].lambda == 0)
        best++;
    while (!arm[wide].all || arm[wide].lambda != arm[own->tried[best].number].lambda)
        wide++;
    own->tried[strengths] = untried(wide, strengths, false);
}

/* Adds after the remaining arms: the entropy with the best pull; guesses with the weakest pull and
 * with the best of the others. */
static void join(struct session *s)
{
    struct consm *own = s->own;
    struct consm_tried *t = own->tried;
    const struct config *c = &s->options.config;
    int pulls = count_pulls(c), first = count_first(c), best = 0, count = count_staying(c);
    int64_t way = first;
    while (t[best].number == 0 && best < first - 1)
        best++;
    const int64_t with[JOIN] = {0, t[best].number}, leads = t[0].number;
    if (entropy_open(c))
        t[count++] = untried((guesses_open(c) ? 2 : 1) * pulls + leads, way++, false);
    for (int i = 0; i < count_guessing(c); i++)
        t[count++] = untried(pulls + with[i], way++, true);
}

/* Starts the comparison at the fork, or restores it; the numbers of fork and arms are already
 * there. */
static consm_status begin_or_go_on(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_place *at = &own->place;
    own->fork.size = s->learner.params->size;
    own->fork.steps = at->fork_steps;
    own->fork.best_step = at->before;
    own->fork.best = at->fork_best;
    own->fork.best_loss = at->fork_best_loss;
    if (at->look == LOOK_BEGINS) {
        TRY(snapshot_put(&own->fork, &s->learner));
        at->updates = at->fork_updates;
        at->next = at->running = 0;
        list_strengths(s);
        at->look = LOOK_STRENGTHS;
        return CONSM_OK;
    }
    for (int i = 0; i < CONSM_ARMS; i++)
        if (own->tried[i].steps > 0) {
            own->way[own->tried[i].way].size = s->learner.params->size;
            own->way[own->tried[i].way].steps = own->tried[i].steps;
        }
done:
    return st;
}

consm_status consm_choose_arm(struct session *s, struct progress *progress)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_place *at = &own->place;
    const struct config *c = &s->options.config;
    int strengths = count_pulls(c) - count_waiting(c);
    int64_t first = c->gnn_steps * FIRST_LOOK / 20, second = c->gnn_steps * SECOND_LOOK / 20;
    TRY(begin_or_go_on(s));
    if (at->look == LOOK_STRENGTHS) {
        TRY(compare(s, strengths, first, progress));
        if (count_first(c) > strengths)
            list_wide(s, strengths);
        at->look = LOOK_WIDE;
    }
    if (at->look == LOOK_WIDE) {
        if (count_first(c) > strengths) {
            TRY(go_on(s, &own->tried[strengths], first, progress));
            consm_order_arms(own->tried, strengths + 1);
        }
        join(s);
        at->look = LOOK_SECOND;
    }
    if (at->look == LOOK_SECOND) {
        TRY(compare(s, count_staying(c) + count_joining(c), second, progress));
        at->look = LOOK_LAST;
    }
    TRY(compare(s, 1, c->gnn_steps, progress));
    at->arm = own->tried[0].number;
    at->choosing = at->left = 0;
    at->look = LOOK_BEGINS;
    TRY(snapshot_put_point(&own->way[own->tried[0].way], &s->learner));
    memset(own->tried, 0, sizeof own->tried);
done:
    return st;
}

/* ---- checkpoints --------------------------------------------------------- */

consm_status consm_arms_memory(struct session *s, memory_fn see, void *ctx)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    int ways = count_first(&s->options.config) + count_joining(&s->options.config);
    char name[32];
    if (!own->place.choosing)
        return CONSM_OK;
    TRY(consm_reserve_arms(s));
    see(ctx, "consm.tried", own->tried, sizeof own->tried);
    for (int i = 0; ways > 1 && i < ways; i++) {
        snprintf(name, sizeof name, "consm.way%d", i);
        see(ctx, name, own->way[i].numbers,
            (size_t)SNAPSHOT_BLOCKS * (size_t)s->learner.params->size * sizeof(float));
    }
done:
    return st;
}

bool consm_arms_sound(const struct session *s)
{
    const struct consm *own = s->own;
    const struct config *c = &s->options.config;
    const struct consm_place *at = &own->place;
    struct consm_arm arm[CONSM_ARMS];
    int arms = consm_arms(arm, c), ways = count_first(c) + count_joining(c);
    bool sound = at->look >= LOOK_BEGINS && at->look < LOOKS && at->next >= 0 && at->next < ways &&
                 (at->running == 0 || at->running == 1);
    for (int i = 0; sound && at->choosing && i < CONSM_ARMS; i++) {
        const struct consm_tried *t = &own->tried[i];
        sound = t->number >= 0 && t->number < arms && t->way >= 0 && t->way < ways &&
                t->steps >= 0 && t->steps <= LEARNER_MOST_STEPS && t->found >= 0 &&
                t->found <= LEARNER_MOST_STEPS && (t->joined == 0 || t->joined == 1) &&
                t->val >= -1 && t->val <= 1;
    }
    return sound;
}
