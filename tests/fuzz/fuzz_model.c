/* Model files: whatever loads can be asked about itself and predicts on a small graph. */
#include "api/objects.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct consm_model *model;
    struct consm_dataset *graph;
    struct consm_prediction *prediction;
    struct consm_edge_scores *scores;
    struct consm_model_info info = {.size = sizeof info};
    char buffer[24];
    if (model_read(&model, "fuzz", data, size) < 0)
        return 0;
    consm_model_info(&info, model);
    (void)consm_model_class(model, info.classes - 1, buffer);
    if (consm_dataset_open(&graph, "csbm:nodes=20,classes=2,degree=3,features=2", NULL) == 0) {
        if (consm_predict(&prediction, model, graph, 1) == 0)
            consm_prediction_free(prediction);
        if (consm_score_edges(&scores, model, graph, 1) == 0)
            consm_edge_scores_free(scores);
        consm_dataset_free(graph);
    }
    consm_model_free(model);
    return 0;
}
