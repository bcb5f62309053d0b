/* The paper's own figures (Choi et al., "Finding Heterophilic Neighbors via Confidence-based
 * Subgraph Matching for Semi-supervised Node Classification", CIKM 2022), for comparison. */
#ifndef STUDY_PAPER_H
#define STUDY_PAPER_H

#include <stdint.h>

/* Tables 1 and 2, homophily as printed in Tables 3 and 4, ζ as the authors' program sets it. */
struct paper_set {
    const char *name;
    int64_t nodes, edges, features, classes, train, val, test;
    double homophily, zeta;
};

/* NULL for sets that the paper does not use. */
const struct paper_set *paper_set(const char *dataset);

/* Tables 3 and 4, in percent; NaN if missing. */
double paper_accuracy(const char *dataset, const char *model);
double paper_accuracy_std(const char *dataset, const char *model);

/* Figure 1 as told in the text, GCN on Cora in percent: whole graph, without edges between classes,
 * without edges inside classes. */
extern const double paper_pruning_whole, paper_pruning_no_other, paper_pruning_no_same;

#endif
