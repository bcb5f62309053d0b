/* For tests of the course of a run, not of how well it predicts: ConSM with narrow networks and few
 * updates of M, which takes a third of the time under AddressSanitizer. */
#ifndef TESTS_NARROW_H
#define TESTS_NARROW_H

#include "models/config.h"

static inline void narrow(struct config *c)
{
    c->hidden = 16;
    c->match_width = 16;
    c->match_hidden = 8;
    c->match_steps = 10;
}

/* The same for consm_options_set. */
#define NARROW                                                      \
    {"hidden", "16"}, {"match_width", "16"}, {"match_hidden", "8"}, \
    {                                                               \
        "match_steps", "10"                                         \
    }

#endif
