/* Whether several ranks train a model together. On a small graph their messages cost more than the
 * work that they share, so rank 0 trains alone. */
#include "train_ranks.h"

#include "args.h"
#include "base/counted.h"
#include "ranks_forecast.h"
#include "together.h"

#include <stdlib.h>
#include <string.h>

/* CONSM_RANKS=divide: the ranks divide every graph. Rank 0's environment counts. */
static bool must_divide(const struct ranks *ranks)
{
    const char *how = getenv("CONSM_RANKS");
    return ranks->first(how && strcmp(how, "divide") == 0) != 0;
}

/* All ranks take the same way if they have the same data; where they do not, this says so. */
static consm_status compare(const struct training *t, const struct ranks *ranks, bool few)
{
    const struct alike thing[] = {
        {"dataset", t->read->sha256, strlen(t->read->sha256), false},
        {"number of nodes", &t->read->nodes, sizeof t->read->nodes, false},
        {"use of the graph", &few, sizeof few, false}};
    return ranks->agree(thing, 3);
}

consm_status train_ranks(bool *mine, struct training *t)
{
    consm_status st = CONSM_OK;
    const struct ranks *ranks = dataset_ranks(t->data);
    const int64_t nodes = t->read->nodes;
    bool few = nodes < RANK_NODES && !t->read->rows;
    *mine = true;
    if (ranks->size == 1 || must_divide(ranks))
        return CONSM_OK;
    TRY(compare(t, ranks, few));
    if (forecast_is_slower(nodes, ranks->size))
        args_fail(t->args, EXIT_DONE,
                  "warning: %s on %d ranks: one process is faster%s; use ranks from %d nodes "
                  "each on",
                  COUNTED(nodes, "node"), ranks->size, few ? ", so rank 0 trains alone" : "",
                  RANK_NODES);
    if (few) {
        dataset_leave_ranks(t->data);
        *mine = ranks->rank == 0;
    }
done:
    return st;
}
