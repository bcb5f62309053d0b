/* Backends in libraries of their own, which may be missing. */
#ifndef BACKENDS_PLUGIN_H
#define BACKENDS_PLUGIN_H

#include "program/boost.h"
#include "program/handout.h"

/* Opens card `device` of libconsm_<name>.so, which the first call loads. CONSM_ENOTFOUND, with one
 * line that says what is missing, without library, driver or card. */
consm_status plugin_open(struct backend **out, const char *name, int device, int threads);

/* Loads the same library; then makes its driver ready for that card, and for large products if they
 * are expected. Failures are left to plugin_open(). Any thread may call them. */
void plugin_load(const char *name);
void plugin_wake(const char *name, int device, bool products);

/* Joins the processes that mpirun started, through libconsm_mpi.so. */
consm_status plugin_ranks(const struct ranks **out);

/* Calls of joined ranks while each works on its own. */
consm_status plugin_handout(const struct handout **out);

/* Opens XGBoost through libconsm_trees.so, which calls the services. */
consm_status plugin_boost(const struct boost_library **out,
                          const struct plugin_services **services);

/* Divides the rows of an undirected graph into parts with few edges between them, by METIS in the
 * same library. part (rows): the part of each row. */
consm_status plugin_cut(int32_t *part, const struct csr *graph, int parts);

#endif
