/* Algorithm 2: rounds of matching, scoring all edges, and GNN updates. The parameters with the best
 * validation are stored and restored after every round. */
#include "train/consm/clean.h"
#include "train/consm/race.h"

#include "base/clock.h"
#include "base/log.h"
#include "train/edge_trust.h"
#include "train/propagation.h"
#include <math.h>
#include <string.h>

/* ---- the session's life -------------------------------------------------- */

static void consm_close(struct session *s)
{
    struct consm *own = s->own;
    if (!own)
        return;
    matcher_free(own->matcher);
    session_free(own->winner);
    consm_close_tracks(&own->tracks);
    session_free(own->trees);
    consm_close_companions(own);
    voted_free(&own->voted);
    snapshot_free(&own->fork);
    for (int i = 0; i < CONSM_ARMS; i++)
        snapshot_free(&own->way[i]);
    edges_free(own->edges);
    consm_close_guesses(&own->guesses);
    consm_close_entropy(&own->entropy);
    consm_close_clean(s);
    index_free(own->left);
    index_free(own->right);
    views_free(own->own_views);
    mem_free(own->train);
    mem_free(own->w);
    if (own->pulls)
        pulls_free(own->pulls);
    else
        mem_free(own->slope);
    consm_close_parts(s);
    mem_sparse_free(own->near_answers);
    consm_close_witnesses(own);
    mem_free(own->plain_value);
    mem_free(own->best_value);
    mem_free(own->best_match);
    mem_free(own);
    s->own = NULL;
}

/* The matching module is stored with the GNN's parameters, so that a saved model can score edges.
 */
consm_status consm_declare_store(struct session *s)
{
    consm_status st = CONSM_OK;
    int index;
    TRY(matcher_declare(s->learner.params, CONSM_MATCH_PREFIX, &s->options.config,
                        s->problem->features, s->problem->classes));
    TRY(params_add(s->learner.params, &index, CONSM_TRUST, 1, TRUST_NUMBERS, INIT_ZERO, false));
done:
    return st;
}

/* The terms of the edges in L_SUP: a list, or values of a matrix. */
static consm_status open_terms(struct session *s, struct consm *own)
{
    consm_status st = CONSM_OK;
    const struct csr *graph = s->problem->graph;
    int64_t count = own->edges->count;
    TRY(ZNEW(own->w, count));
    if (graph->partition) {
        TRY(pulls_new(&own->pulls, graph));
        own->slope = own->pulls->val + graph->start[graph->partition->low];
        return CONSM_OK;
    }
    TRY(ZNEW(own->slope, count));
    TRY(index_of(&own->left, own->edges->left, count, s->problem->nodes));
    TRY(index_of(&own->right, own->edges->right, count, s->problem->nodes));
done:
    return st;
}

static consm_status consm_open(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own;
    TRY(ZNEW(own, 1));
    s->own = own;
    own->clean.whole = s->problem;
    TRY(consm_open_parts(s));
    own->outlook.begun = clock_seconds();
    if (s->options.eval_only) {
        own->zeta = s->options.config.zeta;
        TRY(consm_open_messages(s));
        return consm_declare_store(s);
    }
    TRY(edges_new(&own->edges, s->problem->graph));
    own->zeta = isnan(s->options.config.zeta) ? consm_estimate_zeta(own->edges, s->problem)
                                              : s->options.config.zeta;
    s->options.config.zeta = own->zeta;
    consm_settle_length(s);
    TRY(consm_choose_backbone(s));
    TRY(open_terms(s, own)); /* only now: candidates need the memory */
    TRY(consm_open_guesses(s));
    TRY(consm_open_entropy(s));
    TRY(consm_open_messages(s));
    TRY(consm_declare_store(s));
done:
    return st;
}

bool consm_matches_stored(const struct session *s)
{
    enum config_normalize_features way = s->options.config.normalize_features;
    return way == FEATURES_ROW || way == FEATURES_SCALE;
}

/* Features as stored: matching and witnesses gain nothing from the backbone's normalisation.
 * Exception: columns without a common scale (standardised), where the cosine of amounts and dates
 * is that of the dates. */
const float *consm_dense(const struct session *s)
{
    const float *own =
        consm_matches_stored(s) ? ((const struct consm *)s->own)->stored : s->dense_normalized;
    return own ? own : s->problem->dense;
}

struct match_data consm_match_data(const struct session *s)
{
    const struct problem *problem = s->problem;
    return (struct match_data){
        .nodes = problem->nodes,
        .features = problem->features,
        .classes = problem->classes,
        .graph = problem->graph,
        .edges = ((const struct consm *)s->own)->edges,
        .sparse = problem->sparse,
        .dense = consm_dense(s),
        .label = problem->label,
        .train = s->labelled ? s->labelled->row : NULL,
        .labelled = s->labelled ? s->labelled->count : 0,
    };
}

consm_status consm_open_matcher(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    if (!own->edges)
        TRY(edges_new(&own->edges, s->problem->graph));
    TRY(consm_store_features(s));
    struct match_data data = consm_match_data(s);
    TRY(matcher_new(&own->matcher, &data, &s->options.config, s->options.seed, s->backend));
    if (own->own_views)
        TRY(ZNEW(own->best_match, matcher_params(own->matcher)->size));
    if (s->options.eval_only)
        TRY(matcher_load(own->matcher, s->learner.params, CONSM_MATCH_PREFIX));
done:
    return st;
}

enum config_prune_by consm_prune_by(const struct session *s)
{
    const struct consm_place *at = &((const struct consm *)s->own)->place;
    return at->begun ? (enum config_prune_by)at->prune_by : s->options.config.prune_by;
}

double consm_kept_share(const struct session *s, enum config_prune_by by, int64_t round)
{
    const struct consm *own = s->own;
    bool all = by == PRUNE_BY_NONE || (by == PRUNE_BY_COEFFICIENTS && round == 1);
    return all ? 1 : by == PRUNE_BY_EGO ? 0 : own->zeta;
}

/* Updates of the matching module; 0: one per labelled node. If validation ends rounds, it knows its
 * pairs after the first round and continues with a quarter of them. */
static int64_t lesson(const struct config *c, int64_t round)
{
    bool shorter = round > 1 && c->round_patience > 0;
    return shorter ? (c->match_steps + 3) / 4 : c->match_steps;
}

/* Lines 2 to 5: trains the matching module, then scores every edge. */
static consm_status match_round(struct session *s, int64_t round)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct config *c = &s->options.config;
    enum config_prune_by by = consm_prune_by(s);
    bool by_coefficients = by == PRUNE_BY_COEFFICIENTS;
    double zeta = consm_kept_share(s, by, round), since = clock_seconds();
    TRY(consm_note_module(s));
    TRY(matcher_prune(own->matcher, zeta, by_coefficients && round > 1 ? own->w : NULL));
    TRY(matcher_train(own->matcher, lesson(c, round), NULL));
    TRY(matcher_score(own->matcher, own->w));
    struct trust trust;
    struct witnesses heard;
    bool by_trust = c->coefficients == COEFFICIENTS_TRUST;
    TRY(consm_note_gnn(s));
    if (by_trust)
        TRY(consm_weigh_witnesses(&trust, &heard, s)); /* with the previous messages */
    consm_weigh_messages(s);
    if (by_trust)
        trust_score(own->w, NULL, NULL, NULL, &trust, &heard);
    TRY(consm_pull(s));
    own->outlook.match = clock_seconds() - since;
done:
    return st;
}

/* Updates until a round without improvement ends early: a quarter of its length after the last
 * improvement. Later improvements are very rare. */
static int64_t patience_left(const struct session *s)
{
    const struct config *c = &s->options.config;
    const struct consm_place *at = &((const struct consm *)s->own)->place;
    int64_t begun = s->learner.steps - (c->gnn_steps - at->left);
    int64_t last = s->learner.best_step != at->before ? s->learner.best_step : begun;
    return c->gnn_steps / 4 - (s->learner.steps - last);
}

/* Whether the round may end early. The first, which chooses, may not; later ones may if
 * validation ends rounds at all. */
static bool may_give_up(const struct session *s)
{
    const struct consm_place *at = &((const struct consm *)s->own)->place;
    return s->options.config.round_patience > 0 && at->round > 1 && !s->options.lengths;
}

static bool gives_up(const struct session *s)
{
    const struct consm_place *at = &((const struct consm *)s->own)->place;
    return may_give_up(s) && at->left < s->options.config.gnn_steps && patience_left(s) <= 0;
}

/* Updates certain to happen: before the round's end and before it could be ended early. */
static int64_t certain(const struct session *s)
{
    const struct config *c = &s->options.config;
    const struct consm_place *at = &((const struct consm *)s->own)->place;
    int64_t most = at->left < c->epochs - at->updates ? at->left : c->epochs - at->updates;
    return may_give_up(s) && patience_left(s) < most ? patience_left(s) : most;
}

/* GNN updates, each followed by validation; stores the best parameters (lines 6 to 11). */
static consm_status update_gnn(struct session *s, struct progress *progress)
{
    consm_status st = CONSM_OK;
    struct consm_place *at = &((struct consm *)s->own)->place;
    bool late = session_late(s) && at->updates > 0, first = true;
    while (at->left > 0 && at->updates < s->options.config.epochs && !late && !gives_up(s) &&
           !(at->round == 0 && consm_idle(&s->options.config, &s->learner))) {
        if (at->round > 0)
            session_promise(s, certain(s));
        at->updates++;
        at->left--;
        late = session_late(s);
        bool looks = at->round > 0 || late || consm_looks(&s->options.config, at->updates);
        double since = clock_seconds();
        if (looks)
            TRY(session_epoch(s, at->updates, progress));
        else
            TRY(session_step(s, &progress->loss));
        consm_note_update(s, clock_seconds() - since, looks, first);
        first = false;
        progress->epoch = at->updates;
        TRY(session_report(s, progress));
    }
done:
    return st;
}

static consm_status finish_round(struct session *s, struct consm_place *at)
{
    consm_status st = CONSM_OK;
    bool better = s->learner.best_step != at->before;
    session_phase_end(s, at->round, better);
    if (better) {
        TRY(consm_remember_messages(s));
        consm_remember_kept(s);
    }
    TRY(learner_restore(&s->learner));
    consm_restore_messages(s);
    TRY(consm_restore_kept(s));
    at->idle = better ? 0 : at->idle + 1;
done:
    return st;
}

/* Every round starts from the best parameters so far, the first from the warm-up's best: some
 * networks pass theirs long before its end. The first round also chooses how coefficients pull. */
static consm_status begin_round(struct session *s, struct consm_place *at)
{
    consm_status st = CONSM_OK;
    struct consm_arm arm[CONSM_ARMS];
    if (at->round == 0 && s->learner.best_step > 0)
        TRY(learner_restore(&s->learner));
    if (at->round == 0)
        session_phase_end(s, 0, s->learner.best_step > 0);
    at->round++;
    at->before = s->learner.best_step;
    at->left = session_phase_length(s, at->round, s->options.config.gnn_steps);
    session_phase_begin(s);
    if (((struct consm *)s->own)->matcher) {
        TRY(consm_guess(s, at->round));
        TRY(match_round(s, at->round));
        TRY(consm_clean_again(s));
        if (at->round == 1 && consm_arms(arm, &s->options.config) > 1)
            TRY(consm_fork(s));
    }
done:
    return st;
}

/* Examines the matching module, unless that happened beside the race. The exam has a module of its
 * own, so the session's is made after it. */
static consm_status examine(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    if (own->examined || edges_all(own->edges) == 0 || session_late(s))
        return CONSM_OK;
    TRY(consm_store_features(s));
    struct match_data data = consm_match_data(s);
    TRY(consm_examine(&own->exam, s, &data, &s->options.config, s->backend));
    own->examined = true;
done:
    return st;
}

static void note_exam(const struct session *s, struct consm_place *at)
{
    const struct consm *own = s->own;
    at->quality = own->exam.quality;
    at->prune_by = own->exam.prune_by;
    if (at->quality.at_chance)
        log_info("seed %llu: matching is no better than chance on held-out pairs (AUC %.3f on %lld "
                 "held-out nodes): trust ignores it",
                 (unsigned long long)s->options.seed, at->quality.held_auc,
                 (long long)own->exam.held);
}

/* What is chosen or started once, before the first update. */
static consm_status begin(struct session *s, struct consm_place *at, struct progress *progress)
{
    consm_status st = CONSM_OK;
    const struct config *c = &s->options.config;
    bool taken = ((struct consm *)s->own)->winner != NULL;
    TRY(consm_take_over(s));
    *at = (struct consm_place){.begun = 1,
                               .updates = s->learner.steps,
                               .left = taken ? 0 : c->warmup - s->learner.steps,
                               .prune_by = c->prune_by};
    if (c->prune_by == PRUNE_BY_AUTO)
        at->prune_by = PRUNE_BY_NONE;
    if (((struct consm *)s->own)->examined)
        note_exam(s, at);
    ((struct consm *)s->own)->outlook.examined = true;
    if (taken) { /* the warm-up is over */
        progress->epoch = at->updates;
        TRY(session_validate(&progress->val_acc, s));
        progress->best_val = s->learner.best;
        TRY(session_report(s, progress));
    }
done:
    return st;
}

static int64_t planned(const struct config *c)
{
    return c->warmup + consm_round_updates(c, 1) + (c->rounds - 1) * c->gnn_steps;
}

/* Rounds until validation, or a limit, ends them. */
static consm_status go_through_rounds(struct session *s, struct progress *progress)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_place *at = &own->place;
    const struct config *c = &s->options.config;
    if (at->over) /* as a checkpoint says */
        return CONSM_OK;
    TRY(consm_pull(s));
    for (;;) {
        TRY(at->choosing ? consm_choose_arm(s, progress) : update_gnn(s, progress));
        if (at->round > 0)
            TRY(finish_round(s, at));
        /* If λ = 0 won, more coefficients would change only which edges are kept. */
        bool settled = s->without_extra && !own->clean.on;
        if (at->updates >= c->epochs || at->round == c->rounds || session_late(s) ||
            (c->round_patience > 0 && at->round > 0 && settled) ||
            (c->round_patience > 0 && at->idle >= c->round_patience))
            break;
        TRY(begin_round(s, at));
    }
    at->over = 1;
done:
    return st;
}

static consm_status consm_fit(struct session *s, struct train_result *result)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_place *at = &own->place;
    const struct config *c = &s->options.config;
    struct progress progress = {.seed = s->options.seed, .epochs = planned(c)};
    progress.epochs = progress.epochs < c->epochs ? progress.epochs : c->epochs;
    if (!at->begun)
        TRY(examine(s));
    if (edges_all(own->edges) > 0 && !own->matcher)
        TRY(consm_open_matcher(s));
    if (own->matcher && c->coefficients == COEFFICIENTS_TRUST)
        TRY(consm_open_witnesses(s, s->backend->host));
    TRY(consm_reserve_arms(s));
    own->outlook.examined = at->begun;
    if (!at->begun)
        TRY(begin(s, at, &progress));
    else if (own->pulls && at->round > 0 && own->matcher)
        TRY(consm_match_again(s));
    TRY(go_through_rounds(s, &progress));
    TRY(session_end(s));
    TRY(consm_clean_course(s, &progress, go_through_rounds));
    TRY(consm_missing_course(s, &progress, go_through_rounds));
    TRY(consm_settle_messages(s));
    TRY(session_finish(s, result, clock_seconds() - own->outlook.begun));
    result->epochs = at->updates;
    result->loss = progress.loss;
    result->match = at->quality;
    if (s->choice)
        result->folds = s->choice->folds;
    result->candidates = own->candidates;
    result->student = own->student;
    memcpy(result->candidate, own->candidate, sizeof result->candidate);
    TRY(consm_settle_trees(s, result));
    s->options.config.prune_by = consm_prune_by(s);
    consm_settle_arm(s, &result->arm);
    TRY(session_keep_trust(s));
    TRY(consm_settle_companions(s, result));
    TRY(session_weigh_answers(s));
done:
    return st;
}

static consm_status consm_coefficients(struct session *s, float *w, const struct edges *edges)
{
    const struct consm *own = s->own;
    if (!own)
        return status_fail(CONSM_EINVAL, "consm has edge coefficients only right after training");
    memcpy(w, own->w, (size_t)edges->count * sizeof *w);
    return CONSM_OK;
}

const struct procedure consm_procedure = {
    .model = "consm",
    .open = consm_open,
    .loaded = consm_loaded,
    .loss = consm_whole_loss,
    .plain_phase = true,
    .fit = consm_fit,
    .phases = true,
    .resumes = true,
    .parts = true,
    .memory = consm_memory,
    .place = consm_see_place,
    .note = consm_note_course,
    .sound = consm_sound,
    .take_choice = consm_take_choice,
    .close = consm_close,
    .coefficients = consm_coefficients,
    .fraction = consm_fraction,
    .predicts = consm_trees,
    .company = consm_company,
};
