/*
 * Facts about a dataset that a user should know before trusting a result: sizes before and after
 * cleaning, degrees, homophily, duplicates and their leak across a split.
 */
#ifndef DATA_FACTS_H
#define DATA_FACTS_H

#include "data/dataset.h"
#include "graph/homophily.h"

/* Degree buckets are 0, 1, 2-3, 4-7, … 2^30 and more. */
enum { FACTS_BUCKETS = 32, FACTS_QUANTILES = 7 };
extern const double facts_quantile[FACTS_QUANTILES]; /* 0, .25, .5, .75, .9, .99, 1 */

/* Nodes that look alike, and how many test nodes have such a node in the training set. */
struct duplicates {
    int64_t nodes;  /* nodes with at least one duplicate */
    int64_t leaked; /* test nodes of the given split with a duplicate that trains; -1: no split */
    double leaked_share; /* of the test nodes, mean over the splits that came with the data; NAN */
};

struct data_facts {
    /* As stored. */
    int64_t entries;        /* lines of the edge list */
    int64_t loop_entries;   /* lines that join a node to itself */
    int64_t directed;       /* distinct ordered pairs, self-loops among them */
    int64_t directed_loops; /* distinct self-loops */
    bool symmetric;         /* every edge is stored in both directions */
    /* After cleaning. */
    int64_t edges;
    int64_t feature_nonzeros;
    int64_t unlabelled;
    int64_t *class_size; /* (c) */
    int64_t isolated, components, largest_component;
    double mean_degree, squared_degrees; /* Σ degree² */
    int64_t degree[FACTS_QUANTILES];
    int64_t degree_count[FACTS_BUCKETS];
    struct homophily homophily;
    /* Twins have the same neighbours in the cleaned graph and the same features: no model can tell
     * them apart. Copies have the same in- and out-neighbours as stored and the same label, like
     * the duplicate pages of Platonov et al. 2023: features may differ in a word. */
    struct duplicates twins, copies;
    int64_t split_size[4]; /* by role; all 0 without a split */
};

/* role (n) is the split in question, or NULL. O(n + m + non-zeros), times the stored splits. */
consm_status facts_measure(struct data_facts *out, const struct dataset *d, const uint8_t *role);
void facts_free(struct data_facts *facts);

#endif
