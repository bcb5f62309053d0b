/* Assignments that do not split mass, and pooling over them. */
#include "ot/monge.h"

#include "base/alloc.h"
#include <string.h>

enum { BLOCK = 64 };

/* Works in blocks, so that comparing a row of costs needs no branch. */
void ot_nearest(int32_t *reference, const double *cost, int64_t c, int64_t n)
{
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t size = n - first < BLOCK ? n - first : BLOCK, best[BLOCK];
        double least[BLOCK];
        for (int64_t l = 0; l < size; l++) {
            least[l] = cost[first + l];
            best[l] = 0;
        }
        for (int64_t k = 1; k < c; k++)
            for (int64_t l = 0; l < size; l++) {
                double x = cost[k * n + first + l];
                int64_t closer = -(int64_t)(x < least[l]); /* all bits or none */
                best[l] = (best[l] & ~closer) | (k & closer);
                least[l] = x < least[l] ? x : least[l];
            }
        for (int64_t l = 0; l < size; l++)
            reference[first + l] = (int32_t)best[l];
    }
}

void ot_monge_assign(int32_t *reference, const double *plan, int64_t c, int64_t n)
{
    for (int64_t l = 0; l < n; l++) {
        int64_t best = -1;
        for (int64_t k = 0; k < c; k++)
            if (plan[k * n + l] > (best < 0 ? 0 : plan[best * n + l]))
                best = k;
        reference[l] = (int32_t)best;
    }
}

/* Adds up, or takes the maximum of, the points of each reference; count[k] (c) of them. */
static void gather(double *sums, int64_t *count, const int32_t *reference, const float *h,
                   int64_t n, int64_t f, enum consm_ot_pooling pooling)
{
    for (int64_t l = 0; l < n; l++) {
        if (reference[l] < 0)
            continue;
        double *sum = sums + reference[l] * f;
        bool first = count[reference[l]]++ == 0;
        for (int64_t d = 0; d < f; d++) {
            double x = h[l * f + d];
            if (pooling != CONSM_OT_MAX)
                sum[d] += x;
            else if (first || x > sum[d])
                sum[d] = x;
        }
    }
}

consm_status ot_pool(float *image, uint8_t *empty, const int32_t *reference, const float *h,
                     int64_t c, int64_t n, int64_t f, enum consm_ot_pooling pooling)
{
    consm_status st = CONSM_OK;
    double *sums = NULL;   /* (c, f) */
    int64_t *count = NULL; /* (c) */
    TRY(ZNEW(sums, c * f));
    TRY(ZNEW(count, c));
    gather(sums, count, reference, h, n, f, pooling);
    for (int64_t k = 0; k < c; k++) {
        bool divide = pooling == CONSM_OT_MEAN && count[k] > 0;
        for (int64_t d = 0; d < f; d++)
            image[k * f + d] =
                (float)(divide ? sums[k * f + d] / (double)count[k] : sums[k * f + d]);
        if (empty)
            empty[k] = count[k] == 0;
    }
done:
    mem_free(sums);
    mem_free(count);
    return st;
}

void ot_project(float *image, uint8_t *empty, double *sums, const double *plan, const float *h,
                int64_t c, int64_t n, int64_t f)
{
    for (int64_t k = 0; k < c; k++) {
        double mass = 0;
        memset(sums, 0, (size_t)f * sizeof *sums);
        for (int64_t l = 0; l < n; l++) {
            double p = plan[k * n + l];
            if (p == 0)
                continue;
            mass += p;
            for (int64_t d = 0; d < f; d++)
                sums[d] += p * (double)h[l * f + d];
        }
        for (int64_t d = 0; d < f; d++)
            image[k * f + d] = mass > 0 ? (float)(sums[d] / mass) : 0;
        if (empty)
            empty[k] = !(mass > 0);
    }
}
