/* The comparison of candidate networks: which are still in the race, how far each came, and their
 * parameters. */

/*
 * It happens before the session's own network exists, so it is separate from the session's memory;
 * a checkpoint holds both (app/checkpoint.h). Its size is bounded: four numbers per parameter of
 * each remaining candidate; after the choice at most one per node, the trees, and the parameters
 * and logits of four candidates.
 */
#ifndef TRAIN_CHOICE_H
#define TRAIN_CHOICE_H

#include "nn/snapshot.h"
#include "train/outlook.h"
#include "train/train.h"

/* Between two rungs a candidate is only numbers. Programs and their memory are made again, so that
 * a large graph never holds more than one; a card with enough memory keeps them. */
struct trial {
    int64_t number;   /* of the candidate */
    double val, loss; /* the best so far, -1: none; loss is 0 unless it breaks ties */
    double fold;      /* score in cross-validation over all labels, -1: none */
    bool folded;      /* its cross-validation is over, or diverged */
    bool diverged;    /* its loss became infinite: it is out of the race */
    struct snapshot at;
    struct outlook_candidate course;
    struct session *open; /* its programs, if they were kept; NULL: they must be made */
};

/* The same as a checkpoint holds it. */
struct trial_place {
    int64_t number, updates, diverged, folded;
    int64_t size, steps, best_step; /* of the snapshot; size 0: it has none */
    double val, loss, fold, best, best_loss;
};

/* A finalist in cross-validation (train/folds.h). */
struct choice_fold {
    int64_t number; /* 1 + the candidate's; 0: there is none */
    int64_t repeat, fold;
    double score;
    int64_t
        count; /* size of the next two, which are in struct folds or, if read from a file, here */
    float *once, *logits;
    bool own; /* they are here */
    struct snapshot at;
};

/* Boosted trees, which take part beside the networks and are trained once. */
struct choice_trees {
    bool over;      /* they were trained, or take no part */
    int64_t rounds; /* until their best validation; 0: they take no part */
    double val;
    int64_t nodes;
    float *node; /* (nodes, FOREST_COLUMNS) of session_forest */
};

/* A candidate that was trained to the end, with its best parameters. */
enum { CHOICE_FINALISTS = 4 };
struct choice_finalist {
    int64_t number, updates; /* of the candidate; until its best validation */
    int64_t size;
    float *value;  /* (size) */
    float *logits; /* (cells) of all nodes */
};

struct choice_place {
    int64_t over, rung, next, entered, count, taught, votes;
    int64_t finalists, cells, finalist_number[CHOICE_FINALISTS], finalist_updates[CHOICE_FINALISTS],
        finalist_size[CHOICE_FINALISTS];
    int64_t trees_over, trees_rounds, trees_nodes;
    double trees_val, replaced;
    struct train_folds folds;
    struct trial_place student, trial[TRAIN_MOST_CANDIDATES];
    int64_t fold_number, fold_repeat, fold, fold_count, fold_size, fold_steps, fold_best_step;
    double fold_score, fold_best, fold_best_loss;
};

struct candidate_choice {
    struct config asked; /* the session's configuration when the choice began */
    bool over;           /* the first trial was chosen */
    int64_t rung, next;  /* the current rung, and the next candidate on it */
    int64_t entered;     /* all trials */
    int64_t count;       /* trials still in the race, which come first */
    struct train_folds folds;
    double told;     /* progress that was reported */
    int64_t unsaved; /* updates since the last checkpoint */
    struct trial trial[TRAIN_MOST_CANDIDATES];
    struct trial student; /* the winner's network trained once more on the others' votes */
    bool taught;          /* the student replaced the winner */
    double replaced;      /* … whose validation was this */
    int32_t *vote;        /* (votes) then: the class that it learned for each node, -1: none */
    int64_t votes;
    struct choice_trees trees;
    struct choice_finalist finalist[CHOICE_FINALISTS]; /* made when the race is decided */
    int64_t finalists, cells;                          /* cells: nodes times classes */
    struct choice_fold fold;
    struct choice_place place; /* storage for choice_note and choice_take */
};

void choice_free(struct candidate_choice *c);

/* Frees a trial's numbers and programs; its results stay. */
void trial_free(struct trial *t);

/* Frees the current finalist of the cross-validation. */
void choice_fold_free(struct choice_fold *f);

/* A network with its best parameters, without logits. */
consm_status choice_finalist_make(struct choice_finalist *out, int64_t number,
                                  const struct learner *l);
void choice_finalist_free(struct choice_finalist *f);

/* Frees the finalists. */
void choice_forget_finalists(struct candidate_choice *c);

/* Sorts the trials in the race by validation, best first. */
void choice_order(struct candidate_choice *c);

/* Keeps the first `count` in the race and frees the numbers of the others. */
void choice_keep(struct candidate_choice *c, int64_t count);

/* Writes everything except the numbers into the place. */
void choice_note(struct candidate_choice *c);

/* Takes the place from a checkpoint. The choice must have been entered as at its start. false: the
 * place is impossible for these candidates, rungs, updates, nodes and classes. */
bool choice_take(struct candidate_choice *c, int64_t rungs, int64_t updates, int64_t nodes,
                 int64_t classes);

/* Allocates the numbers of the place. */
consm_status choice_reserve(struct candidate_choice *c);

/* Shows them, block by block. */
void choice_numbers(struct candidate_choice *c, memory_fn see, void *ctx);

#endif
