/* The quality of a model's edge scores: F1 if the ⌊hE⌋ highest scores are called "same class" (the
 * paper's measure; h is the true homophily, so the number is an oracle), ROC-AUC, and calibration.
 * */

/* Three scores are measured: the model's own coefficients, calibrated by a logistic curve fitted on
 * validation edges; the agreement of the model's predictions, with a curve fitted on the same
 * edges; and the trust score, which for ConSM combines all witnesses of match/trust.h and for
 * others is the raw agreement. */

/* Ranking is measured on all edges between labelled nodes, as in the paper, and on edges with at
 * least one test node; calibration only on the latter. */
#include "study/graph_file.h"
#include "study/task.h"

#include "base/alloc.h"
#include "stats/stats.h"
#include "train/coefficients.h"
#include "train/edge_trust.h"
#include "train/session.h"
#include <stdio.h>

enum { BINS = 10 };

/* The judged edges, and storage for their scores. */
struct judged {
    const struct edges *edges;
    const struct problem *problem;
    uint8_t *same; /* (edges) truth, of those picked */
    float *score;  /* (edges) likewise */
};

/* Which edges between labelled nodes are used: all; those with a test end; those without, whose
 * labels a run may know, so that settings can be compared by them. */
enum which { EVERY, TEST_END, KNOWN };
static const char *const suffix[] = {"", "_test", "_known"};

static int64_t pick(struct judged *j, const float *score, enum which which)
{
    const struct problem *problem = j->problem;
    int64_t count = 0;
    for (int64_t e = 0; e < j->edges->count; e++) {
        int32_t a = j->edges->left[e], b = j->edges->right[e];
        bool test = problem->role[a] == SPLIT_TEST || problem->role[b] == SPLIT_TEST;
        if (problem->label[a] < 0 || problem->label[b] < 0 || (which == TEST_END && !test) ||
            (which == KNOWN && test))
            continue;
        j->same[count] = problem->label[a] == problem->label[b];
        j->score[count++] = score[e];
    }
    return count;
}

static consm_status add_figure(json_t *to, const char *name, enum which which, double value)
{
    char key[32];
    snprintf(key, sizeof key, "%s%s", name, suffix[which]);
    return task_number(to, key, value);
}

static consm_status add_ranking(json_t *to, struct judged *j, const float *score, enum which which)
{
    consm_status st = CONSM_OK;
    struct stats_top top;
    double auc;
    int64_t count = pick(j, score, which), same = 0;
    for (int64_t e = 0; e < count; e++)
        same += j->same[e];
    TRY(stats_auc(&auc, j->score, j->same, count));
    TRY(stats_top_k(&top, j->score, j->same, count, same));
    TRY(add_figure(to, "auc", which, auc));
    TRY(add_figure(to, "f1", which, top.f1));
    TRY(add_figure(to, "chance", which, (double)same / (double)count));
done:
    return st;
}

static consm_status add_calibration(json_t *to, struct judged *j, const float *probability)
{
    consm_status st = CONSM_OK;
    struct stats_reliability r;
    json_t *count = json_array(), *predicted = json_array(), *observed = json_array();
    TRY(stats_reliability(&r, j->score, j->same, pick(j, probability, TEST_END), BINS));
    TRY(task_number(to, "ece", r.ece));
    TRY(task_number(to, "brier", r.brier));
    int fault = 0;
    for (int b = 0; b < BINS; b++) {
        bool empty = r.count[b] == 0;
        fault |= json_array_append_new(count, json_integer(r.count[b])) |
                 json_array_append_new(predicted, empty ? json_null() : json_real(r.predicted[b])) |
                 json_array_append_new(observed, empty ? json_null() : json_real(r.observed[b]));
    }
    if (fault || json_object_set(to, "bin_count", count) != 0 ||
        json_object_set(to, "bin_predicted", predicted) != 0 ||
        json_object_set(to, "bin_observed", observed) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
done:
    json_decref(count);
    json_decref(predicted);
    json_decref(observed);
    return st;
}

/* Adds an object with that name: ranking by score, calibration of probability. */
static consm_status add_judgement(json_t *result, const char *name, struct judged *j,
                                  const float *score, const float *probability)
{
    consm_status st = CONSM_OK;
    json_t *to = json_object();
    for (enum which w = EVERY; w <= KNOWN; w++)
        TRY(add_ranking(to, j, score, w));
    TRY(add_calibration(to, j, probability));
    if (json_object_set(result, name, to) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
done:
    json_decref(to);
    return st;
}

/* ROC-AUC of each witness alone: an object for all edges between labelled nodes, one for those with
 * a test end. Trust should be no worse than the best of them. */
static consm_status add_witnesses(json_t *result, struct judged *j, const struct edge_trust *t,
                                  float *score)
{
    static const char *const name[] = {"witnesses", "witnesses_test"};
    consm_status st = CONSM_OK;
    double auc;
    for (enum which which = EVERY; which <= TEST_END; which++) {
        json_t *to = json_object();
        if (!to || json_object_set_new(result, name[which], to) != 0)
            TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
        for (int w = 0; w < WITNESSES; w++) {
            for (int64_t e = 0; e < t->edges->count; e++)
                score[e] = t->witness[e * WITNESSES + w];
            TRY(stats_auc(&auc, j->score, j->same, pick(j, score, which)));
            TRY(task_number(to, witness_names[w], auc));
        }
    }
done:
    return st;
}

/* P(same) = sigmoid(a + b·coefficient), fitted on edges whose labels may be known. */
static consm_status calibrate(float *probability, const float *coefficient,
                              const struct edge_trust *t, const struct problem *problem)
{
    consm_status st = CONSM_OK;
    struct trust_sample *sample = NULL;
    TRY(trust_sample_new(&sample, t->edges, NULL, problem->label, problem->role, problem->nodes));
    TRY(trust_curve(probability, sample, coefficient, t->edges->count));
done:
    trust_sample_free(sample);
    return st;
}

bool task_has_coefficients(const struct model_def *model)
{
    struct train_options options = {.model = model};
    const struct procedure *procedure = NULL;
    model_defaults(model, &options.config);
    if (procedure_find(&procedure, &options) < 0)
        status_clear();
    return model->coefficients || (procedure && procedure->coefficients);
}

consm_status task_edges(json_t *result, struct session *s, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    const float *logits;
    struct edge_trust t = {0};
    float *coefficient = NULL, *probability = NULL;
    const struct problem *problem = s->problem;
    struct judged j = {.problem = problem};
    TRY(session_trust(&t, s));
    int64_t count = t.edges->count;
    j.edges = t.edges;
    TRY(NEW(j.same, count));
    TRY(NEW(j.score, count));
    TRY(NEW(coefficient, count));
    TRY(NEW(probability, count));
    if (pick(&j, t.score, EVERY) == 0)
        goto done; /* nothing to judge by */
    TRY(task_number(result, "zeta", t.zeta));
    TRY(add_judgement(result, "trust", &j, t.score, t.score));
    if ((s->procedure && s->procedure->coefficients) || s->options.model->coefficients) {
        TRY(session_coefficients(s, coefficient, t.edges));
        TRY(calibrate(probability, coefficient, &t, problem));
        TRY(add_judgement(result, "coefficients", &j, coefficient, probability));
    }
    TRY(session_answers(&logits, s));
    witness_agreement(coefficient, logits, problem->classes, t.edges);
    TRY(calibrate(probability, coefficient, &t, problem));
    TRY(add_judgement(result, "agreement", &j, coefficient, probability));
    if (t.witness)
        TRY(add_witnesses(result, &j, &t, coefficient));
    if (in->graph_path)
        TRY(graph_file_write(in->graph_path, in->prepared->data, &t, problem, logits));
done:
    mem_free(coefficient);
    mem_free(probability);
    mem_free(j.same);
    mem_free(j.score);
    edge_trust_free(&t);
    return st;
}
