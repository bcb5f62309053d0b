/* Opens an archive and finds arrays in it. */
#include "data/readers/npz_archive.h"

#include "io/sha256.h"
#include <stdio.h>
#include <string.h>

enum { FREE_STRINGS = 1 << 19 };

consm_status npz_open_memory(struct npz_archive *out, const char *name, const uint8_t *bytes,
                             size_t size)
{
    *out = (struct npz_archive){.zip = NULL};
    sha256_of(out->sha256, bytes, size);
    return zip_open(&out->zip, name, bytes, size);
}

consm_status npz_open(struct npz_archive *out, const char *path)
{
    consm_status st = CONSM_OK;
    struct unpacked file;
    *out = (struct npz_archive){.zip = NULL};
    TRY(unpack_open(&file, path));
    st = npz_open_memory(out, path, file.data, file.size);
    out->file = file;
    if (st < 0)
        npz_close(out);
done:
    return st;
}

void npz_close(struct npz_archive *archive)
{
    zip_free(archive->zip);
    unpack_close(&archive->file);
    *archive = (struct npz_archive){.zip = NULL};
}

const struct zip_member *npz_find(const struct npz_archive *archive, const char *key)
{
    char name[128];
    snprintf(name, sizeof name, "%s.npy", key);
    const struct zip_member *m = zip_find(archive->zip, name);
    return m ? m : zip_find(archive->zip, key);
}

/* "edges.npy, node_labels.npy, …" as far as it fits. */
static void list_members(char *text, size_t room, const struct zip *z)
{
    size_t used = 0;
    *text = 0;
    for (int64_t i = 0; i < z->count; i++) {
        const char *name = z->member[i].name;
        if (strlen(name) + 6 > room - used) {
            strcpy(text + used, "…");
            return;
        }
        used += (size_t)snprintf(text + used, room - used, "%s%s", i ? ", " : "", name);
    }
}

consm_status npz_missing(const struct npz_archive *archive, const char *what)
{
    char members[300];
    list_members(members, sizeof members, archive->zip);
    return status_fail(CONSM_EFORMAT, "%s: has no array %s: the archive contains %s",
                       archive->zip->file, what, *members ? members : "no members");
}

consm_status npz_read(struct npz_array *out, const struct npz_archive *archive, const char *key)
{
    consm_status st = CONSM_OK;
    const struct zip_member *m = npz_find(archive, key);
    if (!m)
        return npz_missing(archive, key);
    snprintf(out->label, sizeof out->label, "%s: %s", archive->zip->file, m->name);
    TRY(zip_read(&out->bytes, archive->zip, m));
    TRY(npy_parse(&out->npy, out->bytes.data, out->bytes.size, out->label));
done:
    return st;
}

void npz_array_free(struct npz_array *array)
{
    zip_bytes_free(&array->bytes);
}

/* A few bytes of deflated zeros must not become millions of allocations: the number of strings is
 * checked against the packed size. */
static consm_status check_string_count(const struct npz_array *array, const struct zip_member *m)
{
    if (array->npy.count <= FREE_STRINGS || (uint64_t)array->npy.count - FREE_STRINGS <= m->packed)
        return CONSM_OK;
    return status_fail(CONSM_ELIMIT, "%s: %lld strings are too many for %llu compressed bytes",
                       array->label, (long long)array->npy.count, (unsigned long long)m->packed);
}

/* Strings stored one after the other, as npz_save does with long ones. */
static consm_status cut_strings(char ***out, const struct npy *bytes, const struct npy *ends)
{
    consm_status st = CONSM_OK;
    int64_t *end = NULL, begin = 0;
    char **text = NULL;
    TRY(npy_expect(bytes, 1, -1, -1));
    if (bytes->kind != 'u' || bytes->width != 1)
        TRY(status_fail(CONSM_EFORMAT, "%s: expected elements of type u1", bytes->label));
    TRY(NEW(end, ends->count));
    TRY(npy_int64(end, ends, 0, bytes->count));
    TRY(ZNEW(text, ends->count));
    for (int64_t i = 0; i < ends->count; begin = end[i++]) {
        size_t length = (size_t)(end[i] - begin);
        if (end[i] < begin || memchr(bytes->data + begin, 0, length))
            TRY(status_fail(CONSM_EFORMAT, "%s: element %lld: the string has no end", ends->label,
                            (long long)i));
        if (!(text[i] = mem_strndup((const char *)bytes->data + begin, length)))
            TRY(CONSM_ENOMEM);
    }
    *out = text;
    text = NULL;
done:
    mem_free_texts(text, ends->count);
    mem_free(end);
    return st;
}

consm_status npz_read_strings(char ***out, const struct npz_archive *archive, const char *key,
                              int64_t *count, int64_t expected)
{
    consm_status st = CONSM_OK;
    struct npz_array array = {.label = ""}, bytes = {.label = ""};
    char ends_key[64], bytes_key[64];
    *out = NULL;
    snprintf(ends_key, sizeof ends_key, "%s_ends", key);
    snprintf(bytes_key, sizeof bytes_key, "%s_utf8", key);
    bool packed = npz_find(archive, ends_key) != NULL;
    const struct zip_member *m = npz_find(archive, packed ? ends_key : key);
    if (!m)
        return CONSM_OK;
    TRY(npz_read(&array, archive, packed ? ends_key : key));
    TRY(npy_expect(&array.npy, 1, expected, -1));
    TRY(check_string_count(&array, m));
    if (packed) {
        TRY(npz_read(&bytes, archive, bytes_key));
        TRY(cut_strings(out, &bytes.npy, &array.npy));
    } else {
        TRY(npy_strings(out, &array.npy));
    }
    *count = array.npy.count;
done:
    npz_array_free(&array);
    npz_array_free(&bytes);
    return st;
}
