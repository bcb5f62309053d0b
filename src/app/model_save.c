/* Writes model files: parameters as tensors, everything else in the metadata, sealed with the
 * file's SHA-256. docs/reference/files.md describes the keys. */
#include "app/model_json.h"
#include "base/given.h"
#include "base/log.h"
#include "base/number.h"
#include "data/table/recipe.h"
#include "io/json_text.h"
#include "io/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If all names together are longer than this they are left out of the header; columns are then
 * matched by position, and classes have numbers instead. */
enum { NAMES_LIMIT = 8 << 20 };

static consm_status note_number(struct safetensors_writer *w, const char *key, double value)
{
    char text[40];
    number_print(text, sizeof text, "%.17g", value);
    return safetensors_note(w, key, text);
}

static consm_status note_names(struct safetensors_writer *w, const char *key, char *const *names,
                               int64_t count, const char *instead)
{
    struct text t = {0};
    if (!names)
        return CONSM_OK;
    names_to_json(&t, names, count);
    if (t.length > NAMES_LIMIT) {
        log_warn("%s: %zu bytes do not fit into a model file, so it lacks these names; %s", key,
                 t.length, instead);
        text_free(&t);
        return CONSM_OK;
    }
    return json_note(w, key, &t);
}

/* "columns": the recipe by which a table's columns become the features. */
static consm_status note_recipe(struct safetensors_writer *w, const struct recipe *r)
{
    consm_status st = CONSM_OK;
    json_t *list = NULL;
    char *text = NULL;
    if (!r)
        return CONSM_OK;
    if (!(list = recipe_to_json(r)) || !(text = json_text(list, JSON_COMPACT)))
        TRY(CONSM_ENOMEM);
    if (strlen(text) <= NAMES_LIMIT)
        TRY(safetensors_note(w, "columns", text));
done:
    free(text); /* jansson's own block */
    json_decref(list);
    return st;
}

static consm_status note_counts(struct safetensors_writer *w, const struct consm_model *m)
{
    struct text t = {0};
    const struct train_result *r = &m->result;
    text_printf(&t,
                "{\"train\": %lld, \"validation\": %lld, \"test\": %lld, \"held_out\": %lld, "
                "\"epochs\": %lld, \"best_epoch\": %lld, \"params\": %lld}",
                (long long)m->count[SPLIT_TRAIN], (long long)m->count[SPLIT_VAL],
                (long long)m->count[SPLIT_TEST], (long long)m->held_out, (long long)r->epochs,
                (long long)r->best_epoch, (long long)r->params);
    return json_note(w, "counts", &t);
}

static consm_status note_metrics(struct safetensors_writer *w, const struct consm_model *m)
{
    struct text t = {0};
    text_add(&t, "{\"train\": ");
    metrics_to_json(&t, &m->metrics[SPLIT_TRAIN].all, m);
    text_add(&t, ", \"validation\": ");
    metrics_to_json(&t, &m->metrics[SPLIT_VAL].all, m);
    text_add(&t, ", \"test\": ");
    metrics_to_json(&t, &m->metrics[SPLIT_TEST].all, m);
    text_add(&t, "}");
    return json_note(w, "metrics", &t);
}

static consm_status note_sets(struct safetensors_writer *w, const struct consm_model *m)
{
    struct text t = {0};
    if (m->sets.coverage == 0)
        return CONSM_OK;
    sets_to_json(&t, m);
    return json_note(w, "sets", &t);
}

static consm_status note_refit(struct safetensors_writer *w, const struct consm_model *m)
{
    struct text t = {0};
    if (m->refit.labels == 0)
        return CONSM_OK;
    refit_to_json(&t, m);
    return json_note(w, "refit", &t);
}

static consm_status note_folds(struct safetensors_writer *w, const struct consm_model *m)
{
    struct text t = {0};
    if (m->result.folds.labels == 0)
        return CONSM_OK;
    folds_to_json(&t, m);
    return json_note(w, "folds", &t);
}

static consm_status note_decision(struct safetensors_writer *w, const struct consm_model *m)
{
    struct text t = {0};
    if (!m->decision.made)
        return CONSM_OK;
    decision_to_json(&t, m);
    return json_note(w, "threshold", &t);
}

/* "reading": {"label-column": "fraud", …}; options that were not set are left out. */
static consm_status note_choices(struct safetensors_writer *w, const struct consm_model *m)
{
    struct text t = {0};
    const char *before = "{";
    if (!choices_any(&m->choices))
        return CONSM_OK;
    for (int i = 0; i < CHOICES; i++)
        if (m->choices.text[i]) {
            text_printf(&t, "%s\"%s\": ", before, choice_name[i]);
            text_json(&t, m->choices.text[i]);
            before = ", ";
        }
    text_add(&t, "}");
    return json_note(w, "reading", &t);
}

/* "ensemble": its history; "members": every member without its tensors. */
static consm_status note_ensemble(struct safetensors_writer *w, const struct consm_model *m)
{
    consm_status st = CONSM_OK;
    struct text t = {0};
    if (m->ensemble.runs == 0)
        return CONSM_OK;
    ensemble_to_json(&t, m);
    TRY(json_note(w, "ensemble", &t));
    if (m->members == 0)
        goto done;
    t = (struct text){0};
    members_to_json(&t, m);
    TRY(json_note(w, "members", &t));
done:
    return st;
}

/* "trees": those that predict in the model's place, but their tensors. */
static consm_status note_trees(struct safetensors_writer *w, const struct consm_model *m)
{
    struct text t = {0};
    if (!m->trees)
        return CONSM_OK;
    member_to_json(&t, m->trees);
    return json_note(w, "trees", &t);
}

/* "companions": those that predict together with the model, but their tensors. */
static consm_status note_companions(struct safetensors_writer *w, const struct consm_model *m)
{
    struct text t = {0};
    if (m->companions == 0)
        return CONSM_OK;
    companions_to_json(&t, m);
    return json_note(w, "companions", &t);
}

static const char *format_of(const struct consm_model *m)
{
    bool trees = m->trees != NULL;
    if (model_weighs_answers(m))
        return MODEL_FORMAT_ANSWERS;
    if (m->companions)
        return model_companions_below(m) > 0 ? MODEL_FORMAT_CLEAN : MODEL_FORMAT_COMPANIONS;
    for (int64_t i = 0; i < m->members; i++)
        trees = trees || m->member[i]->trees;
    return trees ? MODEL_FORMAT_TREES : m->members ? MODEL_FORMAT_ENSEMBLE : MODEL_FORMAT_PLAIN;
}

static consm_status note_all(struct safetensors_writer *w, const struct consm_model *m)
{
    consm_status st = CONSM_OK;
    struct text config = {0};
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)m->result.seed);
    TRY(safetensors_note(w, "format", format_of(m)));
    TRY(safetensors_note(w, "version", m->version));
    TRY(safetensors_note(w, "model", m->def->name));
    config_to_json(&config, &m->config);
    TRY(json_note(w, "config", &config));
    TRY(note_number(w, "classes", m->classes));
    TRY(note_names(w, "class_names", m->class_name, m->classes,
                   "the saved model predicts class numbers instead"));
    if (m->class_kind != CONSM_CLASS_UNSAID)
        TRY(note_number(w, "class_kind", m->class_kind));
    TRY(note_number(w, "features", (double)m->features));
    TRY(note_names(w, "feature_names", m->feature_name, m->features,
                   "columns will be matched by position"));
    TRY(note_recipe(w, m->recipe));
    TRY(note_choices(w, m));
    TRY(safetensors_note(w, "structural_features", m->structural ? "true" : "false"));
    TRY(safetensors_note(w, "normalize_features",
                         config_names_normalize_features[m->config.normalize_features]));
    TRY(safetensors_note(w, "dataset", m->dataset));
    TRY(safetensors_note(w, "data_sha256", m->data_sha256));
    TRY(safetensors_note(w, "split", m->split));
    TRY(safetensors_note(w, "seed", seed));
    TRY(note_number(w, "temperature", m->temperature));
    TRY(note_number(w, "doubt", m->doubt));
    TRY(note_number(w, "ece_before", m->ece_before));
    TRY(note_counts(w, m));
    TRY(note_metrics(w, m));
    TRY(note_sets(w, m));
    TRY(note_decision(w, m));
    TRY(note_refit(w, m));
    TRY(note_folds(w, m));
    TRY(note_number(w, "positive", m->positive - 1));
    TRY(note_number(w, "val_score", m->result.val_score));
    TRY(safetensors_note(w, "learned_named", m->learned_named ? "true" : "false"));
    TRY(note_ensemble(w, m));
    TRY(note_trees(w, m));
    TRY(note_companions(w, m));
done:
    return st;
}

static consm_status declare_tensors(struct safetensors_writer *w, const struct consm_model *m,
                                    const char *prefix)
{
    consm_status st = CONSM_OK;
    char name[96];
    for (int64_t i = 0; i < m->tensors; i++) {
        const struct model_tensor *t = &m->tensor[i];
        int64_t shape[2] = {t->rows, t->cols};
        snprintf(name, sizeof name, "%s%s", prefix, t->name);
        TRY(safetensors_declare(w, name, SAFETENSORS_F32, 2, shape));
    }
    snprintf(name, sizeof name, "%s" MODEL_TREES, prefix);
    if (m->trees)
        TRY(declare_tensors(w, m->trees, name));
    for (int64_t i = 0; i < m->companions; i++) {
        snprintf(name, sizeof name, "%s" MODEL_COMPANION "%lld.", prefix, (long long)i);
        TRY(declare_tensors(w, m->companion[i], name));
    }
done:
    return st;
}

static consm_status write_tensors(struct safetensors_writer *w, const struct consm_model *m)
{
    consm_status st = CONSM_OK;
    for (int64_t i = 0; i < m->tensors; i++) {
        const struct model_tensor *t = &m->tensor[i];
        TRY(safetensors_write(w, t->value, (size_t)(t->rows * t->cols) * sizeof *t->value));
    }
    if (m->trees)
        TRY(write_tensors(w, m->trees));
    for (int64_t i = 0; i < m->companions; i++)
        TRY(write_tensors(w, m->companion[i]));
done:
    return st;
}

consm_status consm_model_save(const struct consm_model *model, const char *path)
{
    consm_status st = CONSM_OK;
    struct safetensors_writer *w = NULL;
    struct train_curve curve = {0};
    char prefix[32];
    TRY(GIVEN(model, path));
    TRY(curve_thin(&curve, &model->curve));
    TRY(safetensors_writer_new(&w));
    if (model->learned_count > 0) /* widest types first */
        TRY(safetensors_declare(w, MODEL_LEARNED, SAFETENSORS_U64, 1, &model->learned_count));
    if (curve.count > 0)
        TRY(safetensors_declare(w, MODEL_CURVE, SAFETENSORS_F64, 2,
                                (const int64_t[]){curve.count, CURVE_COLUMNS}));
    TRY(declare_tensors(w, model, ""));
    for (int64_t i = 0; i < model->members; i++) {
        snprintf(prefix, sizeof prefix, "%lld.", (long long)i);
        TRY(declare_tensors(w, model->member[i], prefix));
    }
    TRY(note_all(w, model));
    TRY(safetensors_begin(w, path, true));
    if (model->learned_count > 0)
        TRY(safetensors_write(w, model->learned,
                              (size_t)model->learned_count * sizeof *model->learned));
    if (curve.count > 0)
        TRY(safetensors_write(w, curve.point, (size_t)curve.count * sizeof *curve.point));
    TRY(write_tensors(w, model));
    for (int64_t i = 0; i < model->members; i++)
        TRY(write_tensors(w, model->member[i]));
    TRY(safetensors_commit(w));
done:
    curve_free(&curve);
    safetensors_writer_free(w);
    return st;
}
