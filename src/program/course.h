/*
 * A course: many epochs in one run. An epoch is a step of a training program, an evaluation over
 * the new parameters, and OP_KEEP, which counts the rows of validation that come out right and
 * copies the parameters when they are more than ever before. All three are one plan, so that a
 * backend whose memory the host does not see needs nobody in between, and what comes back is a
 * record of some bytes an epoch.
 *
 * The two programs stay as they are: they share arenas with the course, which must go first.
 */
#ifndef PROGRAM_COURSE_H
#define PROGRAM_COURSE_H

#include "program/keep.h"
#include "program/program.h"

struct course;

struct course_parts {
    struct program *train, *eval; /* compiled, over one store that has room for the best */
    node loss, logits;            /* kept nodes of theirs */
    const struct index *rows;     /* of the logits: what validates */
    const int32_t *label;         /* (rows of the logits) read at those rows */
    bool ties;                    /* of equal epochs the one of less loss is better */
    bool always;                  /* every epoch is the best so far */
};

/* Whether an evaluation can be part of one: it remembers nothing from run to run and does not read
 * the number of the step, which is the training's. */
bool course_possible(const struct program *eval);

consm_status course_new(struct course **out, const struct course_parts *parts);
void course_free(struct course *c); /* NULL: nothing */

/* Epochs first->number, … (KEEP_ROOM at most). record->right and tie say what is the best so far;
 * the record comes back. */
consm_status course_run(struct course *c, const struct step *first, int64_t epochs,
                        struct keep_record *record);

#endif
