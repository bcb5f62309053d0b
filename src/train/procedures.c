/* The models that are trained by a procedure of their own, and the propagation losses that any
 * other model may have. */
#include "train/session.h"

#include <string.h>

extern const struct procedure consm_procedure, gam_procedure, propagation_procedure;

consm_status procedure_find(const struct procedure **out, const struct train_options *options)
{
    const char *kind = options->config.propagation, *model = options->model->name;
    bool none = strcmp(kind, "none") == 0;
    *out = NULL;
    if (strcmp(model, consm_procedure.model) == 0) {
        *out = &consm_procedure;
        if (!none)
            return status_fail(CONSM_EINVAL, "propagation %s: consm brings its own, expected none",
                               kind);
    } else if (strcmp(kind, "gam") == 0) {
        *out = &gam_procedure;
    } else if (!none) {
        *out = &propagation_procedure;
    }
    return CONSM_OK;
}
