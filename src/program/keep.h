/* What OP_KEEP reads and writes in PLACE_RECORD: the best so far, and the results of every epoch
 * since the host last read it. */
#ifndef PROGRAM_KEEP_H
#define PROGRAM_KEEP_H

#include "stats/score.h"

enum { KEEP_ROOM = 64 }; /* epochs that a record holds */

/* Metrics other than accuracy: at most so many classes, and scores of rows. */
enum { KEEP_MOST_CLASSES = 1024, KEEP_MOST_SCORES = 1 << 28 };

struct kept_epoch {
    double loss;  /* of the step, before it */
    double tie;   /* mean -log p of the rows' labels, if it breaks ties, else 0 */
    double score; /* the metric over the rows */
    int64_t kept; /* 1: these parameters are the best so far */
};

struct keep_record {
    double score; /* of the best so far; -1: there is none */
    double tie;
    int64_t count; /* epochs recorded */
    struct kept_epoch epoch[KEEP_ROOM];
};

#endif
