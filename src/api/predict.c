/* Predicting with a model on any graph of the same feature space. */
#include "api/objects.h"
#include "backends/open.h"
#include "base/given.h"
#include "data/names.h"
#include "graph/structural.h"
#include "train/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- results ------------------------------------------------------------- */

consm_status prediction_new(struct consm_prediction **out, const float *logits,
                            const struct consm_model *model, int64_t nodes, int32_t classes)
{
    consm_status st = CONSM_OK;
    struct consm_prediction *p;
    *out = NULL;
    TRY(ZNEW(p, 1));
    p->nodes = nodes;
    p->classes = classes;
    TRY(NEW(p->label, nodes));
    TRY(NEW(p->confidence, nodes));
    TRY(NEW(p->probability, nodes * classes));
    model_probabilities(p->probability, model, logits, nodes);
    for (int64_t i = 0; i < nodes; i++) {
        const float *row = logits + i * classes;
        int32_t best = 0;
        for (int32_t k = 1; k < classes; k++)
            if (row[k] > row[best])
                best = k;
        if (model->decision.made)
            best = metrics_decide(p->probability + i * classes, classes, &model->decision);
        if (!isfinite(p->probability[i * classes + best]))
            TRY(status_fail(CONSM_ENUMERIC,
                            "node %lld: its probabilities are no numbers; features of this graph "
                            "or parameters of the model are too large",
                            (long long)i));
        p->label[i] = best;
        p->confidence[i] = p->probability[i * classes + best];
    }
    *out = p;
    return CONSM_OK;
done:
    consm_prediction_free(p);
    return st;
}

void consm_prediction_free(struct consm_prediction *prediction)
{
    if (!prediction)
        return;
    mem_free(prediction->label);
    mem_free(prediction->confidence);
    mem_free(prediction->probability);
    mem_free(prediction->in_set);
    mem_free(prediction);
}

/* ---- features as the model knows them ------------------------------------ */

/* Features brought into the model's order, when they were not in it already. */
struct matched {
    struct csr *sparse;
    float *dense, *structural;
};

static void matched_free(struct matched *m)
{
    csr_free(m->sparse);
    mem_free(m->dense);
    mem_free(m->structural);
}

static consm_status missing_columns(const struct consm_model *m, const struct dataset *d,
                                    const int64_t *column)
{
    char list[400] = "";
    int64_t missing = 0;
    for (int64_t k = 0; k < m->features; k++)
        if (column[k] < 0 && ++missing <= 5)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.60s",
                     missing > 1 ? ", " : "", m->feature_name[k]);
    if (missing == 0)
        return CONSM_OK;
    return status_fail(CONSM_EINVAL, "%s lacks %lld of the model's %lld feature columns: %s%s",
                       d->name, (long long)missing, (long long)m->features, list,
                       missing > 5 ? ", …" : "");
}

/* column[k] = the dataset's column of the model's feature k. */
static consm_status find_columns(int64_t *column, const struct consm_model *m,
                                 const struct dataset *d)
{
    consm_status st = CONSM_OK;
    struct names names = {0};
    int64_t index;
    for (int64_t k = 0; k < d->features; k++)
        TRY(names_add(&index, &names, d->feature_name[k], strlen(d->feature_name[k])));
    if (names.count != d->features)
        TRY(status_fail(CONSM_EINVAL, "%s: two feature columns bear the same name", d->name));
    for (int64_t k = 0; k < m->features; k++)
        column[k] = names_find(&names, m->feature_name[k], strlen(m->feature_name[k]));
    TRY(missing_columns(m, d, column));
done:
    names_free(&names);
    return st;
}

static consm_status pick_dense(float **out, const struct dataset *d, const int64_t *column,
                               int64_t count)
{
    consm_status st = CONSM_OK;
    TRY(NEW(*out, d->nodes * count));
    for (int64_t i = 0; i < d->nodes; i++)
        for (int64_t k = 0; k < count; k++)
            (*out)[i * count + k] = d->dense[i * d->features + column[k]];
done:
    return st;
}

static consm_status pick_sparse(struct csr **out, const struct dataset *d, const int64_t *column,
                                int64_t count)
{
    consm_status st = CONSM_OK;
    const struct csr *s = d->sparse;
    int32_t *to = NULL, *row = NULL, *col = NULL;
    float *value = NULL;
    int64_t kept = 0;
    TRY(NEW(to, d->features));
    TRY(NEW(row, s->nnz));
    TRY(NEW(col, s->nnz));
    TRY(NEW(value, s->nnz));
    memset(to, 0xff, (size_t)d->features * sizeof *to);
    for (int64_t k = 0; k < count; k++)
        to[column[k]] = (int32_t)k;
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t e = s->start[i]; e < s->start[i + 1]; e++)
            if (to[s->col[e]] >= 0) {
                row[kept] = (int32_t)i;
                col[kept] = to[s->col[e]];
                value[kept++] = s->val ? s->val[e] : 1;
            }
    TRY(csr_from_edges(out, d->nodes, count, kept, row, col, value, CSR_DIRECTED, NULL));
    TRY(csr_transpose(*out));
done:
    mem_free(to);
    mem_free(row);
    mem_free(col);
    mem_free(value);
    return st;
}

static bool in_order(const int64_t *column, int64_t count, int64_t features)
{
    for (int64_t k = 0; k < count; k++)
        if (column[k] != k)
            return false;
    return count == features;
}

/* Columns by name. Nothing is copied when they are in the model's order. */
static consm_status match_names(struct matched *out, const struct consm_model *m,
                                const struct dataset *d)
{
    consm_status st = CONSM_OK;
    int64_t *column = NULL;
    TRY(NEW(column, m->features));
    TRY(find_columns(column, m, d));
    if (in_order(column, m->features, d->features))
        goto done;
    TRY(d->sparse ? pick_sparse(&out->sparse, d, column, m->features)
                  : pick_dense(&out->dense, d, column, m->features));
done:
    mem_free(column);
    return st;
}

static consm_status match_features(struct matched *out, const struct consm_model *m,
                                   const struct prepared *p)
{
    const struct dataset *d = p->data;
    if (m->structural)
        return d->features == 0 ? CONSM_OK : prepare_structural(&out->structural, p);
    if (d->features == 0)
        return status_fail(CONSM_EINVAL, "%s has no features; the model was trained on %lld",
                           d->name, (long long)m->features);
    if (m->feature_name && d->feature_name)
        return match_names(out, m, d);
    if (m->features != d->features)
        return status_fail(CONSM_EINVAL, "%s has %lld features; the model was trained on %lld",
                           d->name, (long long)d->features, (long long)m->features);
    return CONSM_OK;
}

static struct problem problem_of(const struct consm_model *m, const struct prepared *p,
                                 const struct matched *features)
{
    struct problem problem = prepare_problem(p, NULL);
    problem.classes = m->classes;
    problem.features = m->features;
    if (features->structural || features->dense) {
        problem.sparse = NULL;
        problem.dense = features->structural ? features->structural : features->dense;
    } else if (features->sparse) {
        problem.sparse = features->sparse;
        problem.dense = NULL;
    }
    return problem;
}

/* ---- the calls ----------------------------------------------------------- */

consm_status model_on_dataset(const struct consm_model *model, const struct consm_dataset *dataset,
                              int threads, model_use_fn use, void *ctx)
{
    return model_on_device(model, dataset, NULL, threads, use, ctx);
}

consm_status model_on_device(const struct consm_model *model, const struct consm_dataset *dataset,
                             const char *device, int threads, model_use_fn use, void *ctx)
{
    consm_status st = CONSM_OK;
    const struct prepared *prepared;
    struct matched features = {0};
    struct backend *backend = NULL;
    TRY(dataset_prepared(&prepared, dataset));
    TRY(match_features(&features, model, prepared));
    struct problem problem = problem_of(model, prepared, &features);
    if (threads == 0 && prepare_is_small(prepared, &model->config))
        threads = 1;
    TRY(backend_open(&backend, device, threads));
    TRY(use(ctx, model, &problem, backend));
done:
    backend_close(backend);
    matched_free(&features);
    return st;
}

consm_status model_prediction(struct consm_prediction **out, const struct consm_model *model,
                              const struct problem *problem, const float *logits)
{
    consm_status st = CONSM_OK;
    TRY(prediction_new(out, logits, model, problem->nodes, problem->classes));
    TRY(prediction_add_sets(*out, model, problem->graph));
done:
    if (st < 0) {
        consm_prediction_free(*out);
        *out = NULL;
    }
    return st;
}

static consm_status predict(void *ctx, const struct consm_model *model,
                            const struct problem *problem, struct backend *backend)
{
    consm_status st = CONSM_OK;
    float *logits = NULL;
    TRY(model_logits(&logits, model, problem, backend));
    TRY(model_prediction(ctx, model, problem, logits));
done:
    mem_free(logits);
    return st;
}

consm_status consm_predict(struct consm_prediction **out, const struct consm_model *model,
                           const struct consm_dataset *dataset, int threads)
{
    return consm_predict_on(out, model, dataset, NULL, threads);
}

consm_status consm_predict_on(struct consm_prediction **out, const struct consm_model *model,
                              const struct consm_dataset *dataset, const char *device, int threads)
{
    consm_status st = GIVEN(out, model, dataset);
    if (out)
        *out = NULL;
    return st < 0 ? st : model_on_device(model, dataset, device, threads, predict, out);
}

struct lines {
    consm_line_fn line;
    void *ctx;
};

static consm_status dump_program(void *ctx, const struct consm_model *part, struct session *s)
{
    const struct lines *lines = ctx;
    (void)part;
    program_dump(s->learner.eval, lines->line, lines->ctx);
    return CONSM_OK;
}

static consm_status dump_programs(void *ctx, const struct consm_model *model,
                                  const struct problem *problem, struct backend *backend)
{
    return model_each_session(model, problem, backend, dump_program, ctx);
}

consm_status consm_model_dump(const struct consm_model *model, const struct consm_dataset *dataset,
                              consm_line_fn line, void *ctx)
{
    consm_status st = GIVEN(model, dataset);
    struct lines lines = {line, ctx};
    if (st == CONSM_OK && !line)
        st = status_fail(CONSM_EINVAL, "consm_model_dump: line is NULL");
    return st < 0 ? st : model_on_dataset(model, dataset, 1, dump_programs, &lines);
}

/* The equations on a graph of one lone node ask for the same parameters as on any other. */
consm_status model_check(const struct consm_model *model, const char *path)
{
    consm_status st = CONSM_OK;
    char message[512];
    float *zero = NULL;
    struct csr *graph = NULL;
    struct views *views = NULL;
    struct backend *backend = NULL;
    struct session *s = NULL;
    int64_t numbers = 0;
    for (int64_t i = 0; i < model->tensors; i++)
        numbers += model->tensor[i].rows * model->tensor[i].cols;
    if (model->features > numbers || model->classes > numbers)
        return status_fail(CONSM_EFORMAT,
                           "%s: %lld numbers are too few for %lld features and %d classes", path,
                           (long long)numbers, (long long)model->features, model->classes);
    TRY(csr_from_edges(&graph, 1, 1, 0, NULL, NULL, NULL, CSR_UNDIRECTED, NULL));
    TRY(views_new(&views, graph));
    TRY(ZNEW(zero, model->features));
    TRY(backend_open(&backend, NULL, 1));
    struct problem problem = {.nodes = 1,
                              .features = model->features,
                              .classes = model->classes,
                              .graph = graph,
                              .dense = zero,
                              .views = views};
    if ((st = model_session(&s, model, &problem, backend)) < 0 && st != CONSM_ENOMEM) {
        snprintf(message, sizeof message, "%s", consm_errmsg());
        status_fail(CONSM_EFORMAT, "%s: %s", path, message);
        st = CONSM_EFORMAT;
    }
done:
    session_free(s);
    backend_close(backend);
    views_free(views);
    csr_free(graph);
    mem_free(zero);
    return st;
}
