/*
 * Which of many trained members to listen to, decided by validation alone. Three contenders: the
 * plain average of one configuration's seeds, a greedy selection with replacement by log-likelihood
 * (Caruana et al., ICML 2004), and the single best run. The selection takes the average's place
 * when neither accuracy nor likelihood prefers the average, by more than one standard error of the
 * paired difference; the single run takes that of the two when its accuracy is ahead by more than
 * two. Where the run's metric is another one, which no single node has a share in, it takes the
 * place of accuracy, and the higher one is preferred.
 */
#ifndef TRAIN_ENSEMBLE_H
#define TRAIN_ENSEMBLE_H

#include "train/judge.h"

enum {
    ENSEMBLE_PICKS = 50,     /* of the greedy selection, at most */
    ENSEMBLE_PATIENCE = 10,  /* picks without a better likelihood that end it */
    ENSEMBLE_MOST_RUNS = 100 /* that may be asked for */
};

enum ensemble_rule { ENSEMBLE_SINGLE, ENSEMBLE_AVERAGE, ENSEMBLE_GREEDY, ENSEMBLE_RULES };

/* "single", "average", "greedy". */
extern const char *const ensemble_rule_name[ENSEMBLE_RULES];

/* What every member says of the validation nodes. Nothing here is owned. */
struct ensemble_pool {
    int64_t members, runs; /* the first `runs` members are finished runs, the others candidates */
    int64_t rows;          /* validation nodes with a label; may be 0 */
    int32_t classes;
    const float *const *probability; /* (members) of (rows, classes) */
    const int32_t *label;            /* (rows) */
    const struct judge *judge;       /* of the rows, by the run's metric; NULL: accuracy */
    const int32_t *group;            /* (members) members of one configuration share a number */
};

/* How good a combination is on validation. */
struct ensemble_quality {
    double score;          /* by the run's metric */
    double log_likelihood; /* a mean over the rows; 0 when there are none */
};

struct ensemble_choice {
    enum ensemble_rule rule;
    int64_t best;                                    /* the single best run */
    struct ensemble_quality quality[ENSEMBLE_RULES]; /* of the three contenders */
};

/* The seed of a run's member: seed + number · 2^40. Number 0 is the run itself; runs whose seeds
 * lie below 2^40 share no member's seed. */
uint64_t ensemble_seed(uint64_t seed, int64_t number);

/* Begins with nothing and adds, at most `most` times, the member with which the mean probability
 * has the largest log-likelihood, of equal ones the first. The best of the combinations on the way
 * counts, of equal ones the shortest: a pick that helps nothing may be what lets a third one in
 * with the right weight. picks (members) receives how often each was taken. Time O(most · members ·
 * rows). */
consm_status ensemble_greedy(int64_t *picks, const struct ensemble_pool *pool, int64_t most);

/* Lets the contenders compete; picks (members) receives the winner's. */
consm_status ensemble_choose(struct ensemble_choice *out, int64_t *picks,
                             const struct ensemble_pool *pool);

#endif
