/* A file for readers that need a path: one name per process, in memory if possible. */
#ifndef TESTS_FUZZ_SCRATCH_H
#define TESTS_FUZZ_SCRATCH_H

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static inline const char *scratch_path(void)
{
    static char path[64];
    if (!*path)
        snprintf(path, sizeof path, "%s/consm-fuzz-%ld",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    return path;
}

static inline const char *scratch_file(const uint8_t *data, size_t size)
{
    FILE *f = fopen(scratch_path(), "wb");
    if (f) {
        fwrite(data, 1, size, f);
        fclose(f);
    }
    return scratch_path();
}

#endif
