/*
 * Prediction sets: for every node the classes among which the true one is, with a chosen coverage.
 *
 * Split conformal prediction needs labels that neither trained nor selected the model. A class's
 * score is how much probability must be gone through, from the most probable class down, until it
 * is reached (APS, Romano et al., NeurIPS 2020):
 *   s(i,y) = Σ over classes more probable than y of p_ik + u_i p_iy,     u_i uniform in (0,1);
 * it is averaged with the neighbours' (DAPS, Zargarbashi, Antonelli and Bojchevski, ICML 2023):
 *   ŝ(i,y) = (1-λ) s(i,y) + λ/|N_i| Σ_{j∈N_i} s(j,y).
 * The threshold q is the ⌈(m+1)·coverage⌉-th smallest ŝ(i, y_i) of the m calibrating nodes, and a
 * node's set holds the classes with ŝ ≤ q. Where calibrating and other nodes are exchangeable (a
 * random half of the nodes that did not train), the set of such a node holds its class with a
 * chance of at least `coverage`, whatever the model. No label enters ŝ, so smoothing costs no
 * promise.
 */
#ifndef STATS_CONFORMAL_H
#define STATS_CONFORMAL_H

#include "base/alloc.h"

/* What sets are made from; nothing is owned. */
struct conformal_data {
    int64_t nodes;
    int32_t classes;
    const float *probability; /* (n, c) */
    const int64_t *start;     /* (n+1) the neighbours of node i are col[start[i]] … */
    const int32_t *col;       /* … col[start[i+1]-1] */
    uint64_t seed;            /* of u */
    const uint64_t *key;      /* (n) what u is drawn by, or NULL: the node's number */
};

struct conformal {
    double coverage;    /* asked for */
    double smoothing;   /* λ */
    double threshold;   /* q; infinite when there were too few labels: sets then hold every class */
    int64_t calibrated; /* m */
};

/* ŝ (n, c). O(n c log c + edges c). */
consm_status conformal_scores(float *score, const struct conformal_data *d, double smoothing);

/* The ⌈(count+1)·coverage⌉-th smallest of the scores; infinite when there are not that many. Sorts
 * them. */
double conformal_threshold(float *score, int64_t count, double coverage);

/* The fewest calibrating labels with which a coverage below 1 can be promised at all. */
int64_t conformal_least(double coverage);

/* set (n, c): 1 where ŝ ≤ q; where no class is, the one of the least score. */
void conformal_sets(uint8_t *set, const float *score, double threshold, int64_t nodes,
                    int32_t classes);

/* λ of CONFORMAL_CHOICES whose sets are smallest on average when the selecting nodes' labels set
 * the threshold; calibrating labels are not read. selects (n). */
#define CONFORMAL_CHOICES  \
    {                      \
        0, 0.25, 0.5, 0.75 \
    }
consm_status conformal_choose(double *smoothing, const struct conformal_data *d,
                              const int32_t *label, const uint8_t *selects, double coverage);

/* q from the calibrating nodes; label (n), calibrates (n). */
consm_status conformal_fit(struct conformal *out, const struct conformal_data *d,
                           const int32_t *label, const uint8_t *calibrates, double coverage,
                           double smoothing);

/* set (n, c) of a fitted threshold. */
consm_status conformal_apply(uint8_t *set, const struct conformal *c,
                             const struct conformal_data *d);

/* Class-wise (Mondrian; Vovk, Gammerman and Shafer 2005): a threshold for every class, (c), from
 * the calibrating nodes of the class alone, so that the promise holds within each class. Infinite
 * where a class has too few: it is in every set. */
consm_status conformal_class_fit(double *threshold, const struct conformal_data *d,
                                 const int32_t *label, const uint8_t *calibrates, double coverage,
                                 double smoothing);
consm_status conformal_class_apply(uint8_t *set, const double *threshold,
                                   const struct conformal_data *d, double smoothing);

#endif
