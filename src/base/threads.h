/*
 * A team: a fixed crew of threads that run one function together, as often as asked, with a barrier
 * among them. A program run is one such call; its kernels share the rows out with team_range() and
 * meet at team_barrier(), so a step of dozens of kernels wakes the threads once.
 *
 * Why not OpenMP: a team belongs to one run, so several runs go side by side without nested-
 * parallelism settings; and ThreadSanitizer understands every line of it.
 */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include "base/status.h"

struct team;

/* What each thread of a team is told: its number, how many there are, whom to wait for. */
struct worker {
    int id, size;
    struct team *team;
};

typedef void (*team_fn)(void *arg, struct worker who);

/* size threads, the caller being the first; size 1 starts none. 0: as many as the machine has. */
consm_status team_new(struct team **out, int size);
void team_free(struct team *team);
int team_size(const struct team *team);

/* Runs fn(arg, who) on every thread and returns when all have returned. */
void team_run(struct team *team, team_fn fn, void *arg);

/* The same on the first `workers` of them (1 to all); the others are not even woken. */
void team_run_on(struct team *team, int workers, team_fn fn, void *arg);

/* Waits until every thread of the team is here. Called by all or by none. */
void team_barrier(struct worker who);

/* This worker's share [*from, *to) of count items, in whole multiples of grain. */
void team_range(struct worker who, int64_t count, int64_t grain, int64_t *from, int64_t *to);

/* Processors this process may run on. */
int threads_available(void);

#endif
