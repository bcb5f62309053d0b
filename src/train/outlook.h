/* Estimates how long the rest of a ConSM run will take, from its parts so far: candidate backbones,
 * whose costs may differ a hundredfold, then the exam of the matching module, then rounds. Times
 * are only for progress; they decide nothing. */
#ifndef TRAIN_OUTLOOK_H
#define TRAIN_OUTLOOK_H

#include <stdbool.h>
#include <stdint.h>

/* Mean seconds of an update and of a validation. The first update of a program includes its setup,
 * so it counts only until there is another. */
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

/* Up to `until` updates validation happens every `every` updates; then `stay` candidates remain. */
struct outlook_rung {
    int64_t until, every, stay;
};

/* Seconds until the best candidate (count) has finished all rungs; NaN while one has not been
 * measured. */
double outlook_choice(const struct outlook_candidate *candidate, int64_t count,
                      const struct outlook_rung *rung, int rungs);

/* The phases after the choice. Unmeasured ones are guessed in validations; a guess that is wrong by
 * half changes the total little. */
struct outlook {
    double begun;  /* start time of the run */
    double pass;   /* the cheapest validation of all candidates: about one pass over the edges */
    double look;   /* the mean validation of the remaining candidates */
    double match;  /* a round's matching; 0: not measured */
    bool examined; /* the matching module */
    struct pace warmup; /* if the backbone was given */
    struct pace round;  /* of a round's updates, each with its validation */
};

/* Takes the times of validations from the candidates. */
void outlook_choose(struct outlook *o, const struct outlook_candidate *candidate, int64_t count);

/* Seconds of `updates` updates, `rounds` matchings and, unless it is over, the exam. */
double outlook_rounds(const struct outlook *o, int64_t updates, int64_t rounds);

/* elapsed/(elapsed + left): 0 while left is unknown. */
double outlook_fraction(double elapsed, double left);

#endif
