/* Fuzzes split files: any bytes are read, or refused with a message. */
#include "data/generate/generate.h"
#include "data/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct dataset *karate;
    static char path[64];
    uint8_t role[34];
    if (!karate) {
        snprintf(path, sizeof path, "/tmp/consm-fuzz-split-%d", (int)getpid());
        if (generate_karate(&karate) < 0)
            abort();
    }
    FILE *f = fopen(path, "wb");
    if (!f)
        abort();
    fwrite(data, 1, size, f);
    fclose(f);
    if (split_read(role, karate, path) == CONSM_OK)
        for (int i = 0; i < 34; i++)
            if (role[i] > SPLIT_TEST)
                abort();
    unlink(path);
    return 0;
}
