/* Runs studies and shows the results: shared by `consm study`, `consm bench` and `consm report`. */
#ifndef CLI_STUDY_RUN_H
#define CLI_STUDY_RUN_H

#include "args.h"
#include "study/study.h"

/* Rows for a verb's table of flags; seeds and folder are the texts of its defaults. */
#define STUDY_FLAGS(seeds, folder)                                                             \
    {"models", "LIST", "models, as in a,b,c (all but trees); `consm models` lists them", 'm'}, \
        {"seeds", "K", "number of runs of each kind, with seeds 0 … K-1 (" seeds ")", 0},      \
        {"output", "DIR",                                                                      \
         "folder for runs, report and files (" folder "); a folder in use is continued", 'o'}, \
        {"jobs", "N", "runs at the same time (one per processor)", 'j'},                       \
        {"threads", "N", "threads per run (default: processors / jobs)", 0},                   \
        {"device", "NAME", "cpu, cuda, cuda:N or auto: a GPU if there is one (cpu)", 0},       \
    {                                                                                          \
        "json", NULL, "print one JSON object per finished run and one summary", 0              \
    }

/* Puts the flags that choose runs (models, seeds, split, …) into the options. */
int study_run_options(json_t *options, const struct args *args, int64_t seeds);

/* "a,b" as a JSON array of its parts. */
json_t *study_run_list(const char *text);

/* Plans, executes, records and reports. study (count) in any order. */
int study_run(const struct args *args, const struct study_def *const *study, int count,
              json_t *options, const char *folder);

/* Writes the page to path, and tables and figures to files (NULL: not); prints the tables unless
 * quiet. only may be NULL. */
int study_run_report(const struct args *args, struct study_folder *f, const char *only,
                     const char *path, const char *files, bool quiet);

#endif
