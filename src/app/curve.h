/* The learning curve of a run: loss and validation of every epoch, and of every update of ConSM's
 * candidates. A model stores it, also in its file, so that a report can be made at any time. A
 * checkpoint holds the curve so far. */
#ifndef APP_CURVE_H
#define APP_CURVE_H

#include "train/train.h"

/* One epoch or update; candidate 0: of the run itself. */
struct curve_point {
    double member; /* of an ensemble, from 1; else 0 */
    double candidate, number, loss;
    double score;    /* validation metric; -2: not known yet */
    double backbone; /* of enum config_backbone, of a candidate */
    double chosen;   /* 1: the run continued from this update of a candidate, or from a later one */
};
enum { CURVE_COLUMNS = sizeof(struct curve_point) / sizeof(double) };

struct train_curve {
    struct curve_point *point; /* (count) in the order of arrival */
    int64_t count;
    size_t room;
    bool lost; /* out of memory: later points are not recorded */
};

void curve_free(struct train_curve *c);

/* Records the progress of a run; a refit adds nothing. false: out of memory. */
bool curve_hear(struct train_curve *c, const struct progress *progress);

/* Takes points from a file; false: they are impossible. */
bool curve_sound(const struct curve_point *point, int64_t count);

/* Orders the points by member and marks those of each member's chosen candidate: the given one (0:
 * unknown), or the best one with that backbone (NULL: any) that trained up to the run's first
 * epoch. Where a student took its place, the student's are marked; student: whether it
 * did, -1: not known. */
consm_status curve_settle(struct train_curve *c, int64_t chosen, const char *backbone, int student);

/* The chosen candidate of a run, or of an ensemble's first one; 0: none. */
int64_t curve_winner(const struct train_curve *c);

/* The run's first epoch with the highest validation score; 0: none was validated. Of an ensemble,
 * that of its first run. ConSM's result.best_epoch counts only updates on the way to the kept
 * parameters, so it is not a number of this curve. */
int64_t curve_best(const struct train_curve *c);

/* Copies the curve without points that no figure shows: flat stretches of candidates that were not
 * chosen, candidates that were dropped early, and those of an ensemble's later members. */
consm_status curve_thin(struct train_curve *out, const struct train_curve *c);

/* The numbers of the chosen candidate and of those that trained longest, ties to the first; returns
 * how many. Of an ensemble, those of its first member. */
enum { CURVE_CANDIDATES = 8 };
int curve_longest(int64_t chosen[CURVE_CANDIDATES], const struct train_curve *c);

#endif
