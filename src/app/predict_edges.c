/* Trust of a few edges of a predictor's graph. Agreement of predictions needs only the ends. Trust
 * of a matching module is weighed over the whole graph: it is computed once and kept. */
#include "app/growing.h"
#include "app/predictor.h"
#include "base/given.h"
#include "base/order.h"
#include "train/session.h"

#include <stdlib.h>
#include <string.h>

/* Whether trust is the agreement of predictions. */
static bool agrees(const struct consm_predictor *p)
{
    bool plain = true;
    for (int64_t i = 0; i < p->parts; i++)
        plain = plain && p->part[i].session && !session_matches(p->part[i].session);
    return plain;
}

/* ---- the whole graph ----------------------------------------------------- */

/* All edges of the predictor's dataset; the first caller computes them. */
static consm_status whole_trust(const struct edge_trust **out, struct consm_predictor *p)
{
    consm_status st = CONSM_OK;
    struct backend *backend = NULL;
    struct edge_trust *made = NULL;
    pthread_mutex_lock(&p->trust_lock);
    if (!p->trust) {
        TRY(ZNEW(made, 1));
        TRY(prepare_backend(&backend, p->prepared, NULL, p->threads));
        TRY(model_trust(made, p->model, &p->problem, backend));
        p->trust = made;
        made = NULL;
    }
    *out = p->trust;
done:
    pthread_mutex_unlock(&p->trust_lock);
    mem_free(made);
    backend_close(backend);
    return st;
}

/* Copies the rows of edges that the whole graph has from its trust. */
static consm_status copy_trust(struct edge_trust *out, const struct edge_trust *whole)
{
    consm_status st = CONSM_OK;
    int64_t count = out->edges->count;
    TRY(NEW(out->score, count));
    TRY(NEW(out->low, count));
    TRY(NEW(out->high, count));
    TRY(NEW(out->kept, count));
    if (whole->witness)
        TRY(NEW(out->witness, count * WITNESSES + 1));
    out->zeta = whole->zeta;
    out->threshold = whole->threshold;
    out->weigh = whole->weigh;
    for (int64_t e = 0; e < count; e++) {
        int64_t at = pair_find(whole->edges->left, whole->edges->right, whole->edges->count,
                               out->edges->left[e], out->edges->right[e]);
        if (at < 0)
            TRY(status_fail(CONSM_ENOTFOUND, "nodes %d and %d have no edge", out->edges->left[e],
                            out->edges->right[e]));
        out->score[e] = whole->score[at];
        out->low[e] = whole->low[at];
        out->high[e] = whole->high[at];
        out->kept[e] = whole->kept[at];
        if (whole->witness)
            memcpy(out->witness + e * WITNESSES, whole->witness + at * WITNESSES,
                   WITNESSES * sizeof *out->witness);
    }
done:
    return st;
}

/* ---- some edges ---------------------------------------------------------- */

/* Edges by the numbers of their ends, and the small graph that they make. */
struct pairs {
    int32_t *left, *right; /* (count) of the whole graph; then of the small one */
    int64_t count;
    int32_t *node; /* (nodes) the ends, ascending */
    int64_t nodes;
    struct csr *graph;
};

static void pairs_free(struct pairs *s)
{
    mem_free(s->left);
    mem_free(s->right);
    mem_free(s->node);
    csr_free(s->graph);
}

static int32_t place_of(const struct pairs *s, int32_t number)
{
    const int32_t *at = bsearch(&number, s->node, (size_t)s->nodes, sizeof number, order_int32);
    return (int32_t)(at - s->node);
}

static consm_status join_pairs(struct pairs *s)
{
    consm_status st = CONSM_OK;
    int64_t all = 0;
    TRY(NEW(s->node, 2 * s->count + 1));
    for (int64_t k = 0; k < s->count; k++) {
        s->node[all++] = s->left[k];
        s->node[all++] = s->right[k];
    }
    if (all > 0)
        qsort(s->node, (size_t)all, sizeof *s->node, order_int32);
    for (int64_t k = 0; k < all; k++)
        if (k == 0 || s->node[k] != s->node[k - 1])
            s->node[s->nodes++] = s->node[k];
    for (int64_t k = 0; k < s->count; k++) {
        s->left[k] = place_of(s, s->left[k]);
        s->right[k] = place_of(s, s->right[k]);
    }
    TRY(csr_from_edges(&s->graph, s->nodes, s->nodes, s->count, s->left, s->right, NULL,
                       CSR_UNDIRECTED, NULL));
done:
    return st;
}

static void name_ends(struct edge_trust *t, const struct pairs *s)
{
    for (int64_t e = 0; e < t->edges->count; e++) {
        t->edges->left[e] = s->node[t->edges->left[e]];
        t->edges->right[e] = s->node[t->edges->right[e]];
    }
}

static consm_status by_agreement(struct edge_trust *out, struct consm_predictor *p,
                                 const struct version *v, const struct pairs *s)
{
    consm_status st = CONSM_OK;
    float *logits = NULL;
    TRY(NEW(logits, s->nodes * p->problem.classes + 1));
    if (s->nodes > 0)
        TRY(v ? predictor_logits_at(logits, p, v, s->node, s->nodes)
              : predictor_logits(logits, p, s->node, s->nodes));
    TRY(edge_trust_agreement(out, s->graph, logits, p->problem.classes));
    name_ends(out, s);
done:
    mem_free(logits);
    return st;
}

static consm_status by_whole(struct edge_trust *out, struct consm_predictor *p,
                             const struct version *v, const struct pairs *s)
{
    consm_status st = CONSM_OK;
    const struct edge_trust *whole = NULL;
    struct consm_predictor *inner = NULL;
    if (v)
        TRY(live_lock(&inner, p, v));
    TRY(whole_trust(&whole, inner ? inner : p));
    TRY(edges_new(&out->edges, s->graph));
    name_ends(out, s);
    TRY(copy_trust(out, whole));
done:
    if (inner)
        live_unlock(p);
    if (st < 0)
        edge_trust_free(out);
    return st;
}

/* Takes the pairs' arrays. */
static consm_status trust_of_pairs(struct edge_trust *out, struct consm_predictor *p,
                                   const struct version *v, struct pairs *s)
{
    consm_status st = CONSM_OK;
    *out = (struct edge_trust){0};
    TRY(join_pairs(s));
    TRY(agrees(p) ? by_agreement(out, p, v, s) : by_whole(out, p, v, s));
done:
    pairs_free(s);
    return st;
}

consm_status predictor_trust(struct edge_trust *out, struct consm_predictor *p, const int32_t *left,
                             const int32_t *right, int64_t count)
{
    consm_status st = CONSM_OK;
    struct pairs s = {.count = count};
    TRY(NEW(s.left, count + 1));
    TRY(NEW(s.right, count + 1));
    for (int64_t k = 0; k < count; k++) {
        s.left[k] = left[k];
        s.right[k] = right[k];
    }
    return trust_of_pairs(out, p, NULL, &s);
done:
    pairs_free(&s);
    return st;
}

/* Every edge of the nodes, perhaps twice. */
static consm_status list_pairs(struct pairs *s, const struct csr_rows *graph, const int64_t *number,
                               int64_t count)
{
    consm_status st = CONSM_OK;
    int64_t room = 1;
    for (int64_t k = 0; k < count; k++)
        room += csr_row(graph, number[k]).count;
    TRY(NEW(s->left, room));
    TRY(NEW(s->right, room));
    for (int64_t k = 0; k < count; k++) {
        const struct csr_row row = csr_row(graph, number[k]);
        for (int64_t e = 0; e < row.count; e++)
            if (row.col[e] != number[k]) {
                s->left[s->count] = (int32_t)number[k];
                s->right[s->count++] = row.col[e];
            }
    }
done:
    return st;
}

consm_status predictor_edges_of(struct edge_trust *out, struct consm_predictor *p,
                                const int64_t *number, int64_t count)
{
    consm_status st = CONSM_OK;
    struct pairs s = {0};
    struct version *v = p->graph ? version_hold(p->graph) : NULL;
    const struct csr_rows graph = v ? version_rows(v) : (struct csr_rows){.base = p->problem.graph};
    TRY(predictor_check(p, v, number, count));
    TRY(list_pairs(&s, &graph, number, count));
    st = trust_of_pairs(out, p, v, &s);
    s = (struct pairs){0};
done:
    pairs_free(&s);
    version_release(p->graph, v);
    return st;
}
