/*
 * Files as they are, or unpacked when they are gzip or zstd: what they hold shows in their first
 * bytes. zlib reads gzip (several members too). zstd's library is asked for when it is needed and
 * not linked: it is on nearly every system, its interface has been stable since 1.0, and a program
 * that never meets such a file need not have it; where it is missing the message says what to do.
 *
 * A packed file may not become more than 64 MB and 200 times its size: more is a bomb.
 */
#ifndef IO_UNPACK_H
#define IO_UNPACK_H

#include "io/file.h"

struct unpacked {
    const uint8_t *data;
    size_t size;
    struct file_map map; /* the file itself */
    uint8_t *own;        /* what was unpacked, or NULL */
};

enum unpack_kind { UNPACK_PLAIN, UNPACK_GZIP, UNPACK_ZSTD };
enum unpack_kind unpack_kind(const uint8_t *bytes, size_t size);

consm_status unpack_open(struct unpacked *out, const char *path);
void unpack_close(struct unpacked *u);

/* The same on bytes in memory, at most `most` of them after unpacking; *out is the caller's. */
consm_status unpack_bytes(uint8_t **out, size_t *size, const uint8_t *bytes, size_t packed,
                          size_t most, const char *name);

/* The path's length without .gz, .zst and the like. */
size_t unpack_stem(const char *path);

#endif
