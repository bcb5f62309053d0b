/* Logistic regression on two witnesses. */
#include "match/trust.h"

#include "graph/roles.h"
#include <math.h>
#include <string.h>

enum { ENOUGH = 50, FEW = 3, STEPS = 50 };

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
    int least;                 /* what usable() must reach */
    double mean[3], spread[3]; /* of the witnesses, so that the ridge treats them alike */
};

/* The witnesses of an edge, standardised, behind a constant. */
static void witnesses(double x[3], const struct sample *s, int64_t e)
{
    double raw[3] = {1, s->w ? (double)s->w[e] : 0, (double)s->agreement[e]};
    for (int i = 0; i < 3; i++)
        x[i] = (raw[i] - s->mean[i]) / s->spread[i];
}

/* Fills mean and spread; a witness that is always the same counts as it is. */
static void standardise(struct sample *s)
{
    double sum[3] = {0}, squares[3] = {0}, count = 0;
    for (int i = 0; i < 3; i++) {
        s->mean[i] = 0;
        s->spread[i] = 1;
    }
    for (int64_t e = 0; e < s->edges->count; e++) {
        double x[3];
        if (usable(s->edges, e, s->label, s->role) < s->least)
            continue;
        witnesses(x, s, e);
        count++;
        for (int i = 1; i < 3; i++) {
            sum[i] += x[i];
            squares[i] += x[i] * x[i];
        }
    }
    for (int i = 1; i < 3; i++) {
        double mean = sum[i] / count, variance = squares[i] / count - mean * mean;
        if (variance > 1e-12) {
            s->mean[i] = mean;
            s->spread[i] = sqrt(variance);
        }
    }
}

static const double RIDGE = 1e-2;

/* The negative log likelihood at beta, with the ridge. */
static double objective(const struct sample *s, const double beta[3])
{
    double total = 0;
    for (int i = 0; i < 3; i++)
        total += RIDGE / 2 * beta[i] * beta[i];
    for (int64_t e = 0; e < s->edges->count; e++) {
        if (usable(s->edges, e, s->label, s->role) < s->least)
            continue;
        double x[3];
        witnesses(x, s, e);
        double z = beta[0] * x[0] + beta[1] * x[1] + beta[2] * x[2];
        bool same = s->label[s->edges->left[e]] == s->label[s->edges->right[e]];
        /* log(1 + exp(-z)) for an edge of one class, log(1 + exp(z)) for the others */
        double wrong = same ? -z : z;
        total += (wrong > 0 ? wrong : 0) + log1p(exp(-fabs(wrong)));
    }
    return total;
}

/* Adds the gradient and the Hessian of the negative log likelihood at beta. */
static void accumulate(double gradient[3], double hessian[3][3], const struct sample *s,
                       const double beta[3])
{
    for (int64_t e = 0; e < s->edges->count; e++) {
        if (usable(s->edges, e, s->label, s->role) < s->least)
            continue;
        double x[3];
        witnesses(x, s, e);
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
    int64_t count[3] = {0}, kind[2] = {0};
    double beta[3] = {0};
    for (int64_t e = 0; e < edges->count; e++) {
        int use = usable(edges, e, label, role);
        count[use]++;
        if (use > 0)
            kind[label[edges->left[e]] == label[edges->right[e]]]++;
    }
    struct sample s = {w, agreement, edges, label, role, count[2] >= ENOUGH ? 2 : 1, {0}, {0}};
    if (kind[0] < FEW || kind[1] < FEW) {
        /* Witnesses in [0, 1] on the logistic scale: 0 → 0.12, 1/2 → 1/2, 1 → 0.88. */
        *t = w ? (struct trust){-2, 2, 2} : (struct trust){-2, 0, 4};
        return;
    }
    standardise(&s);
    double now = objective(&s, beta);
    for (int step = 0; step < STEPS; step++) {
        double gradient[3], hessian[3][3] = {{0}}, move[3], next[3], then = INFINITY, share = 2;
        for (int i = 0; i < 3; i++) {
            gradient[i] = RIDGE * beta[i];
            hessian[i][i] = RIDGE;
        }
        accumulate(gradient, hessian, &s, beta);
        solve3(move, hessian, gradient);
        /* Far from the optimum a whole step may overshoot: halve it until it helps. */
        while (then > now && share > 1e-6) {
            share /= 2;
            for (int i = 0; i < 3; i++)
                next[i] = beta[i] - share * move[i];
            then = objective(&s, next);
        }
        if (then > now - 1e-9 * (1 + now))
            break;
        memcpy(beta, next, sizeof beta);
        now = then;
    }
    t->by_match = beta[1] / s.spread[1];
    t->by_agreement = beta[2] / s.spread[2];
    t->bias = beta[0] - t->by_match * s.mean[1] - t->by_agreement * s.mean[2];
}

void trust_apply(float *score, const struct trust *t, const float *w, const float *agreement,
                 int64_t count)
{
    for (int64_t e = 0; e < count; e++)
        score[e] = (float)sigmoid_of(t->bias + (w ? t->by_match * (double)w[e] : 0) +
                                     t->by_agreement * (double)agreement[e]);
}
