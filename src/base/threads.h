/* A team: a fixed group of threads that run one function together, repeatedly, with a barrier. A
 * program run is one such call. Its kernels divide rows with team_range() and meet at
 * team_barrier(), so a step of dozens of kernels wakes the threads once. */

/*
 * Why not OpenMP: a team belongs to one run, so several runs go side by side without
 * nested-parallelism settings. And ThreadSanitizer understands every line of it.
 */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include "base/status.h"

struct team;

/* What each thread of a team gets: its number, the team's size, and its barrier. */
struct worker {
    int id, size;
    struct team *team;
};

typedef void (*team_fn)(void *arg, struct worker who);

/* Makes a team of `size` threads; the caller is the first. Size 1 starts no thread. 0: all
 * processors. */
consm_status team_new(struct team **out, int size);
void team_free(struct team *team);
int team_size(const struct team *team);

/* Runs fn(arg, who) on every thread and returns when all have returned. */
void team_run(struct team *team, team_fn fn, void *arg);

/* The same; team NULL: on this thread alone. */
void team_run_or_alone(struct team *team, team_fn fn, void *arg);

/* The same on the first `workers` threads (1 to all); the others stay asleep. */
void team_run_on(struct team *team, int workers, team_fn fn, void *arg);

/* Waits until every thread of the team is here. All must call it, or none. */
void team_barrier(struct worker who);

/* This worker's range [*from, *to) of count items, in whole multiples of grain. */
void team_range(struct worker who, int64_t count, int64_t grain, int64_t *from, int64_t *to);

/* Processors that this process may use. */
int threads_available(void);

#endif
