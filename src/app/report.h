/* report.html of one training run, for the command and for consm_report_write(). */
#ifndef APP_REPORT_H
#define APP_REPORT_H

#include "consm.h"

struct config_row;
struct dataset;
struct trained_run;

/* The input of a report; nothing is owned. */
struct report_input {
    const struct trained_run *run;
    const struct dataset *data;
    const struct consm_edge_scores *scores;
    const char *command;               /* the command that reproduces it, or NULL */
    const struct consm_dataset *set;   /* around data, for reasons */
    int threads;                       /* 0: one per processor */
    const struct suspects *suspects;   /* may be NULL */
    const char *picture;               /* path of the whole graph as SVG, or NULL */
    const struct differences *changes; /* since the model that training began with, or NULL */
};
/* How far trust must have moved to be listed among them. */
#define REPORT_MOVED 0.1

/* Whether the model reads that parameter. */
bool report_reads(const struct consm_model *m, const struct config_row *row);

consm_status report_run(const char *path, const struct report_input *in);

#endif
