/* What a run does: data in, a JSON object of figures out. One file per kind of task. */
#ifndef STUDY_TASK_H
#define STUDY_TASK_H

#include "app/prepare.h"
#include "study/plan.h"

struct task_input {
    const struct study_run *run;
    const struct prepared *prepared;
    int threads;
    progress_fn progress; /* may be NULL; returning true stops the run */
    void *progress_ctx;
    const struct csr *attack; /* the published graph of a run that uses one, or NULL */
    const char *graph_path;   /* where to write the graph with its edge scores, or NULL */
};

/* Runs it; *result is a new object. */
consm_status task_run(json_t **result, const struct task_input *in);

/* The tasks; each adds its figures to the result. */
consm_status task_prune(json_t *result, const struct task_input *in);
consm_status task_cost(json_t *result, const struct task_input *in);
consm_status task_facts(json_t *result, const struct task_input *in);
consm_status task_plant(json_t *result, const struct task_input *in);
consm_status task_cover(json_t *result, const struct task_input *in);
consm_status task_robust(json_t *result, const struct task_input *in);

/* Common steps of tasks that train. The caller owns role (n). */
consm_status task_roles(uint8_t **role, const struct task_input *in);
struct train_options task_options(const struct task_input *in);
consm_status task_record(json_t *result, const struct train_result *r);

/* The quality of a trained session's edge scores; nothing if the model has none. */
consm_status task_edges(json_t *result, struct session *s, const struct task_input *in);

/* Whether a model has its own edge coefficients. */
bool task_has_coefficients(const struct model_def *model);

/* A figure that may be unknown: null if not finite. */
consm_status task_number(json_t *object, const char *name, double value);
/* Reads it back: NaN if missing or null. */
double task_value(const json_t *object, const char *name);

#endif
