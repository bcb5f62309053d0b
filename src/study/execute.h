/* Executes a plan: independent runs over all cores; each finished one is appended to the record at
 * once. */

/*
 * Runs that are in the record are not repeated; Ctrl-C or a kill loses only unfinished runs. A run
 * depends only on its identity, so the number of workers changes no result. Ranks that mpirun
 * started divide the runs (struct workers): all plan alike, rank 0 hands out job numbers and writes
 * the record.
 */
#ifndef STUDY_EXECUTE_H
#define STUDY_EXECUTE_H

#include "backends/ranks.h"
#include "study/runs.h"
#include "study/sets.h"

/* The progress after a finished run. */
struct execute_progress {
    int64_t finished, total; /* of the runs that had to be done */
    int64_t found;           /* runs that were already in the record */
    double work, work_total; /* the same in units of plan_cost, for the time left */
    const struct study_run *run;
    const json_t *result;
};

struct execute_options {
    int jobs, threads;             /* runs side by side, threads of each; 0: by the machine */
    const struct workers *workers; /* ranks that divide the runs; NULL: none */
    const char *folder;            /* for graphs with edge scores, or NULL */
    void (*begin)(void *ctx, const struct execute_progress *p); /* may be NULL */
    void (*done)(void *ctx, const struct execute_progress *p);  /* may be NULL; under a lock */
    bool (*stop)(void *ctx);                                    /* may be NULL; any thread */
    void *ctx;
};

/* CONSM_ECANCEL if stop() returned true. The plan's datasets must be open in sets. */
consm_status execute_plan(struct runs *runs, const struct plan *plan, const struct study_sets *sets,
                          const struct execute_options *o);

/* The record of a run, or NULL. */
consm_status execute_find(const json_t **record, struct runs *runs, const struct study_run *run,
                          const json_t *hashes);

/* "graph-cora.json" in the folder: the file of a run's graph. The caller frees it. */
consm_status execute_graph_path(char **out, const char *folder, const struct study_run *run);

/* The machine in a few words: processor, cores, system. */
const char *execute_machine(void);

#endif
