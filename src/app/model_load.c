/* Reads model files. The file may be anything: every part is checked before use, and every message
 * names the file. */
#include "app/model_json.h"
#include "base/given.h"
#include "base/number.h"
#include "data/table/recipe.h"
#include "io/safetensors.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The metadata under a key; NULL with a message if it is missing. */
static const char *need(const struct model_source *s, const char *key)
{
    const char *text = safetensors_metadata(s->file, key);
    if (!text)
        status_fail(CONSM_EFORMAT, "%s: the metadata has no \"%s\"", s->path, key);
    return text;
}

static consm_status need_number(double *out, const struct model_source *s, const char *key,
                                double min, double max)
{
    const char *text = need(s, key);
    char *end;
    if (!text)
        return CONSM_EFORMAT;
    *out = number_parse(text, &end);
    if (end == text || *end || !(*out >= min && *out <= max))
        return status_fail(CONSM_EFORMAT, "%s: \"%s\" is %.40s: expected a number from %g to %g",
                           s->path, key, text, min, max);
    return CONSM_OK;
}

static consm_status need_copy(char **out, const struct model_source *s, const char *key)
{
    const char *text = need(s, key);
    if (!text)
        return CONSM_EFORMAT;
    return (*out = mem_strdup(text)) ? CONSM_OK : CONSM_ENOMEM;
}

static consm_status need_json(json_t **out, const struct model_source *s, const char *key)
{
    const char *text = need(s, key);
    json_error_t error;
    if (!text)
        return CONSM_EFORMAT;
    *out = json_loads(text, JSON_DISABLE_EOF_CHECK, &error);
    return *out
               ? CONSM_OK
               : status_fail(CONSM_EFORMAT, "%s: \"%s\" is not JSON: %s", s->path, key, error.text);
}

/* A list of texts; empty if the key is missing. */
static consm_status read_names(char ***out, const struct model_source *s, const char *key,
                               int64_t count)
{
    consm_status st = CONSM_OK;
    json_t *list = NULL;
    char **names = NULL;
    *out = NULL;
    if (!safetensors_metadata(s->file, key))
        return CONSM_OK;
    TRY(need_json(&list, s, key));
    if ((int64_t)json_array_size(list) != count)
        TRY(status_fail(CONSM_EFORMAT, "%s: \"%s\" has %zu names: expected %lld", s->path, key,
                        json_array_size(list), (long long)count));
    TRY(ZNEW(names, count));
    for (int64_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(list, (size_t)i));
        if (!name)
            TRY(status_fail(CONSM_EFORMAT, "%s: \"%s\": entry %lld is not text", s->path, key,
                            (long long)i));
        if (!(names[i] = mem_strdup(name)))
            TRY(CONSM_ENOMEM);
    }
    *out = names;
    names = NULL;
done:
    mem_free_texts(names, count);
    json_decref(list);
    return st;
}

/* ---- the parts ----------------------------------------------------------- */

static bool is_format(const struct model_source *s, const char *name)
{
    const char *format = safetensors_metadata(s->file, "format");
    return format && strcmp(format, name) == 0;
}

static consm_status check_format(const struct model_source *s)
{
    const char *format = safetensors_metadata(s->file, "format");
    if (!format || strncmp(format, "consm model ", 12) != 0)
        return status_fail(CONSM_EFORMAT,
                           "%s: is a safetensors file, but not a consm model: expected \"format\": "
                           "\"consm model 1\" in its metadata, found %.40s",
                           s->path, format ? format : "none");
    if (!is_format(s, MODEL_FORMAT_PLAIN) && !is_format(s, MODEL_FORMAT_ENSEMBLE) &&
        !is_format(s, MODEL_FORMAT_TREES) && !is_format(s, MODEL_FORMAT_COMPANIONS) &&
        !is_format(s, MODEL_FORMAT_CLEAN) && !is_format(s, MODEL_FORMAT_ANSWERS))
        return status_fail(CONSM_EFORMAT, "%s: the format %.40s is newer than this consm (%s)",
                           s->path, format, consm_version());
    return CONSM_OK;
}

/* Puts the names of file and part in front of a failure's message. */
static consm_status in_part(consm_status st, const struct model_source *s, const char *part)
{
    char message[512];
    if (st >= 0 || st == CONSM_ENOMEM)
        return st;
    snprintf(message, sizeof message, "%s", consm_errmsg());
    return status_fail(CONSM_EFORMAT, "%s: %s: %s", s->path, part, message);
}

static consm_status read_definition(struct consm_model *m, const struct model_source *s)
{
    const char *name = need(s, "model");
    return name ? in_part(model_define_by_name(m, name), s, "model") : CONSM_EFORMAT;
}

static consm_status read_config(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    json_t *config = NULL;
    model_defaults(m->def, &m->config);
    TRY(need_json(&config, s, "config"));
    TRY(in_part(config_from_json(&m->config, config), s, "config"));
done:
    json_decref(config);
    return st;
}

static consm_status read_facts(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    double classes, features;
    const char *hash, *structural, *seed;
    char *end;
    TRY(need_number(&classes, s, "classes", 1, INT32_MAX));
    TRY(need_number(&features, s, "features", 1, INT32_MAX));
    m->classes = (int32_t)classes;
    TRY(read_names(&m->class_name, s, "class_names", m->classes));
    double kind = CONSM_CLASS_UNSAID;
    if (safetensors_metadata(s->file, "class_kind"))
        TRY(need_number(&kind, s, "class_kind", CONSM_CLASS_UNSAID, CONSM_CLASS_BOOLEAN));
    m->class_kind = (int32_t)kind;
    m->features = (int64_t)features;
    TRY(read_names(&m->feature_name, s, "feature_names", m->features));
    TRY(need_copy(&m->dataset, s, "dataset"));
    TRY(need_copy(&m->split, s, "split"));
    TRY(need_copy(&m->version, s, "version"));
    TRY(need_number(&m->temperature, s, "temperature", 1e-3, 1e3));
    if (!(hash = need(s, "data_sha256")) || !(structural = need(s, "structural_features")) ||
        !(seed = need(s, "seed")))
        TRY(CONSM_EFORMAT);
    snprintf(m->data_sha256, sizeof m->data_sha256, "%s", hash);
    m->structural = strcmp(structural, "true") == 0;
    errno = 0;
    m->result.seed = strtoull(seed, &end, 10);
    if (errno || *end || end == seed)
        TRY(status_fail(CONSM_EFORMAT, "%s: \"seed\" is %.40s: expected a whole number", s->path,
                        seed));
    const char *ece = safetensors_metadata(s->file, "ece_before");
    m->ece_before = ece ? number_parse(ece, NULL) : (double)NAN;
done:
    return st;
}

/* The recipe of a table's columns, if the model has one; it must make the model's features. */
static consm_status read_recipe(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    json_t *list = NULL;
    if (!safetensors_metadata(s->file, "columns"))
        return CONSM_OK;
    TRY(need_json(&list, s, "columns"));
    TRY(in_part(recipe_from_json(&m->recipe, list), s, "columns"));
    if (recipe_features(m->recipe) != m->features)
        TRY(status_fail(CONSM_EFORMAT, "%s: \"columns\" define %lld features: expected %lld",
                        s->path, (long long)recipe_features(m->recipe), (long long)m->features));
done:
    json_decref(list);
    return st;
}

/* How the training data was read; older models lack it. */
static consm_status read_choices(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    json_t *object = NULL;
    const char *text[CHOICES];
    if (!safetensors_metadata(s->file, "reading"))
        return CONSM_OK;
    TRY(need_json(&object, s, "reading"));
    for (int i = 0; i < CHOICES; i++) {
        const json_t *value = json_object_get(object, choice_name[i]);
        text[i] = json_string_value(value);
        if (value && !text[i])
            TRY(status_fail(CONSM_EFORMAT, "%s: \"reading\": %s is not text", s->path,
                            choice_name[i]));
    }
    TRY(choices_copy(&m->choices, text));
done:
    json_decref(object);
    return st;
}

/* Prediction sets, if the model has them. */
static consm_status read_sets(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    json_t *sets = NULL;
    m->covered = m->set_size = (double)NAN;
    if (!safetensors_metadata(s->file, "sets"))
        return CONSM_OK;
    TRY(need_json(&sets, s, "sets"));
    TRY(model_in_file(sets_from_json(m, sets), s->path));
done:
    json_decref(sets);
    return st;
}

/* The threshold, the doubt and the validation metric; older models lack them. */
static consm_status read_choice(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    json_t *decision = NULL;
    const char *positive = safetensors_metadata(s->file, "positive");
    const char *score = safetensors_metadata(s->file, "val_score");
    double class_index = positive ? number_parse(positive, NULL) : -1;
    m->positive = class_index >= 0 && class_index < m->classes ? (int32_t)class_index + 1 : 0;
    m->result.val_score = score ? number_parse(score, NULL) : m->result.val_acc;
    if (safetensors_metadata(s->file, "doubt"))
        TRY(need_number(&m->doubt, s, "doubt", 0, 1));
    if (!safetensors_metadata(s->file, "threshold"))
        return CONSM_OK;
    TRY(need_json(&decision, s, "threshold"));
    TRY(model_in_file(decision_from_json(m, decision), s->path));
done:
    json_decref(decision);
    return st;
}

static int64_t count_of(const json_t *counts, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(counts, key));
}

/* Metrics are for people: missing figures are not an error. */
static consm_status read_measured(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    json_t *counts = NULL, *metrics = NULL, *refit = NULL, *folds = NULL;
    TRY(need_json(&counts, s, "counts"));
    TRY(need_json(&metrics, s, "metrics"));
    m->count[SPLIT_TRAIN] = count_of(counts, "train");
    m->count[SPLIT_VAL] = count_of(counts, "validation");
    m->count[SPLIT_TEST] = count_of(counts, "test");
    m->held_out = count_of(counts, "held_out");
    m->result.epochs = count_of(counts, "epochs");
    m->result.best_epoch = count_of(counts, "best_epoch");
    m->result.params = count_of(counts, "params");
    TRY(metrics_from_json(&m->metrics[SPLIT_TRAIN], json_object_get(metrics, "train"), m->classes));
    TRY(metrics_from_json(&m->metrics[SPLIT_VAL], json_object_get(metrics, "validation"),
                          m->classes));
    TRY(metrics_from_json(&m->metrics[SPLIT_TEST], json_object_get(metrics, "test"), m->classes));
    m->result.val_acc = m->metrics[SPLIT_VAL].all.accuracy;
    m->result.test_acc = m->metrics[SPLIT_TEST].all.accuracy;
    if (safetensors_metadata(s->file, "folds")) {
        TRY(need_json(&folds, s, "folds"));
        folds_from_json(m, folds);
    }
    if (safetensors_metadata(s->file, "refit")) {
        TRY(need_json(&refit, s, "refit"));
        m->refit.labels = count_of(refit, "labels");
        m->refit.updates = count_of(refit, "updates");
    }
done:
    json_decref(counts);
    json_decref(metrics);
    json_decref(refit);
    json_decref(folds);
    return st;
}

/* ---- members ------------------------------------------------------------- */

/* The members listed in the metadata, without tensors. */
static consm_status read_members(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    json_t *facts = NULL, *members = NULL;
    bool ensemble = is_format(s, MODEL_FORMAT_ENSEMBLE) ||
                    ((is_format(s, MODEL_FORMAT_TREES) || is_format(s, MODEL_FORMAT_ANSWERS)) &&
                     safetensors_metadata(s->file, "members"));
    if (!ensemble && !safetensors_metadata(s->file, "ensemble"))
        return CONSM_OK;
    TRY(need_json(&facts, s, "ensemble"));
    TRY(in_part(ensemble_from_json(&m->ensemble, facts), s, "ensemble"));
    if (!ensemble)
        goto done;
    TRY(need_json(&members, s, "members"));
    size_t count = json_array_size(members);
    if (count < 1 || count > MODEL_MOST_MEMBERS)
        TRY(status_fail(CONSM_EFORMAT, "%s: %zu members: expected a list of 1 to %d", s->path,
                        count, MODEL_MOST_MEMBERS));
    TRY(ZNEW(m->member, count));
    for (size_t i = 0; i < count; i++) {
        struct consm_model *member;
        TRY(ZNEW(member, 1));
        m->member[m->members++] = member;
        member->classes = m->classes;
        member->features = m->features;
        TRY(in_part(member_from_json(member, json_array_get(members, i)), s, "members"));
    }
done:
    json_decref(facts);
    json_decref(members);
    return st;
}

/* The trees that predict in a plain model's place, still without tensors. */
static consm_status read_trees(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    json_t *trees = NULL;
    if (m->members || !safetensors_metadata(s->file, "trees"))
        return CONSM_OK;
    TRY(need_json(&trees, s, "trees"));
    TRY(in_part(trees_from_json(m, trees), s, "trees"));
done:
    json_decref(trees);
    return st;
}

/* The companions of a plain model, still without tensors. */
static consm_status read_companions(struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    json_t *companions = NULL;
    bool some = is_format(s, MODEL_FORMAT_ANSWERS)
                    ? m->config.companions == COMPANIONS_YES
                    : is_format(s, MODEL_FORMAT_COMPANIONS) || is_format(s, MODEL_FORMAT_CLEAN);
    m->config.companions = COMPANIONS_NO; /* older files do not say so */
    if (m->members || !some)
        return CONSM_OK;
    TRY(need_json(&companions, s, "companions"));
    TRY(in_part(companions_from_json(m, companions), s, "companions"));
    m->config.companions = COMPANIONS_YES;
done:
    json_decref(companions);
    return st;
}

/* Checks that every part has the parameters of its equations; models of the caller's own are
 * checked later. */
static consm_status check_parts(const struct consm_model *m, const struct model_source *s)
{
    consm_status st = CONSM_OK;
    for (int64_t i = 0; i < model_parts(m); i++) {
        const struct consm_model *part = model_part(m, i);
        if (part->def != &part->own)
            TRY(model_check(part, s->path));
        if (part->trees)
            TRY(model_check(part->trees, s->path));
    }
    if (is_format(s, MODEL_FORMAT_ANSWERS) && !model_weighs_answers(m))
        TRY(status_fail(CONSM_EFORMAT, "%s: has no tensor " MODEL_ANSWERS_TRUST " of 1 x %d",
                        s->path, TRUST_NUMBERS));
done:
    return st;
}

/* Closes the file. */
static consm_status read_model(struct consm_model **out, struct model_source *s)
{
    consm_status st = CONSM_OK;
    struct consm_model *m = NULL;
    TRY(check_format(s));
    if (safetensors_find(s->file, "sha256") && !safetensors_seal(s->file))
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: its checksum is invalid: the file was changed or damaged", s->path));
    TRY(safetensors_verify(s->file));
    TRY(ZNEW(m, 1));
    TRY(read_definition(m, s));
    TRY(read_config(m, s));
    TRY(read_facts(m, s));
    TRY(read_recipe(m, s));
    TRY(read_choices(m, s));
    TRY(read_measured(m, s));
    TRY(read_sets(m, s));
    TRY(read_choice(m, s));
    TRY(read_members(m, s));
    TRY(read_trees(m, s));
    TRY(read_companions(m, s));
    TRY(model_read_tensors(m, s));
    TRY(check_parts(m, s));
    model_name_backbone(m);
    *out = m;
    m = NULL;
done:
    safetensors_close(s->file);
    consm_model_free(m);
    return st;
}

consm_status consm_model_load(struct consm_model **out, const char *path)
{
    consm_status st = CONSM_OK;
    struct model_source s = {.path = path};
    struct mem_bound bound;
    struct stat info;
    struct consm_model *m = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, path));
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        TRY(status_fail(CONSM_EIO, "%s: is a folder: expected a file, such as %s/model.safetensors",
                        path, path));
    file_bound_begin(&bound);
    st = safetensors_open(&s.file, path);
    if (st == CONSM_OK)
        st = read_model(&m, &s);
    TRY(file_bound_end(&bound, st, path));
    *out = m;
    m = NULL;
done:
    consm_model_free(m);
    return st;
}

consm_status model_read(struct consm_model **out, const char *name, const void *data, size_t size)
{
    consm_status st = CONSM_OK;
    struct model_source s = {.path = name};
    *out = NULL;
    TRY(safetensors_read(&s.file, name, data, size));
    TRY(read_model(out, &s));
done:
    return st;
}
