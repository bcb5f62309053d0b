/*
 * Writes safetensors: the header once everything is declared, then the bytes. They are counted; a
 * writer that delivers another size than declared makes no file.
 */
#include "io/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_text.h"
#include "io/sha256.h"

struct safetensors_writer {
    json_t *tensors, *notes;
    size_t declared, written;
    struct file_writer *file;
    struct sha256 sum;
    bool sealed;
};

/* jansson fails here only without memory, or on text that is not UTF-8. */
static consm_status set_json(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        return status_fail(CONSM_EINVAL, "\"%.60s\" cannot be written: expected UTF-8 text", key);
    return CONSM_OK;
}

consm_status safetensors_writer_new(struct safetensors_writer **out)
{
    consm_status st = CONSM_OK;
    struct safetensors_writer *w;
    *out = NULL;
    TRY(ZNEW(w, 1));
    w->tensors = json_object();
    w->notes = json_object();
    if (!w->tensors || !w->notes)
        TRY(status_fail(CONSM_ENOMEM, "out of memory"));
    *out = w;
    return CONSM_OK;
done:
    safetensors_writer_free(w);
    return st;
}

consm_status safetensors_declare(struct safetensors_writer *w, const char *name,
                                 enum safetensors_type type, int rank, const int64_t *shape)
{
    consm_status st = CONSM_OK;
    size_t bytes = safetensors_type_bytes(type), end;
    json_t *entry = json_object(), *extents = json_array(), *place = json_array();
    int fault = 0;
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 0 || __builtin_mul_overflow(bytes, (size_t)shape[i], &bytes))
            TRY(status_fail(CONSM_EINVAL, "tensor %s is larger than any file", name));
        fault |= json_array_append_new(extents, json_integer(shape[i]));
    }
    if (__builtin_add_overflow(w->declared, bytes, &end) || end > SIZE_MAX / 2)
        TRY(status_fail(CONSM_EINVAL, "tensor %s is larger than any file", name));
    if (w->declared % safetensors_type_bytes(type) != 0 || json_object_get(w->tensors, name))
        TRY(status_fail(CONSM_EINVAL,
                        "tensor %s is declared twice or after one with smaller elements", name));
    fault |= json_array_append_new(place, json_integer((json_int_t)w->declared)) |
             json_array_append_new(place, json_integer((json_int_t)end));
    if (fault)
        TRY(status_fail(CONSM_ENOMEM, "out of memory"));
    TRY(set_json(entry, "dtype", json_string(safetensors_type_name(type))));
    TRY(set_json(entry, "shape", json_incref(extents)));
    TRY(set_json(entry, "data_offsets", json_incref(place)));
    TRY(set_json(w->tensors, name, json_incref(entry)));
    w->declared = end;
done:
    json_decref(entry);
    json_decref(extents);
    json_decref(place);
    return st;
}

consm_status safetensors_note(struct safetensors_writer *w, const char *key, const char *value)
{
    return set_json(w->notes, key, json_string(value));
}

static consm_status write_summed(struct safetensors_writer *w, const void *bytes, size_t count)
{
    if (w->sealed)
        sha256_add(&w->sum, bytes, count);
    return file_write(w->file, bytes, count);
}

/* Pads the header with blanks to 64 bytes, as the format allows. */
static consm_status write_header(struct safetensors_writer *w, const char *text)
{
    consm_status st = CONSM_OK;
    static const char blanks[64] =
        "                                                               ";
    size_t used = strlen(text), padded = (8 + used + 63) / 64 * 64 - 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)((uint64_t)padded >> 8 * i);
    TRY(write_summed(w, length, 8));
    TRY(write_summed(w, text, used));
    TRY(write_summed(w, blanks, padded - used));
done:
    return st;
}

consm_status safetensors_begin(struct safetensors_writer *w, const char *path, bool sealed)
{
    consm_status st = CONSM_OK;
    char *text = NULL;
    json_t *header = NULL;
    w->sealed = sealed;
    if (sealed)
        TRY(safetensors_declare(w, "sha256", SAFETENSORS_U8, 1, (const int64_t[]){64}));
    header = json_object();
    TRY(set_json(header, "__metadata__", json_incref(w->notes)));
    if (json_object_update(header, w->tensors) != 0 ||
        !(text = json_text(header, JSON_COMPACT | JSON_ENSURE_ASCII)))
        TRY(status_fail(CONSM_ENOMEM, "out of memory"));
    if (strlen(text) > SAFETENSORS_MAX_HEADER - 64)
        TRY(status_fail(CONSM_ELIMIT, "%s: the header has %zu bytes, but the limit is %d", path,
                        strlen(text), SAFETENSORS_MAX_HEADER));
    TRY(file_create(&w->file, path));
    sha256_init(&w->sum);
    TRY(write_header(w, text));
done:
    json_decref(header);
    free(text); /* jansson's own block */
    return st;
}

consm_status safetensors_write(struct safetensors_writer *w, const void *bytes, size_t count)
{
    if (count > w->declared - w->written)
        return status_fail(CONSM_EINVAL, "more tensor bytes than were declared");
    w->written += count;
    return count ? write_summed(w, bytes, count) : CONSM_OK;
}

consm_status safetensors_commit(struct safetensors_writer *w)
{
    consm_status st = CONSM_OK;
    char hex[65];
    if (w->sealed) {
        sha256_hex(hex, &w->sum);
        w->sealed = false;
        TRY(safetensors_write(w, hex, 64));
    }
    if (w->written != w->declared)
        TRY(status_fail(CONSM_EINVAL, "%zu tensor bytes were written, but %zu were declared",
                        w->written, w->declared));
    TRY(file_commit(w->file));
done:
    return st;
}

void safetensors_writer_free(struct safetensors_writer *w)
{
    if (!w)
        return;
    file_close(w->file);
    json_decref(w->tensors);
    json_decref(w->notes);
    mem_free(w);
}
