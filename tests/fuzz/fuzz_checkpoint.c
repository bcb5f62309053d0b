/*
 * Fuzzes checkpoints: an input is a list of changes to a real one (ten bytes: where, what), which
 * is then sealed again, so that no checksum rejects it. Resuming must end or be refused.
 */
#include "app/objects.h"
#include "fuzz/scratch.h"
#include "reseal.h"

static const char *const model[] = {"gam", "consm", "mlp", "ptdnet"};
enum { MODELS = sizeof model / sizeof *model, CHANGE = 10 };

static bool stop(void *ctx, const struct consm_progress *p)
{
    (void)ctx;
    return p->epoch == 9;
}

static struct consm_options *options_of(int which)
{
    struct consm_options *o = NULL;
    static const char *const set[][2] = {{"epochs", "12"},    {"warmup", "4"},    {"rounds", "2"},
                                         {"gnn_steps", "4"},  {"hidden", "4"},    {"threads", "1"},
                                         {"backbone", "gcn"}, {"per_class", "4"}, {"grow", "6"}};
    if (consm_options_new(&o, model[which]) < 0)
        abort();
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        consm_options_set(o, set[i][0], set[i][1]);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct consm_dataset *graph;
    static uint8_t *whole[MODELS];
    static size_t bytes[MODELS];
    struct consm_model *trained = NULL;
    if (!graph &&
        consm_dataset_open(&graph, "csbm:nodes=30,classes=2,degree=3,features=4", NULL) < 0)
        abort();
    if (size < 1)
        return 0;
    const int which = data[0] % MODELS;
    struct consm_options *o = options_of(which);
    if (!whole[which]) {
        consm_options_on_progress(o, stop, NULL);
        consm_options_checkpoint(o, scratch_path(), 0, false);
        if (consm_train(&trained, graph, o) != CONSM_ECANCEL ||
            !(whole[which] = file_bytes(scratch_path(), &bytes[which])))
            abort();
        consm_options_on_progress(o, NULL, NULL);
    }
    uint8_t *copy = malloc(bytes[which]);
    memcpy(copy, whole[which], bytes[which]);
    for (size_t at = 1; at + CHANGE <= size; at += CHANGE) {
        uint32_t place = (uint32_t)data[at] | (uint32_t)data[at + 1] << 8;
        size_t offset = place % (bytes[which] - 72);
        memcpy(copy + offset, data + at + 2, 1 + (data[at] & 7));
    }
    reseal(copy, bytes[which]);
    consm_options_checkpoint(o, scratch_file(copy, bytes[which]), 0, true);
    if (consm_train(&trained, graph, o) == CONSM_OK)
        consm_model_free(trained);
    free(copy);
    consm_options_free(o);
    return 0;
}
