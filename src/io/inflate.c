/* The decoder: one 64-bit bit buffer, one table lookup for nearly every symbol, wide copies. */
#include "io/inflate.h"

#include "io/huffman.h"
#include <string.h>

enum {
    LENGTH_BITS = 11,  /* primary lookup of literals and lengths */
    DISTANCE_BITS = 8, /* primary lookup of distances */
    CODE_BITS = 7,     /* code lengths: all of them */
    /* A second-level table serves at least two symbols, which bounds how many there can be. */
    LENGTH_TABLE = (1 << LENGTH_BITS) + LENGTH_SYMBOLS / 2 * (1 << (MAX_CODE_BITS - LENGTH_BITS)),
    DISTANCE_TABLE =
        (1 << DISTANCE_BITS) + DISTANCE_SYMBOLS / 2 * (1 << (MAX_CODE_BITS - DISTANCE_BITS)),
    WINDOW = 1 << 15,
    WIDE = 16,
    BUFFER = WINDOW + INFLATE_PIECE + LONGEST_MATCH + 2 * WIDE
};

struct inflater {
    const struct inflate_input *in;
    const uint8_t *next, *end;
    uint64_t bits; /* the next bits, lowest first */
    int count;     /* how many of them are there */
    int padded;    /* how many were invented behind the end of the input */
    size_t filled; /* bytes in buffer: history, then what the sink has not seen */
    size_t given;  /* how far into buffer the sink has seen */
    uint64_t total, expected;
    bytes_sink sink;
    void *ctx;
    uint32_t length[LENGTH_TABLE], distance[DISTANCE_TABLE];
    uint8_t buffer[BUFFER];
};

static consm_status fault(const struct inflater *z, const char *what)
{
    uint64_t at = z->in->offset + (uint64_t)(z->next - z->in->bytes);
    return status_fail(CONSM_EFORMAT, "%s: byte %llu: %s", z->in->name, (unsigned long long)at,
                       what);
}

/* At least 56 bits, invented zeros behind the end. Fails once invented bits have been used. */
static inline bool refill(struct inflater *z)
{
    if (z->end - z->next >= 8) {
        uint64_t word;
        memcpy(&word, z->next, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        z->bits |= word << z->count;
        z->next += (63 - z->count) >> 3;
        z->count |= 56;
        return true;
    }
    while (z->count < 56) {
        if (z->next < z->end)
            z->bits |= (uint64_t)*z->next++ << z->count;
        else
            z->padded += 8;
        z->count += 8;
    }
    return z->padded <= z->count;
}

static inline uint32_t take(struct inflater *z, unsigned bits)
{
    uint32_t value = (uint32_t)(z->bits & ((UINT64_C(1) << bits) - 1));
    z->bits >>= bits;
    z->count -= (int)bits;
    return value;
}

/* Looks up and drops the next code. */
static inline uint32_t decode(struct inflater *z, const uint32_t *table, int primary)
{
    uint32_t e = table[z->bits & ((1U << primary) - 1)];
    if (__builtin_expect(ENTRY_KIND(e) == DEEPER, 0)) {
        take(z, ENTRY_DROP(e));
        e = table[ENTRY_VALUE(e) + (z->bits & ((1U << ENTRY_EXTRA(e)) - 1))];
    }
    take(z, ENTRY_DROP(e));
    return e;
}

static consm_status build_tables(struct inflater *z, const uint8_t *lengths, int length_count,
                                 int distance_count)
{
    uint32_t length_entry[LENGTH_SYMBOLS], distance_entry[DISTANCE_SYMBOLS];
    huffman_lengths(length_entry);
    huffman_distances(distance_entry);
    const char *bad = huffman_table(z->length, LENGTH_TABLE, LENGTH_BITS, lengths, length_count,
                                    length_entry, true);
    if (!bad)
        bad = huffman_table(z->distance, DISTANCE_TABLE, DISTANCE_BITS, lengths + length_count,
                            distance_count, distance_entry, true);
    return bad ? fault(z, bad) : CONSM_OK;
}

/* Blocks with the fixed codes (RFC 1951, 3.2.6). */
static consm_status fixed_tables(struct inflater *z)
{
    uint8_t lengths[LENGTH_SYMBOLS + DISTANCE_SYMBOLS];
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    memset(lengths + LENGTH_SYMBOLS, 5, DISTANCE_SYMBOLS);
    return build_tables(z, lengths, LENGTH_SYMBOLS, DISTANCE_SYMBOLS);
}

/* The code lengths of a dynamic block, themselves Huffman coded (RFC 1951, 3.2.7). */
static consm_status read_lengths(struct inflater *z, uint8_t *lengths, int count, int codes)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t code_length[19] = {0};
    uint32_t table[1 << CODE_BITS], entry[19];
    for (int i = 0; i < codes; i++) {
        if (!refill(z))
            return fault(z, "the deflated data stops early");
        code_length[order[i]] = (uint8_t)take(z, 3);
    }
    for (uint32_t s = 0; s < 19; s++)
        entry[s] = ENTRY(LITERAL, s, 0U);
    const char *bad =
        huffman_table(table, 1 << CODE_BITS, CODE_BITS, code_length, 19, entry, false);
    if (bad)
        return fault(z, bad);
    for (int i = 0; i < count;) {
        if (!refill(z))
            return fault(z, "the deflated data stops early");
        uint32_t e = decode(z, table, CODE_BITS), symbol = ENTRY_VALUE(e);
        if (ENTRY_KIND(e) == INVALID)
            return fault(z, "an unused code among the code lengths");
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 16 && i == 0)
            return fault(z, "a repeated code length before the first");
        uint8_t value = symbol == 16 ? lengths[i - 1] : 0;
        int repeat = symbol == 16   ? 3 + (int)take(z, 2)
                     : symbol == 17 ? 3 + (int)take(z, 3)
                                    : 11 + (int)take(z, 7);
        if (repeat > count - i)
            return fault(z, "more code lengths than announced");
        memset(lengths + i, value, (size_t)repeat);
        i += repeat;
    }
    return CONSM_OK;
}

static consm_status dynamic_tables(struct inflater *z)
{
    consm_status st = CONSM_OK;
    uint8_t lengths[LENGTH_SYMBOLS + DISTANCE_SYMBOLS] = {0};
    if (!refill(z))
        TRY(fault(z, "the deflated data stops early"));
    int length_count = 257 + (int)take(z, 5), distance_count = 1 + (int)take(z, 5);
    int codes = 4 + (int)take(z, 4);
    if (length_count > 286 || distance_count > 30)
        TRY(fault(z, "more symbols than deflate has"));
    TRY(read_lengths(z, lengths, length_count + distance_count, codes));
    if (lengths[256] == 0)
        TRY(fault(z, "a block whose code has no end"));
    TRY(build_tables(z, lengths, length_count, distance_count));
done:
    return st;
}

/* Hands what is new to the sink and keeps the last 32 kB as history. */
static consm_status flush(struct inflater *z, size_t upto)
{
    size_t fresh = upto - z->given;
    z->total += fresh;
    if (z->total > z->expected)
        return fault(z, "the data inflates to more than its declared size");
    consm_status st = fresh ? z->sink(z->ctx, z->buffer + z->given, fresh) : CONSM_OK;
    if (upto > WINDOW) {
        memmove(z->buffer, z->buffer + upto - WINDOW, z->filled - upto + WINDOW);
        z->filled -= upto - WINDOW;
        upto = WINDOW;
    }
    z->given = upto;
    return st;
}

static inline consm_status flush_full(struct inflater *z)
{
    if (__builtin_expect(z->filled - z->given < INFLATE_PIECE, 1))
        return CONSM_OK;
    return flush(z, z->given + INFLATE_PIECE);
}

/* Copies length bytes from `distance` back; may write up to 16 bytes too many. When the source
 * overlaps the target the bytes repeat with the period `distance`: after the first 16 single bytes
 * any multiple of the period that is at least 16 serves as distance. */
static inline void copy_match(uint8_t *to, size_t distance, size_t length)
{
    const uint8_t *end = to + length;
    if (distance == 1) {
        memset(to, to[-1], length);
        return;
    }
    if (distance < WIDE) {
        for (int i = 0; i < WIDE; i++)
            to[i] = to[i - (ptrdiff_t)distance];
        to += WIDE;
        distance *= (WIDE + distance - 1) / distance;
    }
    for (; to < end; to += WIDE)
        memcpy(to, to - distance, WIDE);
}

static consm_status compressed_block(struct inflater *z)
{
    consm_status st = CONSM_OK;
    for (;;) {
        if (!refill(z))
            TRY(fault(z, "the deflated data stops early"));
        uint32_t e = decode(z, z->length, LENGTH_BITS);
        if (ENTRY_KIND(e) == LITERAL) {
            z->buffer[z->filled++] = (uint8_t)ENTRY_VALUE(e);
        } else if (ENTRY_KIND(e) == MATCH) {
            size_t length = ENTRY_VALUE(e) + take(z, ENTRY_EXTRA(e));
            uint32_t d = decode(z, z->distance, DISTANCE_BITS);
            size_t distance = ENTRY_VALUE(d) + take(z, ENTRY_EXTRA(d));
            if (ENTRY_KIND(d) != MATCH || distance > z->filled)
                TRY(fault(z, "a match that begins before the data"));
            copy_match(z->buffer + z->filled, distance, length);
            z->filled += length;
        } else if (ENTRY_KIND(e) == END) {
            break;
        } else {
            TRY(fault(z, "a code that stands for nothing"));
        }
        TRY(flush_full(z));
    }
done:
    return st;
}

/* Gives whole unread bytes of the bit buffer back to the input. */
static consm_status align_to_byte(struct inflater *z)
{
    take(z, (unsigned)z->count & 7);
    if (z->padded > z->count)
        return fault(z, "the deflated data stops early");
    z->next -= (z->count - z->padded) / 8;
    z->bits = 0;
    z->count = z->padded = 0;
    return CONSM_OK;
}

static consm_status stored_block(struct inflater *z)
{
    consm_status st = CONSM_OK;
    TRY(align_to_byte(z));
    if (z->end - z->next < 4)
        TRY(fault(z, "the deflated data stops early"));
    size_t length = z->next[0] | (size_t)z->next[1] << 8;
    if ((length ^ 0xffff) != (z->next[2] | (size_t)z->next[3] << 8))
        TRY(fault(z, "a stored block whose two lengths disagree"));
    z->next += 4;
    if ((size_t)(z->end - z->next) < length)
        TRY(fault(z, "a stored block that reaches behind the end"));
    while (length > 0) {
        size_t room = z->given + INFLATE_PIECE - z->filled, part = length < room ? length : room;
        memcpy(z->buffer + z->filled, z->next, part);
        z->filled += part;
        z->next += part;
        length -= part;
        TRY(flush_full(z));
    }
done:
    return st;
}

consm_status inflate_push(const struct inflate_input *in, uint64_t expected, bytes_sink sink,
                          void *ctx)
{
    consm_status st = CONSM_OK;
    struct inflater *z = NULL;
    TRY(NEW(z, 1));
    z->in = in;
    z->next = in->bytes;
    z->end = in->bytes + in->size;
    z->bits = 0;
    z->count = z->padded = 0;
    z->filled = z->given = 0;
    z->total = 0;
    z->expected = expected;
    z->sink = sink;
    z->ctx = ctx;
    for (bool last = false; !last;) {
        if (!refill(z))
            TRY(fault(z, "the deflated data stops early"));
        last = take(z, 1);
        switch (take(z, 2)) {
        case 0: TRY(stored_block(z)); break;
        case 1:
            TRY(fixed_tables(z));
            TRY(compressed_block(z));
            break;
        case 2:
            TRY(dynamic_tables(z));
            TRY(compressed_block(z));
            break;
        default: TRY(fault(z, "a block of unknown kind"));
        }
    }
    TRY(align_to_byte(z));
    if (z->next != z->end)
        TRY(fault(z, "bytes behind the end of the deflated data"));
    while (z->filled > z->given) {
        size_t fresh = z->filled - z->given;
        TRY(flush(z, z->given + (fresh < INFLATE_PIECE ? fresh : INFLATE_PIECE)));
    }
    if (z->total != expected)
        TRY(status_fail(CONSM_EFORMAT, "%s: inflates to %llu bytes: expected %llu", in->name,
                        (unsigned long long)z->total, (unsigned long long)expected));
done:
    mem_free(z);
    return st;
}
