/* Recipes in model files. The file may be anything, so every part is checked. */
#include "data/table/recipe.h"

#include <math.h>
#include <string.h>

static json_t *values_of(const struct recipe_column *c)
{
    json_t *values = json_array();
    for (int32_t v = 0; v < c->values; v++)
        if (json_array_append_new(values, json_string(c->value[v])) != 0) {
            json_decref(values);
            return NULL;
        }
    return values;
}

static json_t *column_of(const struct recipe_column *c)
{
    json_t *item = json_object();
    int fault = json_object_set_new(item, "name", json_string(c->name));
    fault |= json_object_set_new(item, "kind", json_string(recipe_kind_name[c->kind]));
    if (c->kind == RECIPE_CATEGORY)
        fault |= json_object_set_new(item, "values", values_of(c));
    else if (c->kind != RECIPE_LEFT_OUT)
        fault |= json_object_set_new(item, "fill", json_real(c->fill));
    if (c->shift != 0)
        fault |= json_object_set_new(item, "shift", json_real(c->shift));
    if (c->blanks)
        fault |= json_object_set_new(item, "blanks", json_true());
    if (fault) {
        json_decref(item);
        return NULL;
    }
    return item;
}

json_t *recipe_to_json(const struct recipe *r)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < r->columns; i++)
        if (json_array_append_new(list, column_of(&r->column[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static consm_status take_text(char **out, const json_t *text)
{
    const char *value = json_string_value(text);
    if (!value || strlen(value) != json_string_length(text))
        return status_fail(CONSM_EFORMAT, "a name or value of a column is not text");
    return (*out = mem_strdup(value)) ? CONSM_OK : CONSM_ENOMEM;
}

static consm_status take_values(struct recipe_column *c, const json_t *list)
{
    consm_status st = CONSM_OK;
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > RECIPE_VALUES)
        return status_fail(CONSM_EFORMAT, "column %.60s: expected a list of at most %d values",
                           c->name, RECIPE_VALUES);
    TRY(ZNEW(c->value, count));
    for (size_t i = 0; i < count; i++) {
        TRY(take_text(&c->value[i], json_array_get(list, i)));
        c->values++;
        if (i > 0 && strcmp(c->value[i - 1], c->value[i]) >= 0)
            TRY(status_fail(CONSM_EFORMAT, "column %.60s: its values are not sorted", c->name));
    }
done:
    return st;
}

static consm_status take_column(struct recipe_column *c, const json_t *item)
{
    consm_status st = CONSM_OK;
    const char *kind = json_string_value(json_object_get(item, "kind"));
    int found = 0;
    TRY(take_text(&c->name, json_object_get(item, "name")));
    while (found < RECIPE_KINDS && (!kind || strcmp(kind, recipe_kind_name[found]) != 0))
        found++;
    if (found == RECIPE_KINDS)
        return status_fail(CONSM_EFORMAT, "column %.60s: unknown kind %.20s", c->name,
                           kind ? kind : "(none)");
    c->kind = (enum recipe_kind)found;
    c->blanks = json_is_true(json_object_get(item, "blanks"));
    if (c->kind == RECIPE_CATEGORY)
        TRY(take_values(c, json_object_get(item, "values")));
    else if (c->kind != RECIPE_LEFT_OUT)
        c->fill = json_number_value(json_object_get(item, "fill"));
    c->shift = json_number_value(json_object_get(item, "shift"));
    if (!isfinite((float)c->fill) || !isfinite((float)c->shift))
        TRY(status_fail(CONSM_EFORMAT, "column %.60s: its mean is not a number", c->name));
done:
    return st;
}

consm_status recipe_from_json(struct recipe **out, const json_t *list)
{
    consm_status st = CONSM_OK;
    struct recipe *r = NULL;
    size_t count = json_array_size(list);
    *out = NULL;
    if (!json_is_array(list) || count == 0)
        return status_fail(CONSM_EFORMAT, "expected a list of columns");
    TRY(ZNEW(r, 1));
    TRY(ZNEW(r->column, count));
    for (size_t i = 0; i < count; i++) {
        r->columns++;
        TRY(take_column(&r->column[i], json_array_get(list, i)));
    }
    *out = r;
    r = NULL;
done:
    recipe_free(r);
    return st;
}
