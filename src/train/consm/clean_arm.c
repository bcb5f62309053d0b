/* Trains on the graph without distrusted edges (--drop-share). Not in the paper. It is an arm
 * like the others, chosen by validation. It is tried after the rounds over all edges, and only
 * if trust expects a noticeable share of the edges to join two classes. */

/*
 * A GNN that merely continues keeps what it learned from wrong edges, so the GNN starts anew. The
 * best candidate (except the MLP, which ignores edges) warms up without the 10, 25 or 40 % of the
 * edges with the least trust. The share that validates best after two fifths of the warm-up is
 * trained to its end. With that share the next two candidates warm up as well, and the current GNN
 * continues for a round. If the best of these validates as well as the warm-up over all edges did,
 * it goes through the rounds, each of which decides anew which edges are kept. The result must
 * validate better than the whole run over all edges; otherwise the run is that one, to the bit.
 * Networks that warmed up to the end may predict together with either (companions.c).
 */
#include "train/consm/clean.h"
#include "train/consm/race.h"

#include <math.h>
#include <string.h>

enum { SHARES = 3, ENTRANTS = CONSM_SPARES };
static const double shares[SHARES] = {0.1, 0.25, 0.4};

/* Minimum share of edges that are more likely to join two classes than one. */
static const double NOTICEABLE = 0.05;

/* A share is tried if it exceeds the distrusted share by at most this. */
static const double BEYOND = 0.1;

/* Share of the warm-up after which one share of edges continues. */
static const double FIRST_PART = 0.4;

/* ---- whether, and with whom ---------------------------------------------- */

static bool forced(const struct config *c)
{
    return c->drop_below > 0 || c->drop_share > 0;
}

static bool may_clean(const struct session *s)
{
    const struct config *c = &s->options.config;
    const struct consm *own = s->own;
    bool open = isnan(c->drop_share) && s->validation > 0 && !session_late(s) &&
                c->candidates != CANDIDATES_FEW;
    return (open || forced(c)) && own->place.updates < c->epochs && own->matcher &&
           !own->own_views && !own->pulls && c->coefficients == COEFFICIENTS_TRUST;
}

double consm_distrusted(const float *score, int64_t count)
{
    int64_t below = 0;
    for (int64_t e = 0; e < count; e++)
        below += score[e] < 0.5f;
    return count > 0 ? (double)below / (double)count : 0;
}

/* The shares to try; none if hardly any edge is distrusted. NaN: by --drop-below. */
static int list_shares(double found[SHARES], const struct session *s)
{
    const struct config *c = &s->options.config;
    const struct consm *own = s->own;
    double suspected = consm_distrusted(own->w, own->edges->count);
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

/* A configuration that warms up, and the candidate's number; -1: a given backbone. */
struct entrant {
    struct config config;
    int64_t number;
};

/* Best first, without the MLP, which ignores edges. A given backbone is alone, and so is the best
 * one on a large graph. */
static int list_entrants(struct entrant found[ENTRANTS], const struct session *s)
{
    const struct consm *own = s->own;
    const struct config *c = &s->options.config;
    int count = 0, most = s->problem->graph->nnz > CONSM_MILLION_ENTRIES ? 1 : ENTRANTS;
    if (own->candidates == 0 && c->backbone != BACKBONE_MLP)
        found[count++] = (struct entrant){*c, -1};
    for (int i = 0; i < own->candidates && count < most; i++) {
        const struct train_candidate *one = &own->candidate[i];
        for (int64_t number = 0; number < CONSM_CANDIDATES && one->val >= 0; number++) {
            struct config with = *c;
            with.normalize_features = s->choice->asked.normalize_features;
            if (consm_candidate_settings(number) != one->settings ||
                consm_apply_candidate(&with, number, s->options.given) < 0 ||
                strcmp(config_names_backbone[with.backbone], one->model) != 0 ||
                with.backbone == BACKBONE_MLP)
                continue;
            found[count++] = (struct entrant){with, number};
            break;
        }
    }
    return count;
}

/* ---- trials -------------------------------------------------------------- */

/* Opens a GNN without the given share of least trust. */
static consm_status open_without(struct consm_attempt *t, struct session *s, const struct config *c,
                                 double share)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    own->clean.share = t->share = share;
    TRY(NEW(t->dropped, own->edges->count + 1));
    consm_mark_dropped(t->dropped, own->w, s);
    TRY(consm_attempt_open(t, s, c));
done:
    return st;
}

/* Copies the best parameters of a network that warmed up to the end, if it may be a companion. */
static consm_status keep_spare(struct session *s, const struct consm_attempt *t, int64_t number)
{
    consm_status st = CONSM_OK;
    struct consm_spares *spares = &((struct consm *)s->own)->clean.spares;
    if (!s->choice || s->choice->finalists == 0 || number < 0 || !t->session ||
        t->session->learner.best_step == 0 || isnan(t->share))
        return CONSM_OK;
    TRY(choice_finalist_make(&spares->network[spares->count], number, &t->session->learner));
    spares->share = t->share;
    spares->count++;
done:
    return st;
}

/* The best share of a first comparison is trained to the end of the warm-up. */
static consm_status choose_share(struct consm_attempt *best, struct session *s,
                                 const struct entrant *entrant, const double *share, int count)
{
    consm_status st = CONSM_OK;
    int64_t whole = race_length(&s->options.config);
    int64_t part = count > 1 ? (int64_t)(FIRST_PART * (double)whole) : whole;
    struct consm_attempt next = {0};
    for (int i = 0; i < count; i++) {
        TRY(open_without(&next, s, &entrant->config, share[i]));
        TRY(consm_attempt_train(&next, s, part > 0 ? part : 1, i));
        consm_keep_better(best, &next);
    }
    TRY(consm_attempt_train(best, s, whole, 0));
    TRY(keep_spare(s, best, entrant->number));
done:
    consm_attempt_free(&next);
    return st;
}

/* With that share: the other candidates, and the current GNN continued. */
static consm_status try_others(struct consm_attempt *best, struct session *s,
                               const struct entrant *entrant, int entrants)
{
    consm_status st = CONSM_OK;
    const struct config *c = &s->options.config;
    struct consm_attempt next = {0};
    double share = best->share;
    for (int i = 1; i < entrants && !session_late(s); i++) {
        TRY(open_without(&next, s, &entrant[i].config, share));
        TRY(consm_attempt_train(&next, s, race_length(c), SHARES + i));
        TRY(keep_spare(s, &next, entrant[i].number));
        consm_keep_better(best, &next);
    }
    if (c->backbone != BACKBONE_MLP && !session_late(s)) {
        TRY(open_without(&next, s, c, share));
        TRY(learner_adopt(&next.session->learner, &s->learner));
        next.session->learner.best = -1; /* its best was over all edges */
        next.session->learner.best_step = next.session->learner.steps;
        TRY(consm_attempt_train(&next, s, next.session->learner.steps + c->gnn_steps,
                                SHARES + ENTRANTS));
        consm_keep_better(best, &next);
    }
done:
    consm_attempt_free(&next);
    return st;
}

/* Computes trust in every edge with the current GNN. */
static consm_status look_at_edges(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct trust trust;
    struct witnesses heard;
    TRY(consm_final_coefficients(s));
    TRY(consm_weigh_witnesses(&trust, &heard, s));
    trust_score(own->w, NULL, NULL, NULL, &trust, &heard);
done:
    return st;
}

static consm_status choose_trial(struct consm_attempt *best, struct session *s)
{
    consm_status st = CONSM_OK;
    struct entrant entrant[ENTRANTS];
    double share[SHARES];
    int entrants, count;
    TRY(look_at_edges(s));
    entrants = list_entrants(entrant, s);
    count = list_shares(share, s);
    if (entrants == 0 || count == 0)
        return CONSM_OK;
    TRY(session_fix_base(s));
    consm_rest(s);
    TRY(choose_share(best, s, entrant, share, count));
    if (s->validation > 0 && best->session)
        TRY(try_others(best, s, entrant, entrants));
done:
    return st;
}

consm_status consm_clean_course(struct session *s, struct progress *progress,
                                consm_rounds_fn rounds)
{
    consm_status st = CONSM_OK;
    struct consm_attempt best = {0};
    struct consm_mark before;
    bool must = forced(&s->options.config);
    if (may_clean(s)) {
        TRY(consm_mark_answers(&before, s));
        TRY(choose_trial(&best, s));
    }
    if (best.session && best.session->learner.best_step > 0 && /* else no time was left */
        (must || best.session->learner.best >= consm_warm_best(s)))
        TRY(consm_take_course(s, &best, &before, must, progress, rounds));
    TRY(session_need_programs(s));
    if (!((const struct consm *)s->own)->clean.on) /* recorded for the model file */
        s->options.config.drop_share = s->options.config.drop_below = 0;
done:
    consm_attempt_free(&best);
    return st;
}
