/* Finds the reader for a path and loads the dataset; and saves one. */
#include "data/load.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* A set without a name is named after the last part of its path. */
static consm_status shorten_name(struct dataset *d, const char *path)
{
    size_t end = strlen(path), begin;
    if (strcmp(d->name, path) != 0)
        return CONSM_OK;
    while (end > 0 && path[end - 1] == '/')
        end--;
    if (reader_of_suffix(path))
        end = (size_t)(reader_suffix(path) - path);
    for (begin = end; begin > 0 && path[begin - 1] != '/';)
        begin--;
    if (begin == end || path[begin] == '.')
        return CONSM_OK;
    char *name = mem_strndup(path + begin, end - begin);
    if (!name)
        return CONSM_ENOMEM;
    utf8_mend(name);
    mem_free(d->name);
    d->name = name;
    return CONSM_OK;
}

static consm_status check_reading(const struct reader *r, const char *path,
                                  const struct reading_options *reading)
{
    if ((reading->labels || reading->features) && !r->companions)
        return status_fail(CONSM_EINVAL,
                           "%s: the format is %s: --labels and --features work with edge lists, "
                           "Matrix Market and graph formats only; in a plain folder, put labels "
                           "and features into nodes.csv",
                           path, r->title);
    if (wanted_typed(&reading->wanted) && !r->load_with)
        return status_fail(
            CONSM_EINVAL,
            "%s: the format is %s, whose columns have no names: --id-column, --label-column, "
            "--weight-column, --source-column, --target-column and --ignore work with tables only",
            path, r->title);
    if (reading->partition && !r->in_parts)
        return status_fail(CONSM_EINVAL,
                           "%s: the format is %s: --in-parts reads edge lists, folders with "
                           "edges.csv, and folders written by `consm partition`",
                           path, r->title);
    return wanted_check(&reading->wanted);
}

/* Mapped files and sets of several files cannot be compressed. */
static consm_status check_packed(const struct reader *r, const char *path)
{
    consm_status st = CONSM_OK;
    struct file_map map = {0};
    if (!r->whole || file_kind(path) != FILE_REGULAR)
        return CONSM_OK;
    TRY(file_map(&map, path));
    if (unpack_kind(map.data, map.size) != UNPACK_PLAIN)
        st = status_fail(CONSM_EFORMAT, "%s: %s files cannot be compressed: unpack it first", path,
                         r->title);
done:
    file_unmap(&map);
    return st;
}

consm_status data_load_with(struct dataset **out, const char *path, const char *format,
                            struct reading_options *reading)
{
    consm_status st = CONSM_OK;
    const struct reader *r;
    struct mem_bound bound;
    *out = NULL;
    if (format)
        TRY(reader_find(&r, format));
    else
        TRY(reader_recognise(&r, path));
    TRY(check_reading(r, path, reading));
    TRY(check_packed(r, path));
    file_bound_begin(&bound);
    st = r->load_with ? r->load_with(out, path, reading) : r->load(out, path);
    TRY(file_bound_end(&bound, st, path));
    (*out)->duplicates = reading->duplicates;
    TRY(shorten_name(*out, path));
done:
    if (st < 0) {
        dataset_free(*out);
        *out = NULL;
    }
    return st;
}

consm_status data_load_path(struct dataset **out, const char *path, const char *format)
{
    struct reading_options reading = {0};
    return data_load_with(out, path, format, &reading);
}

/* ---- writing ------------------------------------------------------------- */

/* The first format that writes folders. */
static const struct reader *folder_writer(void)
{
    const struct reader *r;
    for (int i = 0; (r = reader_get(i)) != NULL; i++)
        if (r->save && !r->suffix[0])
            return r;
    return NULL;
}

static consm_status unknown_suffix(const char *path)
{
    const struct reader *r;
    char known[256] = "";
    size_t used = 0;
    for (int i = 0; (r = reader_get(i)) != NULL && used < sizeof known; i++)
        if (r->save && r->suffix[0])
            used += (size_t)snprintf(known + used, sizeof known - used, "%s, ", r->suffix[0]);
    return status_fail(CONSM_EINVAL,
                       "%s: cannot write %s files: expected %sor a folder; if the folder's name "
                       "has a dot, end it with /",
                       path, reader_suffix(path), known);
}

consm_status data_writer(const struct reader **out, const char *path, const char *format)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    if (format) {
        TRY(reader_find(out, format));
        if (!(*out)->save)
            st = status_fail(CONSM_EINVAL, "%s cannot be written: expected " READER_SAVED_NAMES,
                             (*out)->name);
        goto done;
    }
    bool folder = file_kind(path) == FILE_FOLDER; /* an existing folder may have any name */
    *out = path[unpack_stem(path)] || folder ? NULL : reader_of_suffix(path);
    if (!*out || !(*out)->save) {
        if (reader_suffix(path) && !folder)
            TRY(unknown_suffix(path));
        *out = folder_writer();
    }
done:
    return st;
}

consm_status data_save_path(const struct dataset *d, const char *path, const char *format)
{
    consm_status st = CONSM_OK;
    const struct reader *r;
    TRY(data_writer(&r, path, format));
    TRY(dataset_check(d));
    TRY(r->save(d, path));
done:
    return st;
}
