/* Backends that are libraries of their own, there or not. */
#ifndef BACKENDS_PLUGIN_H
#define BACKENDS_PLUGIN_H

#include "program/boost.h"
#include "program/handout.h"

/* Opens card `device` of libconsm_<name>.so, loaded at the first call. CONSM_ENOTFOUND, with one
 * line that says what is missing, where library, driver or card is not there. */
consm_status plugin_open(struct backend **out, const char *name, int device, int threads);

/* Joins the processes that mpirun started, by libconsm_mpi.so. */
consm_status plugin_ranks(const struct ranks **out);

/* What ranks that have joined can do while they go their own ways. */
consm_status plugin_handout(const struct handout **out);

/* XGBoost, by libconsm_trees.so; the services are for its calls. */
consm_status plugin_boost(const struct boost_library **out,
                          const struct plugin_services **services);

/* part (rows): which of so many parts a row of an undirected graph is in, by METIS in the same
 * library: few rows have neighbours in other parts. */
consm_status plugin_cut(int32_t *part, const struct csr *graph, int parts);

#endif
