/* The models that are trained by a procedure of their own. */
#include "train/session.h"

#include <string.h>

extern const struct procedure consm_procedure;

static const struct procedure *const procedures[] = {&consm_procedure, NULL};

const struct procedure *procedure_find(const char *model)
{
    for (int i = 0; procedures[i]; i++)
        if (strcmp(procedures[i]->model, model) == 0)
            return procedures[i];
    return NULL;
}
