/* The queue of runs, for the two files that process it. */
#ifndef STUDY_EXECUTE_INSIDE_H
#define STUDY_EXECUTE_INSIDE_H

#include <pthread.h>

#include "study/execute.h"

/* A run that has to be done. */
struct job {
    struct study_run run;
    json_t *identity;
    char key[65];
    double cost;
    bool found; /* it is already in the record */
};

struct execution {
    struct runs *runs;
    const struct study_sets *sets;
    const struct execute_options *options;
    struct workers workers;
    struct job *job; /* (count) costly ones first, those that must run alone last */
    size_t count, capacity, together;
    size_t offset;                /* of the batch that is running */
    size_t next;                  /* under the lock: the first free job, if ranks divide them */
    struct first_failure failure; /* under the lock: failure of another rank's run */
    struct execute_progress progress;
    pthread_mutex_t lock;
};

/* A job's result with its signature; the caller owns it. */
consm_status execute_job(json_t **out, struct execution *x, const struct job *job, int threads);

/* Appends it to the record and reports progress. */
consm_status execute_finish(struct execution *x, const struct job *job, const json_t *result);

/* The jobs that may run side by side, on all ranks that mpirun started (execute_ranks.c). */
consm_status execute_among_ranks(struct execution *x, int jobs, int threads);

#endif
