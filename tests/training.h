/* For tests of training: a small problem, a run over it, and the run's results. */
#ifndef TESTS_TRAINING_H
#define TESTS_TRAINING_H

#include "programs.h"

#include "app/prepare.h"
#include "data/generate/generate.h"
#include "data/split.h"
#include "train/session.h"

enum { EPOCHS = 6 };

/* A dataset ready for training, with one split. */
struct scene {
    struct dataset *data;
    struct prepared prepared;
    uint8_t *role;
    struct problem problem;
};

static inline void scene_open(struct scene *s, const char *name, int64_t per_class)
{
    struct split_options o = split_defaults();
    o.per_class = per_class;
    OK(generate_named(&s->data, name));
    OK(prepare(&s->prepared, s->data));
    s->role = mem_alloc((size_t)s->data->nodes, 1);
    OK(split_make(s->role, s->data, "random", 3, &o));
    s->problem = prepare_problem(&s->prepared, s->role);
}

static inline void scene_small(struct scene *s)
{
    scene_open(s, "csbm:nodes=260,classes=3,degree=5,features=19,signal=1.5,homophily=0.8,seed=4",
               12);
}

static inline void scene_close(struct scene *s)
{
    mem_free(s->role);
    prepare_free(&s->prepared);
    dataset_free(s->data);
}

static inline struct train_options options_for(const struct model_def *model, int64_t epochs)
{
    struct train_options o = {.model = model, .seed = 11};
    model_defaults(model, &o.config);
    o.config.epochs = epochs;
    o.config.rounds = 2;
    o.config.round_patience = 0;
    o.config.gnn_steps = epochs > 3 ? epochs / 3 : 1;
    o.config.warmup = epochs - 2 * o.config.gnn_steps;
    return o;
}

/* The results of a run. */
struct outcome {
    struct train_result result;
    int64_t params, logits;
    float *param, *logit;
};

/* Trains a session to its end and reads the results. */
static inline void finish_training(struct outcome *out, struct session *s,
                                   const struct problem *problem)
{
    const float *logits;
    OK(session_train(s, &out->result));
    out->params = session_params(s)->size;
    out->logits = problem->nodes * problem->classes;
    out->param = mem_alloc((size_t)out->params, sizeof(float));
    out->logit = mem_alloc((size_t)out->logits, sizeof(float));
    OK(session_logits(&logits, s));
    memcpy(out->logit, logits, (size_t)out->logits * sizeof(float));
    memcpy(out->param, param_values(session_params(s)), (size_t)out->params * sizeof(float));
}

static inline void train_with(struct outcome *out, const struct problem *problem,
                              const struct train_options *options, struct backend *backend)
{
    struct session *s;
    OK(session_new(&s, problem, options, backend));
    finish_training(out, s, problem);
    session_free(s);
}

static inline void train_on(struct outcome *out, const struct problem *problem,
                            const struct train_options *options, int threads)
{
    struct backend *backend;
    OK(backend_open(&backend, NULL, threads));
    train_with(out, problem, options, backend);
    backend_close(backend);
}

static inline void outcome_free(struct outcome *o)
{
    mem_free(o->param);
    mem_free(o->logit);
}

static inline void assert_same(const struct outcome *a, const struct outcome *b, const char *what)
{
    assert_int_equal(a->params, b->params);
    if (memcmp(a->param, b->param, (size_t)a->params * sizeof(float)) != 0)
        fail_msg("%s: the parameters differ", what);
    if (memcmp(a->logit, b->logit, (size_t)a->logits * sizeof(float)) != 0)
        fail_msg("%s: the logits differ", what);
    assert_int_equal(a->result.best_epoch, b->result.best_epoch);
    assert_true(a->result.val_acc == b->result.val_acc);
    assert_true(a->result.loss == b->result.loss);
}

/* Everything a progress callback saw. */
struct seen {
    int64_t first, epochs, stop_at;
    uint64_t allocations;
    double val[512], best[512];
};

static inline bool watch(void *ctx, const struct progress *progress)
{
    struct seen *seen = ctx;
    if (progress->epoch == 0)
        return false;        /* ConSM tries its backbones */
    if (seen->epochs == 0) { /* ConSM's warm-up is what it tried */
        seen->first = progress->epoch;
        seen->allocations = consm_alloc_count();
    }
    if (consm_alloc_count() != seen->allocations)
        fail_msg("%llu allocations between epochs 1 and %lld",
                 (unsigned long long)(consm_alloc_count() - seen->allocations),
                 (long long)progress->epoch);
    assert_int_equal(progress->epoch, seen->first + seen->epochs);
    seen->val[seen->epochs] = progress->val_acc;
    seen->best[seen->epochs] = progress->best_val;
    return ++seen->epochs == seen->stop_at;
}

#endif
