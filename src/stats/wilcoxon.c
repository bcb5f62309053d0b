/* Tests whether two methods differ on the same splits: Wilcoxon's signed-rank test (Wilcoxon 1945),
 * and Holm's correction (Holm 1979) for comparing many methods at once. */
#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"

enum { EXACT_LIMIT = 25 };

struct difference {
    double size; /* |a - b| */
    bool positive;
};

static int by_size(const void *a, const void *b)
{
    double x = ((const struct difference *)a)->size, y = ((const struct difference *)b)->size;
    return (x > y) - (x < y);
}

/*
 * The exact two-sided p of rank sums with ties. Under the null hypothesis every sign is a fair
 * coin, so ways[s] counts the sign patterns whose positive ranks sum to s. Mean ranks can be
 * halves, so all sums are doubled. With ≤ 25 ranks the counts stay below 2^25 and are exact in a
 * double.
 */
static double exact_p(const int64_t *doubled_rank, int64_t n, int64_t doubled_larger)
{
    double ways[EXACT_LIMIT * (EXACT_LIMIT + 1) + 1] = {1}; /* total doubled sum n(n+1) */
    int64_t reach = 0;
    for (int64_t i = 0; i < n; i++) {
        reach += doubled_rank[i];
        for (int64_t s = reach; s >= doubled_rank[i]; s--)
            ways[s] += ways[s - doubled_rank[i]];
    }
    double tail = 0;
    for (int64_t s = doubled_larger; s <= reach; s++)
        tail += ways[s];
    return fmin(1, 2 * tail / ldexp(1, (int)n));
}

/* z = (|W - n(n+1)/4| - 1/2) / √(n(n+1)(2n+1)/24 - Σ(t³-t)/48) */
static double normal_p(double plus, int64_t n, double tie_cubes)
{
    double count = (double)n, mean = count * (count + 1) / 4;
    double variance = count * (count + 1) * (2 * count + 1) / 24 - tie_cubes / 48;
    double z = fmax(0, fabs(plus - mean) - 0.5) / sqrt(variance);
    return fmin(1, 2 * stats_normal_cdf(-z));
}

consm_status stats_wilcoxon(struct stats_wilcoxon *out, const double *a, const double *b, int64_t n)
{
    consm_status st = CONSM_OK;
    struct difference *list = NULL;    /* (used) */
    int64_t used = 0, *doubled = NULL; /* (used) twice the mean rank */
    double tie_cubes = 0, same = 0;
    *out = (struct stats_wilcoxon){1, 0, 0, 0, true};
    TRY(NEW(list, n));
    TRY(NEW(doubled, n));
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(a[i] - b[i]))
            TRY(status_fail(CONSM_EINVAL,
                            "wilcoxon: the difference of pair %lld is not finite (%g and %g)",
                            (long long)i, a[i], b[i]));
        same = fmax(same, 1e-12 * fmax(fabs(a[i]), fabs(b[i])));
    }
    for (int64_t i = 0; i < n; i++) {
        double difference = a[i] - b[i];
        if (fabs(difference) > same)
            list[used++] = (struct difference){fabs(difference), difference > 0};
    }
    qsort(list, (size_t)used, sizeof *list, by_size);
    for (int64_t begin = 0, end; begin < used; begin = end) {
        for (end = begin + 1; end < used && list[end].size - list[begin].size <= same; end++)
            continue;
        double ties = (double)(end - begin);
        tie_cubes += ties * ties * ties - ties;
        for (int64_t i = begin; i < end; i++) {
            doubled[i] = begin + 1 + end; /* ranks begin+1 … end, their mean twice */
            *(list[i].positive ? &out->plus : &out->minus) += (double)doubled[i] / 2;
        }
    }
    out->used = used;
    out->exact = used <= EXACT_LIMIT;
    if (out->exact)
        out->p = exact_p(doubled, used, (int64_t)(2 * fmax(out->plus, out->minus)));
    else
        out->p = normal_p(out->plus, used, tie_cubes);
done:
    mem_free(list);
    mem_free(doubled);
    return st;
}

struct ordered {
    double p;
    int64_t index;
};

static int by_p(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->p != y->p)
        return x->p < y->p ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* adjusted of the r-th smallest of m: max over s <= r of (m - s) · p(s), s from 0, at most 1. */
consm_status stats_holm(double *adjusted, const double *p, int64_t n)
{
    consm_status st = CONSM_OK;
    struct ordered *order = NULL; /* (family) */
    int64_t family = 0;
    double largest = 0;
    TRY(NEW(order, n));
    for (int64_t i = 0; i < n; i++) {
        if (isnan(p[i]))
            adjusted[i] = NAN;
        else
            order[family++] = (struct ordered){p[i], i};
    }
    qsort(order, (size_t)family, sizeof *order, by_p);
    for (int64_t r = 0; r < family; r++) {
        largest = fmax(largest, fmin(1, (double)(family - r) * order[r].p));
        adjusted[order[r].index] = largest;
    }
done:
    mem_free(order);
    return st;
}
