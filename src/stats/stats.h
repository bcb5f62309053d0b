/* The statistics of the studies: confidence intervals, paired tests, quality of edge scores, growth
 * of costs. Functions take plain arrays and return numbers. A figure that cannot be known (the
 * spread of one run, the AUC of one class) is NaN, never 0. */
#ifndef STATS_STATS_H
#define STATS_STATS_H

#include "base/alloc.h"

/* ---- means and how sure they are (stats.c) ------------------------------- */

struct stats_interval {
    double low, high;
};

double stats_mean(const double *x, int64_t n); /* NaN for n = 0 */
double stats_std(const double *x, int64_t n);  /* unbiased, divides by n - 1; NaN for n < 2 */

/* The regularised incomplete beta function I_x(a, b), for a, b > 0 and 0 <= x <= 1. */
double stats_incomplete_beta(double a, double b, double x);

/* Student's t with (possibly fractional) `freedom` degrees: P(T <= t), and the t with that P. */
double stats_t_cdf(double t, double freedom);
double stats_t_quantile(double probability, double freedom);
double stats_normal_cdf(double z);

/* The two-sided interval of the mean: x̄ ± t(1 - (1-level)/2, n-1) · s/√n. NaN for n < 2. */
struct stats_interval stats_t_interval(const double *x, int64_t n, double level);

/* Wilson's interval for a share of successes in n trials. NaN for n = 0. */
struct stats_interval stats_wilson(int64_t successes, int64_t n, double level);

/* y = factor · x^exponent by least squares on the logarithms. Points that are not positive and
 * finite are left out; with fewer than two points, or only one x, all is NaN. The exponent's
 * interval is the t interval of a slope, NaN with fewer than three points. */
struct stats_power_fit {
    double exponent, factor, r_squared;
    struct stats_interval exponent_interval; /* 95 % */
    int64_t used;
};
struct stats_power_fit stats_fit_power(const double *x, const double *y, int64_t n);

/* c (terms) >= 0 so that the sums f_i = Σ_j c_j x_ij have small relative errors: minimises
 * Σ_i f_i/y_i + y_i/f_i. x (n, terms), y (n) > 0. terms.c */
consm_status stats_fit_terms(double *c, const double *x, const double *y, int64_t n, int terms);

/* ---- do two methods differ (wilcoxon.c) ---------------------------------- */

/*
 * Wilcoxon's signed-rank test of paired samples, two-sided. Zero differences are dropped
 * (Wilcoxon's own treatment, SciPy's default); tied magnitudes share their mean rank. Differences
 * within 1e-12 of the largest value count as equal, because rounding hides ties (0.3 - 0.2 and 0.2
 * - 0.1). With up to 25 differences the p value is exact, also with ties, by counting all 2^n sign
 * patterns; with more it is the normal approximation with tie and continuity correction. Without
 * differences p = 1.
 */
struct stats_wilcoxon {
    double p;
    double plus, minus; /* the rank sums of positive and negative a - b */
    int64_t used;       /* differences that were not zero */
    bool exact;
};
consm_status stats_wilcoxon(struct stats_wilcoxon *out, const double *a, const double *b,
                            int64_t n);

/* Holm's step-down correction: adjusted[i] is p[i]'s smallest family-wise level. NaNs are not part
 * of the family and stay NaN. adjusted may be p. */
consm_status stats_holm(double *adjusted, const double *p, int64_t n);

/* ---- how good scores are (ranking.c) ------------------------------------- */

/* P(score of a positive > score of a negative), ties count half. NaN if a class is missing; a NaN
 * score is an error. O(n log n). */
consm_status stats_auc(double *out, const float *score, const uint8_t *positive, int64_t n);

/* The k highest scores called positive. Scores tied at the border count with the mean over all
 * choices, so a constant score gives chance, whatever the order. */
struct stats_top {
    double precision, recall, f1; /* f1 = 2·hits / (k + positives) */
};
consm_status stats_top_k(struct stats_top *out, const float *score, const uint8_t *positive,
                         int64_t n, int64_t k);

enum { STATS_MAX_BINS = 50 };

/* Equal-width bins over [0, 1]: bin b holds b/bins <= p < (b+1)/bins, the last one also p = 1. */
struct stats_reliability {
    int bins;
    int64_t count[STATS_MAX_BINS];
    double predicted[STATS_MAX_BINS]; /* mean probability in the bin, NaN when empty */
    double observed[STATS_MAX_BINS];  /* share of positives in the bin, NaN when empty */
    double ece;                       /* Σ count/n · |observed - predicted| */
    double worst;                     /* the largest |observed - predicted| */
    double brier;                     /* mean (p - positive)² */
};
/* A probability outside [0, 1] is an error. n = 0 gives NaNs. */
consm_status stats_reliability(struct stats_reliability *out, const float *probability,
                               const uint8_t *positive, int64_t n, int bins);

#endif
