/* Builds each matrix of a graph once, behind a lock. Those of a large graph are freed when nobody
 * holds them any more: several at once would need more memory than the graph. */
#include "graph/views.h"

#include <pthread.h>
#include <string.h>

struct views {
    const struct csr *adjacency; /* or NULL: a part of rows */
    struct views *whole;
    const struct ball *ball;
    struct csr *own;      /* the adjacency of the part */
    struct csr_rows rows; /* of the graph that the part belongs to */
    pthread_mutex_t lock;
    struct csr *built[VIEW_COUNT];
    bool stays[VIEW_COUNT]; /* given out by views_get() */
    int64_t held[VIEW_COUNT];
    bool closed; /* to be freed when nobody holds a matrix */
};

consm_status views_new(struct views **out, const struct csr *adjacency)
{
    consm_status st = CONSM_OK;
    TRY(ZNEW(*out, 1));
    (*out)->adjacency = adjacency;
    pthread_mutex_init(&(*out)->lock, NULL);
done:
    return st;
}

consm_status views_part(struct views **out, struct views *whole, const struct ball *ball)
{
    consm_status st = CONSM_OK;
    TRY(views_new(out, NULL));
    (*out)->whole = whole;
    (*out)->ball = ball;
done:
    return st;
}

static void destroy(struct views *views)
{
    for (int kind = 0; kind < VIEW_COUNT; kind++)
        csr_free(views->built[kind]);
    csr_free(views->own);
    pthread_mutex_destroy(&views->lock);
    mem_free(views);
}

static bool is_held(const struct views *views)
{
    bool held = false;
    for (int kind = 0; kind < VIEW_COUNT; kind++)
        held = held || views->held[kind] > 0;
    return held;
}

void views_free(struct views *views)
{
    if (!views)
        return;
    pthread_mutex_lock(&views->lock);
    views->closed = true;
    bool held = is_held(views);
    pthread_mutex_unlock(&views->lock);
    if (!held)
        destroy(views);
}

consm_status views_of_rows(struct views **out, const struct csr_rows *graph,
                           const struct ball *ball)
{
    consm_status st = CONSM_OK;
    struct views *v = NULL;
    *out = NULL;
    TRY(views_new(&v, NULL));
    TRY(ball_cut(&v->own, ball, graph, ball->radius - 1));
    v->adjacency = v->own;
    v->ball = ball;
    v->rows = *graph;
    *out = v;
    return CONSM_OK;
done:
    views_free(v);
    return st;
}

/* A view that shares the adjacency's arrays, so that caching its transpose does not change the
 * caller's matrix. */
static consm_status borrow(struct csr **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    TRY(ZNEW(*out, 1));
    **out = *a;
    (*out)->borrowed = true;
    (*out)->t = NULL;
    (*out)->t_entry = NULL;
done:
    return st;
}

/* The two-hop graph of a symmetric graph is symmetric, so it is its own transpose. Finding that out
 * as usual would triple the memory of the largest matrix. Callers with their own values use
 * csr_transpose_entries(). */
static consm_status two_hop_view(struct csr **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    struct csr *near = NULL, *far = NULL;
    if (!a->partition) {
        TRY(borrow(&near, a));
        TRY(csr_transpose(near));
    }
    TRY(csr_strict_two_hop(&far, a));
    TRY(csr_gcn_normalize(out, far, false));
    if (near && near->t == near)
        (*out)->t = *out;
done:
    csr_free(near);
    csr_free(far);
    return st;
}

static consm_status build(struct csr **out, const struct csr *a, enum view kind)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    switch (kind) {
    case VIEW_ADJACENCY: TRY(borrow(out, a)); break;
    case VIEW_LOOPS: TRY(csr_add_loops(out, a)); break;
    case VIEW_GCN: TRY(csr_gcn_normalize(out, a, true)); break;
    case VIEW_SYMMETRIC: TRY(csr_gcn_normalize(out, a, false)); break;
    default: TRY(two_hop_view(out, a));
    }
    if (a->partition && kind == VIEW_ADJACENCY)
        (*out)->t = *out;
    TRY(csr_transpose(*out));
done:
    if (st < 0) {
        csr_free(*out);
        *out = NULL;
    }
    return st;
}

/* An entry of the two-hop matrix means two steps. */
static consm_status cut_part(struct csr **out, const struct views *part, enum view kind)
{
    const struct csr *whole = views_get(part->whole, kind);
    int64_t steps = kind == VIEW_TWO_HOP ? 2 : 1;
    if (!whole)
        return CONSM_ENOMEM;
    return ball_cut(out, part->ball, &(struct csr_rows){.base = whole}, part->ball->radius - steps);
}

/* Normalised by the degrees of the whole graph. */
static consm_status normalize_part(struct csr **out, const struct views *part, bool loops)
{
    consm_status st = CONSM_OK;
    enum { AHEAD = 16 };
    const struct ball *ball = part->ball;
    double *factor = NULL;
    TRY(NEW(factor, ball->nodes));
    for (int64_t i = 0; i < ball->nodes; i++) {
        if (i + AHEAD < ball->nodes && ball->node[i + AHEAD] < part->rows.base->rows)
            __builtin_prefetch(&part->rows.base->start[ball->node[i + AHEAD]]);
        const struct csr_row row = csr_row(&part->rows, ball->node[i]);
        factor[i] = csr_gcn_factor(&row, ball->node[i], loops);
    }
    TRY(csr_gcn_normalize_by(out, part->own, loops, factor));
done:
    mem_free(factor);
    return st;
}

static consm_status make_part(struct csr **out, const struct views *part, enum view kind)
{
    switch (kind) {
    case VIEW_ADJACENCY: return borrow(out, part->own);
    case VIEW_LOOPS: return csr_add_loops(out, part->own);
    case VIEW_TWO_HOP: return status_fail(CONSM_EINVAL, "two-hop neighbours need the whole graph");
    default: return normalize_part(out, part, kind == VIEW_GCN);
    }
}

/* The matrix, built if it is missing; the lock is held. */
static const struct csr *ready(struct views *views, enum view kind)
{
    if (!views->built[kind] && views->whole)
        cut_part(&views->built[kind], views, kind);
    else if (!views->built[kind] && views->own)
        make_part(&views->built[kind], views, kind);
    else if (!views->built[kind])
        build(&views->built[kind], views->adjacency, kind);
    return views->built[kind];
}

const struct csr *views_get(struct views *views, enum view kind)
{
    pthread_mutex_lock(&views->lock);
    const struct csr *found = ready(views, kind);
    views->stays[kind] = true;
    pthread_mutex_unlock(&views->lock);
    return found;
}

const struct csr *views_hold(struct views *views, enum view kind)
{
    pthread_mutex_lock(&views->lock);
    const struct csr *found = ready(views, kind);
    views->held[kind] += found != NULL;
    pthread_mutex_unlock(&views->lock);
    return found;
}

void views_leave(struct views *views, enum view kind)
{
    pthread_mutex_lock(&views->lock);
    struct csr *a = views->built[kind];
    views->held[kind]--;
    if (views->held[kind] == 0 && !views->stays[kind] && a->nnz > VIEW_LARGE) {
        csr_free(a);
        views->built[kind] = NULL;
    }
    bool last = views->closed && !is_held(views);
    pthread_mutex_unlock(&views->lock);
    if (last)
        destroy(views);
}

const struct csr *views_built(struct views *views, enum view kind)
{
    pthread_mutex_lock(&views->lock);
    const struct csr *found = views->built[kind];
    pthread_mutex_unlock(&views->lock);
    return found;
}
