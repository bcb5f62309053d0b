/* Logistic regression on two witnesses. */
#include "match/trust.h"

#include "graph/roles.h"
#include <math.h>

enum { ENOUGH = 50, STEPS = 50 };

static double largest(const float *x, int64_t c)
{
    float top = x[0];
    for (int64_t k = 1; k < c; k++)
        top = x[k] > top ? x[k] : top;
    return (double)top;
}

void trust_agreement(float *agreement, const float *logits, int64_t c, const struct edges *edges)
{
    for (int64_t e = 0; e < edges->count; e++) {
        const float *x = logits + edges->left[e] * c, *y = logits + edges->right[e] * c;
        double top_x = largest(x, c), top_y = largest(y, c), sum_x = 0, sum_y = 0, both = 0;
        for (int64_t k = 0; k < c; k++) {
            double a = exp((double)x[k] - top_x), b = exp((double)y[k] - top_y);
            sum_x += a;
            sum_y += b;
            both += a * b;
        }
        agreement[e] = (float)(both / (sum_x * sum_y));
    }
}

/* Whether the fit may use the edge: 2 between validation nodes, 1 with known labels, 0 otherwise.
 */
static int usable(const struct edges *edges, int64_t e, const int32_t *label, const uint8_t *role)
{
    int32_t end[2] = {edges->left[e], edges->right[e]};
    int validation = 0;
    for (int i = 0; i < 2; i++) {
        if (label[end[i]] < 0 || (role[end[i]] != SPLIT_TRAIN && role[end[i]] != SPLIT_VAL))
            return 0;
        validation += role[end[i]] == SPLIT_VAL;
    }
    return validation == 2 ? 2 : 1;
}

/* Solves the 3×3 system a·x = b by elimination with pivoting; a stays positive definite through the
 * ridge. */
static void solve3(double x[3], double a[3][3], double b[3])
{
    for (int i = 0; i < 3; i++) {
        int pivot = i;
        for (int r = i + 1; r < 3; r++)
            pivot = fabs(a[r][i]) > fabs(a[pivot][i]) ? r : pivot;
        for (int k = 0; k < 3; k++) {
            double swap = a[i][k];
            a[i][k] = a[pivot][k];
            a[pivot][k] = swap;
        }
        double swap = b[i];
        b[i] = b[pivot];
        b[pivot] = swap;
        for (int r = i + 1; r < 3; r++) {
            double factor = a[r][i] / a[i][i];
            for (int k = i; k < 3; k++)
                a[r][k] -= factor * a[i][k];
            b[r] -= factor * b[i];
        }
    }
    for (int i = 2; i >= 0; i--) {
        x[i] = b[i];
        for (int k = i + 1; k < 3; k++)
            x[i] -= a[i][k] * x[k];
        x[i] /= a[i][i];
    }
}

static double sigmoid_of(double z)
{
    return z >= 0 ? 1 / (1 + exp(-z)) : exp(z) / (1 + exp(z));
}

struct sample {
    const float *w, *agreement;
    const struct edges *edges;
    const int32_t *label;
    const uint8_t *role;
    int least; /* what usable() must reach */
};

/* Adds the gradient and the Hessian of the negative log likelihood at beta. */
static void accumulate(double gradient[3], double hessian[3][3], const struct sample *s,
                       const double beta[3])
{
    for (int64_t e = 0; e < s->edges->count; e++) {
        if (usable(s->edges, e, s->label, s->role) < s->least)
            continue;
        double x[3] = {1, s->w ? (double)s->w[e] : 0, (double)s->agreement[e]};
        double p = sigmoid_of(beta[0] * x[0] + beta[1] * x[1] + beta[2] * x[2]);
        double same = s->label[s->edges->left[e]] == s->label[s->edges->right[e]];
        for (int i = 0; i < 3; i++) {
            gradient[i] += (p - same) * x[i];
            for (int j = 0; j < 3; j++)
                hessian[i][j] += p * (1 - p) * x[i] * x[j];
        }
    }
}

void trust_fit(struct trust *t, const float *w, const float *agreement, const struct edges *edges,
               const int32_t *label, const uint8_t *role)
{
    const double ridge = 1e-2;
    int64_t count[3] = {0};
    double beta[3] = {0};
    for (int64_t e = 0; e < edges->count; e++)
        count[usable(edges, e, label, role)]++;
    struct sample s = {w, agreement, edges, label, role, count[2] >= ENOUGH ? 2 : 1};
    if (count[1] + count[2] == 0) {
        /* Witnesses in [0, 1] on the logistic scale: 0 → 0.12, 1/2 → 1/2, 1 → 0.88. */
        *t = w ? (struct trust){-2, 2, 2} : (struct trust){-2, 0, 4};
        return;
    }
    for (int step = 0; step < STEPS; step++) {
        double gradient[3], hessian[3][3] = {{0}}, move[3], size = 0;
        for (int i = 0; i < 3; i++) {
            gradient[i] = ridge * beta[i];
            hessian[i][i] = ridge;
        }
        accumulate(gradient, hessian, &s, beta);
        solve3(move, hessian, gradient);
        for (int i = 0; i < 3; i++) {
            /* Steps are bounded, because far from the optimum the Hessian promises too much. */
            move[i] = fmin(fmax(move[i], -5), 5);
            beta[i] -= move[i];
            size += fabs(move[i]);
        }
        if (size < 1e-10)
            break;
    }
    *t = (struct trust){beta[0], beta[1], beta[2]};
}

void trust_apply(float *score, const struct trust *t, const float *w, const float *agreement,
                 int64_t count)
{
    for (int64_t e = 0; e < count; e++)
        score[e] = (float)sigmoid_of(t->bias + (w ? t->by_match * (double)w[e] : 0) +
                                     t->by_agreement * (double)agreement[e]);
}
