/* Reads archives: finds the directory from the end, checks it entry by entry, then reads members.
 * Layout and numbers follow PKWARE's APPNOTE 6.3. */
#include "io/zip.h"
#include "base/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    LOCAL_SIGNATURE = 0x04034b50,
    ENTRY_SIGNATURE = 0x02014b50,
    END_SIGNATURE = 0x06054b50,
    END64_SIGNATURE = 0x06064b50,
    LOCATOR64_SIGNATURE = 0x07064b50,
    LOCAL_BYTES = 30,
    ENTRY_BYTES = 46,
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR64_BYTES = 20,
    EXTRA_ZIP64 = 1,
    FLAG_ENCRYPTED = 1,
    METHOD_STORED = 0,
    METHOD_DEFLATED = 8
};

/* Deflate compresses at most 1032-fold; a directory that claims more is wrong. Real feature
 * matrices reach a few hundred. Members above the given ratio are refused above the given size, so
 * that a small file cannot fill the memory. */
static const uint64_t most_inflation = 1032;
static const uint64_t push_ratio = 500, push_bytes = UINT64_C(128) << 20;
static const uint64_t read_ratio = 200, read_bytes = UINT64_C(32) << 20;

/* A fuzzer could otherwise never pass them. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
static const bool ignore_checksums = true;
#else
static const bool ignore_checksums = false;
#endif

static uint64_t number(const uint8_t *p, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

#define u16(p) ((uint32_t)number(p, 2))
#define u32(p) ((uint32_t)number(p, 4))
#define u64(p) number(p, 8)

#define zip_fault(z, at, ...) zip_fail(CONSM_EFORMAT, z, at, __VA_ARGS__)

__attribute__((format(printf, 4, 5))) static consm_status
zip_fail(consm_status code, const struct zip *z, uint64_t at, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    number_vprint(text, sizeof text, format, args);
    va_end(args);
    return status_fail(code, "%s: byte %llu: %s", z->file, (unsigned long long)at, text);
}

/* The position and content of the directory. */
struct directory {
    uint64_t at, bytes, count;
    uint64_t end; /* of all members and the directory */
};

/* Replaces the 32-bit numbers by those of the zip64 record, if there is one. */
static consm_status find_zip64(const struct zip *z, struct directory *d, uint64_t end)
{
    if (end < LOCATOR64_BYTES || u32(z->data + end - LOCATOR64_BYTES) != LOCATOR64_SIGNATURE)
        return CONSM_OK;
    uint64_t locator = end - LOCATOR64_BYTES, at = u64(z->data + locator + 8);
    if (at > locator || locator - at < END64_BYTES || u32(z->data + at) != END64_SIGNATURE)
        return zip_fault(z, locator + 8,
                         "the zip64 record is at %llu: expected it before byte %llu",
                         (unsigned long long)at, (unsigned long long)locator);
    d->count = u64(z->data + at + 32);
    d->bytes = u64(z->data + at + 40);
    d->at = u64(z->data + at + 48);
    d->end = at;
    return CONSM_OK;
}

/* The end record is the last one whose comment ends exactly at the end of the file. */
static consm_status find_directory(const struct zip *z, struct directory *d)
{
    uint64_t at = z->size;
    if (z->size == 0)
        return zip_fault(z, 0, "the file is empty: expected a zip archive");
    if (z->size >= END_BYTES)
        for (at = z->size - END_BYTES;; at--) {
            if (u32(z->data + at) == END_SIGNATURE &&
                u16(z->data + at + 20) == z->size - at - END_BYTES)
                break;
            if (at == 0 || z->size - at > END_BYTES + 0xffff) {
                at = z->size;
                break;
            }
        }
    if (at == z->size)
        return zip_fault(z, z->size,
                         "there is no end record: the file is incomplete or not a zip archive");
    d->count = u16(z->data + at + 10);
    d->bytes = u32(z->data + at + 12);
    d->at = u32(z->data + at + 16);
    d->end = at;
    if (u16(z->data + at + 4) != 0 && u16(z->data + at + 4) != 0xffff)
        return zip_fault(z, at + 4, "a multi-part archive: expected a single file");
    consm_status st = find_zip64(z, d, at);
    if (st < 0)
        return st;
    if (d->at > d->end || d->bytes > d->end - d->at || d->count > d->bytes / ENTRY_BYTES)
        return zip_fault(
            z, at,
            "the directory has %llu entries in %llu bytes at %llu, but the file has %llu bytes",
            (unsigned long long)d->count, (unsigned long long)d->bytes, (unsigned long long)d->at,
            (unsigned long long)z->size);
    return CONSM_OK;
}

/* The zip64 extra field holds, in this order, those of the four numbers that did not fit. */
static consm_status read_zip64_extra(const struct zip *z, struct zip_member *m, uint64_t at,
                                     uint64_t length)
{
    while (length >= 4) {
        uint64_t id = u16(z->data + at), bytes = u16(z->data + at + 2);
        at += 4;
        length -= 4;
        if (bytes > length)
            return zip_fault(z, at - 2, "an extra field of %llu bytes, but only %llu are left",
                             (unsigned long long)bytes, (unsigned long long)length);
        if (id == EXTRA_ZIP64) {
            uint64_t *field[3] = {&m->size, &m->packed, &m->header}, used = 0;
            for (int i = 0; i < 3; i++)
                if (*field[i] == UINT32_MAX) {
                    if (bytes - used < 8)
                        return zip_fault(z, at, "a zip64 field of %llu bytes: expected %llu",
                                         (unsigned long long)bytes, (unsigned long long)used + 8);
                    *field[i] = u64(z->data + at + used);
                    used += 8;
                }
            return CONSM_OK;
        }
        at += bytes;
        length -= bytes;
    }
    return CONSM_OK;
}

static consm_status check_member(const struct zip *z, const struct zip_member *m, uint64_t at,
                                 uint64_t limit)
{
    if (m->header > limit || limit - m->header < LOCAL_BYTES ||
        m->packed > limit - m->header - LOCAL_BYTES)
        return zip_fault(z, at, "member %s: has %llu bytes at %llu, but the members end at %llu",
                         m->name, (unsigned long long)m->packed, (unsigned long long)m->header,
                         (unsigned long long)limit);
    if (!m->deflated && m->size != m->packed)
        return zip_fault(z, at, "member %s: is stored, but has %llu bytes packed and %llu unpacked",
                         m->name, (unsigned long long)m->packed, (unsigned long long)m->size);
    if (m->deflated && m->size / most_inflation > m->packed + 1)
        return zip_fault(
            z, at,
            "member %s: declares %llu bytes, but %llu packed bytes cannot inflate to that many",
            m->name, (unsigned long long)m->size, (unsigned long long)m->packed);
    return CONSM_OK;
}

/* Reads one directory entry at *at and moves *at past it. */
static consm_status read_entry(const struct zip *z, struct zip_member *m, uint64_t *at,
                               const struct directory *d)
{
    consm_status st = CONSM_OK;
    const uint8_t *p = z->data + *at;
    uint64_t left = d->at + d->bytes - *at;
    if (left < ENTRY_BYTES || u32(p) != ENTRY_SIGNATURE)
        return zip_fault(z, *at, "a directory entry is missing: expected %llu",
                         (unsigned long long)d->count);
    uint32_t flags = u16(p + 8), method = u16(p + 10);
    uint64_t name = u16(p + 28), extra = u16(p + 30), comment = u16(p + 32);
    if (name + extra + comment > left - ENTRY_BYTES)
        return zip_fault(z, *at + 28, "a directory entry ends after the directory");
    if (memchr(p + ENTRY_BYTES, 0, name))
        return zip_fault(z, *at + ENTRY_BYTES, "a member name contains a zero byte");
    if (!(m->name = mem_strndup((const char *)p + ENTRY_BYTES, name)))
        return CONSM_ENOMEM;
    if (flags & FLAG_ENCRYPTED)
        return zip_fault(z, *at + 8, "member %s is encrypted", m->name);
    if (method != METHOD_STORED && method != METHOD_DEFLATED)
        return zip_fault(
            z, *at + 10,
            "member %s is compressed with method %u: expected 0 (stored) or 8 (deflated)", m->name,
            method);
    m->deflated = method == METHOD_DEFLATED;
    m->crc = u32(p + 16);
    m->packed = u32(p + 20);
    m->size = u32(p + 24);
    m->header = u32(p + 42);
    TRY(read_zip64_extra(z, m, *at + ENTRY_BYTES + name, extra));
    TRY(check_member(z, m, *at, d->at));
    *at += ENTRY_BYTES + name + extra + comment;
done:
    return st;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct zip_member *)a)->name, ((const struct zip_member *)b)->name);
}

consm_status zip_open(struct zip **out, const char *file, const uint8_t *data, size_t size)
{
    consm_status st = CONSM_OK;
    struct zip *z = NULL;
    struct directory d = {0, 0, 0, 0};
    *out = NULL;
    TRY(ZNEW(z, 1));
    z->data = data;
    z->size = size;
    if (!(z->file = mem_strdup(file)))
        TRY(CONSM_ENOMEM);
    TRY(find_directory(z, &d));
    TRY(ZNEW(z->member, d.count));
    uint64_t at = d.at, packed = 0;
    while (z->count < (int64_t)d.count) {
        struct zip_member *m = &z->member[z->count++];
        TRY(read_entry(z, m, &at, &d));
        /* Members that share bytes could inflate a small archive to petabytes. */
        packed += m->packed + LOCAL_BYTES;
        if (packed > size)
            TRY(zip_fault(z, at,
                          "members overlap: together they need more bytes than the file has"));
    }
    qsort(z->member, (size_t)z->count, sizeof *z->member, by_name);
    for (int64_t i = 1; i < z->count; i++)
        if (by_name(&z->member[i - 1], &z->member[i]) == 0)
            TRY(zip_fault(z, d.at, "two members have the name %s", z->member[i].name));
    *out = z;
    return CONSM_OK;
done:
    zip_free(z);
    return st;
}

void zip_free(struct zip *z)
{
    if (!z)
        return;
    for (int64_t i = 0; i < z->count; i++)
        mem_free(z->member[i].name);
    mem_free(z->member);
    mem_free(z->file);
    mem_free(z);
}

const struct zip_member *zip_find(const struct zip *z, const char *name)
{
    for (int64_t i = 0; i < z->count; i++)
        if (strcmp(z->member[i].name, name) == 0)
            return &z->member[i];
    return NULL;
}

/* Where a member's data begins: after its local header, which must agree with the directory. */
static consm_status member_data(uint64_t *out, const struct zip *z, const struct zip_member *m)
{
    const uint8_t *p = z->data + m->header;
    uint64_t left = z->size - m->header - LOCAL_BYTES; /* check_member made sure that this fits */
    if (u32(p) != LOCAL_SIGNATURE)
        return zip_fault(z, m->header, "the header of member %s is missing", m->name);
    uint64_t name = u16(p + 26), extra = u16(p + 28);
    if (name + extra > left || m->packed > left - name - extra)
        return zip_fault(z, m->header + 26, "member %s ends after the end of the file", m->name);
    if (name != strlen(m->name) || memcmp(p + LOCAL_BYTES, m->name, name) != 0)
        return zip_fault(z, m->header + LOCAL_BYTES,
                         "the header of member %s contains another name", m->name);
    *out = m->header + LOCAL_BYTES + name + extra;
    return CONSM_OK;
}

/* Refuses zip bombs. */
static consm_status check_ratio(const struct zip *z, const struct zip_member *m, uint64_t bytes,
                                uint64_t ratio)
{
    if (m->size <= bytes || m->size / ratio <= m->packed)
        return CONSM_OK;
    return zip_fail(CONSM_ELIMIT, z, m->header,
                    "member %s would inflate from %llu to %llu bytes: the limit is %llu-fold",
                    m->name, (unsigned long long)m->packed, (unsigned long long)m->size,
                    (unsigned long long)ratio);
}

/* Computes the checksum while passing bytes to the real sink. */
struct checked_sink {
    bytes_sink sink;
    void *ctx;
    uint32_t crc;
};

static consm_status checked_push(void *ctx, const uint8_t *bytes, size_t count)
{
    struct checked_sink *c = ctx;
    c->crc = (uint32_t)crc32_z(c->crc, bytes, count);
    return c->sink(c->ctx, bytes, count);
}

consm_status zip_push(const struct zip *z, const struct zip_member *m, bytes_sink sink, void *ctx)
{
    consm_status st = CONSM_OK;
    struct checked_sink checked = {sink, ctx, 0};
    char name[512];
    uint64_t at = 0;
    TRY(check_ratio(z, m, push_bytes, push_ratio));
    TRY(member_data(&at, z, m));
    snprintf(name, sizeof name, "%s: %s", z->file, m->name);
    if (m->deflated) {
        mem_bound_raise(m->size > SIZE_MAX / FILE_UNPACKED_MAY_BECOME
                            ? SIZE_MAX
                            : (size_t)m->size * FILE_UNPACKED_MAY_BECOME);
        struct inflate_input in = {z->data + at, m->packed, name, at};
        TRY(inflate_push(&in, m->size, checked_push, &checked));
    }
    for (uint64_t i = 0; !m->deflated && i < m->size; i += INFLATE_PIECE) {
        uint64_t left = m->size - i;
        TRY(checked_push(&checked, z->data + at + i, left < INFLATE_PIECE ? left : INFLATE_PIECE));
    }
    if (checked.crc != m->crc && !ignore_checksums)
        TRY(zip_fault(z, at, "member %s has the checksum %08x: expected %08x", m->name, checked.crc,
                      m->crc));
done:
    return st;
}

static consm_status gather(void *ctx, const uint8_t *bytes, size_t count)
{
    struct zip_bytes *b = ctx; /* inflate_push never delivers more than declared */
    memcpy(b->owned + b->size, bytes, count);
    b->size += count;
    return CONSM_OK;
}

static consm_status ignore(void *ctx, const uint8_t *bytes, size_t count)
{
    (void)ctx, (void)bytes, (void)count;
    return CONSM_OK;
}

consm_status zip_read(struct zip_bytes *out, const struct zip *z, const struct zip_member *m)
{
    consm_status st = CONSM_OK;
    uint64_t at = 0;
    *out = (struct zip_bytes){NULL, 0, NULL};
    TRY(check_ratio(z, m, read_bytes, read_ratio));
    TRY(member_data(&at, z, m));
    if (m->deflated) {
        TRY(NEW(out->owned, m->size));
        TRY(zip_push(z, m, gather, out));
        out->data = out->owned;
    } else {
        TRY(zip_push(z, m, ignore, NULL));
        *out = (struct zip_bytes){z->data + at, m->size, NULL};
    }
done:
    if (st < 0)
        zip_bytes_free(out);
    return st;
}

void zip_bytes_free(struct zip_bytes *bytes)
{
    mem_free(bytes->owned);
    *bytes = (struct zip_bytes){NULL, 0, NULL};
}
