/* The processes that mpirun started, as an object that whoever joins them hands down (struct
 * ranks). Only the command joins; a dataset, a backend and a session keep the ranks that they were
 * opened with. MPI itself is in libconsm_mpi.so, loaded here. */
#ifndef BACKENDS_RANKS_H
#define BACKENDS_RANKS_H

#include "program/handout.h"

/* This process alone: it agrees with itself, has all sums, and ends normally. */
extern const struct ranks ranks_alone;

/* *out: all ranks if mpirun started this process, else ranks_alone. On failure it is valid, too:
 * CONSM_ENOTFOUND, with one line, if the plug-in is missing; CONSM_EINVAL if the versions differ.
 */
consm_status ranks_join(const struct ranks **out);

/* struct ranks.agree for a text. */
consm_status ranks_agree_text(const struct ranks *ranks, const char *what, const char *text);

/* Default threads of each rank: the processors divided by the ranks on this machine; as given when
 * alone. */
int ranks_threads(const struct ranks *ranks, int threads);

/* Opens a backend (backend_open) whose programs the ranks divide. Of a graph in parts: who has
 * which rows, and which columns of sparse features; else NULL. */
consm_status ranks_backend(struct backend **out, const struct ranks *ranks,
                           const struct partition *rows, const struct partition *columns,
                           const char *device, int threads);

/* The ranks that divide its programs. */
const struct ranks *backend_ranks(const struct backend *b);

/* The processes of a partition among the ranks: its functions, without rows. */
struct partition ranks_partition(const struct ranks *ranks);

/* Ranks that take whole runs, each on its own: rank 0 knows the work to do. */
struct workers {
    const struct ranks *ranks;
    const struct handout *calls; /* between them; NULL when alone */
};
consm_status ranks_part(struct workers *out, const struct ranks *ranks);

#endif
