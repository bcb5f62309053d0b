/* Building the matrices behind a lock, once each. */
#include "graph/views.h"

#include <pthread.h>
#include <string.h>

struct views {
    const struct csr *adjacency; /* or NULL: a part, of … */
    struct views *whole;
    const struct ball *ball;
    pthread_mutex_t lock;
    struct csr *built[VIEW_COUNT];
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

void views_free(struct views *views)
{
    if (!views)
        return;
    for (int kind = 0; kind < VIEW_COUNT; kind++)
        csr_free(views->built[kind]);
    pthread_mutex_destroy(&views->lock);
    mem_free(views);
}

/* A view that shares the arrays of the adjacency, so that caching its transpose leaves the caller's
 * matrix alone. */
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

/* The two-hop graph of a symmetric graph is symmetric: it is its own transpose, and finding that
 * out the usual way would triple the memory of the largest matrix there is. Who brings values of
 * their own to it asks for csr_transpose_entries(). */
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

/* An entry of the two-hop matrix stands for two steps. */
static consm_status cut_part(struct csr **out, const struct views *part, enum view kind)
{
    const struct csr *whole = views_get(part->whole, kind);
    int64_t steps = kind == VIEW_TWO_HOP ? 2 : 1;
    if (!whole)
        return CONSM_ENOMEM;
    return ball_cut(out, part->ball, whole, part->ball->radius - steps);
}

const struct csr *views_get(struct views *views, enum view kind)
{
    pthread_mutex_lock(&views->lock);
    if (!views->built[kind] && views->whole)
        cut_part(&views->built[kind], views, kind);
    else if (!views->built[kind])
        build(&views->built[kind], views->adjacency, kind);
    const struct csr *found = views->built[kind];
    pthread_mutex_unlock(&views->lock);
    return found;
}

const struct csr *views_built(struct views *views, enum view kind)
{
    pthread_mutex_lock(&views->lock);
    const struct csr *found = views->built[kind];
    pthread_mutex_unlock(&views->lock);
    return found;
}
