/* Reads the search space from YAML and draws configurations. */
#include "study/search.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "io/file.h"
#include "report/assets.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* File, section, parameter, choices; and more values than any sensible space has. */
enum { DEEPEST = 4, MOST_VALUES = 10000 };

/* ---- reading ------------------------------------------------------------- */

static consm_status fault(const char *path, const yaml_node_t *at, const char *found)
{
    return status_fail(CONSM_EFORMAT, "%s: line %zu, column %zu: %s", path, at->start_mark.line + 1,
                       at->start_mark.column + 1, found);
}

struct reader {
    yaml_document_t doc;
    const char *path;
    int left; /* remaining values: aliases could multiply them without end */
};

/* A YAML node as JSON; scalars become strings. */
static consm_status convert(json_t **out, struct reader *r, int index, int depth)
{
    consm_status st = CONSM_OK;
    const yaml_node_t *at = yaml_document_get_node(&r->doc, index);
    json_t *child = NULL;
    *out = NULL;
    if (depth > DEEPEST || --r->left < 0)
        return fault(r->path, at, depth > DEEPEST ? "nested too deeply" : "too many values");
    if (at->type == YAML_SCALAR_NODE) {
        *out = json_stringn((const char *)at->data.scalar.value, at->data.scalar.length);
        return *out ? CONSM_OK : fault(r->path, at, "not valid UTF-8");
    }
    bool list = at->type == YAML_SEQUENCE_NODE;
    *out = list ? json_array() : json_object();
    if (list)
        for (yaml_node_item_t *item = at->data.sequence.items.start;
             item < at->data.sequence.items.top; item++) {
            TRY(convert(&child, r, *item, depth + 1));
            if (json_array_append_new(*out, child) != 0)
                TRY(status_fail(CONSM_ENOMEM, "%s: out of memory", r->path));
        }
    for (yaml_node_pair_t *pair = list ? NULL : at->data.mapping.pairs.start;
         pair && pair < at->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(&r->doc, pair->key);
        if (key->type != YAML_SCALAR_NODE)
            TRY(fault(r->path, key, "found a list or mapping: expected a name"));
        const char *name = (const char *)key->data.scalar.value;
        if (json_object_get(*out, name))
            TRY(fault(r->path, key, "duplicate name"));
        TRY(convert(&child, r, pair->value, depth + 1));
        if (json_object_set_new(*out, name, child) != 0)
            TRY(fault(r->path, key, "not valid UTF-8"));
    }
done:
    if (st < 0) {
        json_decref(*out);
        *out = NULL;
    }
    return st;
}

static consm_status parse(json_t **out, const unsigned char *text, size_t size, const char *path)
{
    consm_status st = CONSM_OK;
    yaml_parser_t parser;
    struct reader r = {.path = path, .left = MOST_VALUES};
    bool loaded = false;
    if (!yaml_parser_initialize(&parser))
        return status_fail(CONSM_ENOMEM, "%s: out of memory for a YAML parser", path);
    yaml_parser_set_input_string(&parser, text ? text : (const unsigned char *)"", size);
    if (!(loaded = yaml_parser_load(&parser, &r.doc)))
        TRY(status_fail(CONSM_EFORMAT, "%s: line %zu, column %zu: %s", path,
                        parser.problem_mark.line + 1, parser.problem_mark.column + 1,
                        parser.problem ? parser.problem : "not valid YAML"));
    const yaml_node_t *root = yaml_document_get_root_node(&r.doc);
    if (!root || root->type != YAML_MAPPING_NODE)
        TRY(status_fail(CONSM_EFORMAT, "%s: expected sections named `common` or a model's name",
                        path));
    TRY(convert(out, &r, 1, 1)); /* libyaml counts nodes from 1, the root first */
done:
    if (loaded)
        yaml_document_delete(&r.doc);
    yaml_parser_delete(&parser);
    return st;
}

/* ---- ranges and lists ---------------------------------------------------- */

static double bound(const json_t *range, const char *name)
{
    const char *text = json_string_value(json_object_get(range, name));
    char *end;
    double value = text ? strtod(text, &end) : (double)NAN;
    return text && end != text && !*end ? value : (double)NAN;
}

static bool is_log(const json_t *range)
{
    const char *text = json_string_value(json_object_get(range, "log"));
    return text && (strcmp(text, "yes") == 0 || strcmp(text, "true") == 0);
}

/* Sets one parameter to the value at u ∈ [0, 1) of its list or range. */
static consm_status draw_one(struct config *c, const char *name, const json_t *choices, double u)
{
    char text[32];
    if (json_is_array(choices) && json_array_size(choices) > 0) {
        size_t at = (size_t)(u * (double)json_array_size(choices));
        const char *value = json_string_value(json_array_get(choices, at));
        if (!value)
            return status_fail(CONSM_EINVAL, "%s: an option is a list, expected a value", name);
        return config_set(c, name, value);
    }
    double low = bound(choices, "low"), high = bound(choices, "high");
    bool log_scale = is_log(choices);
    if (log_scale && low <= 0)
        return status_fail(CONSM_EINVAL, "%s: low is %g: with log: yes, expected more than 0", name,
                           low);
    if (!(low <= high))
        return status_fail(CONSM_EINVAL, "%s: expected a list, or {low, high} with low <= high",
                           name);
    double value = log_scale ? low * pow(high / low, u) : low + (high - low) * u;
    /* Three digits are enough for a search, and are easy to type again. */
    snprintf(text, sizeof text, "%.3g", value);
    return config_set(c, name, text);
}

/* Checks that config_set accepts every value of the section. */
static consm_status check_section(const json_t *section, const char *path, const char *where)
{
    consm_status st = CONSM_OK;
    struct config c;
    const char *name;
    const json_t *choices;
    config_defaults(&c);
    if (!json_is_object(section))
        return status_fail(CONSM_EINVAL, "%s: %s: expected parameters", path, where);
    json_object_foreach((json_t *)section, name, choices)
    {
        size_t count = json_array_size(choices); /* a range has two values to check, its ends */
        count = count ? count : 2;
        for (size_t i = 0; i < count; i++) {
            double u = ((double)i + 0.5) / (double)count;
            if (!json_is_array(choices))
                u = i ? 1 : 0;
            if (draw_one(&c, name, choices, u) < 0) {
                char message[512];
                snprintf(message, sizeof message, "%s", consm_errmsg());
                TRY(status_fail(CONSM_EINVAL, "%s: %s: %s", path, where, message));
            }
        }
    }
done:
    return st;
}

consm_status search_read(json_t **out, const char *path)
{
    consm_status st = CONSM_OK;
    struct file_map map = {0};
    const struct model_def *model;
    const char *name, *shown = path ? path : "studies/search.yaml";
    const json_t *section;
    *out = NULL;
    if (path)
        TRY(file_map(&map, path));
    TRY(parse(out, path ? map.data : asset_search_yaml, path ? map.size : asset_search_yaml_size,
              shown));
    json_object_foreach(*out, name, section)
    {
        if (strcmp(name, "common") != 0)
            TRY(model_find(&model, name));
        TRY(check_section(section, shown, name));
    }
done:
    file_unmap(&map);
    if (st < 0) {
        json_decref(*out);
        *out = NULL;
    }
    return st;
}

/* Draws the section's parameters; each has its own stream, so that adding a parameter does not
 * change the others' draws. */
static consm_status draw_section(struct config *c, const json_t *section, const json_t *except,
                                 int64_t k)
{
    consm_status st = CONSM_OK;
    const char *name;
    const json_t *choices;
    json_object_foreach((json_t *)section, name, choices)
    {
        struct rng rng;
        uint64_t stream = 14695981039346656037U; /* FNV-1a of the name */
        for (const char *letter = name; *letter; letter++)
            stream = (stream ^ (uint8_t)*letter) * 1099511628211U;
        rng_init(&rng, (uint64_t)k, stream);
        if (!json_object_get(except, name))
            TRY(draw_one(c, name, choices, rng_uniform(&rng)));
    }
done:
    return st;
}

consm_status search_draw(struct config *c, const json_t *space, const struct model_def *model,
                         int64_t k)
{
    consm_status st = CONSM_OK;
    const json_t *own = json_object_get(space, model->name);
    if (k == 0)
        return CONSM_OK;
    TRY(draw_section(c, json_object_get(space, "common"), own, k));
    TRY(draw_section(c, own, NULL, k));
done:
    return st;
}
