/* Opens datasets once. */
#include "study/sets.h"
#include "study/published.h"

#include "data/registry/registry.h"

#include "base/alloc.h"
#include "data/generate/generate.h"
#include "io/file.h"
#include <stdio.h>
#include <string.h>

const struct study_set *sets_find(const struct study_sets *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->set[i].name, name) == 0)
            return &s->set[i];
    return NULL;
}

static void set_free(struct study_set *set)
{
    prepare_free(&set->prepared);
    dataset_free(set->data);
    mem_free(set->name);
}

/* A set that could not be opened is not among them. */
static void drop_last(struct study_sets *s)
{
    set_free(&s->set[--s->count]);
}

static consm_status open_one(struct study_sets *s, const char *name, const struct data_options *o)
{
    consm_status st = CONSM_OK;
    if ((st = GROW(s->set, s->count, s->capacity, 1)) < 0)
        return st;
    struct study_set *set = &s->set[s->count];
    *set = (struct study_set){0};
    s->count++;
    if (!(set->name = mem_strdup(name)))
        TRY(CONSM_ENOMEM);
    char hash[140] = "unknown", missing[64];
    if (published_knows(name)) {
        TRY(published_open(&set->data, hash, missing, name, o));
        if (!set->data)
            TRY(status_fail(CONSM_ENOTFOUND, "%s: no data folder has attacked/%s", name, missing));
    } else {
        TRY(data_open(&set->data, name, o));
        if (set->data->sha256[0])
            snprintf(hash, sizeof hash, "%s", set->data->sha256);
    }
    TRY(prepare(&set->prepared, set->data));
    if (json_object_set_new(s->hashes, name, json_string(hash)) != 0)
        TRY(status_fail(CONSM_EINVAL, "%s: its name is not UTF-8", name));
done:
    if (st < 0)
        drop_last(s);
    return st;
}

consm_status sets_attacked_file(char **out, const char *name, const char *data_dir)
{
    consm_status st = CONSM_OK;
    char inside[256];
    struct data_folders f = {0};
    struct data_file file = {.path = inside};
    *out = NULL;
    snprintf(inside, sizeof inside, "attacked/%s", name);
    TRY(registry_folders(&f, data_dir));
    const char *folder[] = {f.given, f.environment, f.cache};
    for (int i = 0; i < 3 && !*out; i++)
        if (folder[i])
            TRY(registry_file_in(out, folder[i], &file));
done:
    registry_folders_free(&f);
    return st;
}

consm_status sets_open_graph(struct study_sets *s, const char *name, const struct data_options *o)
{
    consm_status st = CONSM_OK;
    char *path = NULL;
    if (sets_find(s, name))
        return CONSM_OK;
    TRY(sets_attacked_file(&path, name, o->data_dir));
    if (!path)
        return CONSM_OK;
    TRY(GROW(s->set, s->count, s->capacity, 1));
    struct study_set *set = &s->set[s->count++];
    *set = (struct study_set){0};
    if (!(set->name = mem_strdup(name)))
        TRY(CONSM_ENOMEM);
    TRY(data_open(&set->data, path, NULL));
    TRY(dataset_graph(&set->prepared.graph, set->data, NULL));
    if (json_object_set_new(s->hashes, name, json_string(set->data->sha256)) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for the data's hashes"));
done:
    mem_free(path);
    return st;
}

consm_status sets_graph(const struct csr **out, const struct study_sets *s, const char *name)
{
    const struct study_set *set = sets_find(s, name);
    *out = set ? set->prepared.graph : NULL;
    return set ? CONSM_OK : status_fail(CONSM_ENOTFOUND, "%s was never opened", name);
}

consm_status sets_open(struct study_sets *s, const char *name, const struct data_options *o)
{
    if (!s->hashes && !(s->hashes = json_object()))
        return status_fail(CONSM_ENOMEM, "out of memory for the data's hashes");
    return generate_knows(name) || sets_find(s, name) ? CONSM_OK : open_one(s, name, o);
}

void sets_free(struct study_sets *s)
{
    for (size_t i = 0; i < s->count; i++)
        set_free(&s->set[i]);
    mem_free(s->set);
    json_decref(s->hashes);
    *s = (struct study_sets){0};
}

bool sets_at_hand(const char *name, const char *data_dir)
{
    const struct data_set *known = registry_find(name);
    char *path = NULL;
    if (generate_knows(name) || !known)
        return generate_knows(name) || file_kind(name) != FILE_MISSING;
    consm_status st = registry_locate(&path, known, data_dir);
    mem_free(path);
    if (st < 0)
        status_clear();
    return st == CONSM_OK;
}
