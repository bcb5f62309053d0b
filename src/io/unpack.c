/* Unpacks gzip with zlib, and zstd with its library if it is installed. */
#include "io/unpack.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "io/zlib_memory.h"

enum { FREE_BYTES = 64 << 20, FOLD = 200 };

/* Unpacked bytes so far. */
struct outlet {
    uint8_t *data;
    size_t used, capacity, most;
    const char *name;
};

static consm_status more_room(struct outlet *o)
{
    enum { PIECE = 1 << 16 };
    if (o->used >= o->most)
        return status_fail(CONSM_ELIMIT,
                           "%s: unpacks to more than %zu bytes, %d times its size, which may be a "
                           "decompression bomb; if you trust the file, unpack it yourself",
                           o->name, o->most, FOLD);
    return GROW(o->data, o->used, o->capacity, PIECE);
}

/* ---- gzip ---------------------------------------------------------------- */

static consm_status gunzip_fault(const struct outlet *o, const char *what, size_t at)
{
    return status_fail(CONSM_EFORMAT, "%s: byte %zu: %s", o->name, at, what);
}

/* One member; *at moves past it. */
static consm_status gunzip_member(struct outlet *o, z_stream *z, const uint8_t *bytes, size_t size,
                                  size_t *at)
{
    consm_status st = CONSM_OK;
    for (;;) {
        TRY(more_room(o));
        size_t left = size - *at, room = o->capacity - o->used;
        z->next_in = (Bytef *)bytes + *at;
        z->avail_in = left < INT_MAX ? (uInt)left : INT_MAX;
        z->next_out = o->data + o->used;
        z->avail_out = room < INT_MAX ? (uInt)room : INT_MAX;
        int answer = inflate(z, Z_NO_FLUSH);
        *at = (size_t)(z->next_in - bytes);
        o->used = (size_t)(z->next_out - o->data);
        if (answer == Z_STREAM_END)
            return CONSM_OK;
        if (answer == Z_MEM_ERROR)
            return CONSM_ENOMEM;
        if (answer == Z_BUF_ERROR && *at == size)
            return gunzip_fault(o, "the compressed data ends too early", *at);
        if (answer != Z_OK && answer != Z_BUF_ERROR)
            return gunzip_fault(o, z->msg ? z->msg : "this is not gzip data", *at);
    }
done:
    return st;
}

static consm_status gunzip(struct outlet *o, const uint8_t *bytes, size_t size)
{
    consm_status st = CONSM_OK;
    z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free};
    size_t at = 0;
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return CONSM_ENOMEM;
    do {
        TRY(gunzip_member(o, &z, bytes, size, &at));
        inflateReset(&z);
    } while (at + 2 < size && bytes[at] == 0x1f && bytes[at + 1] == 0x8b);
    /* tar and tapes pad with zeros */
    for (size_t i = at; i < size; i++)
        if (bytes[i] != 0)
            TRY(gunzip_fault(o, "there are bytes after the end of the compressed data", i));
done:
    inflateEnd(&z);
    return st;
}

/* ---- zstd ---------------------------------------------------------------- */

/* ZSTD_inBuffer and ZSTD_outBuffer are the same but for const. */
struct zstd_buffer {
    void *data;
    size_t size, place;
};

struct zstd {
    void *library;
    void *(*create)(void);
    size_t (*release)(void *);
    size_t (*decompress)(void *, struct zstd_buffer *, struct zstd_buffer *);
    unsigned (*is_error)(size_t);
    const char *(*error_name)(size_t);
};

static bool zstd_find(struct zstd *z)
{
    static const char *const names[] = {"libzstd.so.1", "libzstd.so", "libzstd.1.dylib"};
    for (size_t i = 0; !z->library && i < sizeof names / sizeof *names; i++)
        z->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!z->library)
        return false;
    /* POSIX allows a data pointer to be a function pointer; ISO C only allows copying its memory.
     */
    void *const found[] = {
        dlsym(z->library, "ZSTD_createDStream"), dlsym(z->library, "ZSTD_freeDStream"),
        dlsym(z->library, "ZSTD_decompressStream"), dlsym(z->library, "ZSTD_isError"),
        dlsym(z->library, "ZSTD_getErrorName")};
    memcpy(&z->create, &found[0], sizeof z->create);
    memcpy(&z->release, &found[1], sizeof z->release);
    memcpy(&z->decompress, &found[2], sizeof z->decompress);
    memcpy(&z->is_error, &found[3], sizeof z->is_error);
    memcpy(&z->error_name, &found[4], sizeof z->error_name);
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        if (!found[i])
            return false;
    return true;
}

static consm_status unzstd_stream(struct outlet *o, const struct zstd *z, void *stream,
                                  const uint8_t *bytes, size_t size)
{
    consm_status st = CONSM_OK;
    struct zstd_buffer in = {(void *)(uintptr_t)bytes, size, 0};
    size_t left = 1;
    while (in.place < size || left != 0) {
        size_t before = in.place;
        TRY(more_room(o));
        struct zstd_buffer out = {o->data + o->used, o->capacity - o->used, 0};
        left = z->decompress(stream, &out, &in);
        if (z->is_error(left))
            return status_fail(CONSM_EFORMAT, "%s: byte %zu: %s", o->name, in.place,
                               z->error_name(left));
        o->used += out.place;
        if (in.place == before && out.place == 0 && left != 0)
            return status_fail(CONSM_EFORMAT, "%s: byte %zu: the compressed data ends too early",
                               o->name, in.place);
    }
done:
    return st;
}

static consm_status unzstd(struct outlet *o, const uint8_t *bytes, size_t size)
{
    consm_status st = CONSM_OK;
    struct zstd z = {0};
    void *stream = NULL;
    if (!zstd_find(&z))
        TRY(status_fail(CONSM_EIO,
                        "%s: is compressed with zstd, but libzstd is missing: install it "
                        "(libzstd1), or unpack the file with zstd -d",
                        o->name));
    if (!(stream = z.create()))
        TRY(CONSM_ENOMEM);
    TRY(unzstd_stream(o, &z, stream, bytes, size));
done:
    if (stream)
        z.release(stream);
    if (z.library)
        dlclose(z.library);
    return st;
}

/* ---- either -------------------------------------------------------------- */

enum unpack_kind unpack_kind(const uint8_t *bytes, size_t size)
{
    if (size >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8)
        return UNPACK_GZIP;
    if (size >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0)
        return UNPACK_ZSTD;
    return UNPACK_PLAIN;
}

consm_status unpack_bytes(uint8_t **out, size_t *size, const uint8_t *bytes, size_t packed,
                          size_t most, const char *name)
{
    consm_status st = CONSM_OK;
    struct outlet o = {.most = most, .name = name};
    *out = NULL;
    TRY(unpack_kind(bytes, packed) == UNPACK_GZIP ? gunzip(&o, bytes, packed)
                                                  : unzstd(&o, bytes, packed));
    if (!o.data)
        TRY(more_room(&o));
    *out = o.data;
    *size = o.used;
    o.data = NULL;
done:
    mem_free(o.data);
    return st;
}

consm_status unpack_open(struct unpacked *out, const char *path)
{
    consm_status st = CONSM_OK;
    *out = (struct unpacked){0};
    TRY(file_map(&out->map, path));
    out->data = out->map.data;
    out->size = out->map.size;
    if (unpack_kind(out->data, out->size) != UNPACK_PLAIN) {
        size_t most = out->size > FREE_BYTES / FOLD ? FOLD * out->size : FREE_BYTES;
        TRY(unpack_bytes(&out->own, &out->size, out->map.data, out->map.size, most, path));
        out->data = out->own;
        mem_bound_raise((FILE_UNPACKED_MAY_BECOME + 1) * out->size);
    }
done:
    if (st < 0)
        unpack_close(out);
    return st;
}

void unpack_close(struct unpacked *u)
{
    mem_free(u->own);
    file_unmap(&u->map);
    *u = (struct unpacked){0};
}

size_t unpack_stem(const char *path)
{
    static const char *const suffix[] = {".gz", ".gzip", ".zst", ".zstd"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
        size_t end = strlen(suffix[i]);
        if (length > end && strcasecmp(path + length - end, suffix[i]) == 0)
            return length - end;
    }
    return length;
}
