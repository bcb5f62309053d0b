/* Finds the fastest number of threads for a program if none was set. */

/*
 * Small programs spend their time at barriers, and a processor that is busy with other work makes
 * all threads wait for one. Both show in a run's time. So now and then a run is tried on twice or
 * half as many threads, and the faster number stays. The bits do not depend on it.
 */
#ifndef CPU_PACE_H
#define CPU_PACE_H

#include <stdbool.h>

struct pace {
    int most;          /* threads */
    int threads;       /* in use: a power of two, or all */
    int trial, trials; /* number being tried, 0: none; its remaining runs */
    int wait, period;  /* runs until the next trial; runs between two trials */
    bool upwards;      /* the next trial uses more threads */
    bool waking;       /* the next run wakes threads that slept during a trial: it does not count */
    double mine;       /* seconds a run, a running mean */
    double settled;    /* mine when the last trial ended */
    double theirs;     /* seconds of all runs of the trial */
};

/* elements: the average work of the program's operations, for a first guess. */
void pace_begin(struct pace *p, int most, double elements);

/* The threads of the next run, and the time that the run took. */
int pace_threads(const struct pace *p);
void pace_took(struct pace *p, double seconds);

#endif
