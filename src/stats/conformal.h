/* Prediction sets: for every node a set of classes that holds the true one with a chosen coverage.
 * */

/*
 * Split conformal prediction needs labels that neither trained nor selected the model. The score of
 * a class is the sum of probabilities from the most probable class down to it (APS, Romano et al.,
 * NeurIPS 2020):
 *   s(i,y) = Σ over classes more probable than y of p_ik + u_i p_iy,     u_i uniform in (0,1);
 * it is averaged with the neighbours' scores (DAPS, Zargarbashi, Antonelli and Bojchevski, ICML
 * 2023):
 *   ŝ(i,y) = (1-λ) s(i,y) + λ/|N_i| Σ_{j∈N_i} s(j,y).
 * The threshold q is the ⌈(m+1)·coverage⌉-th smallest ŝ(i, y_i) of the m calibration nodes. A
 * node's set holds the classes with ŝ ≤ q. If calibration nodes and other nodes are exchangeable (a
 * random half of the nodes that did not train), a set holds the true class with probability of at
 * least `coverage`, for any model. ŝ uses no label, so smoothing keeps the guarantee.
 */
#ifndef STATS_CONFORMAL_H
#define STATS_CONFORMAL_H

#include "base/alloc.h"

/* The input of sets; nothing is owned. */
struct conformal_data {
    int64_t nodes;
    int32_t classes;
    const float *probability; /* (n, c) */
    const int64_t *start; /* (n+1) node i's neighbours are col[start[i]] … col[start[i+1]-1] */
    const int32_t *col;   /* see start */
    uint64_t seed;        /* of u */
    const uint64_t *key;  /* (n) key from which u is drawn; NULL: the node's number */
};

struct conformal {
    double coverage;    /* requested */
    double smoothing;   /* λ */
    double threshold;   /* q; infinite with too few labels: sets then hold every class */
    int64_t calibrated; /* m */
};

/* ŝ (n, c). O(n c log c + edges c). */
consm_status conformal_scores(float *score, const struct conformal_data *d, double smoothing);

/* The ⌈(count+1)·coverage⌉-th smallest of the scores; infinite if there are fewer. Sorts them. */
double conformal_threshold(float *score, int64_t count, double coverage);

/* The fewest calibration labels for which a coverage below 1 can be guaranteed. */
int64_t conformal_least(double coverage);

/* set (n, c): 1 if ŝ ≤ q; if no class has that, the class with the lowest score. */
void conformal_sets(uint8_t *set, const float *score, double threshold, int64_t nodes,
                    int32_t classes);

/* Chooses λ of CONFORMAL_CHOICES: the one with the smallest sets on average when the selecting
 * nodes' labels set the threshold. Calibration labels are not read. selects (n). */
#define CONFORMAL_CHOICES  \
    {                      \
        0, 0.25, 0.5, 0.75 \
    }
consm_status conformal_choose(double *smoothing, const struct conformal_data *d,
                              const int32_t *label, const uint8_t *selects, double coverage);

/* Computes q from the calibration nodes; label (n), calibrates (n). */
consm_status conformal_fit(struct conformal *out, const struct conformal_data *d,
                           const int32_t *label, const uint8_t *calibrates, double coverage,
                           double smoothing);

/* set (n, c) for a fitted threshold. */
consm_status conformal_apply(uint8_t *set, const struct conformal *c,
                             const struct conformal_data *d);

/* Class-wise sets (Mondrian; Vovk, Gammerman and Shafer 2005): one threshold per class (c), from
 * the calibration nodes of that class, so that the guarantee holds within each class. Infinite for
 * a class with too few nodes: it is in every set. */
consm_status conformal_class_fit(double *threshold, const struct conformal_data *d,
                                 const int32_t *label, const uint8_t *calibrates, double coverage,
                                 double smoothing);
consm_status conformal_class_apply(uint8_t *set, const double *threshold,
                                   const struct conformal_data *d, double smoothing);

#endif
