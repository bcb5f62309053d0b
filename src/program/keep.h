/* What OP_KEEP reads and writes in PLACE_RECORD: the best so far, and what became of every epoch
 * since the host last looked. */
#ifndef PROGRAM_KEEP_H
#define PROGRAM_KEEP_H

#include <stdint.h>

enum { KEEP_ROOM = 64 }; /* epochs that a record holds */

struct kept_epoch {
    double loss;   /* of the step, before it */
    double tie;    /* mean -log p of the rows' labels, where that decides between equals, else 0 */
    int64_t right; /* rows whose largest value is their label's */
    int64_t kept;  /* 1: the parameters were better than all before */
};

struct keep_record {
    int64_t right; /* of the best so far; -1: there is none */
    double tie;
    int64_t count; /* epochs written down */
    struct kept_epoch epoch[KEEP_ROOM];
};

#endif
