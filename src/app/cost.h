/* Forecasts processor time and peak memory of a run with default parameters before it starts, from
 * sizes of the graph. A forecast is a sum of terms with coefficients; `consm study complexity`
 * measures and fits them, and src/app/cost.def has the result. */
#ifndef APP_COST_H
#define APP_COST_H

#include "base/status.h"

/* The sums: the processor time of ConSM with its comparison of backbones, the peak memory of the
 * comparison and of the rounds after it, and the peak memory of GCN. */
enum cost_kind { COST_SECONDS, COST_RACE_BYTES, COST_ROUNDS_BYTES, COST_GCN_BYTES, COST_KINDS };

struct cost_sizes {
    double nodes, edges; /* undirected */
    double columns;  /* features that a node has; of sparse ones, COST_SPARSE_COLUMNS a non-zero */
    double features; /* columns of the matrix: rows of a candidate's first weights */
    double classes;
    double labels;  /* that train */
    double two_hop; /* portfolio_two_hop of the graph */
    int threads;    /* several train candidates side by side, unless the graph is large */
};

/* A non-zero feature with its place in the transposed matrix takes as much memory as four values of
 * a dense matrix. */
enum { COST_SPARSE_COLUMNS = 4 };

enum { COST_TERMS = 6 };

/* Name of a term, NULL from the last one on; and its values for a graph. */
const char *cost_term_name(enum cost_kind kind, int term);
consm_status cost_terms(double out[COST_TERMS], enum cost_kind kind, const struct cost_sizes *s);

/* The forecast; low and high: with the largest errors of the runs that the coefficients are from,
 * at least a tenth. */
struct cost_range {
    double low, usual, high;
};
consm_status cost_forecast(struct cost_range *out, enum cost_kind kind, const struct cost_sizes *s);
/* The peak memory of ConSM: the larger of what its comparison and its rounds hold. */
consm_status cost_forecast_consm(struct cost_range *out, const struct cost_sizes *s);

/* The processor on which the coefficients were measured. */
extern const char *const cost_measured_on;

#endif
