/* For tests of the course of a run, not of how well it predicts: ConSM with narrow networks and few
 * updates of M. Its own candidates have up to 512 columns; under AddressSanitizer a run with all of
 * them takes four times as long. */
#ifndef TESTS_NARROW_H
#define TESTS_NARROW_H

#include "train/train.h"

/* Candidates keep these widths, too. */
static inline void narrow(struct train_options *o)
{
    static const bool given[CONFIG_ROWS] = {[CONFIG_ROW_hidden] = true};
    o->config.hidden = 16;
    o->config.match_width = 16;
    o->config.match_hidden = 8;
    o->config.match_steps = 10;
    o->given = given;
}

/* The same for consm_options_set. */
#define NARROW                                                      \
    {"hidden", "16"}, {"match_width", "16"}, {"match_hidden", "8"}, \
    {                                                               \
        "match_steps", "10"                                         \
    }

#endif
