/* Mean and spread of the witnesses' weights over many tasks: graphs, splits and attacks. Made by
 * scripts/trust-prior; do not edit. */
#ifndef MATCH_TRUST_PRIOR_H
#define MATCH_TRUST_PRIOR_H

struct trust_belief {
    double mean, spread;
};

struct trust_prior {
    /* Bias, then the witnesses in the order of enum witness, standardised but for log-odds and
     * flags. */
    struct trust_belief term[11];
    struct trust_belief agreement_of_few; /* of agreement, with few validation nodes */
    struct trust_belief level; /* logit(share of edges inside classes) - logit(mean agreement) */
};

/* In the order of enum trust_whose. */
static const struct trust_prior trust_prior[] = {
    /* 43 runs of one backbone */
    {{
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
     },
     {0.44, 0.61},
     {0.14, 0.24}},
    /* 117 whole runs */
    {{
         {0.42, 0.89},  /* bias */
         {0.21, 0.32},  /* match */
         {0.53, 0.28},  /* agreement */
         {0.04, 0.28},  /* head */
         {0.01, 0.07},  /* confidence */
         {0.11, 0.27},  /* features */
         {0.04, 0.20},  /* mass */
         {0.10, 0.21},  /* neighbours */
         {-0.05, 0.20}, /* degree */
         {-0.35, 0.42}, /* taught */
         {0.15, 0.07},  /* taught_agreement */
     },
     {0.35, 0.23},
     {0.03, 0.15}},
};

#endif
