/*
 * How a run learned: loss and validation of every epoch, and of every update of ConSM's candidates.
 * A model keeps it, in its file too, so that a report can be made of it at any time; a checkpoint
 * holds what was heard so far.
 */
#ifndef APP_CURVE_H
#define APP_CURVE_H

#include "train/train.h"

/* A number of an epoch or update; candidate 0: of the run itself. */
struct curve_point {
    double candidate, number, loss;
    double score;    /* on validation, by the run's metric; -2: not known yet */
    double backbone; /* of enum config_backbone, of a candidate */
};
enum { CURVE_COLUMNS = sizeof(struct curve_point) / sizeof(double) };

struct train_curve {
    struct curve_point *point; /* (count) in the order in which they were heard */
    int64_t count;
    size_t room;
    bool lost;      /* there was no memory for a point; later ones are not noted */
    int64_t winner; /* the candidate that the run went on with, once that is known; 0: none */
};

void curve_free(struct train_curve *c);

/* Notes what a run tells, of an ensemble its first member, whose thread alone touches the curve; a
 * refit adds nothing. false: there is no memory. */
bool curve_hear(struct train_curve *c, const struct progress *progress);

/* Takes points that a file holds; false: they are impossible. */
bool curve_sound(const struct curve_point *point, int64_t count);

/* The candidate that the run goes on with, 0: none: the one that was chosen (0: not known), or the
 * last of that backbone (NULL: any) that trained up to the run's first epoch. */
int64_t curve_winner(const struct train_curve *c, int64_t chosen, const char *backbone);

/* Leaves out what no figure shows: level stretches of all candidates but the winner, and all of
 * those that were given up early. */
void curve_thin(struct train_curve *c);

/* The candidates that were trained longest, of equal ones the first, by number; returns how many.
 */
enum { CURVE_CANDIDATES = 8 };
int curve_longest(int64_t chosen[CURVE_CANDIDATES], const struct train_curve *c);

#endif
