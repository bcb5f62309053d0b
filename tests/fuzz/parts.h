/* Several files in one fuzz input, one after the other, separated by lines of ====. Each gets its
 * own block, so that a read past its end is detected. */
#ifndef TESTS_FUZZ_PARTS_H
#define TESTS_FUZZ_PARTS_H

#include <stdlib.h>
#include <string.h>

#include "io/token.h"

enum { MAX_PARTS = 5 };

struct parts {
    struct text_file file[MAX_PARTS]; /* empty parts have no data */
    char *block[MAX_PARTS];
};

static inline void parts_split(struct parts *p, const uint8_t *data, size_t size)
{
    static const char mark[] = "\n====\n";
    static const char *const name[MAX_PARTS] = {"one", "two", "three", "four", "five"};
    memset(p, 0, sizeof *p);
    for (int i = 0; i < MAX_PARTS && size > 0; i++) {
        const uint8_t *end = i + 1 < MAX_PARTS ? memmem(data, size, mark, 6) : NULL;
        size_t length = end ? (size_t)(end - data) + 1 : size;
        size_t used = length + (end ? 5 : 0);
        if (!(end && length == 1)) {
            p->block[i] = malloc(length);
            memcpy(p->block[i], data, length);
            p->file[i] = (struct text_file){name[i], p->block[i], length, false};
        }
        data += used;
        size -= used;
    }
}

static inline void parts_free(struct parts *p)
{
    for (int i = 0; i < MAX_PARTS; i++)
        free(p->block[i]);
}

#endif
