/*
 * How long the rest of a ConSM run will take, judged by what its parts took so far: candidates for
 * the backbone, which may be a hundred times dearer than each other, then the examination of the
 * matching module, then rounds of matching and updates. Seconds come in from outside, for progress
 * only; nothing here decides anything.
 */
#ifndef TRAIN_OUTLOOK_H
#define TRAIN_OUTLOOK_H

#include <stdbool.h>
#include <stdint.h>

/* Mean seconds of an update and of a look at validation. The first update of a program also makes
 * what is made once: it counts only until there is another. */
struct pace {
    double update, look;
    int64_t updates, looks;
    bool first; /* update is that of a first one */
};
void pace_update(struct pace *p, double seconds, bool first);
void pace_look(struct pace *p, double seconds);

/* A candidate: its pace, and the updates it has had. */
struct outlook_candidate {
    struct pace pace;
    int64_t done;
};

/* Up to `until` updates validation is looked at every so many; then so many candidates stay. */
struct outlook_rung {
    int64_t until, every, stay;
};

/* Seconds until the best of the candidates (count) has climbed all rungs; NaN while one of them has
 * not been measured. */
double outlook_choice(const struct outlook_candidate *candidate, int64_t count,
                      const struct outlook_rung *rung, int rungs);

/* What follows the choice. What has not been measured is guessed in looks: a guess that is wrong by
 * half is wrong by little of the whole. */
struct outlook {
    double begun;       /* when the run began */
    double pass;        /* the cheapest look of all candidates: about one pass over the edges */
    double look;        /* the mean look of the candidates that are left, in the end the one's */
    double match;       /* a round's matching; 0: not measured */
    bool examined;      /* the matching module */
    struct pace warmup; /* where the backbone was given */
    struct pace round;  /* of a round's updates, each with its look */
};

/* Takes what is known of looks. */
void outlook_choose(struct outlook *o, const struct outlook_candidate *candidate, int64_t count);

/* Seconds of so many updates of rounds, `rounds` times matching and, unless it is over, the
 * examination. */
double outlook_rounds(const struct outlook *o, int64_t updates, int64_t rounds);

/* elapsed/(elapsed + left): 0 while left is unknown. */
double outlook_fraction(double elapsed, double left);

#endif
