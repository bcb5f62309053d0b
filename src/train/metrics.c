/* Counting right and wrong, areas under curves, calibration. Everything is summed in node order, so
 * a figure is the same bits whoever asks. */
#include "train/metrics.h"

#include "stats/stats.h"

#include <math.h>
#include <string.h>

enum { BINS = 15 };

static bool counts(const struct predicted *p, int64_t i)
{
    return p->role[i] == p->which && p->label[i] >= 0;
}

static int32_t largest(const float *row, int32_t classes)
{
    int32_t best = 0;
    for (int32_t k = 1; k < classes; k++)
        if (row[k] > row[best])
            best = k;
    return best;
}

void metrics_softmax(float *probability, const float *logits, double temperature, int64_t nodes,
                     int32_t classes)
{
    for (int64_t i = 0; i < nodes; i++) {
        const float *x = logits + i * classes;
        float *y = probability + i * classes;
        double top = (double)x[largest(x, classes)], sum = 0;
        for (int32_t k = 0; k < classes; k++)
            sum += exp(((double)x[k] - top) / temperature);
        for (int32_t k = 0; k < classes; k++)
            y[k] = (float)(exp(((double)x[k] - top) / temperature) / sum);
    }
}

/* ---- the confusion matrix and what follows from it ----------------------- */

static void count_confusion(struct metrics *m, const struct predicted *p)
{
    double confidence[BINS] = {0}, right[BINS] = {0};
    for (int64_t i = 0; i < p->nodes; i++) {
        if (!counts(p, i))
            continue;
        const float *row = p->probability + i * p->classes;
        int32_t said = largest(row, p->classes);
        double sure = (double)row[said];
        int bin = (int)ceil(sure * BINS) - 1; /* bins are open below, closed above */
        bin = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
        m->confusion[(int64_t)p->label[i] * p->classes + said]++;
        m->all.nodes++;
        m->all.nll -= log(fmax((double)row[p->label[i]], 1e-45));
        confidence[bin] += sure;
        right[bin] += said == p->label[i];
    }
    /* ECE = Σ_b |B_b|/n · |accuracy(B_b) - confidence(B_b)| */
    for (int b = 0; b < BINS; b++)
        m->all.ece += fabs(right[b] - confidence[b]);
    m->all.nll /= (double)m->all.nodes;
    m->all.ece /= (double)m->all.nodes;
}

static double ratio(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void per_class(struct metrics *m)
{
    int64_t right = 0, present = 0, occurring = 0;
    double recall = 0, f1 = 0;
    for (int32_t k = 0; k < m->all.classes; k++) {
        struct consm_class_metrics *of = &m->of[k];
        int64_t hits = m->confusion[(int64_t)k * m->all.classes + k];
        for (int32_t j = 0; j < m->all.classes; j++) {
            of->support += m->confusion[(int64_t)k * m->all.classes + j];
            of->predicted += m->confusion[(int64_t)j * m->all.classes + k];
        }
        of->precision = ratio(hits, of->predicted);
        of->recall = ratio(hits, of->support);
        of->f1 = ratio(2 * hits, of->predicted + of->support);
        right += hits;
        recall += of->recall;
        f1 += of->f1;
        present += of->support > 0;
        occurring += of->support > 0 || of->predicted > 0;
    }
    m->all.accuracy = (double)right / (double)m->all.nodes;
    m->all.balanced_accuracy = recall / (double)present;
    m->all.macro_f1 = f1 / (double)occurring;
}

/* ---- areas under the curves ---------------------------------------------- */

/* Each class against the rest. A probability that is no number has no rank: NAN. */
static consm_status areas(struct metrics *m, const struct predicted *p)
{
    consm_status st = CONSM_OK;
    float *score = NULL;
    uint8_t *positive = NULL;
    int64_t defined = 0;
    double sum = 0;
    TRY(NEW(score, m->all.nodes));
    TRY(NEW(positive, m->all.nodes));
    for (int32_t k = 0; k < m->all.classes; k++) {
        int64_t count = 0;
        bool ranked = true;
        for (int64_t i = 0; i < p->nodes; i++)
            if (counts(p, i)) {
                score[count] = p->probability[i * p->classes + k];
                ranked &= !isnan(score[count]);
                positive[count++] = p->label[i] == k;
            }
        m->of[k].roc_auc = NAN;
        if (ranked)
            TRY(stats_auc(&m->of[k].roc_auc, score, positive, count));
        if (!isnan(m->of[k].roc_auc)) {
            sum += m->of[k].roc_auc;
            defined++;
        }
    }
    m->all.roc_auc = defined ? sum / (double)defined : NAN;
done:
    mem_free(score);
    mem_free(positive);
    return st;
}

consm_status metrics_measure(struct metrics *out, const struct predicted *p)
{
    consm_status st = CONSM_OK;
    *out = (struct metrics){.all = {.size = sizeof out->all, .classes = p->classes}};
    TRY(ZNEW(out->of, p->classes));
    TRY(ZNEW(out->confusion, (int64_t)p->classes * p->classes));
    count_confusion(out, p);
    if (out->all.nodes == 0) {
        out->all.accuracy = out->all.macro_f1 = out->all.balanced_accuracy = NAN;
        out->all.roc_auc = out->all.nll = out->all.ece = NAN;
        return CONSM_OK;
    }
    per_class(out);
    TRY(areas(out, p));
done:
    if (st < 0)
        metrics_free(out);
    return st;
}

void metrics_free(struct metrics *m)
{
    mem_free(m->of);
    mem_free(m->confusion);
    *m = (struct metrics){0};
}

/* ---- temperature --------------------------------------------------------- */

double metrics_nll(const struct predicted *p, double temperature)
{
    double sum = 0, rows = 0;
    for (int64_t i = 0; i < p->nodes; i++) {
        if (!counts(p, i))
            continue;
        const float *x = p->probability + i * p->classes;
        double top = (double)x[largest(x, p->classes)], total = 0;
        for (int32_t k = 0; k < p->classes; k++)
            total += exp(((double)x[k] - top) / temperature);
        sum += log(total) - ((double)x[p->label[i]] - top) / temperature;
        rows++;
    }
    return rows > 0 ? sum / rows : 0;
}

static double cost(const struct predicted *p, double log_t, int64_t rows)
{
    return metrics_nll(p, exp(log_t)) + log_t * log_t / (2 * (double)rows);
}

/* Golden section, the same steps every time. */
double metrics_temperature(const struct predicted *p)
{
    const double golden = 0.6180339887498949;
    double low = log(0.05), high = log(20), a, b, at_a, at_b;
    int64_t rows = 0;
    for (int64_t i = 0; i < p->nodes; i++)
        rows += counts(p, i);
    if (rows == 0 || p->classes < 2)
        return 1;
    a = high - golden * (high - low);
    b = low + golden * (high - low);
    at_a = cost(p, a, rows);
    at_b = cost(p, b, rows);
    for (int step = 0; step < 40; step++) {
        if (at_a <= at_b) {
            high = b;
            b = a, at_b = at_a;
            a = high - golden * (high - low);
            at_a = cost(p, a, rows);
        } else {
            low = a;
            a = b, at_a = at_b;
            b = low + golden * (high - low);
            at_b = cost(p, b, rows);
        }
    }
    return exp(0.5 * (low + high));
}
