/* Mean and spread of the witnesses' weights over 43 tasks: graphs, splits and attacks. Made by
 * scripts/trust-prior; do not edit. */
#ifndef MATCH_TRUST_PRIOR_H
#define MATCH_TRUST_PRIOR_H

struct trust_prior {
    double mean, spread;
};

/* Bias, then the witnesses in the order of enum witness, standardised but for log-odds and flags.
 */
static const struct trust_prior trust_prior[] = {
    {0.37, 1.45},  /* bias */
    {0.25, 0.42},  /* match */
    {0.44, 0.61},  /* agreement */
    {0.41, 0.41},  /* head */
    {0.03, 0.22},  /* confidence */
    {0.12, 0.29},  /* features */
    {-0.05, 0.05}, /* mass */
    {0.22, 0.40},  /* neighbours */
    {0.01, 0.14},  /* degree */
    {-0.32, 0.55}, /* taught */
    {0.17, 0.16},  /* taught_agreement */
};

/* logit(share of edges inside classes) - logit(mean agreement of predictions) */
static const struct trust_prior trust_prior_level = {0.14, 0.24};

#endif
