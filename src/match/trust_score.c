/* Applies a fitted trust to witnesses, stores it, and fits the curve that turns any score of edges
 * into probabilities. trust.c has the fit. Not in the paper. */
#include "match/trust_inside.h"

#include "base/alloc.h"

/* Minimum for a curve, which has almost no prior. */
enum { FEW = 3 };

/* Newton's method: most steps, and a small ridge. */
enum { STEPS = 40 };
static const double WEAK_RIDGE = 1e-2;

/* ---- curves -------------------------------------------------------------- */

/* P(same) = sigmoid(line[0] + line[1]·x): Newton's method with a small ridge. */
static void fit_line(double line[2], const float *x, const uint8_t *same, int64_t count)
{
    int64_t of_kind[2] = {0};
    line[0] = -2; /* for scores in [0, 1] on the logistic scale: 0 → 0.12, 1/2 → 1/2, 1 → 0.88 */
    line[1] = 4;
    for (int64_t e = 0; e < count; e++)
        of_kind[same[e]]++;
    if (of_kind[0] < FEW || of_kind[1] < FEW)
        return;
    line[0] = line[1] = 0;
    for (int step = 0; step < STEPS; step++) {
        double g[2] = {WEAK_RIDGE * line[0], WEAK_RIDGE * line[1]};
        double h[3] = {WEAK_RIDGE, 0, WEAK_RIDGE};
        for (int64_t e = 0; e < count; e++) {
            double v = (double)x[e], p = sigmoid_of(line[0] + line[1] * v), w = p * (1 - p);
            g[0] += p - same[e];
            g[1] += (p - same[e]) * v;
            h[0] += w;
            h[1] += w * v;
            h[2] += w * v * v;
        }
        double size = h[0] * h[2] - h[1] * h[1];
        double move[2] = {(h[2] * g[0] - h[1] * g[1]) / size, (h[0] * g[1] - h[1] * g[0]) / size};
        double length = fabs(move[0]) + fabs(move[1]), share = length > 5 ? 5 / length : 1;
        line[0] -= share * move[0];
        line[1] -= share * move[1];
        if (length < 1e-9)
            break;
    }
}

consm_status trust_curve(float *probability, struct trust_sample *s, const float *score,
                         int64_t count)
{
    consm_status st = CONSM_OK;
    const void *all;
    void *fresh = NULL;
    double line[2];
    for (int64_t i = 0; i < s->known.mine; i++)
        s->known.own[i] = score[s->known.place[i]];
    TRY(heard_collect(&all, &fresh, &s->known, s->partition, s->known.own, sizeof *score));
    fit_line(line, all, s->same, s->known.count);
    for (int64_t e = 0; e < count; e++)
        probability[e] = (float)sigmoid_of(line[0] + line[1] * (double)score[e]);
done:
    mem_free(fresh);
    return st;
}

/* ---- scores -------------------------------------------------------------- */

void trust_write(float number[TRUST_NUMBERS], const struct trust *t)
{
    for (int i = 0; i < 2; i++)
        *number++ = (float)t->temperature[i];
    for (int i = 0; i < TRUST_TERMS; i++)
        *number++ = (float)t->by[i];
    for (int i = 0; i < TRUST_PAIRS; i++)
        *number++ = (float)t->spread[i];
}

void trust_read(struct trust *t, const float number[TRUST_NUMBERS])
{
    for (int i = 0; i < 2; i++)
        t->temperature[i] = (double)*number++;
    for (int i = 0; i < TRUST_TERMS; i++)
        t->by[i] = (double)*number++;
    for (int i = 0; i < TRUST_PAIRS; i++)
        t->spread[i] = (double)*number++;
}

/* The standard deviation of z = β·x. */
static double doubt(const struct trust *t, const double x[TRUST_TERMS])
{
    double variance = 0;
    for (int i = 0, at = 0; i < TRUST_TERMS; i++)
        for (int j = 0; j <= i; j++)
            variance += (i == j ? 1 : 2) * t->spread[at++] * x[i] * x[j];
    return variance > 0 ? sqrt(variance) : 0;
}

void trust_apply(float *score, float *low, float *high, const struct trust *t, const float *x,
                 int64_t count)
{
    static const double ninety = 1.6448536269514722; /* 90 % are within this many deviations */
    for (int64_t e = 0; e < count; e++) {
        double row[TRUST_TERMS] = {1};
        for (int k = 0; k < WITNESSES; k++)
            row[1 + k] = (double)x[e * WITNESSES + k];
        double z = weigh(row, t->by, TRUST_TERMS);
        score[e] = (float)sigmoid_of(z);
        if (!low || !high)
            continue;
        double reach = ninety * doubt(t, row);
        low[e] = (float)sigmoid_of(z - reach);
        high[e] = (float)sigmoid_of(z + reach);
    }
}

enum { BLOCK = 256 }; /* edges whose witnesses a thread holds */

struct scoring {
    float *score, *low, *high, *x;
    const struct trust *trust;
    const struct witnesses *w;
};

static void scoring_worker(void *arg, struct worker who)
{
    const struct scoring *q = arg;
    float room[BLOCK * WITNESSES];
    int64_t from, to;
    team_range(who, q->w->data.edges->count, BLOCK, &from, &to);
    for (int64_t e = from; e < to; e += BLOCK) {
        int64_t end = e + BLOCK < to ? e + BLOCK : to;
        float *x = q->x ? q->x + e * WITNESSES : room;
        witness_rows(x, q->w, NULL, e, end, who.id);
        trust_apply(q->score + e, q->low ? q->low + e : NULL, q->high ? q->high + e : NULL,
                    q->trust, x, end - e);
    }
}

void trust_score(float *score, float *low, float *high, float *x, const struct trust *t,
                 const struct witnesses *w)
{
    struct scoring q = {score, low, high, x, t, w};
    team_run(w->team, scoring_worker, &q);
}
