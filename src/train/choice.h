/*
 * A choice among candidate networks: who is still in the race, how far each came, and the numbers
 * of those that go on. It is made before the session's own network exists, so it is kept apart from
 * the session's memory; a checkpoint holds both (app/checkpoint.h). Its size is bounded: four
 * numbers for every parameter of each candidate that is still in the race; once the choice is over,
 * one for each node at most.
 */
#ifndef TRAIN_CHOICE_H
#define TRAIN_CHOICE_H

#include "nn/snapshot.h"
#include "train/outlook.h"
#include "train/train.h"

/* Between two rungs a candidate is numbers only: programs and their memory are made again, so that
 * a large graph never holds more than one of them. */
struct trial {
    int64_t number;   /* of the candidate */
    double val, loss; /* the best so far, -1: none; loss is 0 unless ties on validation go by it */
    double fold;      /* by folds over all labels, -1: it was not compared so … */
    bool folded;      /* … or its folds diverged: they are over in any case */
    bool diverged;    /* its loss became infinite: it takes no further part */
    struct snapshot at;
    struct outlook_candidate course;
};

/* The same as a checkpoint holds it. */
struct trial_place {
    int64_t number, updates, diverged, folded;
    int64_t size, steps, best_step; /* of the snapshot; size 0: it has none */
    double val, loss, fold, best, best_loss;
};

/* A finalist whose folds are being trained (train/folds.h). */
struct choice_fold {
    int64_t number; /* 1 + the candidate's; 0: there is none */
    int64_t repeat, fold;
    double score;
    int64_t count; /* of the next two, which lie in struct folds or, read from a file, here */
    float *once, *logits;
    bool own; /* they do lie here */
    struct snapshot at;
};

struct choice_place {
    int64_t over, rung, next, entered, count, taught, votes;
    struct train_folds folds;
    struct trial_place student, trial[TRAIN_MOST_CANDIDATES];
    int64_t fold_number, fold_repeat, fold, fold_count, fold_size, fold_steps, fold_best_step;
    double fold_score, fold_best, fold_best_loss;
};

struct candidate_choice {
    struct config asked; /* the session's configuration when the choice began */
    bool over;           /* the first trial was chosen */
    int64_t rung, next;  /* which rung is being climbed, and by whom */
    int64_t entered;     /* trials in all … */
    int64_t count;       /* … and those still in the race, which come first */
    struct train_folds folds;
    double told;     /* of the run's progress */
    int64_t unsaved; /* updates since the last checkpoint */
    struct trial trial[TRAIN_MOST_CANDIDATES];
    struct trial student; /* the winner's network once more, taught by the others' votes … */
    bool taught;          /* … and it took the winner's place */
    int32_t *vote;        /* (votes) then: what it learned of each node, -1: nothing */
    int64_t votes;
    struct choice_fold fold;
    struct choice_place place; /* room for choice_note and choice_take */
};

void choice_free(struct candidate_choice *c);

/* Forgets the finalist at hand. */
void choice_fold_free(struct choice_fold *f);

/* The trials in the race by their validation, the best first. */
void choice_order(struct candidate_choice *c);

/* So many stay in the race; the numbers of the others are freed. */
void choice_keep(struct candidate_choice *c, int64_t count);

/* Writes all but the numbers into the place. */
void choice_note(struct candidate_choice *c);

/* Takes the place that a checkpoint held. The choice must have been entered as if it began; false:
 * no choice among these candidates, over so many rungs, updates and nodes, can stand there. */
bool choice_take(struct candidate_choice *c, int64_t rungs, int64_t updates, int64_t nodes);

/* Makes room for the numbers of the place. */
consm_status choice_reserve(struct candidate_choice *c);

/* Shows them, block by block. */
void choice_numbers(struct candidate_choice *c, memory_fn see, void *ctx);

#endif
