/* Chooses among trained members by validation. */

/*
 * Three contenders: the average of one configuration's seeds, a greedy selection with replacement
 * by log-likelihood (Caruana et al., ICML 2004), and the single best run. The selection replaces
 * the average if neither accuracy nor likelihood prefers the average by more than one standard
 * error of the paired difference. The single run replaces the winner if its accuracy is ahead by
 * more than two. With another metric, to which single nodes do not contribute separately, the
 * higher value is preferred instead.
 */
#ifndef TRAIN_ENSEMBLE_H
#define TRAIN_ENSEMBLE_H

#include "train/judge.h"

enum {
    ENSEMBLE_PICKS = 50,     /* largest number of picks of the greedy selection */
    ENSEMBLE_PATIENCE = 10,  /* picks without a better likelihood that end it */
    ENSEMBLE_MOST_RUNS = 100 /* that may be requested */
};

enum ensemble_rule { ENSEMBLE_SINGLE, ENSEMBLE_AVERAGE, ENSEMBLE_GREEDY, ENSEMBLE_RULES };

/* "single", "average", "greedy". */
extern const char *const ensemble_rule_name[ENSEMBLE_RULES];

/* The members' predictions for the validation nodes. Nothing is owned. */
struct ensemble_pool {
    int64_t members, runs; /* the first `runs` members are finished runs, the others candidates */
    int64_t rows;          /* validation nodes with a label; may be 0 */
    int32_t classes;
    const float *const *probability; /* (members) of (rows, classes) */
    const int32_t *label;            /* (rows) */
    const struct judge *judge;       /* of the rows, by the run's metric; NULL: accuracy */
    const int32_t *group;            /* (members) members of one configuration share a number */
};

/* The quality of a combination on validation. */
struct ensemble_quality {
    double score;          /* by the run's metric */
    double log_likelihood; /* mean over the rows; 0 if there are none */
};

struct ensemble_choice {
    enum ensemble_rule rule;
    int64_t best;                                    /* the single best run */
    struct ensemble_quality quality[ENSEMBLE_RULES]; /* of the three contenders */
};

/* The seed of a run's member: seed + number · 2^40. Number 0 is the run itself. Runs with seeds
 * below 2^40 share no member's seed. */
uint64_t ensemble_seed(uint64_t seed, int64_t number);

/* Starts empty and adds, at most `most` times, the member that gives the mean probability the
 * largest log-likelihood, ties to the first. The best intermediate combination counts, ties to the
 * shortest: a useless pick may let a third one in with the right weight. picks (members) receives
 * how often each was taken. Time O(most · members · rows). */
consm_status ensemble_greedy(int64_t *picks, const struct ensemble_pool *pool, int64_t most);

/* The same, but member 0 begins with `first` votes, and picks has them, too. */
consm_status ensemble_join(int64_t *picks, const struct ensemble_pool *pool, int64_t first,
                           int64_t most);

/* The mean of a_i - b_i (rows) in its own standard errors: one or two nodes of a few hundred are no
 * preference. */
double ensemble_advantage(const double *a, const double *b, int64_t rows);

/* The steps of a mean prediction, row by row: mean (c) += weight · softmax(logits / T), with
 * probability (c) as scratch; then the logarithms of finished means (count). */
void ensemble_mix(double *mean, float *probability, double weight, double temperature,
                  const float *logits, int32_t classes);
void ensemble_mixed(float *logits, const double *mean, int64_t count);

/* Compares the contenders; picks (members) receives the winner's. */
consm_status ensemble_choose(struct ensemble_choice *out, int64_t *picks,
                             const struct ensemble_pool *pool);

#endif
