/* Writes archives. A member is buffered (and deflated) in memory, so that its header has the final
 * sizes and checksum and the file needs no seeking. zip64 fields appear only if a number does not
 * fit 32 bits, as other programs expect. */
#include "io/zip.h"

#include "io/zlib_memory.h"
#include <string.h>

enum { VERSION = 20, VERSION64 = 45, DATE_1980 = 0x21, GATHER = 1 << 16 };

struct zip_writer {
    struct file_writer *file;
    uint64_t written;
    struct zip_member *member; /* (count); the last one may still be open */
    size_t count, capacity;
    bool open;
    z_stream deflate;
    uint8_t *bytes; /* the open member's packed data */
    size_t used, bytes_capacity;
};

consm_status zip_create(struct zip_writer **out, const char *path)
{
    consm_status st = CONSM_OK;
    struct zip_writer *w = NULL;
    *out = NULL;
    TRY(ZNEW(w, 1));
    TRY(file_create(&w->file, path));
    *out = w;
    return CONSM_OK;
done:
    zip_close(w);
    return st;
}

consm_status zip_begin(struct zip_writer *w, const char *name, bool deflated)
{
    consm_status st = CONSM_OK;
    TRY(GROW(w->member, w->count, w->capacity, 1));
    struct zip_member *m = &w->member[w->count];
    *m = (struct zip_member){.name = mem_strdup(name), .deflated = deflated, .header = w->written};
    if (!m->name)
        TRY(CONSM_ENOMEM);
    w->count++;
    w->used = 0;
    if (deflated) {
        w->deflate = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free};
        if (deflateInit2(&w->deflate, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            TRY(CONSM_ENOMEM);
        w->open = true;
    }
done:
    return st;
}

/* Deflates the bytes at next_in; with Z_FINISH to the end of the stream. */
static consm_status deflate_some(struct zip_writer *w, int how)
{
    consm_status st = CONSM_OK;
    int answer;
    do {
        TRY(GROW(w->bytes, w->used, w->bytes_capacity, GATHER));
        w->deflate.next_out = w->bytes + w->used;
        w->deflate.avail_out = GATHER;
        answer = deflate(&w->deflate, how);
        w->used += GATHER - w->deflate.avail_out;
    } while (how == Z_FINISH ? answer != Z_STREAM_END
                             : w->deflate.avail_in > 0 || w->deflate.avail_out == 0);
done:
    return st;
}

consm_status zip_put(struct zip_writer *w, const void *bytes, size_t count)
{
    consm_status st = CONSM_OK;
    struct zip_member *m = &w->member[w->count - 1];
    const uint8_t *from = bytes;
    m->size += count;
    while (count > 0) {
        size_t part = count < GATHER ? count : GATHER; /* zlib counts in 32 bits */
        m->crc = (uint32_t)crc32_z(m->crc, from, part);
        if (m->deflated) {
            w->deflate.next_in = (Bytef *)from;
            w->deflate.avail_in = (uInt)part;
            TRY(deflate_some(w, Z_NO_FLUSH));
        } else {
            TRY(GROW(w->bytes, w->used, w->bytes_capacity, part));
            memcpy(w->bytes + w->used, from, part);
            w->used += part;
        }
        from += part;
        count -= part;
    }
done:
    return st;
}

static uint8_t *put_number(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *to++ = (uint8_t)(value >> (8 * i));
    return to;
}

static uint64_t clipped(uint64_t value)
{
    return value < UINT32_MAX ? value : UINT32_MAX;
}

static consm_status put_bytes(struct zip_writer *w, const void *bytes, size_t count)
{
    w->written += count;
    return count ? file_write(w->file, bytes, count) : CONSM_OK;
}

/* Writes the local header (directory false) or the directory entry of a member, with name and zip64
 * field. Numbers as in APPNOTE 4.3.7 and 4.3.12. */
static consm_status put_header(struct zip_writer *w, const struct zip_member *m, bool directory)
{
    consm_status st = CONSM_OK;
    uint8_t head[64], extra[32], *p = head, *x = extra + 4;
    size_t name = strlen(m->name);
    bool wide = m->size >= UINT32_MAX || m->packed >= UINT32_MAX;
    if (wide) {
        x = put_number(x, m->size, 8);
        x = put_number(x, m->packed, 8);
    }
    if (directory && m->header >= UINT32_MAX)
        x = put_number(x, m->header, 8);
    size_t extra_bytes = x > extra + 4 ? (size_t)(x - extra) : 0;
    put_number(put_number(extra, 1, 2), extra_bytes ? extra_bytes - 4 : 0, 2);
    uint64_t version = extra_bytes ? VERSION64 : VERSION;

    p = put_number(p, directory ? 0x02014b50 : 0x04034b50, 4);
    if (directory)
        p = put_number(p, version, 2);
    p = put_number(p, version, 2);
    p = put_number(p, 0, 2);
    p = put_number(p, m->deflated ? 8 : 0, 2);
    p = put_number(p, 0, 2);
    p = put_number(p, DATE_1980, 2); /* a fixed date: the same data gives the same bytes */
    p = put_number(p, m->crc, 4);
    p = put_number(p, wide ? UINT32_MAX : m->packed, 4);
    p = put_number(p, wide ? UINT32_MAX : m->size, 4);
    p = put_number(p, name, 2);
    p = put_number(p, extra_bytes, 2);
    if (directory) {
        p = put_number(p, 0, 2 + 2); /* comment, disk */
        p = put_number(p, 0, 2 + 4); /* attributes */
        p = put_number(p, clipped(m->header), 4);
    }
    TRY(put_bytes(w, head, (size_t)(p - head)));
    TRY(put_bytes(w, m->name, name));
    TRY(put_bytes(w, extra, extra_bytes));
done:
    return st;
}

consm_status zip_end(struct zip_writer *w)
{
    consm_status st = CONSM_OK;
    struct zip_member *m = &w->member[w->count - 1];
    if (m->deflated) {
        w->deflate.avail_in = 0;
        TRY(deflate_some(w, Z_FINISH));
        deflateEnd(&w->deflate);
        w->open = false;
    }
    m->packed = w->used;
    TRY(put_header(w, m, false));
    TRY(put_bytes(w, w->bytes, w->used));
done:
    return st;
}

/* The zip64 end record and its locator (APPNOTE 4.3.14, 4.3.15). */
static consm_status put_end64(struct zip_writer *w, uint64_t at, uint64_t bytes)
{
    uint8_t record[80], *p = record;
    uint64_t here = w->written;
    p = put_number(p, 0x06064b50, 4);
    p = put_number(p, 44, 8);
    p = put_number(p, VERSION64, 2);
    p = put_number(p, VERSION64, 2);
    p = put_number(p, 0, 8); /* disks */
    p = put_number(p, w->count, 8);
    p = put_number(p, w->count, 8);
    p = put_number(p, bytes, 8);
    p = put_number(p, at, 8);
    p = put_number(p, 0x07064b50, 4);
    p = put_number(p, 0, 4);
    p = put_number(p, here, 8);
    p = put_number(p, 1, 4);
    return put_bytes(w, record, (size_t)(p - record));
}

consm_status zip_commit(struct zip_writer *w)
{
    consm_status st = CONSM_OK;
    uint64_t at = w->written;
    for (size_t i = 0; i < w->count; i++)
        TRY(put_header(w, &w->member[i], true));
    uint64_t bytes = w->written - at, count = w->count < 0xffff ? w->count : 0xffff;
    if (at >= UINT32_MAX || bytes >= UINT32_MAX || w->count >= 0xffff)
        TRY(put_end64(w, at, bytes));
    uint8_t end[22], *p = end;
    p = put_number(p, 0x06054b50, 4);
    p = put_number(p, 0, 4);
    p = put_number(p, count, 2);
    p = put_number(p, count, 2);
    p = put_number(p, clipped(bytes), 4);
    p = put_number(p, clipped(at), 4);
    put_number(p, 0, 2);
    TRY(put_bytes(w, end, sizeof end));
    TRY(file_commit(w->file));
done:
    return st;
}

void zip_close(struct zip_writer *w)
{
    if (!w)
        return;
    if (w->open)
        deflateEnd(&w->deflate);
    for (size_t i = 0; i < w->count; i++)
        mem_free(w->member[i].name);
    file_close(w->file);
    mem_free(w->member);
    mem_free(w->bytes);
    mem_free(w);
}
