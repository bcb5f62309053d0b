/*
 * How many threads a program runs on when nobody said: what turns out fastest. Small programs spend
 * their time at barriers, and a processor that somebody else keeps busy makes everybody wait for
 * the thread that has it. Both show in the time a run takes, so now and then a run is tried on
 * twice or half as many threads, and what was faster stays. Bits do not depend on it.
 */
#ifndef CPU_PACE_H
#define CPU_PACE_H

#include <stdbool.h>

struct pace {
    int most;          /* threads */
    int threads;       /* in use: a power of two, or all */
    int trial, trials; /* what is tried, 0: nothing; runs of it left */
    int wait, period;  /* runs until the next trial; between two */
    bool upwards;      /* the next one is on more threads */
    bool waking;       /* the next run wakes threads that slept during a trial: it does not count */
    double mine;       /* seconds a run, a running mean */
    double settled;    /* mine when the last trial ended */
    double theirs;     /* seconds of all runs of the trial */
};

/* elements: what an average operation of the program computes, for a first guess. */
void pace_begin(struct pace *p, int most, double elements);

/* The threads of the next run, and what that run took. */
int pace_threads(const struct pace *p);
void pace_took(struct pace *p, double seconds);

#endif
