/* Accuracy, areas under curves and calibration. Everything is summed in node order, so a figure
 * always has the same bits. */
#include "train/metrics.h"
#include "stats/score.h"

#include "base/threads.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 15 };

static bool counts(const struct predicted *p, int64_t i)
{
    return p->role[i] == p->which && (p->label[i] >= 0 || p->label[i] == METRICS_FOREIGN);
}

/* If the threshold is not reached: the most probable of the other classes. */
int32_t metrics_decide(const float *probability, int32_t classes, const struct decision *d)
{
    int32_t best = -1;
    if (!d || !d->made || classes < 2)
        return score_largest(probability, classes);
    if ((double)probability[d->positive] >= d->threshold)
        return d->positive;
    for (int32_t k = 0; k < classes; k++)
        if (k != d->positive && (best < 0 || probability[k] > probability[best]))
            best = k;
    return best;
}

void metrics_softmax(float *probability, const float *logits, double temperature, int64_t nodes,
                     int32_t classes)
{
    for (int64_t i = 0; i < nodes; i++) {
        const float *x = logits + i * classes;
        float *y = probability + i * classes;
        double top = (double)x[score_largest(x, classes)], sum = 0;
        for (int32_t k = 0; k < classes; k++)
            sum += exp(((double)x[k] - top) / temperature);
        for (int32_t k = 0; k < classes; k++)
            y[k] = (float)(exp(((double)x[k] - top) / temperature) / sum);
    }
}

/* ---- the confusion matrix and what follows from it ----------------------- */

static int by_classes(const void *a, const void *b)
{
    const struct confusion_cell *x = a, *y = b;
    if (x->truth != y->truth)
        return x->truth < y->truth ? -1 : 1;
    return x->said < y->said ? -1 : x->said > y->said;
}

/* Merges one cell per node into one per pair of classes. */
static void merge_cells(struct metrics *m)
{
    int64_t kept = 0;
    if (m->cells > 0)
        qsort(m->cell, (size_t)m->cells, sizeof *m->cell, by_classes);
    for (int64_t i = 0; i < m->cells; i++) {
        if (kept > 0 && by_classes(&m->cell[kept - 1], &m->cell[i]) == 0)
            m->cell[kept - 1].count += m->cell[i].count;
        else
            m->cell[kept++] = m->cell[i];
    }
    m->cells = kept;
}

/* m->cell has room for every node. */
static void count_confusion(struct metrics *m, const struct predicted *p)
{
    double confidence[BINS] = {0}, right[BINS] = {0};
    for (int64_t i = 0; i < p->nodes; i++) {
        if (!counts(p, i))
            continue;
        const float *row = p->probability + i * p->classes;
        int32_t said = metrics_decide(row, p->classes, p->decision);
        double sure = (double)row[said];
        /* Bins are open below and closed above; NaN is in the first. */
        int bin = sure > 0 ? (int)ceil(fmin(sure, 1) * BINS) - 1 : 0;
        m->all.nodes++;
        if (p->label[i] == METRICS_FOREIGN) {
            m->all.foreign++;
            m->of[said].predicted++;
        } else {
            m->cell[m->cells++] = (struct confusion_cell){p->label[i], said, 1};
            m->all.nll -= log(fmax((double)row[p->label[i]], 1e-45));
        }
        confidence[bin] += sure;
        right[bin] += said == p->label[i];
    }
    /* ECE = Σ_b |B_b|/n · |accuracy(B_b) - confidence(B_b)| */
    for (int b = 0; b < BINS; b++)
        m->all.ece += fabs(right[b] - confidence[b]);
    m->all.nll /= (double)(m->all.nodes - m->all.foreign);
    m->all.ece /= (double)m->all.nodes;
    merge_cells(m);
}

static double ratio(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void per_class(struct metrics *m)
{
    /* Classes that the model does not know also count, and are never found. */
    int64_t right = 0, present = m->all.foreign > 0, occurring = m->all.foreign > 0;
    double recall = 0, f1 = 0;
    for (int64_t i = 0; i < m->cells; i++) {
        m->of[m->cell[i].truth].support += m->cell[i].count;
        m->of[m->cell[i].said].predicted += m->cell[i].count;
    }
    int64_t at = 0;
    for (int32_t k = 0; k < m->all.classes; k++) {
        struct consm_class_metrics *of = &m->of[k];
        int64_t hits = 0;
        for (; at < m->cells && m->cell[at].truth == k; at++)
            hits += m->cell[at].said == k ? m->cell[at].count : 0;
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

/* ---- one class against the rest ------------------------------------------ */

/* item (m) from the highest probability of class k down; spare (m). */
static void rank_class(uint64_t *item, uint64_t *spare, const struct predicted *p, int32_t k)
{
    int64_t count = 0;
    for (int64_t i = 0; i < p->nodes; i++)
        if (counts(p, i))
            item[count++] = rank_item(p->probability[i * p->classes + k], p->label[i] == k);
    rank_sort(item, spare, count);
}

static void draw_curve(struct metrics_curve *c, const uint64_t *item, int64_t n, int64_t positives)
{
    static const int64_t first[METRICS_TOPS] = {10, 20, 50, 100, 200, 500, 1000};
    c->points = rank_curve(c->point, item, n);
    for (int i = 0; i < METRICS_TOPS && first[i] <= n && positives > 0; i++) {
        double hits = rank_hits(item, n, first[i]);
        c->top[c->tops++] =
            (struct consm_top){first[i], hits / (double)first[i], hits / (double)positives};
    }
}

/* Whether a class can be ranked: NaN has no rank. */
static bool ranked(const struct predicted *p, int32_t k)
{
    bool all = true;
    for (int64_t i = 0; i < p->nodes; i++)
        all = all && !(counts(p, i) && isnan(p->probability[i * p->classes + k]));
    return all;
}

/* A mean over the classes with a known figure; NaN if there is none. */
struct known_mean {
    double sum, count;
};

static void mean_add(struct known_mean *m, double value)
{
    m->sum += isnan(value) ? 0 : value;
    m->count += !isnan(value);
}

static double mean_of(const struct known_mean *m)
{
    return m->count > 0 ? m->sum / m->count : (double)NAN;
}

static consm_status areas(struct metrics *m, const struct predicted *p)
{
    consm_status st = CONSM_OK;
    uint64_t *item = NULL, *spare = NULL;
    struct known_mean area = {0}, precision = {0};
    int64_t n = m->all.nodes;
    TRY(NEW(item, n));
    TRY(NEW(spare, n));
    for (int32_t k = 0; k < m->all.classes; k++) {
        m->of[k].roc_auc = m->of[k].average_precision = (double)NAN;
        if (!ranked(p, k))
            continue;
        rank_class(item, spare, p, k);
        m->of[k].roc_auc = rank_auc(item, n);
        m->of[k].average_precision = rank_average_precision(item, n);
        mean_add(&area, m->of[k].roc_auc);
        mean_add(&precision, m->of[k].average_precision);
        if (m->curve)
            draw_curve(&m->curve[k], item, n, m->of[k].support);
    }
    m->all.roc_auc = mean_of(&area);
    m->all.average_precision = mean_of(&precision);
done:
    mem_free(item);
    mem_free(spare);
    return st;
}

/* The highest precision of any threshold, for the message if more was requested. */
static double best_precision(const uint64_t *item, int64_t n)
{
    double above = 0, best = 0;
    for (int64_t i = 0; i < n; i++) {
        above += (double)(item[i] & 1);
        if (i + 1 == n || item[i + 1] >> 1 != item[i] >> 1)
            best = fmax(best, above / (double)(i + 1));
    }
    return best;
}

consm_status metrics_threshold(struct decision *out, const struct predicted *p, int32_t positive,
                               double precision, double recall)
{
    consm_status st = CONSM_OK;
    uint64_t *item = NULL, *spare = NULL;
    struct consm_curve_point at;
    int64_t n = 0;
    *out = (struct decision){0};
    for (int64_t i = 0; i < p->nodes; i++)
        n += counts(p, i);
    TRY(NEW(item, n));
    TRY(NEW(spare, n));
    rank_class(item, spare, p, positive);
    bool reached = rank_threshold(&at, item, n, precision, recall);
    if (!reached && !rank_threshold(&at, item, n, best_precision(item, n), 0))
        TRY(status_fail(CONSM_EINVAL,
                        "threshold_for: no validation node has this class; use another split"));
    *out = (struct decision){.made = true,
                             .positive = positive,
                             .threshold = at.threshold,
                             .precision = at.precision,
                             .recall = at.recall,
                             .reached = reached};
done:
    mem_free(item);
    mem_free(spare);
    return st;
}

void metrics_hide_ece(struct metrics *m)
{
    if (m->all.nodes < METRICS_FEW)
        m->all.ece = (double)NAN;
}

consm_status metrics_measure(struct metrics *out, const struct predicted *p)
{
    consm_status st = CONSM_OK;
    *out = (struct metrics){.all = {.size = sizeof out->all, .classes = p->classes}};
    TRY(ZNEW(out->of, p->classes));
    TRY(NEW(out->cell, p->nodes));
    if (p->classes <= METRICS_CURVES)
        TRY(ZNEW(out->curve, p->classes));
    count_confusion(out, p);
    if (out->all.nodes == 0) {
        out->all.accuracy = out->all.macro_f1 = out->all.balanced_accuracy = NAN;
        out->all.roc_auc = out->all.nll = out->all.ece = out->all.average_precision = NAN;
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
    mem_free(m->cell);
    mem_free(m->curve);
    *m = (struct metrics){0};
}

/* ---- temperature --------------------------------------------------------- */

/* -log softmax(logits / temperature)[label] of a row. */
static double surprise(const struct predicted *p, int64_t i, double temperature)
{
    const float *x = p->probability + i * p->classes;
    double top = (double)x[score_largest(x, p->classes)], total = 0;
    for (int32_t k = 0; k < p->classes; k++)
        total += (double)x[k] - top == 0 ? 1 : exp(((double)x[k] - top) / temperature);
    return log(total) - ((double)x[p->label[i]] - top) / temperature;
}

double metrics_nll(const struct predicted *p, double temperature)
{
    double sum = 0, rows = 0;
    for (int64_t i = 0; i < p->nodes; i++)
        if (counts(p, i)) {
            sum += surprise(p, i, temperature);
            rows++;
        }
    return rows > 0 ? sum / rows : 0;
}

/* The search for a temperature. Threads compute the rows' terms; one adds them in order, so the
 * bits do not depend on the threads. */
struct search {
    const struct predicted *p;
    struct team *team;
    double *term; /* (nodes) */
    int64_t rows;
    double temperature;
};

static void term_worker(void *arg, struct worker who)
{
    const struct search *s = arg;
    int64_t from, to;
    team_range(who, s->p->nodes, 64, &from, &to);
    for (int64_t i = from; i < to; i++)
        s->term[i] = counts(s->p, i) ? surprise(s->p, i, s->temperature) : 0;
}

static double cost(struct search *s, double log_t)
{
    double sum = 0;
    s->temperature = exp(log_t);
    if (!s->team)
        return metrics_nll(s->p, s->temperature) + log_t * log_t / (2 * (double)s->rows);
    team_run(s->team, term_worker, s);
    for (int64_t i = 0; i < s->p->nodes; i++)
        sum += s->term[i];
    return sum / (double)s->rows + log_t * log_t / (2 * (double)s->rows);
}

/* Golden section search, the same steps every time. */
double metrics_temperature_by(const struct predicted *p, struct team *team, double *term)
{
    struct search s = {.p = p, .team = team, .term = term};
    const double golden = 0.6180339887498949;
    double low = log(0.05), high = log(20), a, b, at_a, at_b;
    for (int64_t i = 0; i < p->nodes; i++)
        s.rows += counts(p, i);
    if (s.rows == 0 || p->classes < 2)
        return 1;
    a = high - golden * (high - low);
    b = low + golden * (high - low);
    at_a = cost(&s, a);
    at_b = cost(&s, b);
    for (int step = 0; step < 40; step++) {
        if (at_a <= at_b) {
            high = b;
            b = a, at_b = at_a;
            a = high - golden * (high - low);
            at_a = cost(&s, a);
        } else {
            low = a;
            a = b, at_a = at_b;
            b = low + golden * (high - low);
            at_b = cost(&s, b);
        }
    }
    return exp(0.5 * (low + high));
}

double metrics_temperature(const struct predicted *p)
{
    return metrics_temperature_by(p, NULL, NULL);
}
