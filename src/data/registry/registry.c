/* Finds a registered set by name, and its files on this machine. */
#include "data/registry/registry.h"

#include "base/nearest.h"
#include "data/registry/table.h"
#include "io/file.h"
#include "io/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct data_set *registry_get(int index)
{
    return index >= 0 && index < registry_sets ? &registry_table[index] : NULL;
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '_' ? '-' : *a) != (*b == '_' ? '-' : *b))
            return false;
    return *a == *b;
}

const struct data_set *registry_find(const char *name)
{
    for (int i = 0; i < registry_sets; i++) {
        const struct data_set *set = &registry_table[i];
        if (same_name(set->name, name) || (set->alias && same_name(set->alias, name)))
            return set;
    }
    return NULL;
}

static const char *known_name(void *ctx, int index)
{
    static const char *const built_in[] = {"karate", "csbm"};
    (void)ctx;
    if (index < 2)
        return built_in[index];
    index -= 2;
    if (index < registry_sets)
        return registry_table[index].name;
    for (int i = 0, alias = index - registry_sets; i < registry_sets; i++)
        if (registry_table[i].alias && alias-- == 0)
            return registry_table[i].alias;
    return NULL;
}

const char *registry_nearest(const char *name)
{
    return nearest_word(name, known_name, NULL);
}

/* ---- folders ------------------------------------------------------------- */

consm_status registry_folders(struct data_folders *out, const char *data_dir)
{
    const char *environment = getenv("CONSM_DATA");
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    *out = (struct data_folders){.given = data_dir && *data_dir ? data_dir : NULL};
    if (environment && *environment)
        out->environment = environment;
    /* The XDG rules: a relative path does not count. */
    if (cache && *cache == '/')
        return file_join(&out->cache, cache, "consm");
    if (home && *home)
        return file_join(&out->cache, home, ".cache/consm");
    return CONSM_OK;
}

void registry_folders_free(struct data_folders *f)
{
    mem_free(f->cache);
    f->cache = NULL;
}

consm_status registry_file_in(char **out, const char *folder, const struct data_file *file)
{
    consm_status st = CONSM_OK;
    TRY(file_join(out, folder, file->path));
    if (file_kind(*out) != FILE_MISSING)
        return CONSM_OK;
    mem_free(*out);
    *out = NULL;
    TRY(file_join(out, folder, strchr(file->path, '/') + 1));
    if (file_kind(*out) != FILE_MISSING)
        return CONSM_OK;
    mem_free(*out);
    *out = NULL;
done:
    return st;
}

/* How many of the set's files a folder has; *missing is the first that it lacks. */
static consm_status count_files(int *found, const struct data_file **missing, const char *folder,
                                const struct data_set *set)
{
    consm_status st = CONSM_OK;
    char *path = NULL;
    *found = 0;
    *missing = NULL;
    for (int i = 0; i < set->files; i++) {
        TRY(registry_file_in(&path, folder, &set->file[i]));
        *found += path != NULL;
        if (!path && !*missing)
            *missing = &set->file[i];
        mem_free(path);
        path = NULL;
    }
done:
    return st;
}

/* The first folder with all files of the set, as a new string. */
static consm_status find_folder(char **out, const struct data_set *set, const char *data_dir)
{
    consm_status st = CONSM_OK;
    struct data_folders f = {0};
    const struct data_file *missing = NULL, *lacks = NULL;
    const char *partial = NULL;
    int found = 0;
    *out = NULL;
    TRY(registry_folders(&f, data_dir));
    const char *folder[] = {f.given, f.environment, f.cache};
    for (int i = 0; i < 3; i++) {
        if (!folder[i])
            continue;
        TRY(count_files(&found, &missing, folder[i], set));
        if (found == set->files) {
            *out = mem_strdup(folder[i]);
            TRY(*out ? CONSM_OK : CONSM_ENOMEM);
            goto done;
        }
        if (found > 0 && !partial) {
            partial = folder[i];
            lacks = missing;
        }
    }
    if (partial)
        TRY(status_fail(CONSM_EIO, "%s: %s lacks %s; download it with `consm fetch %s`", set->name,
                        partial, lacks->path, set->name));
    TRY(status_fail(CONSM_EIO,
                    "%s: its files are not on this machine (looked in%s%s%s%s%s%s); download them "
                    "with `consm fetch %s`",
                    set->name, f.given ? " " : "", f.given ? f.given : "",
                    f.environment ? " $CONSM_DATA=" : "", f.environment ? f.environment : "",
                    f.cache ? " " : "", f.cache ? f.cache : "", set->name));
done:
    registry_folders_free(&f);
    return st;
}

consm_status registry_locate(char **out, const struct data_set *set, const char *data_dir)
{
    consm_status st = CONSM_OK;
    char *folder = NULL;
    *out = NULL;
    TRY(find_folder(&folder, set, data_dir));
    TRY(registry_file_in(out, folder, &set->file[0]));
done:
    mem_free(folder);
    return st;
}

consm_status registry_hash(char hash[65], const char *path)
{
    consm_status st = CONSM_OK;
    struct file_map map = {0};
    TRY(file_map(&map, path));
    sha256_of(hash, map.data, map.size);
done:
    file_unmap(&map);
    return st;
}

consm_status registry_verify(struct registry_check *out, const struct data_set *set,
                             const char *data_dir)
{
    consm_status st = CONSM_OK;
    char *folder = NULL, *path = NULL, hash[65];
    *out = (struct registry_check){0};
    TRY(find_folder(&folder, set, data_dir));
    for (int i = 0; i < set->files; i++) {
        const struct data_file *file = &set->file[i];
        TRY(registry_file_in(&path, folder, file));
        if (!path)
            TRY(status_fail(CONSM_EIO, "%s: %s no longer contains the file %s", set->name, folder,
                            file->path));
        TRY(registry_hash(hash, path));
        mem_free(path);
        path = NULL;
        if (!file->sha256)
            out->unknown++;
        else if (strcmp(file->sha256, hash) == 0)
            out->right++;
        else if (!out->wrong)
            out->wrong = file;
    }
done:
    mem_free(path);
    mem_free(folder);
    return st;
}
