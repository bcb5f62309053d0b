/* The models with their own training procedure, and the propagation losses that any other model may
 * use. */
#include "train/session.h"

#include <string.h>

extern const struct procedure consm_procedure, gam_procedure, propagation_procedure,
    trees_procedure;

consm_status procedure_find(const struct procedure **out, const struct train_options *options)
{
    enum config_propagation kind = options->config.propagation;
    *out = NULL;
    if (strcmp(options->model->name, consm_procedure.model) == 0) {
        *out = &consm_procedure;
        if (kind != PROPAGATION_NONE)
            return status_fail(CONSM_EINVAL,
                               "propagation %s: consm has its own propagation loss: expected none",
                               config_names_propagation[kind]);
        if (options->config.distance == DISTANCE_SQUARED)
            return status_fail(CONSM_EINVAL, "distance squared: works with propagation ngm and "
                                             "gam; for consm use logits or probabilities");
    } else if (strcmp(options->model->name, trees_procedure.model) == 0) {
        *out = &trees_procedure;
        if (kind != PROPAGATION_NONE)
            return status_fail(CONSM_EINVAL,
                               "propagation %s: trees have no gradients: expected none",
                               config_names_propagation[kind]);
    } else if (kind == PROPAGATION_GAM) {
        *out = &gam_procedure;
    } else if (kind != PROPAGATION_NONE) {
        *out = &propagation_procedure;
    }
    return CONSM_OK;
}
