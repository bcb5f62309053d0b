/* What OP_KEEP reads and writes in PLACE_RECORD: the best so far, and the results of every epoch
 * since the host last read it. */
#ifndef PROGRAM_KEEP_H
#define PROGRAM_KEEP_H

#include <stdint.h>

enum { KEEP_ROOM = 64 }; /* epochs that a record holds */

struct kept_epoch {
    double loss;   /* of the step, before it */
    double tie;    /* mean -log p of the rows' labels, if it breaks ties, else 0 */
    int64_t right; /* rows whose largest value is that of their label */
    int64_t kept;  /* 1: these parameters are the best so far */
};

struct keep_record {
    int64_t right; /* of the best so far; -1: there is none */
    double tie;
    int64_t count; /* epochs recorded */
    struct kept_epoch epoch[KEEP_ROOM];
};

#endif
