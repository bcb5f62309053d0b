/* Makes invalid sealed files: changes bytes and fixes the checksum at the end, so that readers
 * cannot rely on it. */
#ifndef TESTS_RESEAL_H
#define TESTS_RESEAL_H

#include "io/sha256.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The seal is the last 64 bytes: the SHA-256 of all before. */
static inline void reseal(uint8_t *data, size_t size)
{
    char hex[65];
    if (size < 64)
        return;
    sha256_of(hex, data, size - 64);
    memcpy(data + size - 64, hex, 64);
}

/* The whole file, which the caller frees; NULL if there is none. */
static inline uint8_t *file_bytes(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(*size + 1);
    *size = fread(data, 1, *size, f);
    fclose(f);
    return data;
}

static inline void file_put(const char *path, const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    fwrite(data, 1, size, f);
    fclose(f);
}

/* The position of the tensor with that name in a safetensors file. */
static inline uint8_t *tensor_in(uint8_t *data, size_t size, const char *name, size_t *bytes)
{
    char key[80];
    uint64_t header = 0;
    for (int i = 0; i < 8; i++)
        header |= (uint64_t)data[i] << 8 * i;
    snprintf(key, sizeof key, "\"%s\":{", name);
    const char *at = memmem(data + 8, (size_t)header, key, strlen(key));
    unsigned long long from, to;
    if (!at || !(at = strstr(at, "\"data_offsets\":[")) ||
        sscanf(at, "\"data_offsets\":[%llu,%llu]", &from, &to) != 2 || 8 + header + to > size)
        return NULL;
    *bytes = (size_t)(to - from);
    return data + 8 + header + from;
}

#endif
