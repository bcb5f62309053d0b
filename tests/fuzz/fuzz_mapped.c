/* Fuzzes safetensors as a mapped file whose arrays the dataset uses in place: checked when the
 * graph is first used, then trained on and scored. An input without a length prefix gets one. */
#include "app/objects.h"
#include "fuzz/scratch.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct consm_dataset *d;
    struct consm_options *o = NULL;
    struct consm_model *m = NULL;
    struct consm_edge_scores *scores = NULL;
    char path[96];
    uint8_t *whole = malloc(size + 8);
    size_t used = 0;
    const uint8_t *mark = size && data[0] == '{' ? memmem(data, size, "\n====\n", 6) : NULL;
    if (mark) {
        size_t header = (size_t)(mark - data);
        for (int i = 0; i < 8; i++)
            whole[used++] = (uint8_t)((uint64_t)header >> 8 * i);
        memcpy(whole + used, data, header);
        used += header;
        memcpy(whole + used, mark + 6, size - header - 6);
        used += size - header - 6;
    } else {
        memcpy(whole, data, size);
        used = size;
    }
    snprintf(path, sizeof path, "%s.safetensors", scratch_path());
    if (rename(scratch_file(whole, used), path) == 0 &&
        consm_dataset_open(&d, path, NULL) == CONSM_OK) {
        if (d->data->nodes < 1000 && d->data->features < 1000 && d->data->classes < 100 &&
            consm_options_new(&o, "gcn") == CONSM_OK) {
            consm_options_set(o, "epochs", "1");
            consm_options_set(o, "hidden", "2");
            consm_options_set(o, "threads", "1");
            if (consm_train(&m, d, o) == CONSM_OK &&
                consm_score_edges(&scores, m, d, 1) == CONSM_OK)
                consm_edge_scores_free(scores);
            consm_model_free(m);
        }
        consm_options_free(o);
        consm_dataset_free(d);
    }
    free(whole);
    return 0;
}
