/* Messages over pairs without an edge (--add-share); an arm like the others. Not in the paper. */

/*
 * Pairs that are close in the model's embedding or in their features, with the largest trust, may
 * be missing edges. It is tried after clean_arm.c, on sparse graphs, and works the same way. The
 * GNN warms up anew with one or three pairs per ten edges. The number that validates best after two
 * fifths of the warm-up continues, and goes through the rounds if it validates as well as the
 * previous warm-up. The result must validate better than the previous one.
 */
#include "train/consm/clean.h"
#include "train/consm/race.h"

#include "train/edge_trust.h"
#include <math.h>
#include <string.h>

enum { SHARES = 2 };
static const double shares[SHARES] = {0.1, 0.3};

/* Largest number of edges per node for which the arm is tried. On generated graphs with one edge it
 * gained about a point, with two or more almost nothing. */
static const double SPARSE = 1.5;

/* Largest number of nodes: up to twenty pairs of each are scored. */
enum { MOST_NODES = 100000 };

/* Share of the warm-up after which one number of pairs continues. */
static const double FIRST_PART = 0.4;

/* Progress numbers of the trials, after those of clean_arm.c. */
enum { FIRST_NUMBER = 20 };

static bool forced(const struct config *c)
{
    return c->add_above > 0 || c->add_share > 0;
}

static bool may_add(const struct session *s)
{
    const struct config *c = &s->options.config;
    const struct consm *own = s->own;
    bool sparse = s->problem->nodes <= MOST_NODES &&
                  (double)own->edges->count <= SPARSE * (double)s->problem->nodes;
    bool open = isnan(c->add_share) && sparse && s->validation > 0 && !session_late(s) &&
                c->candidates != CANDIDATES_FEW;
    return (open || forced(c)) && own->place.updates < c->epochs && own->matcher &&
           !own->own_views && !own->pulls && c->coefficients == COEFFICIENTS_TRUST &&
           c->backbone != BACKBONE_MLP;
}

/* The pairs with the largest trust: a given number, or by --add-above if share is NaN. */
static consm_status take_pairs(struct consm_pairs *out, const struct edge_trust *found,
                               const struct session *s, double share)
{
    consm_status st = CONSM_OK;
    const struct edges *e = found->edges;
    double edges = (double)((const struct consm *)s->own)->edges->count;
    uint8_t *chosen = NULL;
    TRY(NEW(chosen, e->count + 1));
    TRY(NEW(out->left, e->count + 1));
    TRY(NEW(out->right, e->count + 1));
    if (isnan(share))
        for (int64_t k = 0; k < e->count; k++)
            chosen[k] = (double)found->score[k] >= s->options.config.add_above;
    else
        TRY(edges_top(chosen, e, found->score, (int64_t)(share * edges)));
    for (int64_t k = 0; k < e->count; k++)
        if (chosen[k]) {
            out->left[out->count] = e->left[k];
            out->right[out->count++] = e->right[k];
        }
done:
    mem_free(chosen);
    return st;
}

/* Opens a GNN over the current edges and a share of pairs. */
static consm_status open_with(struct consm_attempt *t, struct session *s,
                              const struct edge_trust *found, double share)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    t->share = own->clean.share = own->clean.on ? own->clean.share : 0;
    t->added_share = share;
    TRY(NEW(t->dropped, own->edges->count + 1));
    consm_mark_dropped(t->dropped, own->w, s);
    TRY(take_pairs(&t->added, found, s, share));
    TRY(consm_attempt_open(t, s, &s->options.config));
done:
    return st;
}

static consm_status choose_trial(struct consm_attempt *best, struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct config *c = &s->options.config;
    struct consm_attempt next = {0};
    struct edge_trust found = {0};
    struct trust trust;
    struct witnesses heard;
    int count = forced(c) ? 1 : SHARES;
    int64_t whole = race_length(c), part = (int64_t)(FIRST_PART * (double)whole);
    TRY(consm_store_trust(&trust, s));
    TRY(session_suggest(&found, s, INT64_MAX)); /* leaves matching coefficients in own->w */
    TRY(consm_call_witnesses(&heard, &trust, s));
    trust_score(own->w, NULL, NULL, NULL, &trust, &heard);
    for (int i = 0; i < count && found.edges->count > 0; i++) {
        double share = c->add_above > 0 ? NAN : c->add_share > 0 ? c->add_share : shares[i];
        TRY(open_with(&next, s, &found, share));
        TRY(consm_attempt_train(&next, s, count > 1 && part > 0 ? part : whole, FIRST_NUMBER + i));
        consm_keep_better(best, &next);
    }
    TRY(consm_attempt_train(best, s, whole, FIRST_NUMBER));
done:
    edge_trust_free(&found);
    consm_attempt_free(&next);
    return st;
}

consm_status consm_missing_course(struct session *s, struct progress *progress,
                                  consm_rounds_fn rounds)
{
    consm_status st = CONSM_OK;
    struct consm_attempt best = {0};
    struct consm_mark before;
    bool must = forced(&s->options.config);
    if (may_add(s)) {
        TRY(consm_mark_answers(&before, s));
        TRY(session_fix_base(s));
        TRY(choose_trial(&best, s));
    }
    if (best.session && best.session->learner.best_step > 0 && /* else no time was left */
        (must || best.session->learner.best >= consm_warm_best(s)))
        TRY(consm_take_course(s, &best, &before, must, progress, rounds));
    if (((const struct consm *)s->own)->clean.put_in == 0) /* recorded for the model file */
        s->options.config.add_share = s->options.config.add_above = 0;
done:
    consm_attempt_free(&best);
    return st;
}
