/* An estimate of the cost of training on N ranks: for `consm info --ranks` and `consm partition`.
 */
#ifndef CLI_RANKS_FORECAST_H
#define CLI_RANKS_FORECAST_H

#include "data/dataset.h"

#include <jansson.h>

/* For a two-layer GCN with 64 hidden units, with the graph's rows divided as in training. */
struct ranks_forecast {
    int ranks;
    int64_t nodes;
    int64_t most_rows, most_entries, most_halo, halo; /* of a rank; of all */
    int64_t cut;                                      /* edges between ranks */
    int64_t held, divided;                            /* bytes of a rank: of the data; of values */
    int64_t held_in_parts;                            /* of the data, if it is in parts */
    int64_t halo_bytes, sum_bytes;                    /* sent in an epoch, by all ranks */
};
consm_status forecast_make(struct ranks_forecast *f, const struct dataset *d,
                           const struct csr *graph, int ranks);

/* From this many nodes per rank on, several ranks are faster than one process
 * (docs/explanation/distributed.md). */
enum { RANK_NODES = 10000 };
bool forecast_is_slower(int64_t nodes, int ranks);

void forecast_print(const struct ranks_forecast *f, int count);
json_t *forecast_json(const struct ranks_forecast *f);

#endif
