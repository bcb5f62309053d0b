/* For tests of companions: a short run of ConSM with them, and their weighted mean computed here.
 */
#ifndef TESTS_COMPANIONS_H
#define TESTS_COMPANIONS_H

#include "check.h"
#include "narrow.h"

#include "app/objects.h"
#include "train/session.h"
#include <math.h>
#include <unistd.h>

static inline struct consm_options *companion_options(int threads)
{
    static const char *const few[][2] = {{"warmup", "12"},       {"rounds", "1"},
                                         {"gnn_steps", "4"},     {"add_share", "0"},
                                         {"guesses", "no"},      {"entropy", "0"},
                                         {"attract", "zeta"},    {"with_trees", "no"},
                                         {"metric", "accuracy"}, NARROW};
    struct consm_options *o;
    OK(consm_options_new(&o, "consm"));
    o->threads = threads;
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        OK(consm_options_set(o, few[i][0], few[i][1]));
    return o;
}

/* Trains with these options, which it frees, and one more if name is not NULL. */
static inline struct consm_model *companion_train(const struct consm_dataset *d,
                                                  struct consm_options *o, const char *name,
                                                  const char *value)
{
    struct consm_model *m;
    if (name)
        OK(consm_options_set(o, name, value));
    OK(consm_train(&m, d, o));
    consm_options_free(o);
    return m;
}

/* ---- the same bits, on one thread and on two --------------------------------------- */

static inline void same_predictions(const struct consm_model *a, const struct consm_model *b,
                                    const struct consm_dataset *d)
{
    struct consm_prediction *p, *q;
    OK(consm_predict(&p, a, d, 1));
    OK(consm_predict(&q, b, d, 2));
    assert_memory_equal(p->probability, q->probability,
                        (size_t)(p->nodes * p->classes) * sizeof *p->probability);
    assert_memory_equal(p->label, q->label, (size_t)p->nodes * sizeof *p->label);
    consm_prediction_free(p);
    consm_prediction_free(q);
}

static inline void same_edges(const struct consm_model *a, const struct consm_model *b,
                              const struct consm_dataset *d)
{
    struct consm_edge_scores *s, *t;
    OK(consm_score_edges(&s, a, d, 1));
    OK(consm_score_edges(&t, b, d, 2));
    assert_true(s->edges > 0 && s->edges == t->edges);
    assert_memory_equal(s->score, t->score, (size_t)s->edges * sizeof *s->score);
    assert_memory_equal(s->low, t->low, (size_t)s->edges * sizeof *s->low);
    assert_true(isfinite(s->low[0])); /* the agreement of predictions has no interval */
    consm_edge_scores_free(s);
    consm_edge_scores_free(t);
}

static inline bool same_first_tensor(const struct consm_model *a, const struct consm_model *b)
{
    const struct model_tensor *x = &a->tensor[0], *y = &b->tensor[0];
    assert_string_equal(x->name, y->name);
    return memcmp(x->value, y->value, (size_t)(x->rows * x->cols) * sizeof(float)) == 0;
}

static inline const float *tensor_of(const struct consm_model *m, const char *name)
{
    for (int64_t i = 0; i < m->tensors; i++)
        if (strcmp(m->tensor[i].name, name) == 0)
            return m->tensor[i].value;
    fail_msg("no tensor %s", name);
    return NULL;
}

/* ConSM's network and the trust by which it drops edges are the same, but not the trust in what
 * each model predicts. */
static inline void same_network_other_answers(const struct consm_model *a,
                                              const struct consm_model *b)
{
    size_t bytes = TRUST_NUMBERS * sizeof(float);
    assert_true(same_first_tensor(a, b));
    assert_memory_equal(tensor_of(a, "match.trust"), tensor_of(b, "match.trust"), bytes);
    assert_memory_not_equal(model_answers_weights(a), model_answers_weights(b), bytes);
}

/* ---- the mean ---------------------------------------------------------------------- */

struct mean {
    double *of; /* (n, c): Σ votes/all · softmax(logits / T), one network after the other */
    double votes;
};

static inline void mean_open(struct mean *to, const struct consm_model *m, const struct problem *p)
{
    to->votes = (double)m->own_votes;
    for (int64_t i = 0; i < m->companions; i++)
        to->votes += (double)m->companion[i]->picks;
    assert_non_null(to->of = calloc((size_t)(p->nodes * p->classes), sizeof *to->of));
}

static inline void mean_add(struct mean *to, const struct consm_model *m, const struct problem *p,
                            struct backend *backend, double votes, double temperature)
{
    struct session *s;
    const float *logits;
    int64_t c = p->classes;
    OK(model_session(&s, m, p, backend));
    OK(session_logits(&logits, s));
    for (int64_t i = 0; i < p->nodes; i++) {
        double sum = 0;
        for (int64_t j = 0; j < c; j++)
            sum += exp((double)logits[i * c + j] / temperature);
        for (int64_t j = 0; j < c; j++)
            to->of[i * c + j] +=
                votes / to->votes * exp((double)logits[i * c + j] / temperature) / sum;
    }
    session_free(s);
}

/* The model's labels are those of the mean, which is freed. */
static inline void mean_predicts(struct mean *mean, const struct consm_model *m,
                                 const struct consm_dataset *d)
{
    struct consm_prediction *p;
    OK(consm_predict(&p, m, d, 1));
    for (int64_t i = 0; i < p->nodes; i++) {
        int64_t best = 0;
        for (int32_t k = 1; k < p->classes; k++)
            if (mean->of[i * p->classes + k] > mean->of[i * p->classes + best])
                best = k;
        assert_int_equal(p->label[i], best);
    }
    consm_prediction_free(p);
    free(mean->of);
}

/* ---- the file ---------------------------------------------------------------------- */

/* Saves the model to a new file, whose name replaces the Xs of the path, and reads it again: the
 * same predictions and edges, for single nodes and in explanations too. */
static inline struct consm_model *companions_from_file(char *path, const struct consm_model *m,
                                                       const struct consm_dataset *d)
{
    const int64_t nodes[] = {3, 77};
    struct consm_model *loaded;
    struct consm_prediction *all, *some;
    struct consm_explanation *why;
    close(mkstemp(path));
    OK(consm_model_save(m, path));
    OK(consm_model_load(&loaded, path));
    assert_int_equal(loaded->companions, m->companions);
    same_predictions(m, loaded, d);
    same_edges(m, loaded, d);
    OK(consm_predict(&all, loaded, d, 1));
    OK(consm_predict_nodes(&some, loaded, d, nodes, 2, 1));
    for (int i = 0; i < 2; i++)
        assert_memory_equal(some->probability + i * all->classes,
                            all->probability + nodes[i] * all->classes,
                            (size_t)all->classes * sizeof(float));
    OK(consm_explain(&why, loaded, d, 3, NULL));
    assert_near((double)why->probability, (double)all->confidence[3], 1e-6);
    consm_explanation_free(why);
    consm_prediction_free(all);
    consm_prediction_free(some);
    return loaded;
}

/* ---- interrupted runs -------------------------------------------------------------- */

/* Stops a run with these options by this callback, and continues it from its checkpoint: it gives
 * the same as one that was not stopped. */
static inline void companions_resume(const struct consm_model *whole, const struct consm_dataset *d,
                                     struct consm_options *o, consm_progress_fn stop, void *ctx)
{
    char path[] = "/tmp/consm-companions-XXXXXX";
    struct consm_model *part;
    close(mkstemp(path));
    unlink(path);
    consm_options_on_progress(o, stop, ctx);
    OK(consm_options_checkpoint(o, path, 0, true));
    FAILS(consm_train(&part, d, o), CONSM_ECANCEL, "");
    OK(consm_train(&part, d, o));
    assert_int_equal(part->companions, whole->companions);
    assert_true(part->result.companions.alone == whole->result.companions.alone);
    same_predictions(whole, part, d);
    same_edges(whole, part, d);
    consm_model_free(part);
    unlink(path);
}

#endif
