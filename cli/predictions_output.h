/* What a model says of every node, as a file. */
#ifndef CLI_PREDICTIONS_OUTPUT_H
#define CLI_PREDICTIONS_OUTPUT_H

#include "consm.h"

/* id,label,confidence and, if asked, a column per class, or a JSON object per node; "-" is standard
 * output. */
struct predictions_style {
    bool json, probabilities;
    bool safe_csv; /* names that a spreadsheet would compute get a ' in front */
};
consm_status predictions_write(const char *path, const struct consm_model *model,
                               const struct consm_prediction *prediction,
                               const struct consm_dataset *data,
                               const struct predictions_style *style);

#endif
