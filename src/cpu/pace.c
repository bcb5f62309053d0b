/* Tries twice and half as many threads; trials become rarer while they fail. */
#include "cpu/pace.h"

enum { ENOUGH = 1 << 14, SOON = 8, SELDOM = 512, TRIALS = 3 }; /* elements a thread; runs */
static const double WORTH = 0.95, ANOTHER_WORLD = 1.4;         /* of the time it takes */

void pace_begin(struct pace *p, int most, double elements)
{
    int threads = 1;
    while (threads < most && elements >= 2.0 * ENOUGH * threads)
        threads *= 2;
    *p = (struct pace){.most = most, .threads = threads < most ? threads : most, .period = SOON};
    p->wait = p->period;
    p->upwards = p->threads == 1;
}

int pace_threads(const struct pace *p)
{
    return p->trial ? p->trial : p->threads;
}

/* Tries the other direction next time; on one thread and on all there is only one. */
static void turn(struct pace *p)
{
    p->upwards = p->threads == 1 || (p->threads < p->most && !p->upwards);
}

static void begin_trial(struct pace *p)
{
    int more = 2 * p->threads < p->most ? 2 * p->threads : p->most, less = 1;
    while (2 * less < p->threads)
        less *= 2;
    p->trial = p->upwards ? more : less;
    p->trials = TRIALS + 1; /* the first one wakes sleeping threads and does not count */
    p->theirs = 0;
}

static void end_trial(struct pace *p)
{
    double theirs = p->theirs / TRIALS;
    if (theirs < WORTH * p->mine) {
        p->threads = p->trial;
        p->mine = theirs;
        p->period = SOON;
        if (p->threads == 1 || p->threads == p->most)
            turn(p);
    } else {
        p->period = 2 * p->period < SELDOM ? 2 * p->period : SELDOM;
        turn(p);
    }
    p->waking = p->trial < p->threads;
    p->settled = p->mine;
    p->wait = p->period;
    p->trial = 0;
}

void pace_took(struct pace *p, double seconds)
{
    if (p->most == 1)
        return;
    if (p->trial) {
        p->theirs += p->trials <= TRIALS ? seconds : 0;
        if (--p->trials == 0)
            end_trial(p);
        return;
    }
    if (p->waking) {
        p->waking = false;
        return;
    }
    p->mine = p->mine > 0 ? p->mine + (seconds - p->mine) / SOON : seconds;
    if (p->settled > 0 && p->mine > ANOTHER_WORLD * p->settled) {
        p->settled = p->mine; /* the machine became busy: try again soon, fewer threads first */
        p->period = SOON;
        p->wait = 1;
        p->upwards = p->threads == 1;
    }
    if (--p->wait <= 0)
        begin_trial(p);
}
