/* What a model chose and measured, as JSON: sets, threshold, folds, refit. Model files read some of
 * it back; metrics.json has all of it. */
#include "app/model_json.h"
#include "app/rare.h"

#include <math.h>
#include <string.h>

void sets_to_json(struct text *t, const struct consm_model *m)
{
    text_printf(t, "{\"calibrated\": %lld, \"promised\": %s", (long long)m->sets.calibrated,
                isfinite(m->sets.threshold) ? "true" : "false");
    figure_to_json(t, "coverage", m->sets.coverage);
    figure_to_json(t, "smoothing", m->sets.smoothing);
    figure_to_json(t, "threshold", m->sets.threshold); /* null if nothing is guaranteed */
    figure_to_json(t, "covered", m->covered);
    figure_to_json(t, "set_size", m->set_size);
    figure_to_json(t, "least_covered", m->least_covered);
    if (isfinite(m->least_covered)) {
        char name[24];
        text_add(t, ", \"least_covered_class\": ");
        text_json(t, consm_model_class(m, m->least_class, name));
    }
    for (int32_t k = 0; m->class_threshold && k < m->classes; k++) {
        text_add(t, k ? ", " : ", \"class_thresholds\": [");
        text_json_number(t, m->class_threshold[k], JSON_DIGITS); /* null: in every set */
    }
    text_add(t, m->class_threshold ? "]}" : "}");
}

static consm_status class_thresholds_from_json(struct consm_model *m, const json_t *list)
{
    consm_status st = CONSM_OK;
    if (!list)
        return CONSM_OK;
    if ((int64_t)json_array_size(list) != m->classes)
        return status_fail(CONSM_EFORMAT, "sets: found %zu class thresholds, expected %d",
                           json_array_size(list), m->classes);
    TRY(NEW(m->class_threshold, m->classes));
    for (int32_t k = 0; k < m->classes; k++) {
        const json_t *value = json_array_get(list, (size_t)k);
        m->class_threshold[k] = json_is_number(value) ? json_number_value(value) : INFINITY;
    }
done:
    return st;
}

consm_status sets_from_json(struct consm_model *m, const json_t *object)
{
    struct conformal *s = &m->sets;
    *s = (struct conformal){.coverage = figure_from_json(object, "coverage"),
                            .smoothing = figure_from_json(object, "smoothing"),
                            .threshold = figure_from_json(object, "threshold"),
                            .calibrated = count_from_json(object, "calibrated")};
    m->covered = figure_from_json(object, "covered");
    m->least_covered = (double)NAN; /* of a model that was just trained */
    m->set_size = figure_from_json(object, "set_size");
    if (isnan(s->threshold))
        s->threshold = INFINITY;
    if (!(s->coverage > 0 && s->coverage < 1) || !(s->smoothing >= 0 && s->smoothing <= 1))
        return status_fail(CONSM_EFORMAT,
                           "sets: coverage %g, smoothing %g: expected shares below 1", s->coverage,
                           s->smoothing);
    return class_thresholds_from_json(m, json_object_get(object, "class_thresholds"));
}

void decision_to_json(struct text *t, const struct consm_model *m)
{
    char buffer[24];
    text_printf(t, "{\"class\": %d, \"name\": ", m->decision.positive);
    text_json(t, consm_model_class(m, m->decision.positive, buffer));
    figure_to_json(t, "threshold", m->decision.threshold);
    figure_to_json(t, "precision", m->decision.precision);
    figure_to_json(t, "recall", m->decision.recall);
    text_printf(t, ", \"reached\": %s, \"by\": \"%s\"", m->decision.reached ? "true" : "false",
                m->decision.folds ? "folds" : "validation");
    if (m->decision.folds)
        text_printf(t, ", \"folds\": %lld, \"positives\": %lld", (long long)m->decision.folds,
                    (long long)m->decision.positives);
    text_add(t, "}");
}

/* "arm": the arm that a ConSM run chose, and the share of edges without messages. */
static void arm_to_json(struct text *t, const struct consm_model *m)
{
    const struct config *c = &m->config;
    if (strcmp(m->def->name, "consm") != 0 || m->members)
        return;
    text_printf(t, ",\n\"arm\": {\"attract\": \"%s\", \"guesses\": \"%s\"",
                config_names_attract[c->attract], config_names_guesses[c->guesses]);
    figure_to_json(t, "lambda", c->lambda);
    figure_to_json(t, "entropy", c->entropy);
    figure_to_json(t, "dropped", c->drop_share);
    figure_to_json(t, "added", c->add_share);
    text_add(t, "}");
}

/* "trees": how boosted trees did beside ConSM; absent where they took no part. */
static void trees_to_json(struct text *t, const struct consm_model *m)
{
    const struct train_trees *trees = &m->result.trees;
    if (trees->rounds == 0)
        return;
    text_printf(t, ",\n\"trees\": {\"rounds\": %lld, \"taken\": %s", (long long)trees->rounds,
                trees->taken ? "true" : "false");
    figure_to_json(t, "val_score", trees->val);
    figure_to_json(t, "consm_val_score", trees->network_val);
    text_add(t, "}");
}

/* "companions": the candidates that predict together with ConSM; absent where it predicts alone. */
static void companions_told(struct text *t, const struct consm_model *m)
{
    const struct train_companions *told = &m->result.companions;
    if (told->count == 0)
        return;
    text_printf(t, ",\n\"companions\": {\"votes\": %lld, \"own\": %lld", (long long)told->votes,
                (long long)told->own);
    figure_to_json(t, "own_val_score", told->alone);
    text_add(t, ", \"candidates\": [");
    for (int i = 0; i < told->count; i++)
        text_printf(t, "%s{\"candidate\": %lld, \"votes\": %lld, \"clean\": %s}", i ? ", " : "",
                    (long long)told->of[i].number, (long long)told->of[i].votes,
                    told->of[i].clean ? "true" : "false");
    text_add(t, "]}");
}

/* The validation metric, and the chosen threshold. */
static void chosen_to_json(struct text *t, const struct consm_model *m)
{
    char buffer[24];
    text_printf(t, ", \"metric\": \"%s\"", config_names_metric[m->config.metric]);
    if (m->positive) {
        text_add(t, ", \"positive\": ");
        text_json(t, consm_model_class(m, m->positive - 1, buffer));
    }
    figure_to_json(t, "val_score", m->count[SPLIT_VAL] ? m->result.val_score : (double)NAN);
    arm_to_json(t, m);
    trees_to_json(t, m);
    companions_told(t, m);
    if (!m->decision.made)
        return;
    text_add(t, ",\n\"threshold\": ");
    decision_to_json(t, m);
}

consm_status decision_from_json(struct consm_model *m, const json_t *object)
{
    const json_t *positive = json_object_get(object, "class");
    m->decision = (struct decision){.made = true,
                                    .positive = (int32_t)json_integer_value(positive),
                                    .threshold = figure_from_json(object, "threshold"),
                                    .precision = figure_from_json(object, "precision"),
                                    .recall = figure_from_json(object, "recall"),
                                    .reached = json_is_true(json_object_get(object, "reached")),
                                    .folds = count_from_json(object, "folds"),
                                    .positives = count_from_json(object, "positives")};
    if (!json_is_integer(positive) || json_integer_value(positive) < 0 ||
        json_integer_value(positive) >= m->classes || isnan(m->decision.threshold))
        return status_fail(CONSM_EFORMAT, "threshold: expected a class below %d and a number",
                           m->classes);
    return CONSM_OK;
}

/* "rare": the figures of the rare class on validation, with intervals. */
static void rare_to_json(struct text *t, const struct consm_model *model)
{
    struct rare_facts rare;
    char name[24];
    if (!rare_measure(&rare, model))
        return;
    text_add(t, ",\n\"rare\": {\"class\": ");
    text_json(t, consm_model_class(model, rare.class_index, name));
    text_printf(t, ", \"validation_nodes\": %lld, \"few\": %s", (long long)rare.positives,
                rare.positives < RARE_FEW ? "true" : "false");
    figure_to_json(t, "precision_low", rare.precision.low);
    figure_to_json(t, "precision_high", rare.precision.high);
    figure_to_json(t, "recall_low", rare.recall.low);
    figure_to_json(t, "recall_high", rare.recall.high);
    text_add(t, "}");
}

void folds_to_json(struct text *t, const struct consm_model *m)
{
    const struct train_folds *f = &m->result.folds;
    text_printf(
        t, "{\"labels\": %lld, \"validation_nodes\": %lld, \"folds\": %lld, \"repeats\": %lld",
        (long long)f->labels, (long long)f->validating, (long long)f->folds, (long long)f->repeats);
    figure_to_json(t, "estimate", f->score);
    figure_to_json(t, "error", f->error);
    text_add(t, "}");
}

void folds_from_json(struct consm_model *m, const json_t *object)
{
    m->result.folds =
        (struct train_folds){.labels = count_from_json(object, "labels"),
                             .validating = count_from_json(object, "validation_nodes"),
                             .folds = count_from_json(object, "folds"),
                             .repeats = count_from_json(object, "repeats"),
                             .score = figure_from_json(object, "estimate"),
                             .error = figure_from_json(object, "error")};
}

void refit_to_json(struct text *t, const struct consm_model *m)
{
    text_printf(t, "{\"labels\": %lld, \"updates\": %lld}", (long long)m->refit.labels,
                (long long)m->refit.updates);
}

/* For a refitted model: from which run these figures are. */
static void refitted_to_json(struct text *t, const struct consm_model *m)
{
    text_add(t, ",\n\"refit\": ");
    if (m->refit.labels == 0) {
        text_add(t, "false");
        return;
    }
    refit_to_json(t, m);
    text_add(t, ", \"train_and_validation_figures\": \"from before the refit\"");
}

void model_metrics_to_json(struct text *t, const struct consm_model *model)
{
    static const char *const role[] = {"", "train", "validation", "test"};
    text_add(t, "{\"model\": ");
    text_json(t, model->def->name);
    text_add(t, ", \"dataset\": ");
    text_json(t, model->dataset);
    text_add(t, ", \"split\": ");
    text_json(t, model->split);
    text_printf(t, ", \"seed\": %llu", (unsigned long long)model->result.seed);
    text_printf(t, ", \"held_out\": %lld", (long long)model->held_out);
    text_printf(t, ", \"structural_features\": %s", model->structural ? "true" : "false");
    if (model->backbone[0]) {
        text_add(t, ", \"backbone\": ");
        text_json(t, model->backbone);
    }
    text_printf(t, ", \"uses_edge_weights\": %s", model_weighs(model) ? "true" : "false");
    text_printf(t, ", \"epochs\": %lld, \"best_epoch\": %lld, \"params\": %lld",
                (long long)model->result.epochs, (long long)model->result.best_epoch,
                (long long)model->result.params);
    figure_to_json(t, "temperature", model->temperature);
    figure_to_json(t, "doubt", model->doubt);
    figure_to_json(t, "ece_before", model->ece_before);
    figure_to_json(t, "ece_after", model->metrics[SPLIT_VAL].all.ece);
    chosen_to_json(t, model);
    refitted_to_json(t, model);
    if (model->result.folds.labels) {
        text_add(t, ",\n\"folds\": ");
        folds_to_json(t, model);
    }
    if (model->sets.coverage > 0) {
        text_add(t, ",\n\"sets\": ");
        sets_to_json(t, model);
    }
    if (model->ensemble.runs) {
        text_add(t, ",\n\"ensemble\": ");
        ensemble_to_json(t, model);
    }
    rare_to_json(t, model);
    for (int r = SPLIT_TRAIN; r <= SPLIT_TEST; r++) {
        text_printf(t, ",\n\"%s\": ", role[r]);
        metrics_to_json(t, &model->metrics[r].all, model);
    }
    text_add(t, "}\n");
}
