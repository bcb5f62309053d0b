/*
 * Data without files: Zachary's karate club, and a contextual stochastic block model in which every
 * property is a parameter. For first steps, tests and benchmarks.
 */
#ifndef DATA_GENERATE_GENERATE_H
#define DATA_GENERATE_GENERATE_H

#include "data/dataset.h"

/* The contextual stochastic block model (after Deshpande et al. 2018, for any number of classes):
 * equal classes in random order, nodes·degree/2 distinct undirected edges without loops, of which
 * a share `homophily` joins two nodes of one class. */
struct csbm_options {
    int64_t nodes;
    int64_t classes;
    double degree;   /* average number of neighbours */
    double exponent; /* 0: uniform neighbours; > 2: degrees follow a power law with this exponent */
    int64_t features; /* 0: none */
    double signal;    /* length of a class's mean feature vector; the noise has deviation 1 */
    int64_t words;    /* 0: dense Gaussian features; else a sparse bag of that many drawn words */
    double homophily; /* share of edges inside a class: exact up to rounding to whole edges */
    uint64_t seed;
};

struct csbm_options csbm_defaults(void);

/* Reads "nodes=5000,homophily=0.2" over the values in *o. CONSM_EINVAL names the wrong key. */
consm_status csbm_parse(struct csbm_options *o, const char *text);

/* Time O(nodes·features + edges); the same bits for the same options on any machine with the same
 * C library. */
consm_status generate_csbm(struct dataset **out, const struct csbm_options *o);

consm_status generate_karate(struct dataset **out);

/* A built-in name: "karate", "csbm" or "csbm:key=value,…". */
bool generate_knows(const char *name);
consm_status generate_named(struct dataset **out, const char *name);

#endif
