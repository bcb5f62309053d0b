/*
 * Inflates deflated bytes (RFC 1951) in memory and pushes them to a sink piece by piece. Feature
 * matrices are mostly zeros and deflate a hundredfold; their readers keep only the non-zeros.
 */
#ifndef IO_INFLATE_H
#define IO_INFLATE_H

#include "base/alloc.h"

/* Takes the next bytes of a stream; a negative status stops it. */
typedef consm_status (*bytes_sink)(void *ctx, const uint8_t *bytes, size_t count);

/* Every piece but the last has exactly this size. */
enum { INFLATE_PIECE = 1 << 17 };

/* What to inflate; name and offset are for messages only. */
struct inflate_input {
    const uint8_t *bytes;
    size_t size;
    const char *name; /* "file.npz: edges.npy" */
    uint64_t offset;  /* of bytes[0] in the file */
};

/* Pushes the whole stream. Fails with CONSM_EFORMAT, naming the byte, if RFC 1951 is violated, if
 * the input does not end exactly with the stream, or if the output is not `expected` bytes long.
 * Memory: a fixed 180 kB. */
consm_status inflate_push(const struct inflate_input *in, uint64_t expected, bytes_sink sink,
                          void *ctx);

#endif
