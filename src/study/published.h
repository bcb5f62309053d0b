/* The attacked graphs that the literature on defences shares, and its printed results. */

/*
 * The files are those of Pro-GNN (Jin et al., KDD 2020): Cora and Citeseer reduced to their largest
 * component, and Pubmed, each with a split of 10 % training, 10 % validation and 80 % test nodes;
 * Metattack's graphs (Zügner and Günnemann, ICLR 2019) at 5 to 25 %; Nettack's (Zügner et al., KDD
 * 2018) with 1 to 5 changes for each attacked node, which then are the test nodes. They are in a
 * data folder as attacked/prognn/….
 */
#ifndef STUDY_PUBLISHED_H
#define STUDY_PUBLISHED_H

#include "study/plan.h"

struct data_options;

/* The sets by name: "prognn:cora", and with the attacked nodes as test nodes "prognn:cora-targets".
 * `base` is cora, citeseer, pubmed or "prognn:" and one of these. NULL: none. */
const char *published_set(const char *base, bool targets);

/* Whether a name is one of these. */
bool published_knows(const char *name);

/* The clean graph with features, labels and its only split. *out is NULL if a file is missing;
 * missing (64) then names it. hash (140) covers both files. */
consm_status published_open(struct dataset **out, char hash[140], char missing[64],
                            const char *name, const struct data_options *o);

/* The file of an attacked graph: by rate (Metattack), or by changes per target (Nettack). */
const char *published_graph(char file[64], const char *name, enum study_plant plant, double rate);

/* Published test accuracies under Metattack, in percent; NaN: not published, or not checked. Method
 * number 0, 1, …; NULL after the last. */
const char *published_method(int method);
double published_accuracy(const char *name, int method, double rate);

/* Their source. */
extern const char *const published_source;

#endif
