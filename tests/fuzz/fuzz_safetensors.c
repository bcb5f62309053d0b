/* Fuzzes safetensors: the container, and datasets in it. What is accepted must be safe to read. An
 * input that begins with { is a header and, after a line of ====, its data; the length prefix is
 * filled in, because no mutation would guess it. */
#include <stdlib.h>
#include <string.h>

#include "data/readers/safetensors.h"

static volatile int64_t sink;

/* Touches every byte a caller may touch. */
static void walk(const struct dataset *d)
{
    int64_t sum = 0;
    for (int64_t e = 0; e < d->edges; e++)
        sum += d->label[d->from[e]] + d->label[d->to[e]];
    for (int64_t i = 0; d->sparse && i < d->nodes; i++)
        for (int64_t k = d->sparse->start[i]; k < d->sparse->start[i + 1]; k++)
            sum += d->sparse->col[k] + (d->sparse->val ? d->sparse->val[k] != 0 : 1);
    for (int64_t i = 0; d->node_id && i < d->nodes; i++)
        sum += d->node_id[i][0];
    sink = sum;
}

static void try_file(const uint8_t *data, size_t size)
{
    struct safetensors *s;
    struct dataset *d;
    if (safetensors_read(&s, "fuzz", data, size) >= 0) {
        int64_t sum = 0;
        for (int64_t i = 0; i < safetensors_count(s); i++) {
            const struct safetensors_tensor *t = safetensors_at(s, i);
            for (size_t k = 0; k < t->bytes; k++)
                sum += ((const uint8_t *)t->data)[k];
        }
        sink = sum;
        (void)safetensors_verify(s);
        safetensors_close(s);
    }
    if (safetensors_dataset_read(&d, "fuzz", data, size) >= 0) {
        walk(d);
        dataset_free(d);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || data[0] != '{') {
        try_file(data, size);
        return 0;
    }
    const uint8_t *mark = memmem(data, size, "\n====\n", 6);
    size_t header = mark ? (size_t)(mark - data) : size, skip = mark ? header + 6 : size;
    uint8_t *file = malloc(8 + header + size - skip);
    for (int i = 0; i < 8; i++)
        file[i] = (uint8_t)((uint64_t)header >> 8 * i);
    memcpy(file + 8, data, header);
    memcpy(file + 8 + header, data + skip, size - skip);
    try_file(file, 8 + header + size - skip);
    free(file);
    return 0;
}
