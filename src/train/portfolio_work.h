/* How much work ConSM's comparison of backbones is on a graph of given sizes: for forecasts, before
 * anything is trained. Not in the paper. */
#ifndef TRAIN_PORTFOLIO_WORK_H
#define TRAIN_PORTFOLIO_WORK_H

#include "graph/csr.h"
#include "models/config.h"

struct portfolio_sizes {
    double nodes, entries; /* of the symmetric adjacency matrix */
    double two_hop;        /* portfolio_two_hop */
    double labels_a_class; /* training labels, on average over the classes */
    double columns;        /* features of a node; of sparse features, the non-zero ones */
    int32_t classes;
    int threads; /* of the host */
};

/* An upper bound of the pairs of nodes with a common neighbour: Σ_v degree(v)². */
double portfolio_two_hop(const struct csr *graph);

/* Sums over all candidates that the graph allows. An update moves columns over edges and multiplies
 * weights at nodes. It is not known which candidates stay, so each gets the mean number of updates.
 */
struct portfolio_work {
    int candidates;
    double updates;
    double moved;          /* entries of the adjacency matrix × columns × updates */
    double multiplied;     /* nodes × weights × updates */
    double widths;         /* hidden units of all candidates */
    int64_t layers, width; /* of the candidate that keeps the most values */
    int tracks;            /* candidates that train side by side on the host */
};
consm_status portfolio_work(struct portfolio_work *out, const struct config *c,
                            const struct portfolio_sizes *sizes);

#endif
