/* Writing JSON by hand where it is ours, reading it with jansson. */
#include "api/model_json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 17 };

void config_to_json(struct text *t, const struct config *c)
{
    char buffer[32];
    text_add(t, "{");
    for (const struct config_row *row = config_rows(); row->name; row++) {
        text_add(t, row == config_rows() ? "" : ", ");
        text_json(t, row->name);
        text_add(t, ": ");
        text_json(t, config_text(c, row, buffer));
    }
    text_add(t, "}");
}

consm_status config_from_json(struct config *c, const json_t *object)
{
    consm_status st = CONSM_OK;
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return status_fail(CONSM_EFORMAT, "the configuration is no JSON object");
    /* A profile sets other parameters, so it comes first. */
    const char *profile = json_string_value(json_object_get(object, "profile"));
    if (profile)
        TRY(config_set(c, "profile", profile));
    json_object_foreach((json_t *)object, key, value)
    {
        if (!json_is_string(value))
            return status_fail(CONSM_EFORMAT, "parameter %s is no text", key);
        if (strcmp(key, "profile") != 0)
            TRY(config_set(c, key, json_string_value(value)));
    }
done:
    return st;
}

void names_to_json(struct text *t, char *const *names, int64_t count)
{
    text_add(t, "[");
    for (int64_t i = 0; i < count; i++) {
        text_add(t, i ? ", " : "");
        text_json(t, names[i]);
    }
    text_add(t, "]");
}

/* ---- ensembles ----------------------------------------------------------- */

void ensemble_to_json(struct text *t, const struct consm_model *m)
{
    text_printf(t, "{\"runs\": %lld, \"members\": %lld, \"picked\": %lld, \"rule\": ",
                (long long)m->ensemble.runs, (long long)m->ensemble.pool,
                (long long)m->ensemble.picked);
    text_json(t, ensemble_rule_name[m->ensemble.rule]);
    text_add(t, "}");
}

consm_status ensemble_from_json(struct ensemble_facts *out, const json_t *object)
{
    const char *rule = json_string_value(json_object_get(object, "rule"));
    out->runs = (int64_t)json_integer_value(json_object_get(object, "runs"));
    out->pool = (int64_t)json_integer_value(json_object_get(object, "members"));
    out->picked = (int64_t)json_integer_value(json_object_get(object, "picked"));
    for (int i = 0; rule && i < ENSEMBLE_RULES; i++)
        if (strcmp(rule, ensemble_rule_name[i]) == 0 && out->runs > 0) {
            out->rule = (enum ensemble_rule)i;
            return CONSM_OK;
        }
    return status_fail(CONSM_EFORMAT, "expected \"runs\" above 0 and \"rule\", one of %s, %s, %s",
                       ensemble_rule_name[0], ensemble_rule_name[1], ensemble_rule_name[2]);
}

void members_to_json(struct text *t, const struct consm_model *m)
{
    for (int64_t i = 0; i < m->members; i++) {
        const struct consm_model *member = m->member[i];
        text_add(t, i ? ", {\"model\": " : "[{\"model\": ");
        text_json(t, member->def->name);
        text_printf(t, ", \"seed\": \"%llu\", \"picks\": %lld, \"trained\": %lld",
                    (unsigned long long)member->result.seed, (long long)member->picks,
                    (long long)member->trained);
        text_add(t, ", \"temperature\": ");
        text_json_number(t, member->temperature, DIGITS);
        text_add(t, ", \"config\": ");
        config_to_json(t, &member->config);
        text_add(t, "}");
    }
    text_add(t, "]");
}

consm_status model_define_by_name(struct consm_model *m, const char *name)
{
    if (model_find(&m->def, name) == CONSM_OK)
        return CONSM_OK;
    status_clear();
    if (strlen(name) >= sizeof m->own_name)
        return status_fail(CONSM_EFORMAT, "the model's name is too long");
    strcpy(m->own_name, name);
    m->own = (struct model_def){.name = m->own_name,
                                .title = "a model of its maker's own",
                                .paper = "",
                                .knobs = "",
                                .build = custom_build};
    m->def = &m->own;
    return CONSM_OK;
}

consm_status member_from_json(struct consm_model *m, const json_t *object)
{
    consm_status st = CONSM_OK;
    enum { MOST_PICKS = 1000000 };
    const char *name = json_string_value(json_object_get(object, "model"));
    const char *seed = json_string_value(json_object_get(object, "seed"));
    char *end = NULL;
    if (!name || !seed)
        return status_fail(CONSM_EFORMAT, "a member has no \"model\" or no \"seed\"");
    TRY(model_define_by_name(m, name));
    model_defaults(m->def, &m->config);
    TRY(config_from_json(&m->config, json_object_get(object, "config")));
    errno = 0;
    m->result.seed = strtoull(seed, &end, 10);
    m->picks = (int64_t)json_integer_value(json_object_get(object, "picks"));
    m->trained = (int64_t)json_integer_value(json_object_get(object, "trained"));
    m->temperature = json_number_value(json_object_get(object, "temperature"));
    if (errno || end == seed || *end)
        return status_fail(CONSM_EFORMAT, "\"seed\" is %.40s", seed);
    if (m->picks < 1 || m->picks > MOST_PICKS)
        return status_fail(CONSM_EFORMAT, "\"picks\" is %lld: expected 1 to %d",
                           (long long)m->picks, MOST_PICKS);
    if (!(m->temperature >= 1e-3 && m->temperature <= 1e3))
        return status_fail(CONSM_EFORMAT, "\"temperature\" is %g: expected 0.001 to 1000",
                           m->temperature);
done:
    return st;
}

/* ---- metrics ------------------------------------------------------------- */

static void field(struct text *t, const char *name, double value)
{
    text_printf(t, ", \"%s\": ", name);
    text_json_number(t, value, DIGITS);
}

static void classes_to_json(struct text *t, const struct metrics *m,
                            const struct consm_model *model)
{
    char buffer[24];
    text_add(t, ", \"classes\": [");
    for (int32_t k = 0; k < m->all.classes; k++) {
        const struct consm_class_metrics *of = &m->of[k];
        text_add(t, k ? ", {\"name\": " : "{\"name\": ");
        text_json(t, consm_model_class(model, k, buffer));
        text_printf(t, ", \"support\": %lld, \"predicted\": %lld", (long long)of->support,
                    (long long)of->predicted);
        field(t, "precision", of->precision);
        field(t, "recall", of->recall);
        field(t, "f1", of->f1);
        field(t, "roc_auc", of->roc_auc);
        text_add(t, "}");
    }
    text_add(t, "]");
}

void metrics_to_json(struct text *t, const struct metrics *m, const struct consm_model *model)
{
    text_printf(t, "{\"nodes\": %lld", (long long)m->all.nodes);
    field(t, "accuracy", m->all.accuracy);
    field(t, "macro_f1", m->all.macro_f1);
    field(t, "balanced_accuracy", m->all.balanced_accuracy);
    field(t, "roc_auc", m->all.roc_auc);
    field(t, "nll", m->all.nll);
    field(t, "ece", m->all.ece);
    classes_to_json(t, m, model);
    text_add(t, ", \"confusion\": [");
    for (int64_t i = 0; i < m->all.classes; i++) {
        text_add(t, i ? ", [" : "[");
        for (int64_t j = 0; j < m->all.classes; j++)
            text_printf(t, "%s%lld", j ? ", " : "",
                        (long long)m->confusion[i * m->all.classes + j]);
        text_add(t, "]");
    }
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
    field(t, "threshold", m->sets.threshold); /* null when nothing can be promised */
    field(t, "covered", m->covered);
    field(t, "set_size", m->set_size);
    text_add(t, "}");
}

consm_status sets_from_json(struct consm_model *m, const json_t *object)
{
    struct conformal *s = &m->sets;
    *s = (struct conformal){.coverage = number(object, "coverage"),
                            .smoothing = number(object, "smoothing"),
                            .threshold = number(object, "threshold"),
                            .calibrated = whole(object, "calibrated")};
    m->covered = number(object, "covered");
    m->set_size = number(object, "set_size");
    if (isnan(s->threshold))
        s->threshold = INFINITY;
    if (!(s->coverage > 0 && s->coverage < 1) || !(s->smoothing >= 0 && s->smoothing <= 1))
        return status_fail(CONSM_EFORMAT,
                           "sets: coverage %g, smoothing %g: expected shares below 1", s->coverage,
                           s->smoothing);
    return CONSM_OK;
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
    text_printf(t, ", \"epochs\": %lld, \"best_epoch\": %lld, \"params\": %lld",
                (long long)model->result.epochs, (long long)model->result.best_epoch,
                (long long)model->result.params);
    field(t, "temperature", model->temperature);
    field(t, "ece_before", model->ece_before);
    field(t, "ece_after", model->metrics[SPLIT_VAL].all.ece);
    if (model->sets.coverage > 0) {
        text_add(t, ",\n\"sets\": ");
        sets_to_json(t, model);
    }
    if (model->ensemble.runs) {
        text_add(t, ",\n\"ensemble\": ");
        ensemble_to_json(t, model);
    }
    for (int r = SPLIT_TRAIN; r <= SPLIT_TEST; r++) {
        text_printf(t, ",\n\"%s\": ", role[r]);
        metrics_to_json(t, &model->metrics[r], model);
    }
    text_add(t, "}\n");
}

/* ---- reading back -------------------------------------------------------- */

consm_status metrics_from_json(struct metrics *out, const json_t *object, int32_t classes)
{
    consm_status st = CONSM_OK;
    const json_t *of = json_object_get(object, "classes");
    const json_t *confusion = json_object_get(object, "confusion"), *row;
    size_t r;
    *out = (struct metrics){0};
    /* Sizes first: the file's bytes are what bounds the memory. */
    bool complete =
        json_array_size(of) == (size_t)classes && json_array_size(confusion) == (size_t)classes;
    json_array_foreach((json_t *)confusion, r, row)
    {
        complete = complete && json_array_size(row) == (size_t)classes;
    }
    if (!complete)
        return status_fail(CONSM_EFORMAT, "metrics: expected figures of %d classes", classes);
    out->all = (struct consm_metrics){.size = sizeof out->all,
                                      .classes = classes,
                                      .nodes = whole(object, "nodes"),
                                      .accuracy = number(object, "accuracy"),
                                      .macro_f1 = number(object, "macro_f1"),
                                      .balanced_accuracy = number(object, "balanced_accuracy"),
                                      .roc_auc = number(object, "roc_auc"),
                                      .nll = number(object, "nll"),
                                      .ece = number(object, "ece")};
    TRY(ZNEW(out->of, classes));
    TRY(ZNEW(out->confusion, (int64_t)classes * classes));
    for (int32_t k = 0; k < classes; k++) {
        row = json_array_get(of, (size_t)k);
        out->of[k] = (struct consm_class_metrics){.support = whole(row, "support"),
                                                  .predicted = whole(row, "predicted"),
                                                  .precision = number(row, "precision"),
                                                  .recall = number(row, "recall"),
                                                  .f1 = number(row, "f1"),
                                                  .roc_auc = number(row, "roc_auc")};
        const json_t *counts = json_array_get(confusion, (size_t)k);
        for (int32_t j = 0; j < classes; j++)
            out->confusion[(int64_t)k * classes + j] =
                (int64_t)json_integer_value(json_array_get(counts, (size_t)j));
    }
done:
    if (st < 0)
        metrics_free(out);
    return st;
}

consm_status json_note(struct safetensors_writer *w, const char *key, struct text *t)
{
    consm_status st = text_status(t);
    if (st == CONSM_OK)
        st = safetensors_note(w, key, text_string(t));
    text_free(t);
    return st;
}
