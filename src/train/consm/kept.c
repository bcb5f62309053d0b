/* Messages over other edges than the graph's. Not in the paper. Edges with the least trust carry no
 * messages, pairs with the most trust do. The GNN's matrices are made from these. Matching,
 * witnesses and the propagation loss see all edges, so that an edge may come back. */

/*
 * A trained model selects edges by thresholds on trust. Trust needs predictions, and predictions
 * need messages: starting from predictions over all edges, each decides the other three times, with
 * one threshold the first time and another one then. The model file holds all of this, so a saved
 * model repeats its answers to the bit, and an edge of a new graph is judged only by its
 * surroundings.
 */
#include "train/consm/clean.h"

#include "stats/rank.h"
#include "train/edge_trust.h"
#include <math.h>
#include <string.h>

/* More passes change almost nothing. */
enum { PASSES = 3 };

/* ---- the graph that is left ---------------------------------------------- */

void consm_kept_free(struct consm_kept *k)
{
    if (!k)
        return;
    views_free(k->views);
    csr_free(k->graph);
    mem_free(k);
}

const struct problem *consm_kept_problem(const struct consm_kept *k)
{
    return &k->problem;
}

void consm_pairs_free(struct consm_pairs *pairs)
{
    mem_free(pairs->left);
    mem_free(pairs->right);
    *pairs = (struct consm_pairs){0};
}

/* The weight of an added pair among weighted edges: their mean. */
static float mean_weight(const struct csr *graph)
{
    double sum = 0;
    for (int64_t k = 0; k < graph->nnz; k++)
        sum += (double)graph->val[k];
    return graph->nnz > 0 ? (float)(sum / (double)graph->nnz) : 1;
}

consm_status consm_kept_new(struct consm_kept **out, const struct problem *whole,
                            const struct edges *edges, const uint8_t *dropped,
                            const struct consm_pairs *added, struct team *team)
{
    consm_status st = CONSM_OK;
    struct consm_kept *k = NULL;
    *out = NULL;
    TRY(ZNEW(k, 1));
    float usual = whole->graph->val && added->count > 0 ? mean_weight(whole->graph) : 1;
    TRY(edges_changed(&k->graph, whole->graph, edges, dropped, added->count, added->left,
                      added->right, usual, team));
    TRY(views_new(&k->views, k->graph));
    k->problem = *whole;
    k->problem.views = k->views;
    *out = k;
    return CONSM_OK;
done:
    consm_kept_free(k);
    return st;
}

void consm_close_clean(struct session *s)
{
    struct consm_clean *c = &((struct consm *)s->own)->clean;
    session_free(c->aside.gnn);
    mem_free(c->aside.match);
    consm_pairs_free(&c->added);
    consm_kept_free(c->course);
    consm_kept_free(c->settled);
    mem_free(c->dropped);
    mem_free(c->best);
    for (int i = 0; i < c->spares.count; i++)
        choice_finalist_free(&c->spares.network[i]);
}

void consm_mark_dropped(uint8_t *dropped, const float *trust, struct session *s)
{
    struct consm *own = s->own;
    int64_t count = own->edges->count;
    if (isnan(own->clean.share)) {
        for (int64_t e = 0; e < count; e++)
            dropped[e] = (double)trust[e] < s->options.config.drop_below;
        return;
    }
    int64_t kept = count - (int64_t)floor(own->clean.share * (double)count);
    struct rank_choice best;
    rank_choose(&best, trust, count, kept, s->backend->host);
    for (int64_t e = 0; e < count; e++)
        dropped[e] = !rank_takes(&best, trust[e], e);
}

/* ---- training on it ------------------------------------------------------ */

consm_status consm_train_without(struct session *s, const uint8_t *dropped)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_kept *next = NULL;
    struct snapshot now = {0};
    TRY(snapshot_take(&now, &s->learner));
    consm_rest(s);
    TRY(consm_kept_new(&next, own->clean.whole, own->edges, dropped, &own->clean.added,
                       s->backend->host));
    s->problem = &next->problem;
    TRY(session_rebuild(s, false, consm_declare_store));
    TRY(snapshot_put(&now, &s->learner));
    memmove(own->clean.dropped, dropped, (size_t)own->edges->count);
    struct consm_kept *last = own->clean.course;
    own->clean.course = next;
    next = last;
done:
    if (next && s->problem == &next->problem)
        s->problem = own->clean.whole;
    consm_kept_free(next);
    snapshot_free(&now);
    return st;
}

consm_status consm_clean_again(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    uint8_t *dropped = NULL;
    if (!own->clean.on)
        return CONSM_OK;
    TRY(NEW(dropped, own->edges->count + 1));
    consm_mark_dropped(dropped, own->w, s);
    if (memcmp(dropped, own->clean.dropped, (size_t)own->edges->count) != 0)
        TRY(consm_train_without(s, dropped));
done:
    mem_free(dropped);
    return st;
}

void consm_remember_kept(struct session *s)
{
    struct consm *own = s->own;
    if (own->clean.on)
        memcpy(own->clean.best, own->clean.dropped, (size_t)own->edges->count);
}

consm_status consm_restore_kept(struct session *s)
{
    struct consm *own = s->own;
    size_t bytes = (size_t)own->edges->count;
    if (!own->clean.on || memcmp(own->clean.best, own->clean.dropped, bytes) == 0)
        return CONSM_OK;
    return consm_train_without(s, own->clean.best);
}

/* ---- answers ------------------------------------------------------------- */

double consm_score_at(const float *score, int64_t count, double share)
{
    struct rank_choice above;
    int64_t below = (int64_t)floor(share * (double)count);
    rank_choose(&above, score, count, below < count ? count - below : 1, NULL);
    return (double)rank_score(above.bar);
}

static double threshold_of(const struct config *c, int pass)
{
    return pass == 0 && c->drop_first > 0 ? c->drop_first : c->drop_below;
}

/* Predicts over these edges; dropped may be NULL. */
static consm_status answer_from(struct session *s, const uint8_t *dropped,
                                const struct consm_pairs *added)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_kept *next = NULL;
    consm_rest(s);
    TRY(consm_kept_new(&next, own->clean.whole, own->edges, dropped, added, s->backend->host));
    s->problem = &next->problem;
    struct consm_kept *last = own->clean.settled;
    own->clean.settled = next;
    st = session_record_eval(s);
    consm_kept_free(last);
done:
    return st;
}

/* Finds the edges that answers drop, dropped (|E|), and predicts over the others. */
static consm_status leave_out(uint8_t *dropped, struct session *s, const struct trust *trust,
                              double share)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct config *c = &s->options.config;
    int64_t count = own->edges->count, left_out = 0;
    float *score = NULL;
    struct witnesses heard;
    TRY(NEW(score, count + 1));
    for (int pass = 0; pass < PASSES; pass++) {
        TRY(consm_call_witnesses(&heard, trust, s));
        trust_score(score, NULL, NULL, NULL, trust, &heard);
        if (!isnan(share) && pass < 2)
            *(pass == 0 ? &c->drop_first : &c->drop_below) = consm_score_at(score, count, share);
        left_out = 0;
        for (int64_t e = 0; e < count; e++) {
            dropped[e] = (double)score[e] < threshold_of(c, pass);
            left_out += dropped[e];
        }
        TRY(answer_from(s, dropped, &(struct consm_pairs){0}));
    }
    own->clean.left_out = (double)left_out / (double)count;
done:
    mem_free(score);
    return st;
}

/* Adds pairs without an edge. */
static consm_status put_in(struct session *s, const uint8_t *dropped, double added_share)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct config *c = &s->options.config;
    struct edge_trust found = {0};
    int64_t count = own->edges->count, kept = 0;
    TRY(session_suggest(&found, s, INT64_MAX));
    struct consm_pairs pairs = {0, found.edges->left, found.edges->right};
    int64_t all = found.edges->count, most = (int64_t)(added_share * (double)count);
    if (!isnan(added_share) && all > 0)
        c->add_above =
            consm_score_at(found.score, all, most < all ? 1 - (double)most / (double)all : 0);
    for (int64_t k = 0; k < all; k++)
        if ((double)found.score[k] >= c->add_above) {
            pairs.left[kept] = pairs.left[k];
            pairs.right[kept++] = pairs.right[k];
        }
    pairs.count = kept;
    TRY(answer_from(s, dropped, &pairs));
    own->clean.put_in = (double)kept / (double)count;
done:
    edge_trust_free(&found);
    return st;
}

consm_status consm_answer(struct session *s, const struct trust *trust, double share,
                          double added_share)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct config *c = &s->options.config;
    uint8_t *dropped = NULL;
    TRY(consm_final_coefficients(s));
    TRY(consm_open_witnesses(s, s->backend->host));
    TRY(ZNEW(dropped, own->edges->count + 1));
    s->problem = own->clean.whole;
    TRY(session_record_eval(s));
    own->clean.left_out = own->clean.put_in = 0;
    if (share > 0 || (isnan(share) && c->drop_below > 0))
        TRY(leave_out(dropped, s, trust, share));
    if (added_share > 0 || (isnan(added_share) && c->add_above > 0))
        TRY(put_in(s, dropped, added_share));
done:
    mem_free(dropped);
    return st;
}

static consm_status needs_whole(const struct problem *p)
{
    return p->graph->partition
               ? status_fail(CONSM_EINVAL,
                             "this model drops or adds edges by trust, which needs the whole "
                             "graph, but this graph is in parts: omit --in-parts, or use "
                             "graph.safetensors from its folder")
               : CONSM_OK;
}

consm_status consm_loaded(struct session *s)
{
    consm_status st = CONSM_OK;
    struct trust trust;
    TRY(consm_apply_messages(s));
    const struct config *c = &s->options.config;
    if ((c->drop_below <= 0 && c->add_above <= 0) || s->problem->graph->nnz == 0)
        return CONSM_OK;
    TRY(needs_whole(s->problem));
    TRY(consm_network_trust(&trust, s));
    TRY(consm_answer(s, &trust, NAN, NAN));
done:
    return st;
}

/* ---- networks that predict without distrusted edges ---------------------- */

consm_status consm_kept_by(struct consm_kept **out, const struct session *s, const float *trust,
                           double drop_below)
{
    consm_status st = CONSM_OK;
    const struct consm *own = s->own;
    uint8_t *dropped;
    int64_t count = own->edges->count;
    *out = NULL;
    TRY(NEW(dropped, count + 1));
    for (int64_t e = 0; e < count; e++)
        dropped[e] = (double)trust[e] < drop_below;
    TRY(consm_kept_new(out, own->clean.whole, own->edges, dropped, &(struct consm_pairs){0},
                       s->backend->host));
done:
    mem_free(dropped);
    return st;
}

consm_status session_without(struct consm_kept **out, struct session *s, double drop_below)
{
    consm_status st = CONSM_OK;
    float *trust = NULL;
    *out = NULL;
    TRY(needs_whole(s->problem));
    TRY(consm_stored_trust(&trust, s));
    TRY(consm_kept_by(out, s, trust, drop_below));
done:
    mem_free(trust);
    return st;
}
