/* Append-only JSON lines with a hash index over the keys. */
#include "study/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"
#include "io/json_text.h"
#include "io/sha256.h"

struct runs {
    char *path;
    int fd; /* -1 when only read */
    json_t **record;
    size_t count, capacity;
    int64_t *slot; /* (slots) index of a record or -1; open addressing */
    size_t slots;  /* a power of two, at least twice count */
    size_t torn;
    pthread_mutex_t lock;
};

static consm_status dump(char **out, const json_t *value, size_t flags)
{
    *out = json_text(value, flags | JSON_COMPACT | JSON_REAL_PRECISION(17));
    return *out ? CONSM_OK : status_fail(CONSM_EINVAL, "runs: a value cannot be written as JSON");
}

consm_status runs_key(char key[65], const json_t *config)
{
    struct sha256 hash;
    char *text;
    key[0] = 0;
    consm_status st = dump(&text, config, JSON_SORT_KEYS);
    if (st < 0)
        return st;
    sha256_init(&hash);
    sha256_add(&hash, text, strlen(text));
    sha256_hex(key, &hash);
    free(text);
    return CONSM_OK;
}

static const char *record_key(const json_t *record)
{
    return json_string_value(json_object_get(record, "key"));
}

/* The slot of the key, or the free slot where it would go. FNV-1a spreads any key well enough. */
static size_t find_slot(const struct runs *r, const char *key)
{
    uint64_t hash = 14695981039346656037U;
    for (const char *c = key; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 1099511628211U;
    size_t at = (size_t)hash & (r->slots - 1);
    while (r->slot[at] >= 0 && strcmp(record_key(r->record[r->slot[at]]), key) != 0)
        at = (at + 1) & (r->slots - 1);
    return at;
}

/* Makes room for one more record in list and index, so that keep() cannot fail. */
static consm_status reserve(struct runs *r)
{
    consm_status st = CONSM_OK;
    int64_t *slot = NULL;
    TRY(GROW(r->record, r->count, r->capacity, 1));
    if (2 * (r->count + 1) <= r->slots)
        goto done;
    size_t slots = r->slots ? 2 * r->slots : 64;
    TRY(NEW(slot, slots));
    mem_free(r->slot);
    r->slot = slot;
    r->slots = slots;
    memset(slot, 0xff, slots * sizeof *slot); /* all -1 */
    for (size_t i = 0; i < r->count; i++)
        slot[find_slot(r, record_key(r->record[i]))] = (int64_t)i;
done:
    return st;
}

/* Takes ownership of the reference. */
static void keep(struct runs *r, json_t *record)
{
    r->slot[find_slot(r, record_key(record))] = (int64_t)r->count;
    r->record[r->count++] = record;
}

static consm_status read_line(struct runs *r, const char *line, size_t length, long long number)
{
    json_error_t error;
    json_t *record = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
    consm_status st = CONSM_OK;
    if (!record)
        TRY(status_fail(CONSM_EFORMAT, "%s: line %lld, column %d: %s", r->path, number,
                        error.column, error.text));
    if (!record_key(record))
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: line %lld: the JSON has no \"key\": expected a run record", r->path,
                        number));
    TRY(reserve(r));
    keep(r, record);
    return CONSM_OK;
done:
    json_decref(record);
    return st;
}

static consm_status read_all(struct runs *r)
{
    consm_status st = CONSM_OK;
    struct file_map map;
    TRY(file_map(&map, r->path));
    const char *at = (const char *)map.data;
    size_t left = map.size;
    for (long long number = 1; left > 0; number++) {
        const char *end = memchr(at, '\n', left);
        if (!end) {
            r->torn = left;
            break;
        }
        size_t length = (size_t)(end - at);
        if (length > 0)
            TRY(read_line(r, at, length, number));
        at += length + 1;
        left -= length + 1;
    }
done:
    file_unmap(&map);
    return st;
}

static consm_status open_for_append(struct runs *r)
{
    r->fd = open(r->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (r->fd < 0)
        return status_fail(CONSM_EIO, "%s: cannot open: %s", r->path, strerror(errno));
    if (flock(r->fd, LOCK_EX | LOCK_NB) != 0)
        return status_fail(CONSM_EIO, "%s: another process is writing to it", r->path);
    return CONSM_OK;
}

static consm_status cut_torn_line(struct runs *r)
{
    struct stat info;
    if (fstat(r->fd, &info) != 0 || ftruncate(r->fd, info.st_size - (off_t)r->torn) != 0)
        return status_fail(CONSM_EIO, "%s: cannot remove its incomplete last line: %s", r->path,
                           strerror(errno));
    return CONSM_OK;
}

consm_status runs_open(struct runs **out, const char *path, enum runs_mode mode)
{
    consm_status st = CONSM_OK;
    struct runs *r;
    *out = NULL;
    TRY(ZNEW(r, 1));
    r->fd = -1;
    pthread_mutex_init(&r->lock, NULL);
    if (!(r->path = mem_strdup(path)))
        TRY(CONSM_ENOMEM);
    if (mode == RUNS_APPEND)
        TRY(open_for_append(r));
    if (mode == RUNS_APPEND || file_kind(path) != FILE_MISSING)
        TRY(read_all(r));
    if (mode == RUNS_APPEND && r->torn)
        TRY(cut_torn_line(r));
    *out = r;
    return CONSM_OK;
done:
    runs_close(r);
    return st;
}

void runs_close(struct runs *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    for (size_t i = 0; i < r->count; i++)
        json_decref(r->record[i]);
    pthread_mutex_destroy(&r->lock);
    mem_free(r->record);
    mem_free(r->slot);
    mem_free(r->path);
    mem_free(r);
}

int64_t runs_count(const struct runs *r)
{
    return (int64_t)r->count;
}

const json_t *runs_get(const struct runs *r, int64_t i)
{
    return i >= 0 && (size_t)i < r->count ? r->record[i] : NULL;
}

const json_t *runs_find(struct runs *r, const char *key)
{
    const json_t *found = NULL;
    pthread_mutex_lock(&r->lock);
    if (r->slots > 0 && r->slot[find_slot(r, key)] >= 0)
        found = r->record[r->slot[find_slot(r, key)]];
    pthread_mutex_unlock(&r->lock);
    return found;
}

size_t runs_torn(const struct runs *r)
{
    return r->torn;
}

/* Writes the whole line at once and syncs; a short write (disk full) is undone. */
static consm_status write_line(struct runs *r, const char *line, size_t length)
{
    struct stat before;
    if (fstat(r->fd, &before) != 0)
        return status_fail(CONSM_EIO, "%s: %s", r->path, strerror(errno));
    ssize_t written;
    do
        written = write(r->fd, line, length);
    while (written < 0 && errno == EINTR);
    if (written == (ssize_t)length && fsync(r->fd) == 0)
        return CONSM_OK;
    int cause = written >= 0 && written < (ssize_t)length ? ENOSPC : errno;
    if (ftruncate(r->fd, before.st_size) != 0)
        return status_fail(CONSM_EIO, "%s: cannot write (%s); the last line is incomplete", r->path,
                           strerror(cause));
    return status_fail(CONSM_EIO, "%s: cannot write: %s", r->path, strerror(cause));
}

static consm_status make_record(json_t **out, const json_t *config, const json_t *result)
{
    char key[65];
    const char *name;
    json_t *value, *record = NULL;
    consm_status st = CONSM_OK;
    *out = NULL;
    TRY(runs_key(key, config));
    if (!json_is_object(result))
        TRY(status_fail(CONSM_EINVAL, "runs: a result is not a JSON object"));
    record = json_object();
    if (!record || json_object_set_new(record, "key", json_string(key)) != 0 ||
        json_object_set_new(record, "config", json_deep_copy(config)) != 0)
        TRY(status_fail(CONSM_ENOMEM, "runs: out of memory for a record"));
    json_object_foreach((json_t *)result, name, value)
    {
        if (json_object_get(record, name))
            TRY(status_fail(CONSM_EINVAL, "runs: a result must not have a field \"%s\"", name));
        if (json_object_set_new(record, name, json_deep_copy(value)) != 0)
            TRY(status_fail(CONSM_ENOMEM, "runs: out of memory for a record"));
    }
    *out = record;
    return CONSM_OK;
done:
    json_decref(record);
    return st;
}

consm_status runs_append(struct runs *r, const json_t *config, const json_t *result)
{
    consm_status st = CONSM_OK;
    json_t *record = NULL;
    char *line = NULL;
    pthread_mutex_lock(&r->lock);
    if (r->fd < 0)
        TRY(status_fail(CONSM_EINVAL, "%s: was opened for reading only", r->path));
    TRY(make_record(&record, config, result));
    TRY(dump(&line, record, 0));
    TRY(reserve(r));
    size_t length = strlen(line);
    line[length] = '\n'; /* replaces the final NUL */
    TRY(write_line(r, line, length + 1));
    keep(r, record);
    record = NULL;
done:
    pthread_mutex_unlock(&r->lock);
    json_decref(record);
    free(line);
    return st;
}
