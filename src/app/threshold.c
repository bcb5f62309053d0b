/* Chooses the probability from which a class is predicted. Validation chooses it. If fewer than ten
 * nodes of the class validate, cross-validation over all labels does (train/folds.h), which also
 * uses the class's training labels. */
#include "app/rare.h"
#include "train/folds.h"

#include <string.h>

/* The cross-validation's logits in a session's trail, so that a resumed run does not train them
 * again. */
#define TRAIL "fold.threshold.logits"

/* The plain network of a model, which cross-validation can train; NULL: there is none. */
static const struct model_def *network_of(const struct consm_model *m)
{
    const struct procedure *procedure = NULL;
    struct train_options options = {.config = m->config};
    if (m->members > 0)
        return NULL;
    options.model = model_equations(m);
    if (procedure_find(&procedure, &options) < 0 || procedure)
        return NULL;
    return options.model;
}

static int64_t positives_of(const struct judge *j, int32_t class_index)
{
    int64_t count = 0;
    for (int64_t k = 0; k < j->rows; k++)
        count += j->label[k] == class_index;
    return count;
}

static consm_status by_folds(struct consm_model *m, const struct training_request *r,
                             const struct problem *problem, const struct model_def *network,
                             struct backend *backend)
{
    consm_status st = CONSM_OK;
    const struct judge judge = {.metric = m->config.metric, .positive = m->positive - 1};
    struct train_options options = {.model = network,
                                    .config = m->config,
                                    .seed = m->result.seed,
                                    .positive = m->positive,
                                    .context = &r->custom};
    struct folds f = {0};
    uint8_t *role = NULL;
    double score;
    TRY(folds_open(&f, problem, &judge, m->result.seed, false));
    size_t bytes = (size_t)(f.judge.rows * problem->classes) * sizeof *f.logits;
    const float *known = r->trail ? trail_find(r->trail, TRAIL, bytes) : NULL;
    if (known)
        memcpy(f.logits, known, bytes);
    else
        TRY(folds_run(&score, &f, &options, m->result.lengths.updates[0], backend, NULL, NULL,
                      NULL));
    if (r->trail)
        TRY(trail_put(r->trail, TRAIL, f.logits, bytes));
    TRY(ZNEW(role, f.judge.rows));
    model_probabilities(f.once, m, f.logits, f.judge.rows);
    struct predicted p = {.probability = f.once,
                          .label = f.judge.label,
                          .role = role,
                          .nodes = f.judge.rows,
                          .classes = problem->classes};
    TRY(metrics_threshold(&m->decision, &p, r->threshold_for - 1, r->at_precision, r->at_recall));
    m->decision.folds = FOLDS;
    m->decision.positives = positives_of(&f.judge, r->threshold_for - 1);
done:
    mem_free(role);
    folds_close(&f);
    return st;
}

consm_status model_threshold(struct consm_model *m, const struct training_request *r,
                             const struct problem *problem, const struct predicted *validation,
                             struct backend *backend)
{
    const struct model_def *network = network_of(m);
    int64_t positives = 0, labels = 0;
    for (int64_t i = 0; i < problem->nodes; i++)
        if (problem->label[i] == r->threshold_for - 1) {
            positives += problem->role[i] == SPLIT_VAL;
            labels += problem->role[i] == SPLIT_VAL || problem->role[i] == SPLIT_TRAIN;
        }
    /* With one or two labels a fold would train without any. */
    if (network && m->config.folds != FOLDS_NO && positives < RARE_FEW && labels >= 3 &&
        folds_apply(problem, -1, true))
        return by_folds(m, r, problem, network, backend);
    return metrics_threshold(&m->decision, validation, r->threshold_for - 1, r->at_precision,
                             r->at_recall);
}
