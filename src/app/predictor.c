/* Predicts a few nodes. The nodes within reach of the model's equations are cut out of the graph,
 * with their degrees in the whole graph, and the equations run on them alone (train/part.c). If
 * that is a large share of the graph, the whole graph is predicted once and the result kept. */
#include "app/predictor.h"

#include "base/given.h"
#include "train/session.h"

#include <math.h>
#include <string.h>

/* ---- opening ------------------------------------------------------------- */

enum { TREES_REACH = 2 }; /* graph/neighbour_columns.h: walks of two steps */

static const double LARGEST = 0.25;

static consm_status open_part(struct part *part, const struct consm_model *model,
                              struct consm_predictor *p)
{
    consm_status st = CONSM_OK;
    part->model = model;
    part->views = p->problem.views;
    part->reach = TREES_REACH;
    const struct consm_model *predicts = model_predicts(model);
    double below = model == p->model ? model_companions_below(model) : 0;
    if (predicts->def->build) {
        bool rows_do, whole = model_part_below(p->model, model) <= 0;
        TRY(model_part_session(&part->session, predicts,
                               whole ? &p->problem : consm_kept_problem(p->kept), p->backend));
        if (below > 0)
            TRY(session_without(&p->kept, part->session, below));
        TRY(session_reach(&part->reach, &rows_do, part->session));
        p->rows_do = p->rows_do && rows_do;
        p->settled = p->settled || !part->session->options.parts_only;
        part->views = part->session->problem->views;
    }
    if (!views_get(part->views, VIEW_ADJACENCY)) /* now, not with the first question */
        TRY(CONSM_ENOMEM);
done:
    return st;
}

consm_status consm_predictor_new(struct consm_predictor **out, const struct consm_model *model,
                                 const struct consm_dataset *dataset, int threads)
{
    consm_status st = CONSM_OK;
    struct consm_predictor *p = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, model, dataset));
    TRY(ZNEW(p, 1));
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->trust_lock, NULL);
    p->model = model;
    p->dataset = dataset_hold((struct consm_dataset *)dataset);
    p->largest = LARGEST;
    p->rows_do = !model->structural;
    TRY(dataset_prepared(&p->prepared, dataset));
    TRY(prepare_whole(p->prepared, "a prediction of some nodes"));
    p->threads = threads == 0 && prepare_is_small(p->prepared, &model->config) ? 1 : threads;
    TRY(matched_open(&p->features, model, p->prepared));
    p->problem = matched_problem(model, p->prepared, &p->features);
    TRY(prepare_backend(&p->backend, p->prepared, NULL, p->threads));
    p->parts = model_parts(model);
    TRY(ZNEW(p->part, p->parts));
    for (int64_t i = 0; i < p->parts; i++)
        TRY(open_part(&p->part[i], model_part(model, i), p));
    *out = p;
    p = NULL;
done:
    consm_predictor_free(p);
    return st;
}

void consm_predictor_free(struct consm_predictor *p)
{
    if (!p)
        return;
    live_forget(p);
    for (int64_t i = 0; p->part && i < p->parts; i++)
        session_free(p->part[i].session);
    mem_free(p->part);
    consm_kept_free(p->kept);
    backend_close(p->backend);
    if (p->prepared)
        matched_free(&p->features, p->prepared);
    mem_free(p->whole);
    mem_free(p->mean);
    mem_free(p->deviation);
    if (p->trust)
        edge_trust_free(p->trust);
    mem_free(p->trust);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->trust_lock);
    consm_dataset_free(p->dataset);
    mem_free(p);
}

/* ---- a part of the graph ------------------------------------------------- */

void scene_free(struct scene *s)
{
    views_free(s->views);
    csr_free(s->sparse);
    mem_free(s->dense);
    ball_free(&s->ball);
}

consm_status scene_features(struct scene *s, const struct problem *whole)
{
    enum { AHEAD = 32 };
    consm_status st = CONSM_OK;
    int64_t f = whole->features;
    if (whole->sparse)
        return csr_submatrix(&s->sparse, whole->sparse, s->ball.node, s->ball.nodes, NULL, f);
    TRY(NEW(s->dense, s->ball.nodes * f));
    for (int64_t i = 0; i < s->ball.nodes; i++) {
        if (i + AHEAD < s->ball.nodes)
            fetch_row(whole->dense + s->ball.node[i + AHEAD] * f, f);
        memcpy(s->dense + i * f, whole->dense + s->ball.node[i] * f, (size_t)f * sizeof *s->dense);
    }
done:
    return st;
}

consm_status scene_pose(struct scene *s, const struct consm_predictor *p)
{
    s->problem = (struct problem){.nodes = s->ball.nodes,
                                  .features = p->problem.features,
                                  .classes = p->problem.classes,
                                  .graph = views_get(s->views, VIEW_ADJACENCY),
                                  .sparse = s->sparse,
                                  .dense = s->dense,
                                  .views = s->views,
                                  .shift = p->problem.shift,
                                  .scale = p->problem.scale};
    return s->problem.graph ? CONSM_OK : CONSM_ENOMEM;
}

/* s->ball.too_large: nothing else was made. */
static consm_status cut_scene(struct scene *s, const struct consm_predictor *p,
                              const struct part *part, const int32_t *number, int64_t count)
{
    consm_status st = CONSM_OK;
    const struct csr *graph = views_get(part->views, VIEW_ADJACENCY);
    if (!graph)
        return CONSM_ENOMEM;
    TRY(ball_new(&s->ball, &(struct csr_rows){.base = graph}, number, count, part->reach,
                 (int64_t)(p->largest * (double)p->problem.nodes)));
    if (s->ball.too_large)
        return CONSM_OK;
    TRY(views_part(&s->views, part->views, &s->ball));
    TRY(scene_features(s, &p->problem));
    TRY(scene_pose(s, p));
done:
    return st;
}

static consm_status trees_logits(float *out, const struct part *part, const struct problem *problem,
                                 struct backend *backend)
{
    consm_status st = CONSM_OK;
    struct session *s = NULL;
    const float *logits;
    TRY(model_session(&s, model_predicts(part->model), problem, backend));
    TRY(session_logits(&logits, s));
    memcpy(out, logits, (size_t)(problem->nodes * problem->classes) * sizeof *out);
done:
    session_free(s);
    return st;
}

/* ---- answers ------------------------------------------------------------- */

/* The results so far for the requested nodes. */
struct answer {
    const int32_t *node; /* (count) */
    int64_t count;
    float *logits;      /* (count, c) */
    double *mean;       /* (count, c), or NULL: there is one part */
    float *probability; /* (c) scratch */
};

/* Threads are for many nodes: waking them takes longer than a small question. */
int scene_threads(const struct consm_predictor *p, const struct scene *s)
{
    double work = (double)s->ball.nodes * (double)p->problem.features;
    return work < 1e6 ? 1 : p->threads;
}

static consm_status ask_part(bool *too_large, struct answer *a, struct consm_predictor *p,
                             const struct version *v, const struct part *part)
{
    consm_status st = CONSM_OK;
    struct scene s = {0};
    struct backend *backend = NULL;
    float *logits = NULL;
    int64_t c = p->problem.classes;
    TRY(v ? live_scene(&s, p, v, part, a->node, a->count)
          : cut_scene(&s, p, part, a->node, a->count));
    *too_large = s.ball.too_large;
    if (*too_large)
        goto done;
    TRY(prepare_backend(&backend, p->prepared, NULL, scene_threads(p, &s)));
    TRY(NEW(logits, s.ball.nodes * c));
    TRY(part->session ? session_part_logits(logits, part->session, &s.problem, backend)
                      : trees_logits(logits, part, &s.problem, backend));
    for (int64_t k = 0; k < a->count; k++) {
        const float *row = logits + ball_find(&s.ball, a->node[k]) * c;
        if (a->mean)
            model_mix(a->mean + k * c, a->probability, p->model, part->model, row,
                      p->problem.classes);
        else
            memcpy(a->logits + k * c, row, (size_t)c * sizeof *row);
    }
done:
    mem_free(logits);
    backend_close(backend);
    scene_free(&s);
    return st;
}

/* The logits of all nodes; the first caller computes them. */
static consm_status whole_logits(const float **out, struct consm_predictor *p)
{
    consm_status st = CONSM_OK;
    pthread_mutex_lock(&p->lock);
    if (!p->whole)
        st = model_logits(&p->whole, p->model, &p->problem, p->backend);
    *out = p->whole;
    pthread_mutex_unlock(&p->lock);
    return st;
}

bool predictor_is_whole(struct consm_predictor *p)
{
    pthread_mutex_lock(&p->lock);
    bool whole = p->whole != NULL;
    pthread_mutex_unlock(&p->lock);
    return whole;
}

/* Row by row: the columns of a large graph, one by one, would each read all of it. */
static consm_status measure_columns(float *mean, float *deviation, const struct problem *p)
{
    consm_status st = CONSM_OK;
    int64_t f = p->features;
    double *sum = NULL, *squares = NULL;
    TRY(ZNEW(sum, f));
    TRY(ZNEW(squares, f));
    for (int64_t i = 0; p->dense && i < p->nodes; i++)
        for (int64_t k = 0; k < f; k++)
            sum[k] += (double)p->dense[i * f + k];
    for (int64_t e = 0; p->sparse && e < p->sparse->nnz; e++)
        sum[p->sparse->col[e]] += p->sparse->val ? (double)p->sparse->val[e] : 1;
    for (int64_t k = 0; k < f; k++)
        sum[k] /= (double)p->nodes;
    for (int64_t i = 0; p->dense && i < p->nodes; i++)
        for (int64_t k = 0; k < f; k++) {
            double d = (double)p->dense[i * f + k] - sum[k];
            squares[k] += d * d;
        }
    for (int64_t k = 0; k < f; k++) {
        mean[k] = (float)sum[k];
        deviation[k] = (float)sqrt(squares[k] / (double)p->nodes);
    }
done:
    mem_free(sum);
    mem_free(squares);
    return st;
}

consm_status predictor_moments(const float **mean, const float **deviation,
                               struct consm_predictor *p)
{
    consm_status st = CONSM_OK;
    float *made = NULL, *spread = NULL;
    pthread_mutex_lock(&p->lock);
    if (!p->mean) {
        TRY(NEW(made, p->problem.features));
        TRY(NEW(spread, p->problem.features));
        TRY(measure_columns(made, spread, &p->problem));
        p->mean = made;
        p->deviation = spread;
        made = spread = NULL;
    }
    *mean = p->mean;
    *deviation = p->deviation;
done:
    pthread_mutex_unlock(&p->lock);
    mem_free(made);
    mem_free(spread);
    return st;
}

void predictor_set_largest(struct consm_predictor *p, double share)
{
    p->largest = share;
}

static consm_status ask_parts(bool *too_large, struct answer *a, struct consm_predictor *p,
                              const struct version *v)
{
    consm_status st = CONSM_OK;
    int64_t cells = a->count * p->problem.classes;
    *too_large = false;
    for (int64_t i = 0; i < p->parts; i++)
        *too_large = *too_large || p->part[i].reach < 0;
    if (model_mixes(p->model)) {
        TRY(ZNEW(a->mean, cells));
        TRY(NEW(a->probability, p->problem.classes));
    }
    for (int64_t i = 0; i < p->parts && !*too_large; i++)
        TRY(ask_part(too_large, a, p, v, &p->part[i]));
    if (a->mean)
        model_mixed(a->logits, a->mean, cells);
done:
    mem_free(a->mean);
    mem_free(a->probability);
    return st;
}

consm_status predictor_logits(float *out, struct consm_predictor *p, const int32_t *number,
                              int64_t count)
{
    consm_status st = CONSM_OK;
    struct answer a = {.node = number, .count = count, .logits = out};
    int64_t c = p->problem.classes;
    bool whole = predictor_is_whole(p);
    const float *all;
    if (!whole)
        TRY(ask_parts(&whole, &a, p, NULL));
    if (!whole)
        return CONSM_OK;
    TRY(whole_logits(&all, p));
    for (int64_t k = 0; k < count; k++)
        memcpy(out + k * c, all + number[k] * c, (size_t)c * sizeof *out);
done:
    return st;
}

consm_status predictor_logits_at(float *out, struct consm_predictor *p, const struct version *v,
                                 const int32_t *number, int64_t count)
{
    consm_status st = CONSM_OK;
    struct answer a = {.node = number, .count = count, .logits = out};
    bool whole = !p->rows_do || p->settled;
    if (!whole)
        TRY(ask_parts(&whole, &a, p, v));
    if (whole)
        TRY(live_whole(out, p, v, number, count));
done:
    return st;
}
