/* Backends that are libraries of their own, there or not. */
#ifndef BACKENDS_PLUGIN_H
#define BACKENDS_PLUGIN_H

#include "program/plugin.h"

/* Opens card `device` of libconsm_<name>.so, loaded at the first call. CONSM_ENOTFOUND, with one
 * line that says what is missing, where library, driver or card is not there. */
consm_status plugin_open(struct backend **out, const char *name, int device, int threads);

/* Joins the processes that mpirun started, by libconsm_mpi.so. */
consm_status plugin_ranks(const struct ranks **out);

#endif
