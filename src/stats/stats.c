/* Means, Student's t and power laws. Student's t is computed from the incomplete beta function,
 * without tables. */
#include "stats/stats.h"

#include <math.h>

static const struct stats_interval unknown = {NAN, NAN};

double stats_mean(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return n > 0 ? sum / (double)n : NAN;
}

double stats_std(const double *x, int64_t n)
{
    if (n < 2)
        return NAN;
    double mean = stats_mean(x, n), squares = 0;
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return sqrt(squares / (double)(n - 1));
}

/*
 * The continued fraction of I_x(a, b) (Abramowitz & Stegun 26.5.8), from the front by Lentz's
 * method: 1/(1+ d1/(1+ d2/(1+ …))) with
 *   d(2k)   = k (b-k) x / ((a+2k-1)(a+2k)),
 *   d(2k+1) = -(a+k)(a+b+k) x / ((a+2k)(a+2k+1)).
 * It converges fast for x < (a+1)/(a+b+2).
 */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 0, value = 1;
    for (int i = 1; i < 10000; i++) {
        const int half = i / 2;
        double k = half, step;
        if (i % 2 == 0)
            step = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
        else
            step = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
        d = 1 + step * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + step / c;
        c = fabs(c) < tiny ? tiny : c;
        value *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return 1 / value;
}

static double log_gamma(double x)
{
    int sign; /* lgamma would write a global */
    return lgamma_r(x, &sign);
}

double stats_incomplete_beta(double a, double b, double x)
{
    if (!(a > 0 && b > 0 && x >= 0 && x <= 1))
        return NAN;
    if (x == 0 || x == 1)
        return x;
    /* I_x(a, b) = 1 - I_(1-x)(b, a) moves x to the side where the fraction converges. */
    if (x > (a + 1) / (a + b + 2))
        return 1 - stats_incomplete_beta(b, a, 1 - x);
    double front =
        a * log(x) + b * log1p(-x) - log(a) - (log_gamma(a) + log_gamma(b) - log_gamma(a + b));
    return exp(front) * beta_fraction(a, b, x);
}

/* P(T <= t) = 1 - I_(v/(v+t²))(v/2, 1/2) / 2 for t >= 0, mirrored below. */
double stats_t_cdf(double t, double freedom)
{
    if (isnan(t) || !(freedom > 0))
        return NAN;
    double tail;
    if (t * t < freedom) /* near 0 the complement keeps precision */
        tail = 0.5 - stats_incomplete_beta(0.5, freedom / 2, t * t / (freedom + t * t)) / 2;
    else
        tail = stats_incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
    return t >= 0 ? 1 - tail : tail;
}

/* Bisection on the monotone distribution: a hundred halvings reach the last bit. */
double stats_t_quantile(double probability, double freedom)
{
    if (!(probability > 0 && probability < 1) || !(freedom > 0))
        return NAN;
    if (probability > 0.5)
        return -stats_t_quantile(1 - probability, freedom);
    double low = -1, high = 0;
    while (stats_t_cdf(low, freedom) > probability)
        low *= 2;
    for (int i = 0; i < 200 && low < high; i++) {
        double middle = low + (high - low) / 2;
        if (middle == low || middle == high)
            break;
        if (stats_t_cdf(middle, freedom) < probability)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}

double stats_normal_cdf(double z)
{
    return erfc(-z / sqrt(2)) / 2;
}

struct stats_interval stats_t_interval(const double *x, int64_t n, double level)
{
    if (n < 2 || !(level > 0 && level < 1))
        return unknown;
    double mean = stats_mean(x, n);
    double half =
        stats_t_quantile((1 + level) / 2, (double)(n - 1)) * stats_std(x, n) / sqrt((double)n);
    return (struct stats_interval){mean - half, mean + half};
}

/* (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)                          (Wilson 1927) */
struct stats_interval stats_wilson(int64_t successes, int64_t n, double level)
{
    if (n <= 0 || successes < 0 || successes > n || !(level > 0 && level < 1))
        return unknown;
    double z = stats_t_quantile((1 + level) / 2, 1e9); /* Student's t at its normal limit */
    double count = (double)n, p = (double)successes / count, z2 = z * z / count;
    double middle = (p + z2 / 2) / (1 + z2);
    double half = z / (1 + z2) * sqrt(p * (1 - p) / count + z2 / (4 * count));
    return (struct stats_interval){fmax(0, middle - half), fmin(1, middle + half)};
}

struct stats_power_fit stats_fit_power(const double *x, const double *y, int64_t n)
{
    struct stats_power_fit fit = {NAN, NAN, NAN, unknown, 0};
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(x[i] > 0 && y[i] > 0 && isfinite(x[i]) && isfinite(y[i])))
            continue;
        mean_x += log(x[i]);
        mean_y += log(y[i]);
        fit.used++;
    }
    mean_x /= (double)fit.used;
    mean_y /= (double)fit.used;
    for (int64_t i = 0; i < n; i++) {
        if (!(x[i] > 0 && y[i] > 0 && isfinite(x[i]) && isfinite(y[i])))
            continue;
        double dx = log(x[i]) - mean_x, dy = log(y[i]) - mean_y;
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
    }
    if (fit.used < 2 || xx == 0)
        return fit;
    fit.exponent = xy / xx;
    fit.factor = exp(mean_y - fit.exponent * mean_x);
    fit.r_squared = yy > 0 ? xy * xy / (xx * yy) : 1;
    if (fit.used > 2) {
        double freedom = (double)(fit.used - 2);
        double error = sqrt(fmax(0, yy - xy * xy / xx) / freedom / xx);
        double half = stats_t_quantile(0.975, freedom) * error;
        fit.exponent_interval = (struct stats_interval){fit.exponent - half, fit.exponent + half};
    }
    return fit;
}
