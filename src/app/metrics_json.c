/* Metrics as JSON, for metrics.json and for model files, which also read it back. */
#include "app/model_json.h"
#include "app/rare.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 17 };

/* With more classes than this only classes that occur are written, and only non-zero entries of the
 * confusion matrix: three dense matrices of 1,500 classes would not fit a file's header. */
enum { DENSE_CLASSES = 200 };

static void field(struct text *t, const char *name, double value)
{
    text_printf(t, ", \"%s\": ", name);
    text_json_number(t, value, DIGITS);
}

/* "top": [{"k": 10, …}] and "curve", four lists of equal length. Six digits are enough for a
 * figure. */
static void curve_to_json(struct text *t, const struct metrics_curve *c)
{
    enum { DRAWN = 6 };
    static const char *const name[] = {"threshold", "precision", "recall", "false_positive_rate"};
    text_add(t, ", \"top\": [");
    for (int64_t i = 0; i < c->tops; i++) {
        text_printf(t, "%s{\"k\": %lld", i ? ", " : "", (long long)c->top[i].k);
        field(t, "precision", c->top[i].precision);
        field(t, "recall", c->top[i].recall);
        text_add(t, "}");
    }
    text_add(t, "], \"curve\": {");
    for (int f = 0; f < 4; f++) {
        text_printf(t, "%s\"%s\": [", f ? ", " : "", name[f]);
        for (int64_t i = 0; i < c->points; i++) {
            const struct consm_curve_point *p = &c->point[i];
            const double value[] = {p->threshold, p->precision, p->recall, p->false_positive_rate};
            text_add(t, i ? ", " : "");
            text_json_number(t, value[f], DRAWN);
        }
        text_add(t, "]");
    }
    text_add(t, "}");
}

static void classes_to_json(struct text *t, const struct metrics *m,
                            const struct consm_model *model)
{
    const bool sparse = m->all.classes > DENSE_CLASSES;
    char buffer[24];
    int64_t written = 0;
    bool none = m->all.nodes == 0; /* nothing was measured: null, not 0 */
    text_add(t, ", \"classes\": [");
    for (int32_t k = 0; k < m->all.classes; k++) {
        const struct consm_class_metrics *of = &m->of[k];
        if (sparse && of->support == 0 && of->predicted == 0)
            continue;
        text_add(t, written++ ? ", {" : "{");
        if (sparse)
            text_printf(t, "\"class\": %d, ", k);
        text_add(t, "\"name\": ");
        text_json(t, consm_model_class(model, k, buffer));
        text_printf(t, ", \"support\": %lld, \"predicted\": %lld", (long long)of->support,
                    (long long)of->predicted);
        field(t, "precision", none ? (double)NAN : of->precision);
        field(t, "recall", none ? (double)NAN : of->recall);
        field(t, "f1", none ? (double)NAN : of->f1);
        if (none) {
            text_add(t, ", \"roc_auc\": null, \"average_precision\": null}");
            continue;
        }
        field(t, "roc_auc", of->roc_auc);
        field(t, "average_precision", of->average_precision);
        if (m->curve)
            curve_to_json(t, &m->curve[k]);
        text_add(t, "}");
    }
    text_add(t, "]");
}

/* [true class, predicted class, nodes], … */
static void sparse_confusion(struct text *t, const struct metrics *m)
{
    for (int64_t i = 0; i < m->cells; i++)
        text_printf(t, "%s[%d, %d, %lld]", i ? ", " : "", m->cell[i].truth, m->cell[i].said,
                    (long long)m->cell[i].count);
}

static void dense_confusion(struct text *t, const struct metrics *m)
{
    int64_t at = 0;
    for (int32_t i = 0; i < m->all.classes; i++) {
        text_add(t, i ? ", [" : "[");
        for (int32_t j = 0; j < m->all.classes; j++) {
            bool here = at < m->cells && m->cell[at].truth == i && m->cell[at].said == j;
            text_printf(t, "%s%lld", j ? ", " : "", here ? (long long)m->cell[at].count : 0LL);
            at += here;
        }
        text_add(t, "]");
    }
}

void metrics_to_json(struct text *t, const struct consm_metrics *metrics,
                     const struct consm_model *model)
{
    const struct metrics *m = (const struct metrics *)metrics;
    text_printf(t, "{\"nodes\": %lld", (long long)m->all.nodes);
    field(t, "accuracy", m->all.accuracy);
    field(t, "macro_f1", m->all.macro_f1);
    field(t, "balanced_accuracy", m->all.balanced_accuracy);
    field(t, "roc_auc", m->all.roc_auc);
    field(t, "nll", m->all.nll);
    field(t, "ece", m->all.ece);
    field(t, "average_precision", m->all.average_precision);
    if (m->all.foreign)
        text_printf(t, ", \"unknown_class_nodes\": %lld", (long long)m->all.foreign);
    classes_to_json(t, m, model);
    text_add(t, ", \"confusion\": [");
    if (m->all.classes > DENSE_CLASSES)
        sparse_confusion(t, m);
    else
        dense_confusion(t, m);
    text_add(t, "]}");
}

static double number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static int64_t whole(const json_t *object, const char *name)
{
    return (int64_t)json_integer_value(json_object_get(object, name));
}

void sets_to_json(struct text *t, const struct consm_model *m)
{
    text_printf(t, "{\"calibrated\": %lld, \"promised\": %s", (long long)m->sets.calibrated,
                isfinite(m->sets.threshold) ? "true" : "false");
    field(t, "coverage", m->sets.coverage);
    field(t, "smoothing", m->sets.smoothing);
    field(t, "threshold", m->sets.threshold); /* null if nothing is guaranteed */
    field(t, "covered", m->covered);
    field(t, "set_size", m->set_size);
    field(t, "least_covered", m->least_covered);
    if (isfinite(m->least_covered)) {
        char name[24];
        text_add(t, ", \"least_covered_class\": ");
        text_json(t, consm_model_class(m, m->least_class, name));
    }
    for (int32_t k = 0; m->class_threshold && k < m->classes; k++) {
        text_add(t, k ? ", " : ", \"class_thresholds\": [");
        text_json_number(t, m->class_threshold[k], DIGITS); /* null: in every set */
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
    *s = (struct conformal){.coverage = number(object, "coverage"),
                            .smoothing = number(object, "smoothing"),
                            .threshold = number(object, "threshold"),
                            .calibrated = whole(object, "calibrated")};
    m->covered = number(object, "covered");
    m->least_covered = (double)NAN; /* of a model that was just trained */
    m->set_size = number(object, "set_size");
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
    field(t, "threshold", m->decision.threshold);
    field(t, "precision", m->decision.precision);
    field(t, "recall", m->decision.recall);
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
    field(t, "lambda", c->lambda);
    field(t, "entropy", c->entropy);
    field(t, "dropped", c->drop_share);
    field(t, "added", c->add_share);
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
    field(t, "val_score", trees->val);
    field(t, "consm_val_score", trees->network_val);
    text_add(t, "}");
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
    field(t, "val_score", m->count[SPLIT_VAL] ? m->result.val_score : (double)NAN);
    arm_to_json(t, m);
    trees_to_json(t, m);
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
                                    .threshold = number(object, "threshold"),
                                    .precision = number(object, "precision"),
                                    .recall = number(object, "recall"),
                                    .reached = json_is_true(json_object_get(object, "reached")),
                                    .folds = whole(object, "folds"),
                                    .positives = whole(object, "positives")};
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
    field(t, "precision_low", rare.precision.low);
    field(t, "precision_high", rare.precision.high);
    field(t, "recall_low", rare.recall.low);
    field(t, "recall_high", rare.recall.high);
    text_add(t, "}");
}

void folds_to_json(struct text *t, const struct consm_model *m)
{
    const struct train_folds *f = &m->result.folds;
    text_printf(
        t, "{\"labels\": %lld, \"validation_nodes\": %lld, \"folds\": %lld, \"repeats\": %lld",
        (long long)f->labels, (long long)f->validating, (long long)f->folds, (long long)f->repeats);
    field(t, "estimate", f->score);
    field(t, "error", f->error);
    text_add(t, "}");
}

void folds_from_json(struct consm_model *m, const json_t *object)
{
    m->result.folds = (struct train_folds){.labels = whole(object, "labels"),
                                           .validating = whole(object, "validation_nodes"),
                                           .folds = whole(object, "folds"),
                                           .repeats = whole(object, "repeats"),
                                           .score = number(object, "estimate"),
                                           .error = number(object, "error")};
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
    field(t, "temperature", model->temperature);
    field(t, "doubt", model->doubt);
    field(t, "ece_before", model->ece_before);
    field(t, "ece_after", model->metrics[SPLIT_VAL].all.ece);
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

/* ---- reading back -------------------------------------------------------- */

/* Older files have none; points beyond the limit are left out. */
static void curve_from_json(struct metrics_curve *c, const json_t *object)
{
    const json_t *top = json_object_get(object, "top"), *curve = json_object_get(object, "curve");
    const json_t *threshold = json_object_get(curve, "threshold");
    for (size_t i = 0; i < json_array_size(top) && i < METRICS_TOPS; i++) {
        const json_t *one = json_array_get(top, i);
        c->top[c->tops++] =
            (struct consm_top){whole(one, "k"), number(one, "precision"), number(one, "recall")};
    }
    for (size_t i = 0; i < json_array_size(threshold) && i < RANK_POINTS; i++)
        c->point[c->points++] = (struct consm_curve_point){
            json_number_value(json_array_get(threshold, i)),
            json_number_value(json_array_get(json_object_get(curve, "precision"), i)),
            json_number_value(json_array_get(json_object_get(curve, "recall"), i)),
            json_number_value(json_array_get(json_object_get(curve, "false_positive_rate"), i))};
}

/* Checks sizes first: the file's bytes bound the memory. */
static bool complete(const json_t *of, const json_t *confusion, int32_t classes)
{
    const bool sparse = classes > DENSE_CLASSES;
    bool fits = json_is_array(of) && json_is_array(confusion);
    const json_t *row;
    size_t r;
    if (!sparse)
        fits =
            json_array_size(of) == (size_t)classes && json_array_size(confusion) == (size_t)classes;
    json_array_foreach((json_t *)confusion, r, row)
    {
        fits = fits && json_array_size(row) == (sparse ? 3 : (size_t)classes);
    }
    return fits;
}

/* Adds a cell that is within the matrix. */
static consm_status add_cell(struct metrics *out, size_t *room, json_int_t truth, json_int_t said,
                             json_int_t count)
{
    consm_status st = CONSM_OK;
    if (count == 0)
        return CONSM_OK;
    if (truth < 0 || truth >= out->all.classes || said < 0 || said >= out->all.classes)
        return status_fail(CONSM_EFORMAT,
                           "metrics: true class %lld, predicted class %lld: expected 0 to %d",
                           (long long)truth, (long long)said, out->all.classes - 1);
    TRY(GROW(out->cell, out->cells, *room, 1));
    out->cell[out->cells++] = (struct confusion_cell){(int32_t)truth, (int32_t)said, count};
done:
    return st;
}

static consm_status confusion_from_json(struct metrics *out, const json_t *confusion)
{
    consm_status st = CONSM_OK;
    const bool sparse = out->all.classes > DENSE_CLASSES;
    size_t room = 0, i, k;
    json_t *row, *count;
    json_array_foreach((json_t *)confusion, i, row)
    {
        if (sparse)
            TRY(add_cell(out, &room, json_integer_value(json_array_get(row, 0)),
                         json_integer_value(json_array_get(row, 1)),
                         json_integer_value(json_array_get(row, 2))));
        json_array_foreach(row, k, count)
        {
            if (!sparse)
                TRY(add_cell(out, &room, (json_int_t)i, (json_int_t)k, json_integer_value(count)));
        }
    }
done:
    return st;
}

static consm_status class_from_json(struct metrics *out, const json_t *row, int64_t k)
{
    if (k < 0 || k >= out->all.classes)
        return status_fail(CONSM_EFORMAT, "metrics: class %lld: expected 0 to %d", (long long)k,
                           out->all.classes - 1);
    out->of[k] =
        (struct consm_class_metrics){.support = whole(row, "support"),
                                     .predicted = whole(row, "predicted"),
                                     .precision = number(row, "precision"),
                                     .recall = number(row, "recall"),
                                     .f1 = number(row, "f1"),
                                     .roc_auc = number(row, "roc_auc"),
                                     .average_precision = number(row, "average_precision")};
    if (out->curve)
        curve_from_json(&out->curve[k], row);
    return CONSM_OK;
}

consm_status metrics_from_json(struct metrics *out, const json_t *object, int32_t classes)
{
    consm_status st = CONSM_OK;
    const json_t *of = json_object_get(object, "classes");
    const json_t *confusion = json_object_get(object, "confusion");
    const bool sparse = classes > DENSE_CLASSES;
    *out = (struct metrics){0};
    if (!complete(of, confusion, classes))
        return status_fail(CONSM_EFORMAT, "metrics: expected values of %d classes", classes);
    out->all = (struct consm_metrics){.size = sizeof out->all,
                                      .classes = classes,
                                      .nodes = whole(object, "nodes"),
                                      .accuracy = number(object, "accuracy"),
                                      .macro_f1 = number(object, "macro_f1"),
                                      .balanced_accuracy = number(object, "balanced_accuracy"),
                                      .roc_auc = number(object, "roc_auc"),
                                      .nll = number(object, "nll"),
                                      .ece = number(object, "ece"),
                                      .average_precision = number(object, "average_precision")};
    TRY(ZNEW(out->of, classes));
    for (int32_t k = 0; k < classes; k++)
        out->of[k].roc_auc = out->of[k].average_precision = NAN;
    if (classes <= METRICS_CURVES)
        TRY(ZNEW(out->curve, classes));
    for (size_t i = 0; i < json_array_size(of); i++) {
        const json_t *row = json_array_get(of, i);
        TRY(class_from_json(out, row, sparse ? whole(row, "class") : (int64_t)i));
    }
    TRY(confusion_from_json(out, confusion));
done:
    if (st < 0)
        metrics_free(out);
    return st;
}
