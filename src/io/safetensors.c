/*
 * Reads safetensors. jansson parses the header, bounds its nesting and refuses duplicate names. All
 * sizes are then checked against the file.
 */
#include "io/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "io/sha256.h"

struct safetensors {
    char *name; /* of the file, for messages */
    struct file_map map;
    bool mapped;
    json_t *header;
    struct safetensors_tensor *tensor; /* (count) in the order of their bytes */
    int64_t count;
};

static const struct {
    const char *name;
    size_t bytes;
} types[SAFETENSORS_TYPES] = {
    [SAFETENSORS_BOOL] = {"BOOL", 1},       [SAFETENSORS_U8] = {"U8", 1},
    [SAFETENSORS_I8] = {"I8", 1},           [SAFETENSORS_F8_E5M2] = {"F8_E5M2", 1},
    [SAFETENSORS_F8_E4M3] = {"F8_E4M3", 1}, [SAFETENSORS_I16] = {"I16", 2},
    [SAFETENSORS_U16] = {"U16", 2},         [SAFETENSORS_F16] = {"F16", 2},
    [SAFETENSORS_BF16] = {"BF16", 2},       [SAFETENSORS_I32] = {"I32", 4},
    [SAFETENSORS_U32] = {"U32", 4},         [SAFETENSORS_F32] = {"F32", 4},
    [SAFETENSORS_F64] = {"F64", 8},         [SAFETENSORS_I64] = {"I64", 8},
    [SAFETENSORS_U64] = {"U64", 8},
};

const char *safetensors_type_name(enum safetensors_type type)
{
    return types[type].name;
}

size_t safetensors_type_bytes(enum safetensors_type type)
{
    return types[type].bytes;
}

/* Names come from the file, so only their first characters are shown. */
static consm_status bad_tensor(const struct safetensors *s, const char *tensor, const char *what)
{
    return status_fail(CONSM_EFORMAT, "%s: tensor \"%.60s\": %s", s->name, tensor, what);
}

static consm_status read_type(struct safetensors *s, struct safetensors_tensor *t, json_t *entry)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!dtype)
        return bad_tensor(s, t->name, "expected a \"dtype\" such as \"F32\"");
    for (int i = 0; i < SAFETENSORS_TYPES; i++)
        if (strcmp(types[i].name, dtype) == 0) {
            t->type = (enum safetensors_type)i;
            return CONSM_OK;
        }
    return bad_tensor(s, t->name, "its \"dtype\" is unknown: expected F32, I64, I32, U8, …");
}

static consm_status read_shape(struct safetensors *s, struct safetensors_tensor *t, json_t *entry)
{
    json_t *shape = json_object_get(entry, "shape");
    if (!json_is_array(shape) || json_array_size(shape) > SAFETENSORS_MAX_RANK)
        return bad_tensor(s, t->name, "expected a \"shape\" of at most 8 numbers");
    t->rank = (int)json_array_size(shape);
    t->count = 1;
    for (int i = 0; i < t->rank; i++) {
        json_t *extent = json_array_get(shape, (size_t)i);
        t->shape[i] = json_integer_value(extent);
        if (!json_is_integer(extent) || t->shape[i] < 0)
            return bad_tensor(s, t->name, "expected a \"shape\" of numbers >= 0");
        if (__builtin_mul_overflow(t->count, t->shape[i], &t->count))
            return bad_tensor(s, t->name, "its \"shape\" is larger than any file");
    }
    return CONSM_OK;
}

static consm_status read_place(struct safetensors *s, struct safetensors_tensor *t, json_t *entry,
                               const uint8_t *data, size_t size)
{
    json_t *place = json_object_get(entry, "data_offsets");
    json_t *first = json_array_get(place, 0), *last = json_array_get(place, 1);
    size_t wanted;
    if (json_array_size(place) != 2 || !json_is_integer(first) || !json_is_integer(last))
        return bad_tensor(s, t->name, "expected \"data_offsets\": [begin, end]");
    json_int_t begin = json_integer_value(first), end = json_integer_value(last);
    if (begin < 0 || end < begin || (uint64_t)end > size)
        return status_fail(CONSM_EFORMAT,
                           "%s: tensor \"%.60s\" lies at bytes %lld to %lld: expected 0 to %zu",
                           s->name, t->name, (long long)begin, (long long)end, size);
    t->data = data + begin;
    t->bytes = (size_t)(end - begin);
    if (__builtin_mul_overflow((size_t)t->count, types[t->type].bytes, &wanted) ||
        wanted != t->bytes)
        return status_fail(CONSM_EFORMAT,
                           "%s: tensor \"%.60s\" has %zu bytes: expected %lld elements of %zu",
                           s->name, t->name, t->bytes, (long long)t->count, types[t->type].bytes);
    return CONSM_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct safetensors_tensor *x = a, *y = b;
    if (x->data != y->data)
        return (const char *)x->data < (const char *)y->data ? -1 : 1;
    /* Empty tensors come before the one that begins at the same byte. */
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The format requires that tensors fill the data area: no byte twice, no byte unused. */
static consm_status check_cover(const struct safetensors *s, const uint8_t *data, size_t size)
{
    const uint8_t *at = data;
    for (int64_t i = 0; i < s->count; i++) {
        const struct safetensors_tensor *t = &s->tensor[i];
        if (t->data != at)
            return status_fail(CONSM_EFORMAT,
                               "%s: tensor \"%.60s\" begins at byte %zu of the data: expected %zu, "
                               "where the one before it ends",
                               s->name, t->name, (size_t)((const uint8_t *)t->data - data),
                               (size_t)(at - data));
        at += t->bytes;
    }
    if (at != data + size)
        return status_fail(CONSM_EFORMAT, "%s: has %zu bytes after the last tensor: expected none",
                           s->name, (size_t)(data + size - at));
    return CONSM_OK;
}

static consm_status check_metadata(const struct safetensors *s)
{
    json_t *metadata = json_object_get(s->header, "__metadata__"), *value;
    const char *key;
    if (metadata && !json_is_object(metadata))
        return status_fail(CONSM_EFORMAT, "%s: \"__metadata__\" is not an object", s->name);
    json_object_foreach(metadata, key, value) if (!json_is_string(value)) return status_fail(
        CONSM_EFORMAT, "%s: \"__metadata__\": \"%.60s\" is not text", s->name, key);
    return CONSM_OK;
}

static consm_status read_header(struct safetensors *s, size_t length)
{
    consm_status st = CONSM_OK;
    json_error_t fault;
    json_t *entry;
    const char *key;
    const char *text = (const char *)s->map.data + 8;
    const uint8_t *data = s->map.data + 8 + length;
    size_t size = s->map.size - 8 - length;
    s->header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    if (!s->header)
        return status_fail(CONSM_EFORMAT, "%s: byte %lld: the header is not JSON: %.150s", s->name,
                           8 + (long long)fault.position, fault.text);
    if (!json_is_object(s->header))
        return status_fail(CONSM_EFORMAT, "%s: byte 8: the header is not a JSON object", s->name);
    TRY(check_metadata(s));
    TRY(ZNEW(s->tensor, json_object_size(s->header)));
    json_object_foreach(s->header, key, entry)
    {
        struct safetensors_tensor *t = &s->tensor[s->count];
        if (strcmp(key, "__metadata__") == 0)
            continue;
        t->name = key;
        TRY(read_type(s, t, entry));
        TRY(read_shape(s, t, entry));
        TRY(read_place(s, t, entry, data, size));
        s->count++;
    }
    qsort(s->tensor, (size_t)s->count, sizeof *s->tensor, by_place);
    TRY(check_cover(s, data, size));
done:
    return st;
}

/* Takes ownership of mapped bytes, also on failure. */
static consm_status open_bytes(struct safetensors **out, const char *name, struct file_map map,
                               bool mapped)
{
    consm_status st = CONSM_OK;
    struct safetensors *s;
    uint64_t length = 0;
    *out = NULL;
    TRY(ZNEW(s, 1));
    s->map = map;
    s->mapped = mapped;
    mapped = false;
    if (!(s->name = mem_strdup(name)))
        TRY(CONSM_ENOMEM);
    if (map.size < 10)
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: has %zu bytes: expected a safetensors file, with at least 10", name,
                        map.size));
    for (int i = 7; i >= 0; i--)
        length = length << 8 | map.data[i];
    if (map.data[8] != '{')
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: is not a safetensors file: byte 8 is 0x%02x, expected {", name,
                        map.data[8]));
    if (length > map.size - 8)
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: the header should have %llu bytes, but the file has only %zu", name,
                        (unsigned long long)length, map.size));
    if (length > SAFETENSORS_MAX_HEADER)
        TRY(status_fail(CONSM_ELIMIT, "%s: the header has %llu bytes, but the limit is %d", name,
                        (unsigned long long)length, SAFETENSORS_MAX_HEADER));
    TRY(read_header(s, (size_t)length));
    *out = s;
    return CONSM_OK;
done:
    if (mapped)
        file_unmap(&map);
    safetensors_close(s);
    return st;
}

consm_status safetensors_open(struct safetensors **out, const char *path)
{
    struct file_map map;
    *out = NULL;
    consm_status st = file_map(&map, path);
    return st < 0 ? st : open_bytes(out, path, map, true);
}

consm_status safetensors_read(struct safetensors **out, const char *name, const void *data,
                              size_t size)
{
    return open_bytes(out, name, (struct file_map){data, size}, false);
}

void safetensors_close(struct safetensors *s)
{
    if (!s)
        return;
    if (s->mapped)
        file_unmap(&s->map);
    json_decref(s->header);
    mem_free(s->tensor);
    mem_free(s->name);
    mem_free(s);
}

int64_t safetensors_count(const struct safetensors *s)
{
    return s->count;
}

const struct safetensors_tensor *safetensors_at(const struct safetensors *s, int64_t index)
{
    return &s->tensor[index];
}

const struct safetensors_tensor *safetensors_find(const struct safetensors *s, const char *name)
{
    for (int64_t i = 0; i < s->count; i++)
        if (strcmp(s->tensor[i].name, name) == 0)
            return &s->tensor[i];
    return NULL;
}

const char *safetensors_metadata(const struct safetensors *s, const char *key)
{
    return json_string_value(json_object_get(json_object_get(s->header, "__metadata__"), key));
}

struct file_map safetensors_bytes(const struct safetensors *s)
{
    return s->map;
}

struct file_map safetensors_release(struct safetensors *s)
{
    s->mapped = false;
    return s->map;
}

const char *safetensors_seal(const struct safetensors *s)
{
    const struct safetensors_tensor *t = s->count ? &s->tensor[s->count - 1] : NULL;
    if (!t || strcmp(t->name, "sha256") != 0 || t->type != SAFETENSORS_U8 || t->count != 64)
        return NULL;
    const char *digits = t->data;
    for (int i = 0; i < 64; i++)
        if (!memchr("0123456789abcdef", digits[i], 16))
            return NULL;
    return digits;
}

consm_status safetensors_verify(const struct safetensors *s)
{
    const char *seal = safetensors_seal(s);
    char hex[65];
    if (!seal)
        return CONSM_OK;
    sha256_of(hex, s->map.data, (size_t)((const uint8_t *)seal - s->map.data));
    if (memcmp(hex, seal, 64) != 0)
        return status_fail(
            CONSM_EFORMAT,
            "%s: the SHA-256 of its content is %s, but the stored checksum is %.64s: the "
            "file was changed or damaged",
            s->name, hex, seal);
    return CONSM_OK;
}
