/* Writes our JSON by hand and reads it with jansson. */
#include "app/model_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
        return status_fail(CONSM_EFORMAT, "the configuration is not a JSON object");
    /* A profile sets other parameters, so it is read first. */
    const char *profile = json_string_value(json_object_get(object, "profile"));
    if (profile)
        TRY(config_set(c, "profile", profile));
    json_object_foreach((json_t *)object, key, value)
    {
        if (!json_is_string(value))
            return status_fail(CONSM_EFORMAT, "parameter %s is not text", key);
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

void member_to_json(struct text *t, const struct consm_model *m)
{
    text_add(t, "{\"model\": ");
    text_json(t, m->def->name);
    text_printf(t, ", \"seed\": \"%llu\", \"picks\": %lld, \"trained\": %lld",
                (unsigned long long)m->result.seed, (long long)m->picks, (long long)m->trained);
    figure_to_json(t, "temperature", m->temperature);
    text_add(t, ", \"config\": ");
    config_to_json(t, &m->config);
    if (m->trees) {
        text_add(t, ", \"trees\": ");
        member_to_json(t, m->trees);
    }
    text_add(t, "}");
}

void members_to_json(struct text *t, const struct consm_model *m)
{
    for (int64_t i = 0; i < m->members; i++) {
        text_add(t, i ? ", " : "[");
        member_to_json(t, m->member[i]);
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
                                .title = "a model defined by its author",
                                .paper = "",
                                .knobs = "",
                                .build = custom_build};
    m->def = &m->own;
    return CONSM_OK;
}

/* What a file says of a part's votes and temperature. */
static consm_status votes_sound(int64_t picks, double temperature)
{
    enum { MOST_PICKS = 1000000 };
    if (picks < 1 || picks > MOST_PICKS)
        return status_fail(CONSM_EFORMAT, "\"picks\" is %lld: expected 1 to %d", (long long)picks,
                           MOST_PICKS);
    if (!(temperature >= 1e-3 && temperature <= 1e3))
        return status_fail(CONSM_EFORMAT, "\"temperature\" is %g: expected 0.001 to 1000",
                           temperature);
    return CONSM_OK;
}

static consm_status part_from_json(struct consm_model *m, const json_t *object)
{
    consm_status st = CONSM_OK;
    const char *name = json_string_value(json_object_get(object, "model"));
    const char *seed = json_string_value(json_object_get(object, "seed"));
    char *end = NULL;
    if (!name || !seed)
        return status_fail(CONSM_EFORMAT, "a member lacks \"model\" or \"seed\"");
    TRY(model_define_by_name(m, name));
    model_defaults(m->def, &m->config);
    TRY(config_from_json(&m->config, json_object_get(object, "config")));
    errno = 0;
    m->result.seed = strtoull(seed, &end, 10);
    m->picks = (int64_t)json_integer_value(json_object_get(object, "picks"));
    m->trained = (int64_t)json_integer_value(json_object_get(object, "trained"));
    m->temperature = json_number_value(json_object_get(object, "temperature"));
    if (errno || end == seed || *end)
        return status_fail(CONSM_EFORMAT, "\"seed\" is %.40s: expected a whole number", seed);
    TRY(votes_sound(m->picks, m->temperature));
done:
    return st;
}

consm_status trees_from_json(struct consm_model *m, const json_t *object)
{
    consm_status st = CONSM_OK;
    if (!object)
        return CONSM_OK;
    TRY(ZNEW(m->trees, 1));
    m->trees->classes = m->classes;
    m->trees->features = m->features;
    TRY(part_from_json(m->trees, object));
    if (strcmp(m->trees->def->name, "trees") != 0)
        TRY(status_fail(CONSM_EFORMAT, "\"trees\" is the model %s: expected trees",
                        m->trees->def->name));
done:
    return st;
}

consm_status member_from_json(struct consm_model *m, const json_t *object)
{
    consm_status st = part_from_json(m, object);
    return st < 0 ? st : trees_from_json(m, json_object_get(object, "trees"));
}

/* ---- companions ---------------------------------------------------------- */

void companions_to_json(struct text *t, const struct consm_model *m)
{
    text_printf(t, "{\"votes\": %lld", (long long)m->own_votes);
    figure_to_json(t, "temperature", m->own_temperature);
    text_add(t, ", \"members\": [");
    for (int64_t i = 0; i < m->companions; i++) {
        text_add(t, i ? ", " : "");
        member_to_json(t, m->companion[i]);
    }
    text_add(t, "]}");
}

/* Which edges companion i leaves out: ConSM must say so, and the same to all. */
static consm_status edges_sound(const struct consm_model *m, const struct consm_model *one,
                                size_t i)
{
    double below = model_part_below(m, one);
    bool consm = strcmp(m->def->name, "consm") == 0 && !m->trees && one->def->build;
    if (below <= 0 || (consm && below == model_companions_below(m)))
        return CONSM_OK;
    return consm ? status_fail(CONSM_EFORMAT,
                               "companion %zu has drop_below %g: expected 0 or that of another "
                               "companion, %g",
                               i, below, model_companions_below(m))
                 : status_fail(CONSM_EFORMAT,
                               "companion %zu has drop_below %g, which needs a ConSM that "
                               "predicts, and a GNN",
                               i, below);
}

consm_status companions_from_json(struct consm_model *m, const json_t *object)
{
    consm_status st = CONSM_OK;
    const json_t *members = json_object_get(object, "members");
    size_t count = json_array_size(members);
    if (!object)
        return CONSM_OK;
    m->own_votes = (int64_t)json_integer_value(json_object_get(object, "votes"));
    m->own_temperature = json_number_value(json_object_get(object, "temperature"));
    TRY(votes_sound(m->own_votes, m->own_temperature));
    if (count < 1 || count > TRAIN_COMPANIONS)
        TRY(status_fail(CONSM_EFORMAT, "%zu companions: expected a list of 1 to %d", count,
                        TRAIN_COMPANIONS));
    TRY(ZNEW(m->companion, count));
    for (size_t i = 0; i < count; i++) {
        struct consm_model *one;
        TRY(ZNEW(one, 1));
        m->companion[m->companions++] = one;
        one->classes = m->classes;
        one->features = m->features;
        TRY(part_from_json(one, json_array_get(members, i)));
        bool trees = strcmp(one->def->name, "trees") == 0 && !m->trees;
        if ((!one->def->build && !trees) || one->def == &one->own ||
            strcmp(one->def->name, "consm") == 0)
            TRY(status_fail(CONSM_EFORMAT, "companion %zu is the model %s: expected a GNN%s", i,
                            one->def->name, m->trees ? "" : " or trees"));
        TRY(edges_sound(m, one, i));
    }
done:
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
