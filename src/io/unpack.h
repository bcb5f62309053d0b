/* Opens files as they are, or unpacks gzip and zstd, recognised by their first bytes. zlib reads
 * gzip (also several members). The zstd library is loaded only when it is needed: it is on nearly
 * every system, and its interface has been stable since 1.0. If it is missing, the message says
 * what to do. */

/*
 * An unpacked file may not exceed both 64 MB and 200 times the packed size; more is refused as a
 * zip bomb.
 */
#ifndef IO_UNPACK_H
#define IO_UNPACK_H

#include "io/file.h"

struct unpacked {
    const uint8_t *data;
    size_t size;
    struct file_map map; /* the file itself */
    uint8_t *own;        /* the unpacked bytes, or NULL */
};

enum unpack_kind { UNPACK_PLAIN, UNPACK_GZIP, UNPACK_ZSTD };
enum unpack_kind unpack_kind(const uint8_t *bytes, size_t size);

consm_status unpack_open(struct unpacked *out, const char *path);
void unpack_close(struct unpacked *u);

/* The same for bytes in memory, at most `most` after unpacking; the caller frees *out. */
consm_status unpack_bytes(uint8_t **out, size_t *size, const uint8_t *bytes, size_t packed,
                          size_t most, const char *name);

/* The path's length without .gz, .zst and the like. */
size_t unpack_stem(const char *path);

#endif
