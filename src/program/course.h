/* A course: many epochs in one run. An epoch is a step of a training program, an evaluation with
 * the new parameters, and OP_KEEP, which computes the validation metric and copies the
 * parameters if they are the best so far. All three are one plan, so a far backend needs no host in
 * between; it returns a record of a few bytes per epoch. */

/*
 * The two programs are unchanged. They share arenas with the course, which must be freed first.
 */
#ifndef PROGRAM_COURSE_H
#define PROGRAM_COURSE_H

#include "program/keep.h"
#include "program/program.h"

struct course;

struct course_parts {
    struct program *train,
        *eval;                /* compiled, over one store that has room for the best parameters */
    node loss, logits;        /* their kept nodes */
    const struct index *rows; /* validation rows of the logits */
    const int32_t *label;     /* (rows of the logits) read at those rows */
    enum score_metric metric; /* of those rows, and its positive class */
    int32_t positive;
    bool ties;   /* ties go to the epoch with the lower loss */
    bool always; /* every epoch is the best so far */
};

/* Whether an evaluation can be part of a course: it has no state between runs and does not read the
 * step number, which is the training's. */
bool course_possible(const struct program *eval);

consm_status course_new(struct course **out, const struct course_parts *parts);
void course_free(struct course *c); /* accepts NULL */

/* Runs epochs first->number, … (at most KEEP_ROOM). record->score and tie hold the best so far on
 * entry; the record is the result. */
consm_status course_run(struct course *c, const struct step *first, int64_t epochs,
                        struct keep_record *record);

#endif
