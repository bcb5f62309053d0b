/* The processes that mpirun started to train together, or this one alone. Only the command joins
 * them (ranks_begin). Without it, or without mpirun, there is one rank and the calls below do
 * nothing. MPI itself is in libconsm_mpi.so, loaded here. */
#ifndef BACKENDS_RANKS_H
#define BACKENDS_RANKS_H

#include "program/plugin.h"

/* Joins the others if mpirun started this process. CONSM_ENOTFOUND, with one line, if the plug-in
 * is missing. */
consm_status ranks_begin(void);

int ranks_rank(void); /* 0 when alone */
int ranks_size(void); /* 1 when alone */

/* Default threads of each rank: the processors divided by the ranks on this machine; 0, as given,
 * when alone. */
int ranks_threads(int threads);

/* Divides the programs of an open backend among the ranks; unchanged when alone. On failure the
 * backend is closed. */
consm_status ranks_divide(struct backend **b);

/* From now on each rank works alone, except for the calls after this one: for verbs that divide
 * whole runs. worker: this rank's number; rank 0 knows the work to do. */
consm_status ranks_part(void);
int ranks_worker(void);  /* 0 when alone */
int ranks_workers(void); /* 1 when alone */
consm_status ranks_compare(const char *what, const void *data,
                           size_t bytes); /* struct ranks.agree */
double ranks_word(double mine);           /* rank 0's value; all wait for it */
consm_status ranks_ask(int64_t *answer, const char *text);
consm_status ranks_poll(char **text, int *from);
void ranks_reply(int to, int64_t number);

/* See struct ranks. A rank alone agrees with itself, gets its own value back, and ends normally. */
consm_status ranks_agree(const char *what, const void *data, size_t bytes);
consm_status ranks_agree_text(const char *what, const char *text);
consm_status ranks_settle(int64_t rows, const int64_t *cut);
consm_status ranks_gather(void *array, size_t bytes);
uint64_t ranks_total(uint64_t mine);
consm_status ranks_want(const int32_t *row, int64_t count);
consm_status ranks_swap(void **out, int64_t *got, const void *record, const int64_t *send,
                        size_t bytes);
int64_t ranks_sent(void);
double ranks_first(double mine);
bool ranks_end(bool failed);
void ranks_abandon(int code);

#endif
