/* Downloads the files of a set into a data folder. Files that are there with the right hash stay.
 */
#include "fetch/fetch.h"

#include "io/file.h"

#include <stdio.h>
#include <string.h>

struct fetch_options fetch_defaults(void)
{
    return (struct fetch_options){
        .attempts = 5, .first_wait = 1, .stall_seconds = 30, .most_bytes = (int64_t)1 << 35};
}

/* The hash recorded by an earlier download, or "" when there is none. */
static consm_status read_record(char hash[65], const char *path)
{
    consm_status st = CONSM_OK;
    struct file_map map = {0};
    size_t digits = 0;
    hash[0] = 0;
    if (file_kind(path) != FILE_REGULAR)
        return CONSM_OK;
    TRY(file_map(&map, path));
    for (; digits < 64 && digits < map.size; digits++)
        if (!strchr("0123456789abcdef", map.data[digits]) || !map.data[digits])
            break;
    if (digits < 64)
        TRY(status_fail(CONSM_EFORMAT, "%s: expected a SHA-256 in 64 hexadecimal digits", path));
    memcpy(hash, map.data, 64);
    hash[64] = 0;
done:
    file_unmap(&map);
    return st;
}

/* In the form that sha256sum -c reads. */
static consm_status write_record(const char *path, const char *hash, const char *file)
{
    consm_status st = CONSM_OK;
    struct file_writer *w = NULL;
    const char *name = strrchr(file, '/');
    TRY(file_create(&w, path));
    TRY(file_printf(w, "%s  %s\n", hash, name ? name + 1 : file));
    TRY(file_commit(w));
done:
    file_close(w);
    return st;
}

static consm_status make_url(char **out, const struct data_set *set, const struct data_file *file,
                             const char *mirror)
{
    consm_status st = CONSM_OK;
    const char *base = mirror ? mirror : set->base, *rest = mirror ? file->path : file->url;
    size_t length = strlen(base);
    while (length > 0 && base[length - 1] == '/')
        length--;
    TRY(NEW(*out, length + strlen(rest) + 2));
    sprintf(*out, "%.*s/%s", (int)length, base, rest);
done:
    return st;
}

static consm_status make_folder_of(const char *path)
{
    consm_status st = CONSM_OK;
    char *folder = NULL;
    TRY(file_folder(&folder, path));
    TRY(file_make_folders(folder));
done:
    mem_free(folder);
    return st;
}

/* The names of a file while it is downloaded. */
struct names {
    char *path, *record, *url;
    char expected[65]; /* registered or recorded hash, or "" */
};

static consm_status make_names(struct names *n, const struct data_set *set,
                               const struct data_file *file, const char *folder, const char *mirror)
{
    consm_status st = CONSM_OK;
    TRY(file_join(&n->path, folder, file->path));
    TRY(NEW(n->record, strlen(n->path) + 8));
    sprintf(n->record, "%s.sha256", n->path);
    TRY(make_url(&n->url, set, file, mirror));
    if (file->sha256)
        strcpy(n->expected, file->sha256);
    else
        TRY(read_record(n->expected, n->record));
done:
    return st;
}

static consm_status fetch_one(struct fetch_report *report, struct names *n,
                              const struct fetch_options *o, struct fetch_progress *p,
                              bool registered)
{
    consm_status st = CONSM_OK;
    char hash[65];
    if (file_kind(n->path) == FILE_REGULAR) {
        TRY(registry_hash(hash, n->path));
        if (!n->expected[0]) { /* put there by hand: from now on it must not change */
            TRY(write_record(n->record, hash, n->path));
            report->recorded++;
            report->present++;
            return CONSM_OK;
        }
        if (strcmp(hash, n->expected) == 0) {
            report->present++;
            return CONSM_OK;
        }
    }
    TRY(make_folder_of(n->path));
    TRY(fetch_file(hash, n->url, n->path, n->expected[0] ? n->expected : NULL, o, p));
    report->fetched++;
    report->bytes += p->done;
    if (!registered && !n->expected[0]) {
        TRY(write_record(n->record, hash, n->path));
        report->recorded++;
    }
done:
    return st;
}

consm_status fetch_set(struct fetch_report *report, const struct data_set *set, const char *folder,
                       const struct fetch_options *o)
{
    consm_status st = CONSM_OK;
    struct names n = {0};
    memset(report, 0, sizeof *report);
    for (int i = 0; i < set->files; i++) {
        const struct data_file *file = &set->file[i];
        struct fetch_progress p = {.file = file->path, .index = i, .files = set->files};
        TRY(make_names(&n, set, file, folder, o->mirror));
        TRY(fetch_one(report, &n, o, &p, file->sha256 != NULL));
        mem_free(n.path);
        mem_free(n.record);
        mem_free(n.url);
        n = (struct names){0};
    }
done:
    mem_free(n.path);
    mem_free(n.record);
    mem_free(n.url);
    return st;
}
