/* A model's predictions for every node, as a file. */
#ifndef CLI_PREDICTIONS_OUTPUT_H
#define CLI_PREDICTIONS_OUTPUT_H

#include "consm.h"

/* id,label,confidence, requested columns, and seen if it is known; or a JSON object per node.
 * "-" is standard output. */
struct predictions_style {
    bool json, probabilities;
    bool safe_csv; /* names that a spreadsheet would compute get a ' in front */
    /* Ranked by a class: these nodes in this order, with a column p_CLASS and one of its log-odds;
     * NULL: all nodes in order. Not for a graph in parts. */
    const int64_t *order;
    int64_t rows;
    int32_t ranked;
    const int64_t *node; /* number in the dataset of each row of the prediction; NULL: 0, 1, … */
};
consm_status predictions_write(const char *path, const struct consm_model *model,
                               const struct consm_prediction *prediction,
                               const struct consm_dataset *data,
                               const struct predictions_style *style);

/* All nodes, most probable of a class first, ties by log-odds, then by number; the caller frees it.
 */
consm_status predictions_rank(int64_t **out, const struct consm_prediction *p, int32_t class_index);

#endif
