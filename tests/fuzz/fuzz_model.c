/* Fuzzes model files: whatever loads must answer queries and predict on a small graph. */

/*
 * An input is a model (its first byte), then changes to that model's file (eleven bytes: where, how
 * many, what), which is sealed again, so that no checksum rejects it. The models are trained here,
 * because stored files would be refused by the next version. From 128 on, the rest of the input is
 * a file, which is sealed.
 */
#include "app/objects.h"
#include "fuzz/scratch.h"
#include "reseal.h"

static const char *const name[] = {"gcn", "consm", "gat", "mlp"};
enum { MODELS = sizeof name / sizeof *name, CHANGE = 11, RAW = 128 };

static uint8_t *model_file(size_t *size, const struct consm_dataset *graph, int which)
{
    static const char *const set[][2] = {
        {"epochs", "2"}, {"warmup", "2"},     {"rounds", "1"},     {"gnn_steps", "1"},
        {"heads", "2"},  {"per_class", "4"},  {"threads", "1"},    {"match_hidden", "2"},
        {"hidden", "2"}, {"backbone", "gcn"}, {"match_steps", "1"}};
    struct consm_options *o = NULL;
    struct consm_model *m = NULL;
    if (consm_options_new(&o, name[which]) < 0)
        abort();
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        consm_options_set(o, set[i][0], set[i][1]);
    if (consm_train(&m, graph, o) < 0 || consm_model_save(m, scratch_path()) < 0)
        abort();
    consm_model_free(m);
    consm_options_free(o);
    return file_bytes(scratch_path(), size);
}

static void use(const struct consm_dataset *graph, const uint8_t *data, size_t size)
{
    struct consm_model *model;
    struct consm_prediction *prediction;
    struct consm_edge_scores *scores;
    struct consm_model_info info = {.size = sizeof info};
    char buffer[24];
    if (model_read(&model, "fuzz", data, size) < 0)
        return;
    consm_model_info(&info, model);
    (void)consm_model_class(model, info.classes - 1, buffer);
    if (consm_predict(&prediction, model, graph, 1) == 0)
        consm_prediction_free(prediction);
    if (consm_score_edges(&scores, model, graph, 1) == 0)
        consm_edge_scores_free(scores);
    consm_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct consm_dataset *graph;
    static uint8_t *whole[MODELS];
    static size_t bytes[MODELS];
    if (!graph &&
        consm_dataset_open(&graph, "csbm:nodes=30,classes=2,degree=3,features=2", NULL) < 0)
        abort();
    if (size < 1)
        return 0;
    const int which = data[0] % MODELS;
    if (!whole[which])
        whole[which] = model_file(&bytes[which], graph, which);
    const size_t length = data[0] < RAW ? bytes[which] : size - 1;
    uint8_t *copy = malloc(length + 1);
    memcpy(copy, data[0] < RAW ? whole[which] : data + 1, length);
    for (size_t at = 1; data[0] < RAW && at + CHANGE <= size; at += CHANGE) {
        size_t offset = ((size_t)data[at] | (size_t)data[at + 1] << 8) % (length - 72);
        memcpy(copy + offset, data + at + 3, 1 + (data[at + 2] & 7));
    }
    reseal(copy, length);
    use(graph, copy, length);
    free(copy);
    return 0;
}
