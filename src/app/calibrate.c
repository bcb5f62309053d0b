/* Turns logits into calibrated probabilities and measures every role. The temperature is fitted on
 * validation. With few validation nodes every probability is shrunk towards uniform, by the share
 * of errors that so few nodes could have missed. */
#include "app/objects.h"
#include "base/threads.h"

#include <math.h>

/* With so many validation nodes, probabilities are not shrunk. */
enum { ENOUGH = 100 };

/* Laplace's rule of succession: if n nodes are all right, the next is wrong with probability 1 / (n
 * + 2). */
static double doubt_of(int64_t validated)
{
    return validated < ENOUGH ? 1 / (double)(validated + 2) : 0;
}

/* p = (1 - doubt) softmax(x / T) + doubt / classes. The order of the classes does not change. */
void model_probabilities(float *probability, const struct consm_model *m, const float *logits,
                         int64_t nodes)
{
    metrics_softmax(probability, logits, m->temperature, nodes, m->classes);
    for (int64_t i = 0; m->doubt > 0 && i < nodes * m->classes; i++)
        probability[i] =
            (float)((1 - m->doubt) * (double)probability[i] + m->doubt / (double)m->classes);
}

double model_log_odds(const struct consm_model *m, const float *logit, int32_t label)
{
    double largest = -INFINITY, sum = 0;
    for (int32_t k = 0; k < m->classes; k++)
        if (k != label)
            largest = fmax(largest, (double)logit[k]);
    for (int32_t k = 0; k < m->classes; k++)
        if (k != label)
            sum += exp(((double)logit[k] - largest) / m->temperature);
    if (m->classes < 2) /* only one class is possible */
        return 0;
    return ((double)logit[label] - largest) / m->temperature - log(sum);
}

void model_all_log_odds(float *out, const struct consm_model *m, const float *logit)
{
    int32_t top = 0;
    double sum = 0;
    for (int32_t k = 1; k < m->classes; k++)
        top = logit[k] > logit[top] ? k : top;
    for (int32_t k = 0; k < m->classes; k++)
        sum += exp(((double)logit[k] - (double)logit[top]) / m->temperature);
    /* Sums over all classes but the top one, so that nothing cancels. */
    for (int32_t k = 0; k < m->classes; k++) {
        double x = ((double)logit[k] - (double)logit[top]) / m->temperature;
        out[k] = (float)(k == top ? model_log_odds(m, logit, k) : x - log(sum - exp(x)));
    }
}

struct softening {
    float *probability;
    const struct consm_model *m;
    const struct problem *problem;
    const float *logits;
    bool doubted;
};

static void soften_worker(void *arg, struct worker who)
{
    const struct softening *q = arg;
    int64_t c = q->problem->classes, from, to;
    team_range(who, q->problem->nodes, 64, &from, &to);
    for (int64_t i = from; i < to; i++)
        if (q->problem->role[i] != SPLIT_NONE && q->doubted)
            model_probabilities(q->probability + i * c, q->m, q->logits + i * c, 1);
        else if (q->problem->role[i] != SPLIT_NONE)
            metrics_softmax(q->probability + i * c, q->logits + i * c, 1, 1, q->problem->classes);
}

/* probability (n, c) of the measured nodes; doubted: after shrinking. team: or NULL. */
static void soften(float *probability, const struct consm_model *m, const struct problem *problem,
                   const float *logits, bool doubted, struct team *team)
{
    struct softening q = {probability, m, problem, logits, doubted};
    team_run_or_alone(team, soften_worker, &q);
}

static consm_status measure_role(struct consm_model *m, struct predicted *p, int role)
{
    consm_status st = CONSM_OK;
    p->which = (uint8_t)role;
    TRY(metrics_measure(&m->metrics[role], p));
    metrics_hide_ece(&m->metrics[role]);
done:
    return st;
}

consm_status model_measure_again(struct consm_model *m, const struct problem *problem,
                                 const float *logits)
{
    consm_status st = CONSM_OK;
    float *probability = NULL;
    TRY(NEW(probability, problem->nodes * problem->classes));
    struct predicted p = {probability,    problem->label,   problem->role, SPLIT_TEST,
                          problem->nodes, problem->classes, &m->decision};
    soften(probability, m, problem, logits, true, NULL);
    metrics_free(&m->metrics[SPLIT_TEST]);
    m->metrics[SPLIT_TEST] = (struct metrics){0};
    TRY(measure_role(m, &p, SPLIT_TEST));
    m->result.test_acc = m->metrics[SPLIT_TEST].all.accuracy;
done:
    mem_free(probability);
    return st;
}

consm_status model_measure(struct consm_model *m, const struct training_request *r,
                           const struct problem *problem, const float *logits,
                           struct backend *backend)
{
    consm_status st = CONSM_OK;
    float *probability = NULL;
    double *term = NULL;
    struct metrics raw = {0};
    struct predicted p = {logits,         problem->label,   problem->role, SPLIT_VAL,
                          problem->nodes, problem->classes, NULL};
    TRY(NEW(term, problem->nodes));
    m->temperature = metrics_temperature_by(&p, backend->host, term);
    TRY(NEW(probability, problem->nodes * problem->classes));
    p.probability = probability;
    soften(probability, m, problem, logits, false, backend->host);
    TRY(metrics_measure(&raw, &p));
    metrics_hide_ece(&raw);
    m->ece_before = raw.all.ece;
    m->doubt = doubt_of(m->count[SPLIT_VAL]);
    soften(probability, m, problem, logits, true, backend->host);
    if (r->threshold_for)
        TRY(model_threshold(m, r, problem, &p, backend));
    p.decision = &m->decision;
    for (int role = SPLIT_TRAIN; role <= SPLIT_TEST; role++)
        TRY(measure_role(m, &p, role));
    if (m->decision.made) { /* measure the class that is predicted with the threshold */
        m->result.val_acc = m->metrics[SPLIT_VAL].all.accuracy;
        m->result.test_acc = m->metrics[SPLIT_TEST].all.accuracy;
    }
done:
    metrics_free(&raw);
    mem_free(probability);
    mem_free(term);
    return st;
}
