/* Training on the graph that trust leaves (--drop-share), an addition to the paper's method and an
 * arm like the others: validation decides. It is tried when the rounds over all edges are over, and
 * only where trust says that a noticeable share of the edges joins two classes.
 *
 * What was learned from false edges stays in a GNN that is merely trained on, so that it begins
 * anew: the candidate that did best (but for the MLP, which hears no messages) warms up without the
 * 10, 25 or 40 % of the edges of least trust; the share that validates best after two fifths of the
 * warm-up goes on to its end. With that share the next two candidates warm up, too, and the GNN as
 * it is trains on for a round. If the best of all these validates as well as the warm-up over all
 * edges did, it goes through the rounds, each of which tells anew which edges are kept. What comes
 * out has to validate better than the whole run over all edges; else the run is that one, to the
 * bit. */
#include "train/consm/consm.h"

#include "base/log.h"
#include "train/metrics.h"
#include <math.h>
#include <string.h>

enum { SHARES = 3, ENTRANTS = 3 };
static const double shares[SHARES] = {0.1, 0.25, 0.4};

/* Of edges that are more likely to join two classes than one. */
static const double NOTICEABLE = 0.05;

/* A share is tried if it is not larger than that one by more than this. */
static const double BEYOND = 0.1;

/* Of the warm-up, after which one share goes on. */
static const double FIRST_PART = 0.4;

/* Progress of trials has numbers behind those of candidates, from here on. */
enum { TRIAL_NUMBERS = 1000 };

/* A GNN on a part of the edges. */
struct attempt {
    struct session *session; /* NULL: it diverged, or there is none */
    struct consm_kept *kept;
    uint8_t *dropped; /* (|E|) */
    double share;
};

static void trial_free(struct attempt *t)
{
    session_free(t->session);
    consm_kept_free(t->kept);
    mem_free(t->dropped);
    *t = (struct attempt){0};
}

static bool better(const struct attempt *a, const struct attempt *b)
{
    if (!a->session || !b->session)
        return a->session != NULL;
    const struct learner *x = &a->session->learner, *y = &b->session->learner;
    return x->best != y->best ? x->best > y->best : x->best_loss < y->best_loss;
}

/* The better one stays in *a. */
static void keep_better(struct attempt *a, struct attempt *b)
{
    if (better(b, a)) {
        struct attempt swap = *a;
        *a = *b;
        *b = swap;
    }
    trial_free(b);
}

/* ---- whether, and with whom ---------------------------------------------- */

static bool forced(const struct config *c)
{
    return c->drop_below > 0 || c->drop_share > 0;
}

static bool may_clean(const struct session *s)
{
    const struct config *c = &s->options.config;
    const struct consm *own = s->own;
    bool open = isnan(c->drop_share) && s->validation > 0 && !session_late(s);
    return (open || forced(c)) && own->place.updates < c->epochs && own->matcher &&
           !own->own_views && !own->pulls && c->coefficients == COEFFICIENTS_TRUST;
}

/* The share of edges that score below a half. */
static double distrusted(const struct consm *own)
{
    int64_t below = 0;
    for (int64_t e = 0; e < own->edges->count; e++)
        below += own->w[e] < 0.5f;
    return own->edges->count > 0 ? (double)below / (double)own->edges->count : 0;
}

/* The shares to try; none where hardly any edge is distrusted. NaN: by --drop-below. */
static int list_shares(double found[SHARES], const struct session *s)
{
    const struct config *c = &s->options.config;
    double suspected = distrusted(s->own);
    int count = 0;
    if (forced(c)) {
        found[0] = c->drop_below > 0 ? NAN : c->drop_share;
        return 1;
    }
    for (int i = 0; i < SHARES && suspected >= NOTICEABLE; i++)
        if (shares[i] <= suspected + BEYOND)
            found[count++] = shares[i];
    return count;
}

/* The configurations that warm up, the best one first; the MLP hears no messages. A given backbone
 * is alone, and so is the best one on a large graph. */
static int list_entrants(struct config found[ENTRANTS], const struct session *s)
{
    const struct consm *own = s->own;
    const struct config *c = &s->options.config;
    int count = 0, most = s->problem->graph->nnz > CONSM_MILLION_ENTRIES ? 1 : ENTRANTS;
    if (own->candidates == 0 && c->backbone != BACKBONE_MLP)
        found[count++] = *c;
    for (int i = 0; i < own->candidates && count < most; i++) {
        const struct train_candidate *one = &own->candidate[i];
        for (int64_t number = 0; number < CONSM_CANDIDATES && one->val >= 0; number++) {
            struct config with = *c;
            if (consm_candidate_settings(number) != one->settings ||
                consm_apply_candidate(&with, number, s->options.given) < 0 ||
                strcmp(config_names_backbone[with.backbone], one->model) != 0 ||
                with.backbone == BACKBONE_MLP)
                continue;
            found[count++] = with;
            break;
        }
    }
    return count;
}

/* ---- trials -------------------------------------------------------------- */

static int64_t warm_up(const struct config *c)
{
    int64_t warmup = c->warmup > 0 ? c->warmup : 1;
    return c->epochs < warmup ? c->epochs : warmup;
}

/* A GNN alone, with parameters as drawn. */
static consm_status open_gnn(struct session **out, struct session *s, const struct config *c,
                             const struct problem *problem)
{
    consm_status st = CONSM_OK;
    struct train_options options = {
        .seed = s->options.seed, .config = *c, .positive = s->options.positive};
    options.config.epochs = warm_up(c) + c->gnn_steps;
    options.config.time_budget = 0; /* one clock for all */
    TRY(model_find(&options.model, config_names_backbone[c->backbone]));
    TRY(session_new(out, problem, &options, s->backend));
done:
    return st;
}

static consm_status trial_open(struct attempt *t, struct session *s, const struct config *c,
                               double share)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    own->clean.share = t->share = share;
    TRY(NEW(t->dropped, own->edges->count + 1));
    consm_mark_dropped(t->dropped, own->w, s);
    TRY(consm_kept_new(&t->kept, own->clean.whole, own->edges, t->dropped));
    TRY(open_gnn(&t->session, s, c, &t->kept->problem));
done:
    return st;
}

/* Updates up to that number. One that diverges is given up. */
static consm_status train_to(struct attempt *t, struct session *s, int64_t until, int64_t number)
{
    consm_status st = CONSM_OK;
    const struct train_options *o = &s->options;
    struct progress heard = {.seed = o->seed, .candidate = TRIAL_NUMBERS + number};
    while (t->session && t->session->learner.steps < until && !session_late(s) &&
           !consm_idle(&o->config, &t->session->learner)) {
        struct session *trial = t->session;
        st = session_step(trial, &heard.loss);
        if (st == CONSM_ENUMERIC) {
            session_free(trial);
            t->session = NULL;
            return CONSM_OK;
        }
        TRY(st);
        if (session_late(s) || consm_looks(&o->config, trial->learner.steps) ||
            trial->learner.steps == until)
            TRY(session_validate(&heard.val_acc, trial));
        heard.update = trial->learner.steps;
        heard.best_val = trial->learner.best;
        heard.backbone = trial->options.model->name;
        heard.fraction = o->progress ? consm_share(s) : 0;
        if (o->progress && o->progress(o->progress_ctx, &heard))
            TRY(status_fail(CONSM_ECANCEL, "stopped while edges were left out on trial"));
    }
done:
    return st;
}

/* The share that is best for a while goes on to the end of the warm-up. */
static consm_status choose_share(struct attempt *best, struct session *s, const struct config *c,
                                 const double *share, int count)
{
    consm_status st = CONSM_OK;
    int64_t whole = warm_up(&s->options.config);
    int64_t part = count > 1 ? (int64_t)(FIRST_PART * (double)whole) : whole;
    struct attempt next = {0};
    for (int i = 0; i < count; i++) {
        TRY(trial_open(&next, s, c, share[i]));
        TRY(train_to(&next, s, part > 0 ? part : 1, i));
        keep_better(best, &next);
    }
    TRY(train_to(best, s, whole, 0));
done:
    trial_free(&next);
    return st;
}

/* With that share: the other candidates, and the GNN as it is trained on. */
static consm_status try_others(struct attempt *best, struct session *s,
                               const struct config *entrant, int entrants)
{
    consm_status st = CONSM_OK;
    const struct config *c = &s->options.config;
    struct attempt next = {0};
    double share = best->share;
    for (int i = 1; i < entrants && !session_late(s); i++) {
        TRY(trial_open(&next, s, &entrant[i], share));
        TRY(train_to(&next, s, warm_up(c), SHARES + i));
        keep_better(best, &next);
    }
    if (c->backbone != BACKBONE_MLP && !session_late(s)) {
        TRY(trial_open(&next, s, c, share));
        TRY(learner_adopt(&next.session->learner, &s->learner));
        next.session->learner.best = -1; /* that was over all edges */
        next.session->learner.best_step = next.session->learner.steps;
        TRY(train_to(&next, s, next.session->learner.steps + c->gnn_steps, SHARES + ENTRANTS));
        keep_better(best, &next);
    }
done:
    trial_free(&next);
    return st;
}

/* ---- going over to one, and back ----------------------------------------- */

/* The session's GNN becomes that of another session, over the edges of a problem. */
static consm_status become(struct session *s, struct session *gnn, const struct problem *problem)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    int features = (int)s->options.config.normalize_features;
    for (int row = 0; row < CONFIG_ROWS; row++)
        if (row == CONFIG_ROW_backbone || consm_candidate_brings(row))
            config_copy(&s->options.config, &gnn->options.config, row);
    s->problem = problem;
    TRY(session_rebuild(s, features != (int)s->options.config.normalize_features,
                        consm_declare_store));
    TRY(learner_adopt(&s->learner, &gnn->learner));
    snapshot_free(&own->fork);
    for (int i = 0; i < CONSM_ARMS; i++)
        snapshot_free(&own->way[i]);
    TRY(consm_reserve_arms(s));
done:
    return st;
}

static size_t module_bytes(const struct consm *own)
{
    return (size_t)matcher_params(own->matcher)->size * sizeof(float);
}

/* Puts the run over all edges aside. */
static consm_status put_aside(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_clean *clean = &own->clean;
    const float *module;
    TRY(open_gnn(&clean->plain, s, &s->options.config, clean->whole));
    TRY(learner_adopt(&clean->plain->learner, &s->learner));
    TRY(params_read(&module, matcher_params(own->matcher), PLACE_VALUE));
    TRY(NEW(clean->plain_match, matcher_params(own->matcher)->size));
    memcpy(clean->plain_match, module, module_bytes(own));
    clean->plain_config = s->options.config;
    clean->plain_place = own->place;
    clean->plain_lengths = s->lengths;
done:
    return st;
}

static consm_status go_back(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_clean *clean = &own->clean;
    float *module;
    int64_t updates = own->place.updates;
    clean->on = false;
    TRY(become(s, clean->plain, clean->whole));
    s->options.config = clean->plain_config;
    own->place = clean->plain_place;
    s->lengths = clean->plain_lengths;
    own->place.updates = updates;
    TRY(params_write(&module, matcher_params(own->matcher), PLACE_VALUE));
    memcpy(module, clean->plain_match, module_bytes(own));
done:
    return st;
}

static consm_status go_over(struct session *s, struct attempt *to)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_clean *clean = &own->clean;
    struct consm_place *at = &own->place;
    TRY(put_aside(s));
    clean->share = to->share;
    clean->course = to->kept;
    clean->dropped = to->dropped;
    to->kept = NULL;
    to->dropped = NULL;
    TRY(NEW(clean->best, own->edges->count + 1));
    memcpy(clean->best, clean->dropped, (size_t)own->edges->count);
    TRY(become(s, to->session, &clean->course->problem));
    clean->on = true;
    /* The last checkpoint stays: it is of the run over all edges, and leads here again. */
    s->options.checkpoint = NULL;
    at->round = at->left = at->idle = at->best_round = at->arm = at->choosing = 0;
    at->before = s->learner.best_step;
    s->lengths = (struct train_lengths){0}; /* of this course */
done:
    return st;
}

/* ---- what comes out ------------------------------------------------------ */

/* How good answers are: by the run's metric, between equals by the validation nodes' loss. */
struct mark {
    double score, loss;
};

static consm_status mark_answers(struct mark *out, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *p = s->problem;
    const float *logits;
    TRY(session_logits(&logits, s));
    out->score = judge_score(&s->judge, logits, false);
    out->loss = metrics_nll(
        &(struct predicted){logits, p->label, p->role, SPLIT_VAL, p->nodes, p->classes, NULL}, 1);
done:
    return st;
}

static bool validates_better(const struct mark *a, const struct mark *b)
{
    return a->score != b->score ? a->score > b->score : a->loss < b->loss;
}

/* Trust is fitted once more, as a model file keeps it; answers go by it and are judged. */
static consm_status settle(struct mark *found, struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    float kept[TRUST_NUMBERS];
    struct trust trust;
    TRY(learner_restore(&s->learner));
    TRY(consm_final_coefficients(s));
    TRY(consm_weigh_witnesses(&trust, s));
    trust_write(kept, &trust);
    trust_read(&own->clean.trust, kept);
    TRY(consm_answer_without(s, &own->clean.trust, own->clean.share));
    s->options.config.drop_share = own->clean.left_out;
    TRY(mark_answers(found, s));
done:
    return st;
}

/* Trust in every edge, by the GNN as it is. */
static consm_status look_at_edges(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct trust trust;
    TRY(consm_final_coefficients(s));
    TRY(consm_weigh_witnesses(&trust, s));
    trust_apply(own->w, NULL, NULL, &trust, own->witness, own->edges->count);
done:
    return st;
}

/* How well the warm-up over all edges validated. */
static double warm_best(const struct session *s)
{
    const struct consm_place *at = &((const struct consm *)s->own)->place;
    return at->fork_updates > 0 ? at->fork_best : s->learner.best;
}

static consm_status choose_trial(struct attempt *best, struct session *s)
{
    consm_status st = CONSM_OK;
    struct config entrant[ENTRANTS];
    double share[SHARES];
    int entrants, count;
    TRY(look_at_edges(s));
    entrants = list_entrants(entrant, s);
    count = list_shares(share, s);
    if (entrants == 0 || count == 0)
        return CONSM_OK;
    if (s->options.checkpoint)
        TRY(s->options.checkpoint(s->options.checkpoint_ctx, s));
    TRY(choose_share(best, s, &entrant[0], share, count));
    if (s->validation > 0)
        TRY(try_others(best, s, entrant, entrants));
done:
    return st;
}

consm_status consm_clean_course(struct session *s, struct progress *progress,
                                consm_status (*rounds)(struct session *s,
                                                       struct progress *progress))
{
    consm_status st = CONSM_OK;
    struct attempt best = {0};
    struct mark plain, found;
    bool must = forced(&s->options.config);
    if (may_clean(s)) {
        TRY(mark_answers(&plain, s));
        TRY(choose_trial(&best, s));
    }
    if (!best.session || (!must && best.session->learner.best < warm_best(s)))
        goto done;
    TRY(go_over(s, &best));
    trial_free(&best);
    TRY(rounds(s, progress));
    TRY(settle(&found, s));
    log_info("seed %llu: without the edges of least trust validation is %.4f, with all edges %.4f",
             (unsigned long long)s->options.seed, found.score, plain.score);
    if (!must && !validates_better(&found, &plain))
        TRY(go_back(s));
    else
        s->learner.best = found.score;
done:
    if (!((const struct consm *)s->own)->clean.on) /* a model file says so */
        s->options.config.drop_share = s->options.config.drop_below = 0;
    trial_free(&best);
    return st;
}
