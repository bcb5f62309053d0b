/* Predicts nodes of a growing graph. Rows come from the version; features come from its base and
 * from later chunks. Each is matched to the model once. */
#include "app/growing.h"
#include "app/predictor.h"
#include "base/given.h"

#include <string.h>

/* ---- datasets as the model sees them ------------------------------------- */

/* Call it under the lock. */
static void drop_eye(struct eye *e)
{
    if (--e->owners > 0)
        return;
    if (e->prepared)
        matched_free(&e->features, e->prepared);
    consm_dataset_free(e->dataset);
    mem_free(e);
}

static consm_status open_eye(struct eye **out, const struct consm_model *model,
                             struct consm_dataset *dataset)
{
    consm_status st = CONSM_OK;
    struct eye *e = NULL;
    TRY(ZNEW(e, 1));
    e->owners = 1;
    e->dataset = dataset_hold(dataset);
    TRY(dataset_prepared(&e->prepared, dataset));
    TRY(matched_open(&e->features, model, e->prepared));
    e->problem = matched_problem(model, e->prepared, &e->features);
    *out = e;
    e = NULL;
done:
    if (e)
        drop_eye(e);
    return st;
}

void live_forget(struct consm_predictor *p)
{
    for (int64_t i = 0; i < p->eyes; i++)
        drop_eye(p->eye[i]);
    mem_free(p->eye);
    p->eye = NULL;
    p->eyes = 0;
    p->eye_room = 0;
    consm_predictor_free(p->inner);
    p->inner = NULL;
}

/* The eye on a dataset, made on first use; release it with eye_leave(). */
static consm_status eye_on(struct eye **out, struct consm_predictor *p,
                           const struct consm_dataset *dataset)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    pthread_mutex_lock(&p->lock);
    for (int64_t i = 0; i < p->eyes && !*out; i++)
        if (p->eye[i]->dataset == dataset)
            *out = p->eye[i];
    if (!*out) {
        TRY(GROW(p->eye, p->eyes, p->eye_room, 1));
        TRY(open_eye(out, p->model, (struct consm_dataset *)dataset));
        p->eye[p->eyes++] = *out;
    }
    (*out)->owners++;
done:
    pthread_mutex_unlock(&p->lock);
    return st;
}

static void eye_leave(struct consm_predictor *p, struct eye *e)
{
    if (!e)
        return;
    pthread_mutex_lock(&p->lock);
    drop_eye(e);
    pthread_mutex_unlock(&p->lock);
}

/* A new base makes the eyes on the last one and its chunks useless. */
static void forget_old(struct consm_predictor *p, const struct version *v)
{
    pthread_mutex_lock(&p->lock);
    if (p->eyes > 0 && p->eye[0]->dataset != v->base) {
        for (int64_t i = 0; i < p->eyes; i++)
            drop_eye(p->eye[i]);
        p->eyes = 0;
    }
    pthread_mutex_unlock(&p->lock);
}

/* ---- features ------------------------------------------------------------ */

/* A row as (f) numbers. */
static void dense_row(float *out, const struct problem *p, int64_t row)
{
    size_t bytes = (size_t)p->features * sizeof *out;
    if (!p->sparse) {
        memcpy(out, p->dense + row * p->features, bytes);
        return;
    }
    memset(out, 0, bytes);
    for (int64_t e = p->sparse->start[row]; e < p->sparse->start[row + 1]; e++)
        out[p->sparse->col[e]] = p->sparse->val ? p->sparse->val[e] : 1;
}

/* Appends the entries of a row that are not 0. */
static consm_status sparse_row(struct csr *out, size_t *room, size_t *room_too,
                               const struct problem *p, int64_t row, float *work)
{
    consm_status st = CONSM_OK;
    dense_row(work, p, row);
    TRY(GROW(out->col, out->nnz, *room, p->features));
    TRY(GROW(out->val, out->nnz, *room_too, p->features));
    for (int64_t k = 0; k < p->features; k++)
        if (work[k] != 0) {
            out->col[out->nnz] = (int32_t)k;
            out->val[out->nnz++] = work[k];
        }
done:
    return st;
}

/* Features of the ball's nodes, dense or sparse like those of the base. */
static consm_status gather_features(struct scene *s, struct consm_predictor *p,
                                    const struct version *v, const struct eye *base)
{
    consm_status st = CONSM_OK;
    enum { AHEAD = 32 };
    int64_t f = p->problem.features, row;
    bool is_sparse = base->problem.sparse != NULL;
    size_t room = 0, room_too = 0;
    struct eye *eye = NULL;
    float *work = NULL;
    TRY(NEW(work, f));
    if (is_sparse)
        TRY(csr_new(&s->sparse, s->ball.nodes, f, 0, true));
    else
        TRY(NEW(s->dense, s->ball.nodes * f));
    for (int64_t i = 0; i < s->ball.nodes; i++) {
        if (!is_sparse && i + AHEAD < s->ball.nodes &&
            s->ball.node[i + AHEAD] < base->problem.nodes)
            fetch_row(base->problem.dense + s->ball.node[i + AHEAD] * f, f);
        const struct consm_dataset *d = version_place(&row, v, s->ball.node[i]);
        if (d != base->dataset && (!eye || eye->dataset != d)) {
            eye_leave(p, eye);
            eye = NULL;
            TRY(eye_on(&eye, p, d));
        }
        const struct problem *from = d == base->dataset ? &base->problem : &eye->problem;
        if (is_sparse) {
            TRY(sparse_row(s->sparse, &room, &room_too, from, row, work));
            s->sparse->start[i + 1] = s->sparse->nnz;
        } else {
            dense_row(s->dense + i * f, from, row);
        }
    }
done:
    eye_leave(p, eye);
    mem_free(work);
    return st;
}

/* ---- answers ------------------------------------------------------------- */

consm_status live_scene(struct scene *s, struct consm_predictor *p, const struct version *v,
                        const struct part *part, const int32_t *number, int64_t count)
{
    consm_status st = CONSM_OK;
    const struct csr_rows rows = version_rows(v);
    struct eye *base = NULL;
    TRY(ball_new(&s->ball, &rows, number, count, part->reach,
                 (int64_t)(p->largest * (double)v->nodes)));
    if (s->ball.too_large)
        return CONSM_OK;
    forget_old(p, v);
    TRY(eye_on(&base, p, v->base));
    TRY(views_of_rows(&s->views, &rows, &s->ball));
    TRY(gather_features(s, p, v, base));
    TRY(scene_pose(s, p));
done:
    eye_leave(p, base);
    return st;
}

void live_unlock(struct consm_predictor *p)
{
    pthread_mutex_unlock(&p->lock);
}

/* One thread at a time, because the next version replaces this one. */
consm_status live_lock(struct consm_predictor **out, struct consm_predictor *p,
                       const struct version *v)
{
    consm_status st = CONSM_OK;
    struct consm_dataset *dataset = NULL;
    pthread_mutex_lock(&p->lock);
    if (!p->inner || p->inner_number != v->number) {
        consm_predictor_free(p->inner);
        p->inner = NULL;
        TRY(version_dataset(&dataset, v));
        TRY(consm_predictor_new(&p->inner, p->model, dataset, p->threads));
        p->inner_number = v->number;
    }
    *out = p->inner;
done:
    consm_dataset_free(dataset);
    if (st < 0)
        live_unlock(p);
    return st;
}

consm_status live_whole(float *out, struct consm_predictor *p, const struct version *v,
                        const int32_t *number, int64_t count)
{
    struct consm_predictor *inner;
    consm_status st = live_lock(&inner, p, v);
    if (st < 0)
        return st;
    st = predictor_logits(out, inner, number, count);
    live_unlock(p);
    return st;
}

consm_status consm_predictor_new_on(struct consm_predictor **out, const struct consm_model *model,
                                    struct consm_graph *graph, int threads)
{
    consm_status st = CONSM_OK;
    struct version *v = NULL;
    struct consm_predictor *made = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, model, graph));
    v = version_hold(graph);
    TRY(consm_predictor_new(&made, model, v->base, threads));
    made->graph = graph;
done:
    version_release(graph, v);
    if (st == CONSM_OK)
        *out = made;
    return st;
}
