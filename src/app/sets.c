/* Prediction sets of a model: fitted at training, stored with the model, made anew on any graph. */
#include "app/objects.h"

#include <math.h>

static struct conformal_data data_of(const float *probability, const struct problem *problem,
                                     uint64_t seed)
{
    return (struct conformal_data){.nodes = problem->nodes,
                                   .classes = problem->classes,
                                   .probability = probability,
                                   .start = problem->graph->start,
                                   .col = problem->graph->col,
                                   .seed = seed,
                                   .key = problem->key};
}

/* The class with the lowest coverage on test nodes. */
static void measure_least(struct consm_model *m, const uint8_t *set, const struct problem *problem)
{
    int64_t c = problem->classes;
    m->least_covered = (double)NAN;
    for (int32_t k = 0; k < c; k++) {
        int64_t tested = 0, covered = 0;
        for (int64_t i = 0; i < problem->nodes; i++)
            if (problem->role[i] == SPLIT_TEST && problem->label[i] == k) {
                tested++;
                covered += set[i * c + k];
            }
        double share = tested ? (double)covered / (double)tested : (double)NAN;
        if (tested && !(share >= m->least_covered)) {
            m->least_covered = share;
            m->least_class = k;
        }
    }
}

/* Coverage and size of the test nodes' sets. */
static void measure(struct consm_model *m, const uint8_t *set, const struct problem *problem)
{
    int64_t tested = 0, covered = 0, size = 0, c = problem->classes;
    for (int64_t i = 0; i < problem->nodes; i++) {
        if (problem->role[i] != SPLIT_TEST || problem->label[i] < 0)
            continue;
        tested++;
        covered += set[i * c + problem->label[i]];
        for (int64_t k = 0; k < c; k++)
            size += set[i * c + k];
    }
    m->covered = tested ? (double)covered / (double)tested : (double)NAN;
    m->set_size = tested ? (double)size / (double)tested : (double)NAN;
    measure_least(m, set, problem);
}

static consm_status apply(uint8_t *set, const struct consm_model *m, const struct conformal_data *d)
{
    return m->class_threshold ? conformal_class_apply(set, m->class_threshold, d, m->sets.smoothing)
                              : conformal_apply(set, &m->sets, d);
}

consm_status model_fit_sets(struct consm_model *m, const struct problem *problem,
                            const struct roles *roles, const float *logits)
{
    consm_status st = CONSM_OK;
    float *probability = NULL;
    uint8_t *selects = NULL, *set = NULL;
    int64_t cells = problem->nodes * problem->classes;
    double coverage = m->config.coverage, smoothing = m->sets.smoothing;
    m->covered = m->set_size = m->least_covered = (double)NAN;
    if (coverage == 0 || !roles->calibrates)
        return CONSM_OK;
    if (problem->graph->partition)
        return status_fail(CONSM_EINVAL, "--coverage needs the whole graph, but this one is in "
                                         "parts: omit --in-parts, or train on graph.safetensors "
                                         "from its folder");
    TRY(NEW(probability, cells));
    TRY(NEW(selects, problem->nodes));
    TRY(NEW(set, cells));
    for (int64_t i = 0; i < problem->nodes; i++)
        selects[i] = roles->role[i] == SPLIT_VAL;
    model_probabilities(probability, m, logits, problem->nodes);
    struct conformal_data d = data_of(probability, problem, m->result.seed);
    if (m->refit.labels ==
        0) /* after a refit these nodes trained; the calibration nodes never do */
        TRY(conformal_choose(&smoothing, &d, problem->label, selects, coverage));
    TRY(conformal_fit(&m->sets, &d, problem->label, roles->calibrates, coverage, smoothing));
    if (m->config.coverage_by == COVERAGE_BY_CLASS) {
        if (!m->class_threshold)
            TRY(NEW(m->class_threshold, m->classes));
        TRY(conformal_class_fit(m->class_threshold, &d, problem->label, roles->calibrates, coverage,
                                smoothing));
    }
    TRY(apply(set, m, &d));
    measure(m, set, problem);
done:
    mem_free(probability);
    mem_free(selects);
    mem_free(set);
    return st;
}

consm_status prediction_add_sets(struct consm_prediction *p, const struct consm_model *m,
                                 const struct problem *problem)
{
    consm_status st = CONSM_OK;
    if (m->sets.coverage == 0)
        return CONSM_OK;
    if (problem->graph->partition)
        return status_fail(CONSM_EINVAL, "prediction sets need the whole graph, but this one is in "
                                         "parts: omit --in-parts, or use graph.safetensors from "
                                         "its folder");
    struct conformal_data d = data_of(p->probability, problem, m->result.seed);
    TRY(NEW(p->in_set, p->nodes * p->classes));
    TRY(apply(p->in_set, m, &d));
done:
    return st;
}
