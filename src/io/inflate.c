/* zlib's raw inflate, piece by piece. The output must not exceed the declared size, and the input
 * must end where the stream ends. */
#include "io/inflate.h"

#include "io/zlib_memory.h"
#include <limits.h>

struct inflater {
    const struct inflate_input *in;
    size_t read; /* bytes of the input passed to zlib */
    uint64_t total;
    z_stream z;
    uint8_t piece[INFLATE_PIECE];
};

static consm_status fault(const struct inflater *s, const char *what)
{
    uint64_t at = s->in->offset + s->read - s->z.avail_in;
    return status_fail(CONSM_EFORMAT, "%s: byte %llu: %s", s->in->name, (unsigned long long)at,
                       what);
}

/* The next piece; shorter than a full one only at the end. */
static consm_status next_piece(struct inflater *s, size_t *count, bool *end)
{
    s->z.next_out = s->piece;
    s->z.avail_out = sizeof s->piece;
    while (s->z.avail_out > 0) {
        size_t left = s->in->size - s->read;
        if (s->z.avail_in == 0) { /* zlib counts in 32 bits */
            s->z.next_in = (Bytef *)s->in->bytes + s->read;
            s->z.avail_in = left < INT_MAX ? (uInt)left : INT_MAX;
            s->read += s->z.avail_in;
        }
        int answer = inflate(&s->z, Z_NO_FLUSH);
        if (answer == Z_STREAM_END) {
            *end = true;
            break;
        }
        if (answer == Z_MEM_ERROR)
            return CONSM_ENOMEM;
        if (answer == Z_BUF_ERROR)
            return fault(s, "the compressed data ends too early");
        if (answer != Z_OK)
            return fault(s, s->z.msg ? s->z.msg : "this is not deflated data");
    }
    *count = sizeof s->piece - s->z.avail_out;
    return CONSM_OK;
}

consm_status inflate_push(const struct inflate_input *in, uint64_t expected, bytes_sink sink,
                          void *ctx)
{
    consm_status st = CONSM_OK;
    struct inflater *s = NULL;
    bool open = false, end = false;
    size_t count = 0;
    TRY(NEW(s, 1));
    s->in = in;
    s->read = 0;
    s->total = 0;
    s->z = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free};
    if (inflateInit2(&s->z, -MAX_WBITS) != Z_OK)
        TRY(CONSM_ENOMEM);
    open = true;
    while (!end) {
        TRY(next_piece(s, &count, &end));
        s->total += count;
        if (s->total > expected)
            TRY(fault(s, "the data inflates to more than its declared size"));
        if (count > 0)
            TRY(sink(ctx, s->piece, count));
    }
    if (s->z.avail_in > 0 || s->read < in->size)
        TRY(fault(s, "there are bytes after the end of the deflated data"));
    if (s->total != expected)
        TRY(status_fail(CONSM_EFORMAT, "%s: inflates to %llu bytes: expected %llu", in->name,
                        (unsigned long long)s->total, (unsigned long long)expected));
done:
    if (open)
        inflateEnd(&s->z);
    mem_free(s);
    return st;
}
