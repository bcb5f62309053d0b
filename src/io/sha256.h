/* SHA-256 (FIPS 180-4), for the identity of data files. */
#ifndef IO_SHA256_H
#define IO_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t count);
void sha256_hex(char hex[65], struct sha256 *s); /* finishes s */

/* The hash of one block of bytes. */
void sha256_of(char hex[65], const void *bytes, size_t count);

#endif
