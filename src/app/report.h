/* report.html of one training run, for the command and for consm_report_write(). */
#ifndef APP_REPORT_H
#define APP_REPORT_H

#include "app/objects.h"

/* How a run learned: its last epochs' numbers would hide the way there. */
struct train_curve {
    double *epoch, *loss, *score; /* (count) the last by the run's metric, on validation */
    int64_t count;
    size_t room[3];
    /* … and how the candidates of --backbone auto did: every look at validation. */
    struct train_look {
        int64_t candidate, update;
        double loss, score;
        const char *backbone;
    } * look; /* (looks) */
    size_t looks, look_room;
};

/* What a report is made from; nothing is owned. */
struct report_input {
    const struct trained_run *run;
    const struct dataset *data;
    const struct consm_edge_scores *scores;
    const struct train_curve *curve; /* may be NULL */
    const char *command;             /* what the page says makes it again, or NULL */
    const struct consm_dataset *set; /* around data, for reasons */
    int threads;                     /* 0: one per processor */
    const struct suspects *suspects; /* may be NULL */
    const char *picture;             /* where the whole graph goes as SVG, or NULL */
};
/* Whether the model reads that parameter. */
bool report_reads(const struct consm_model *m, const struct config_row *row);

consm_status report_run(const char *path, const struct report_input *in);

#endif
