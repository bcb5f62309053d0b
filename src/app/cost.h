/* Forecasts processor time and peak memory of a run with default parameters before it starts, from
 * sizes of the graph. A forecast is a sum of terms with coefficients; `consm study complexity`
 * measures and fits them, and src/app/cost.def has the result. */
#ifndef APP_COST_H
#define APP_COST_H

#include "base/status.h"

/* What is forecast: of ConSM with its comparison of backbones the processor time and the peak
 * memory, of GCN the peak memory. */
enum cost_kind { COST_SECONDS, COST_BYTES, COST_GCN_BYTES, COST_KINDS };

struct cost_sizes {
    double nodes, edges; /* undirected */
    double columns;      /* features of a node; of sparse features, the non-zero ones */
    double classes;
    double labels;  /* that train */
    double two_hop; /* portfolio_two_hop of the graph */
};

enum { COST_TERMS = 9 };

/* Name of a term, NULL from the last one on; and its values for a graph. */
const char *cost_term_name(enum cost_kind kind, int term);
consm_status cost_terms(double out[COST_TERMS], enum cost_kind kind, const struct cost_sizes *s);

/* The forecast; low and high: with the largest errors of the runs that the coefficients are from,
 * at least a tenth. */
struct cost_range {
    double low, usual, high;
};
consm_status cost_forecast(struct cost_range *out, enum cost_kind kind, const struct cost_sizes *s);

/* The processor on which the coefficients were measured. */
extern const char *const cost_measured_on;

#endif
