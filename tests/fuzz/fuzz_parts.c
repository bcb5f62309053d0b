/* Fuzzes a folder of parts: two safetensors files, the graph's and its rows', each as a header and,
 * after a line of ====, its data; another such line separates the two. The length prefix and the
 * graph's seal are filled in, because no mutation would guess them. What opens is prepared and
 * trained on, as by one process. */
#include "app/objects.h"
#include "data/readers/safetensors.h"
#include "fuzz/parts.h"
#include "fuzz/scratch.h"

#include <sys/stat.h>

/* Header and data as a file; the first `@` of the header becomes `seal`. */
static void put(const char *path, const struct text_file *header, const struct text_file *data,
                const char *seal)
{
    FILE *f = fopen(path, "wb");
    const char *text = header->data ? (const char *)header->data : "";
    size_t length = header->data ? header->size - 1 : 0; /* without the line's end */
    const char *at = seal ? memchr(text, '@', length) : NULL;
    uint64_t size = length + (at ? strlen(seal) - 1 : 0);
    if (!f)
        return;
    for (int i = 0; i < 8; i++)
        fputc((int)(size >> 8 * i & 0xff), f);
    fwrite(text, 1, at ? (size_t)(at - text) : length, f);
    if (at) {
        fputs(seal, f);
        fwrite(at + 1, 1, length - (size_t)(at + 1 - text), f);
    }
    if (data->data)
        fwrite(data->data, 1, data->size - !seal, f); /* another line follows the first */
    fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct parts p;
    struct dataset *whole;
    struct consm_dataset *d;
    struct consm_options *o = NULL;
    struct consm_model *m = NULL;
    char folder[96], graph[128], rows[128];
    parts_split(&p, data, size);
    snprintf(folder, sizeof folder, "%s.parts", scratch_path());
    snprintf(graph, sizeof graph, "%s/graph.safetensors", folder);
    snprintf(rows, sizeof rows, "%s/rows.safetensors", folder);
    mkdir(folder, 0777);
    put(graph, &p.file[0], &p.file[1], NULL);
    if (safetensors_dataset_load(&whole, graph) == CONSM_OK) {
        put(rows, &p.file[2], &p.file[3], whole->sha256);
        dataset_free(whole);
        if (consm_dataset_open(&d, folder, NULL) == CONSM_OK) {
            if (d->data->nodes < 1000 && d->data->features < 1000 && d->data->classes < 100 &&
                consm_options_new(&o, "gcn") == CONSM_OK) {
                consm_options_set(o, "epochs", "1");
                consm_options_set(o, "hidden", "2");
                consm_options_set(o, "threads", "1");
                if (consm_train(&m, d, o) == CONSM_OK)
                    consm_model_free(m);
            }
            consm_options_free(o);
            consm_dataset_free(d);
        }
    }
    parts_free(&p);
    return 0;
}
