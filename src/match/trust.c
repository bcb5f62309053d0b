/* Logistic regression on the witnesses. */
#include "match/trust.h"

#include "base/alloc.h"
#include "graph/partition.h"
#include "graph/roles.h"
#include <math.h>
#include <string.h>

enum { ENOUGH = 50, FEW = 3, STEPS = 50, TERMS = WITNESSES + 1, MOST_DRAWN = 65536 };

static const double RIDGE = 1e-2;

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

struct trust_sample {
    int64_t count;
    int64_t *edge;                             /* (count) its row of the witnesses */
    uint8_t *same;                             /* (count) the truth */
    double *x;                                 /* (count, TERMS) 1 and the standardised witnesses */
    double mean[WITNESSES], spread[WITNESSES]; /* so that the ridge treats all witnesses alike */
    bool both_kinds;                           /* enough of each to learn from */
    /* Of a graph in parts: */
    const struct partition *partition;
    int64_t *mine, mines; /* which of this process's edges are among them */
    float *own;           /* (mines, WITNESSES) what is said of these … */
    void *row;            /* (count, WITNESSES) … and of all */
};

void trust_sample_free(struct trust_sample *s)
{
    if (!s)
        return;
    mem_free(s->edge);
    mem_free(s->same);
    mem_free(s->x);
    mem_free(s->mine);
    mem_free(s->own);
    mem_free(s->row);
    mem_free(s);
}

/* The sample of all processes: this one's, and of all whether they join one class. */
static consm_status draw_sample(struct trust_sample *s, const struct edges *edges,
                                const int32_t *label, const uint8_t *role)
{
    consm_status st = CONSM_OK;
    uint8_t *marked = NULL, *same = NULL;
    void *all = NULL;
    uint64_t sure = 0;
    s->partition = edges->partition;
    TRY(NEW(marked, edges->count + 1));
    for (int64_t e = 0; e < edges->count; e++)
        sure += edges->left[e] < edges->right[e] && usable(edges, e, label, role) == 2;
    int least = s->partition->total(sure) >= ENOUGH ? 2 : 1;
    for (int64_t e = 0; e < edges->count; e++)
        marked[e] = usable(edges, e, label, role) >= least;
    TRY(edges_draw(&s->mine, &s->mines, edges, marked, MOST_DRAWN, 0x7472757374u));
    TRY(NEW(s->own, s->mines * WITNESSES + 1));
    TRY(NEW(same, s->mines + 1));
    for (int64_t i = 0; i < s->mines; i++)
        same[i] = label[edges->left[s->mine[i]]] == label[edges->right[s->mine[i]]];
    TRY(partition_all(&all, &s->count, s->partition, same, s->mines, 1));
    s->same = all;
    TRY(NEW(s->edge, s->count + 1));
    for (int64_t i = 0; i < s->count; i++)
        s->edge[i] = i;
done:
    mem_free(marked);
    mem_free(same);
    return st;
}

consm_status trust_sample_rows(const float **out, struct trust_sample *s, const float *x)
{
    consm_status st = CONSM_OK;
    size_t row = WITNESSES * sizeof *x;
    int64_t count;
    *out = x;
    if (!s->partition)
        return CONSM_OK;
    for (int64_t i = 0; i < s->mines; i++)
        memcpy(s->own + i * WITNESSES, x + s->mine[i] * WITNESSES, row);
    mem_free(s->row);
    TRY(partition_all(&s->row, &count, s->partition, s->own, s->mines, row));
    *out = s->row;
done:
    return st;
}

/* All that may be used. */
static consm_status list_sample(struct trust_sample *s, const struct edges *edges,
                                const int32_t *label, const uint8_t *role)
{
    consm_status st = CONSM_OK;
    int64_t count[3] = {0}, at = 0;
    for (int64_t e = 0; e < edges->count; e++)
        count[usable(edges, e, label, role)]++;
    int least = count[2] >= ENOUGH ? 2 : 1;
    s->count = least == 2 ? count[2] : count[1] + count[2];
    TRY(NEW(s->edge, s->count));
    TRY(NEW(s->same, s->count));
    for (int64_t e = 0; e < edges->count; e++)
        if (usable(edges, e, label, role) >= least) {
            s->same[at] = label[edges->left[e]] == label[edges->right[e]];
            s->edge[at++] = e;
        }
done:
    return st;
}

consm_status trust_sample_new(struct trust_sample **out, const struct edges *edges,
                              const int32_t *label, const uint8_t *role)
{
    consm_status st = CONSM_OK;
    struct trust_sample *s = NULL;
    int64_t kind[2] = {0};
    *out = NULL;
    TRY(ZNEW(s, 1));
    TRY(edges->partition ? draw_sample(s, edges, label, role) : list_sample(s, edges, label, role));
    TRY(NEW(s->x, s->count * TERMS));
    for (int64_t i = 0; i < s->count; i++)
        kind[s->same[i]]++;
    s->both_kinds = kind[0] >= FEW && kind[1] >= FEW;
    *out = s;
    s = NULL;
done:
    trust_sample_free(s);
    return st;
}

/* Column k of the sample, with mean 0 and deviation 1; a witness that is always the same counts as
 * it is. */
static void standardise(struct trust_sample *s, const float *x, int k)
{
    double sum = 0, squares = 0, count = (double)s->count;
    for (int64_t i = 0; i < s->count; i++) {
        double v = (double)x[s->edge[i] * WITNESSES + k];
        sum += v;
        squares += v * v;
    }
    double mean = sum / count, variance = squares / count - mean * mean;
    s->mean[k] = variance > 1e-12 ? mean : 0;
    s->spread[k] = variance > 1e-12 ? sqrt(variance) : 1;
    for (int64_t i = 0; i < s->count; i++)
        s->x[i * TERMS + k + 1] =
            ((double)x[s->edge[i] * WITNESSES + k] - s->mean[k]) / s->spread[k];
}

/* Solves a·x = b by elimination with pivoting; a stays positive definite through the ridge. */
static void solve(double x[TERMS], double a[TERMS][TERMS], double b[TERMS])
{
    for (int i = 0; i < TERMS; i++) {
        int pivot = i;
        for (int r = i + 1; r < TERMS; r++)
            pivot = fabs(a[r][i]) > fabs(a[pivot][i]) ? r : pivot;
        for (int k = 0; k < TERMS; k++) {
            double swap = a[i][k];
            a[i][k] = a[pivot][k];
            a[pivot][k] = swap;
        }
        double swap = b[i];
        b[i] = b[pivot];
        b[pivot] = swap;
        for (int r = i + 1; r < TERMS; r++) {
            double factor = a[r][i] / a[i][i];
            for (int k = i; k < TERMS; k++)
                a[r][k] -= factor * a[i][k];
            b[r] -= factor * b[i];
        }
    }
    for (int i = TERMS - 1; i >= 0; i--) {
        x[i] = b[i];
        for (int k = i + 1; k < TERMS; k++)
            x[i] -= a[i][k] * x[k];
        x[i] /= a[i][i];
    }
}

static double sigmoid_of(double z)
{
    return z >= 0 ? 1 / (1 + exp(-z)) : exp(z) / (1 + exp(z));
}

static double log_odds(const double *x, const double beta[TERMS])
{
    double z = 0;
    for (int i = 0; i < TERMS; i++)
        z += beta[i] * x[i];
    return z;
}

/* The negative log likelihood at beta, with the ridge. */
static double objective(const struct trust_sample *s, const double beta[TERMS])
{
    double total = 0;
    for (int i = 0; i < TERMS; i++)
        total += RIDGE / 2 * beta[i] * beta[i];
    for (int64_t e = 0; e < s->count; e++) {
        double z = log_odds(s->x + e * TERMS, beta);
        /* log(1 + exp(-z)) for an edge of one class, log(1 + exp(z)) for the others */
        double wrong = s->same[e] ? -z : z;
        total += (wrong > 0 ? wrong : 0) + log1p(exp(-fabs(wrong)));
    }
    return total;
}

/* The gradient and the Hessian of the objective at beta. */
static void derive(double gradient[TERMS], double hessian[TERMS][TERMS],
                   const struct trust_sample *s, const double beta[TERMS])
{
    memset(hessian, 0, sizeof(double[TERMS][TERMS]));
    for (int i = 0; i < TERMS; i++) {
        gradient[i] = RIDGE * beta[i];
        hessian[i][i] = RIDGE;
    }
    for (int64_t e = 0; e < s->count; e++) {
        const double *x = s->x + e * TERMS;
        double p = sigmoid_of(log_odds(x, beta));
        for (int i = 0; i < TERMS; i++) {
            gradient[i] += (p - s->same[e]) * x[i];
            for (int j = 0; j < TERMS; j++)
                hessian[i][j] += p * (1 - p) * x[i] * x[j];
        }
    }
}

static void newton(double beta[TERMS], const struct trust_sample *s)
{
    double now = objective(s, beta);
    for (int step = 0; step < STEPS; step++) {
        double gradient[TERMS], hessian[TERMS][TERMS], move[TERMS], next[TERMS];
        double then = INFINITY, share = 2;
        derive(gradient, hessian, s, beta);
        solve(move, hessian, gradient);
        /* Far from the optimum a whole step may overshoot: halve it until it helps. */
        while (then > now && share > 1e-6) {
            share /= 2;
            for (int i = 0; i < TERMS; i++)
                next[i] = beta[i] - share * move[i];
            then = objective(s, next);
        }
        if (then > now - 1e-9 * (1 + now))
            break;
        memcpy(beta, next, sizeof next);
        now = then;
    }
}

void trust_fit(struct trust *t, struct trust_sample *s, const float *x, bool without_match)
{
    double beta[TERMS] = {0};
    /* Witnesses in [0, 1] on the logistic scale: 0 → 0.12, 1/2 → 1/2, 1 → 0.88. */
    *t = (struct trust){.bias = -2, .by[WITNESS_MATCH] = 2, .by[WITNESS_AGREEMENT] = 2};
    if (without_match)
        *t = (struct trust){.bias = -2, .by[WITNESS_AGREEMENT] = 4};
    if (!s->both_kinds)
        return;
    for (int64_t i = 0; i < s->count; i++)
        s->x[i * TERMS] = 1;
    for (int k = 0; k < WITNESSES; k++)
        standardise(s, x, k);
    if (without_match)
        for (int64_t i = 0; i < s->count; i++)
            s->x[i * TERMS + 1 + WITNESS_MATCH] = 0; /* the ridge keeps its weight at 0 */
    newton(beta, s);
    t->bias = beta[0];
    for (int k = 0; k < WITNESSES; k++) {
        t->by[k] = beta[k + 1] / s->spread[k];
        t->bias -= t->by[k] * s->mean[k];
    }
}

void trust_apply(float *score, const struct trust *t, const float *x, int64_t count)
{
    for (int64_t e = 0; e < count; e++) {
        double z = t->bias;
        for (int k = 0; k < WITNESSES; k++)
            z += t->by[k] * (double)x[e * WITNESSES + k];
        score[e] = (float)sigmoid_of(z);
    }
}
