/* Reads and writes dataset.json with jansson. */
#include "data/readers/plain_about.h"
#include "data/table/notes.h"
#include "io/json_text.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 256 << 20 };

/* A list of distinct texts. */
static consm_status read_list(struct names *out, json_t *list, const char *key,
                              const struct text_file *file)
{
    consm_status st = CONSM_OK;
    json_t *item;
    size_t i;
    int64_t index;
    if (!json_is_array(list))
        return status_fail(CONSM_EFORMAT, "%s: \"%s\" is not a list: expected a list of names",
                           file->name, key);
    json_array_foreach(list, i, item)
    {
        if (!json_is_string(item) || json_string_length(item) == 0)
            return status_fail(CONSM_EFORMAT, "%s: \"%s\", item %zu is not text: expected a name",
                               file->name, key, i + 1);
        TRY(names_add(&index, out, json_string_value(item), json_string_length(item)));
        if (index != (int64_t)i)
            return status_fail(CONSM_EFORMAT, "%s: \"%s\" lists \"%.60s\" twice: expected it once",
                               file->name, key, json_string_value(item));
    }
done:
    return st;
}

static consm_status check_keys(json_t *root, const struct text_file *file)
{
    json_t *value;
    const char *key;
    json_object_foreach(root, key, value)
    {
        if (strcmp(key, "name") != 0 && strcmp(key, "directed") != 0 &&
            strcmp(key, "classes") != 0 && strcmp(key, "features") != 0 &&
            strcmp(key, "edge_attributes") != 0)
            return status_fail(CONSM_EFORMAT,
                               "%s: found \"%.60s\", expected name, directed, classes, features, "
                               "edge_attributes",
                               file->name, key);
        if ((strcmp(key, "name") == 0 && !json_is_string(value)) ||
            (strcmp(key, "directed") == 0 && !json_is_boolean(value)))
            return status_fail(CONSM_EFORMAT, "%s: \"%s\" is not %s", file->name, key,
                               *key == 'n' ? "a text" : "true or false");
    }
    return CONSM_OK;
}

consm_status plain_about_read(struct plain_about *a, struct classes *classes,
                              const struct text_file *file)
{
    consm_status st = CONSM_OK;
    json_error_t fault;
    if (file->size > MAX_BYTES)
        return status_fail(CONSM_ELIMIT, "%s: has %zu bytes, but the limit is %d", file->name,
                           file->size, MAX_BYTES);
    a->root = json_loadb(file->data, file->size, JSON_REJECT_DUPLICATES, &fault);
    if (!a->root)
        return status_fail(CONSM_EFORMAT, "%s: line %d, column %d: %.150s: expected JSON",
                           file->name, fault.line, fault.column, fault.text);
    if (!json_is_object(a->root))
        return status_fail(CONSM_EFORMAT, "%s: expected a JSON object {…}", file->name);
    TRY(check_keys(a->root, file));
    json_t *list = json_object_get(a->root, "classes");
    if (list) {
        TRY(read_list(&classes->names, list, "classes", file));
        classes->fixed = true;
    }
    list = json_object_get(a->root, "edge_attributes");
    if (list)
        TRY(read_list(&a->attributes, list, "edge_attributes", file));
done:
    return st;
}

consm_status plain_about_give(struct dataset *d, const struct plain_about *a,
                              const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct names features = {0};
    json_t *list = json_object_get(a->root, "features");
    const char *name = json_string_value(json_object_get(a->root, "name"));
    json_t *directed = json_object_get(a->root, "directed");
    if (directed)
        d->directed = json_is_true(directed);
    if (name && *name) {
        char *copy = mem_strdup(name);
        if (!copy)
            return CONSM_ENOMEM;
        mem_free(d->name);
        d->name = copy;
    }
    if (list && d->feature_name)
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: the feature table has column names too: expected only one of them",
                        file->name));
    if (list) {
        TRY(read_list(&features, list, "features", file));
        if (features.count != d->features)
            TRY(status_fail(CONSM_EFORMAT, "%s: lists %lld features: expected %lld", file->name,
                            (long long)features.count, (long long)d->features));
        TRY(names_pack(&d->feature_name, &features, NULL));
        d->borrowed |= DATASET_PACKED_FEATURES;
    }
done:
    names_free(&features);
    return st;
}

void plain_about_free(struct plain_about *a)
{
    json_decref(a->root);
    names_free(&a->attributes);
    a->root = NULL;
}

static json_t *list_of(char *const *names, int64_t count)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < count; i++)
        if (json_array_append_new(list, json_string(names[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *class_list(const struct dataset *d)
{
    json_t *list = json_array();
    char number[24];
    for (int32_t k = 0; k < d->classes; k++)
        if (json_array_append_new(list, json_string(dataset_class_name(d, k, number))) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *note_list(const struct notes *n)
{
    json_t *list = json_array();
    char name[NOTES_NAME];
    for (int64_t k = 0; k < n->column.count; k++)
        if (json_array_append_new(list, json_string(notes_edge_name(name, n, k))) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

consm_status plain_about_save(const struct dataset *d, const char *path)
{
    consm_status st = CONSM_OK;
    struct file_writer *w = NULL;
    char *text = NULL;
    json_t *root = json_object();
    int fault = json_object_set_new(root, "name", json_string(d->name));
    fault |= json_object_set_new(root, "directed", json_boolean(d->directed));
    fault |= json_object_set_new(root, "classes", class_list(d));
    /* A dense table has its own header. */
    if (d->sparse && d->feature_name)
        fault |= json_object_set_new(root, "features", list_of(d->feature_name, d->features));
    if (d->edge_notes)
        fault |= json_object_set_new(root, "edge_attributes", note_list(d->edge_notes));
    text = fault ? NULL : json_text(root, JSON_INDENT(1));
    if (!text)
        TRY(status_fail(CONSM_EINVAL, "%s: a name is not UTF-8 text", path));
    TRY(file_create(&w, path));
    TRY(file_write(w, text, strlen(text)));
    TRY(file_write(w, "\n", 1));
    TRY(file_commit(w));
done:
    json_decref(root);
    free(text); /* jansson's own block */
    file_close(w);
    return st;
}
