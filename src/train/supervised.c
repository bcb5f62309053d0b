/* Losses of models that predict several times while training. */
#include "train/supervised.h"

node supervised_loss(struct program *p, node predictions, int64_t classes,
                     const struct index *labelled, const int32_t *label, const float *weight)
{
    int64_t count = program_cols(p, predictions) / classes;
    node total = POISON;
    if (count <= 1)
        return nll(p, predictions, labelled, label, weight);
    for (int64_t s = 0; s < count; s++) {
        node part = nll(p, slice(p, predictions, s * classes, classes), labelled, label, weight);
        total = s ? add(p, total, part) : part;
    }
    return scale(p, 1.0f / (float)count, total);
}

node mean_prediction(struct program *p, node predictions, int64_t classes)
{
    int64_t count = program_cols(p, predictions) / classes;
    node total = POISON;
    if (count <= 1)
        return predictions;
    for (int64_t s = 0; s < count; s++) {
        node part = slice(p, predictions, s * classes, classes);
        total = s ? add(p, total, part) : part;
    }
    return scale(p, 1.0f / (float)count, total);
}
