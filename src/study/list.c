/* The list of studies by name. */
#include "study/study.h"

#include <string.h>

extern const struct study_def study_datasets, study_accuracy, study_pruning, study_convergence,
    study_edges, study_planted, study_robust, study_labels, study_coverage, study_zeta, study_depth,
    study_transport, study_complexity, study_homophily, study_bench;

static const struct study_def *const studies[] = {
    &study_datasets, &study_accuracy,    &study_homophily, &study_labels,     &study_edges,
    &study_planted,  &study_robust,      &study_coverage,  &study_zeta,       &study_depth,
    &study_pruning,  &study_convergence, &study_transport, &study_complexity, NULL,
};

const struct study_def *const *study_list(void)
{
    return studies;
}

const struct study_def *study_find(const char *name)
{
    for (int i = 0; studies[i]; i++)
        if (strcmp(studies[i]->name, name) == 0)
            return studies[i];
    return strcmp(name, study_bench.name) == 0 ? &study_bench : NULL;
}
