/* The validation metrics for model selection. Everything is summed in node order. */
#include "train/judge.h"

#include "stats/rank.h"
#include <math.h>
#include <string.h>

/* What a row's log-odds of every class need. With it, exp is taken once per class, not once per
 * pair of classes. */
struct odds_base {
    int32_t first; /* the class with the largest logit */
    double own;    /* its log-odds */
    /* That logit, and Σ_i exp(x_i - top). Without another class the sum loses no digits: the
     * largest term stays. */
    double top, sum;
};

/* ---- which metric -------------------------------------------------------- */

/* A class with less than this share of an even share needs a metric that sees it. */
static const double uneven = 0.2;

/* With two classes, if the smaller has less than this share, accuracy says too little: always
 * predicting the larger class looks good. */
static const double lopsided = 0.35;

/* Training and validation labels per class. */
static void count_classes(int64_t *train, int64_t *val, const struct problem *p)
{
    memset(train, 0, (size_t)p->classes * sizeof *train);
    memset(val, 0, (size_t)p->classes * sizeof *val);
    for (int64_t i = 0; i < p->nodes; i++) {
        if (p->label[i] < 0)
            continue;
        train[p->label[i]] += p->role[i] == SPLIT_TRAIN;
        val[p->label[i]] += p->role[i] == SPLIT_VAL;
    }
}

/* The rarest class of training and validation that validation has; -1: none. */
static int32_t rarest(const int64_t *train, const int64_t *val, int32_t classes)
{
    int32_t found = -1;
    for (int32_t k = 0; k < classes; k++)
        if (val[k] > 0 && (found < 0 || train[k] + val[k] < train[found] + val[found]))
            found = k;
    return found;
}

static enum config_metric by_sizes(const int64_t *train, const int64_t *val, int32_t classes)
{
    int64_t all = 0, validating = 0, least = INT64_MAX, present = 0;
    for (int32_t k = 0; k < classes; k++) {
        int64_t of = train[k] + val[k];
        all += of;
        validating += val[k];
        present += of > 0;
        least = of > 0 && of < least ? of : least;
    }
    int32_t rare = rarest(train, val, classes);
    if (rare < 0 || val[rare] == validating || present < 2)
        return METRIC_ACCURACY;
    if ((double)least * (double)present >= uneven * (double)all)
        return present == 2 && (double)least < lopsided * (double)all ? METRIC_ROC_AUC
                                                                      : METRIC_ACCURACY;
    return present == 2 ? METRIC_AVERAGE_PRECISION : METRIC_MACRO_F1;
}

consm_status judge_choose(enum config_metric *metric, int32_t *positive,
                          const struct problem *problem)
{
    consm_status st = CONSM_OK;
    int64_t *train = NULL, *val = NULL;
    TRY(NEW(train, problem->classes));
    TRY(NEW(val, problem->classes));
    count_classes(train, val, problem);
    if (*metric == METRIC_AUTO && *positive >= 0 && val[*positive] > 0)
        *metric = METRIC_AVERAGE_PRECISION; /* the user named a class */
    if (*metric == METRIC_AUTO)
        *metric = by_sizes(train, val, problem->classes);
    if (*metric != METRIC_AVERAGE_PRECISION)
        *positive = -1;
    else if (*positive < 0)
        *positive = rarest(train, val, problem->classes);
done:
    mem_free(train);
    mem_free(val);
    return st;
}

consm_status judge_open(struct judge *j, const struct problem *problem, enum config_metric metric,
                        int32_t positive)
{
    consm_status st = CONSM_OK;
    bool found = false;
    *j = (struct judge){.metric = metric, .positive = positive, .classes = problem->classes};
    TRY(judge_choose(&j->metric, &j->positive, problem));
    for (int64_t i = 0; i < problem->nodes; i++)
        j->rows += problem->role[i] == SPLIT_VAL && problem->label[i] >= 0;
    TRY(NEW(j->node, j->rows));
    TRY(NEW(j->label, j->rows));
    TRY(NEW(j->item, j->rows));
    TRY(NEW(j->spare, j->rows));
    TRY(NEW(j->count, 3 * (int64_t)problem->classes));
    if (problem->classes > 2 && j->metric == METRIC_ROC_AUC)
        TRY(NEW(j->base, j->rows));
    for (int64_t i = 0, k = 0; i < problem->nodes; i++)
        if (problem->role[i] == SPLIT_VAL && problem->label[i] >= 0) {
            found = found || problem->label[i] == j->positive;
            j->label[k] = problem->label[i];
            j->node[k++] = (int32_t)i;
        }
    if (j->metric == METRIC_AVERAGE_PRECISION && j->rows > 0 && !found)
        TRY(status_fail(CONSM_EINVAL, "metric average-precision: no validation node has the "
                                      "positive class; use another metric or split"));
    return CONSM_OK;
done:
    judge_close(j);
    return st;
}

void judge_close(struct judge *j)
{
    mem_free(j->node);
    mem_free(j->label);
    mem_free(j->item);
    mem_free(j->spare);
    mem_free(j->count);
    mem_free(j->base);
    *j = (struct judge){0};
}

/* ---- the metrics --------------------------------------------------------- */

static const float *row_of(const struct judge *j, const float *logits, bool compact, int64_t k)
{
    return logits + (compact ? k : (int64_t)j->node[k]) * j->classes;
}

static int32_t largest(const float *row, int32_t classes)
{
    int32_t best = 0;
    for (int32_t k = 1; k < classes; k++)
        if (row[k] > row[best])
            best = k;
    return best;
}

static double accuracy_of(const struct judge *j, const float *logits, bool compact)
{
    int64_t right = 0;
    for (int64_t k = 0; k < j->rows; k++)
        right += largest(row_of(j, logits, compact, k), j->classes) == j->label[k];
    return (double)right / (double)j->rows;
}

/* The mean over classes of recall, or of F1 = 2·both / (true + predicted). */
static double class_mean(const struct judge *j, const float *logits, bool compact)
{
    int64_t c = j->classes, *are = j->count, *said = are + c, *both = said + c;
    double sum = 0, classes = 0;
    memset(j->count, 0, 3 * (size_t)c * sizeof *j->count);
    for (int64_t k = 0; k < j->rows; k++) {
        int32_t guess = largest(row_of(j, logits, compact, k), j->classes);
        are[j->label[k]]++;
        said[guess]++;
        both[guess] += guess == j->label[k];
    }
    for (int64_t k = 0; k < c; k++) {
        int64_t whole = j->metric == METRIC_MACRO_F1 ? are[k] + said[k] : 2 * are[k];
        sum += whole ? 2 * (double)both[k] / (double)whole : 0;
        classes += whole > 0;
    }
    return sum / classes;
}

/* log(p_k / (1 - p_k)) = x_k - log Σ_{i≠k} exp(x_i): ranks a class against the rest; unlike p_k it
 * does not saturate at 1. */
static double log_odds(const float *row, int32_t classes, int32_t k)
{
    double top = -INFINITY, sum = 0;
    for (int32_t i = 0; i < classes; i++)
        top = i != k && (double)row[i] > top ? (double)row[i] : top;
    for (int32_t i = 0; i < classes; i++)
        sum += i != k ? exp((double)row[i] - top) : 0;
    return (double)row[k] - top - log(sum);
}

static struct odds_base base_of(const float *row, int32_t classes)
{
    struct odds_base b = {.first = largest(row, classes)};
    b.top = (double)row[b.first];
    b.own = log_odds(row, classes, b.first);
    for (int32_t i = 0; i < classes; i++)
        b.sum += i != b.first ? exp((double)row[i] - b.top) : 1;
    return b;
}

static float odds_of(const struct judge *j, const float *row, int64_t k, int32_t of)
{
    const struct odds_base *b = j->base ? &j->base[k] : NULL;
    if (j->classes < 2)
        return 0;
    if (j->classes == 2)
        return (float)((double)row[of] - (double)row[1 - of]);
    if (!b)
        return (float)log_odds(row, j->classes, of);
    double x = (double)row[of] - b->top;
    return (float)(of == b->first ? b->own : x - log(b->sum - exp(x)));
}

static void rank_class(const struct judge *j, const float *logits, bool compact, int32_t of)
{
    for (int64_t k = 0; k < j->rows; k++)
        j->item[k] = rank_item(odds_of(j, row_of(j, logits, compact, k), k, of), j->label[k] == of);
    rank_sort(j->item, j->spare, j->rows);
}

/* The mean over the classes that some validation nodes have and others do not. Two classes have the
 * same area: their log-odds differ only in sign. */
static double mean_auc(const struct judge *j, const float *logits, bool compact)
{
    double sum = 0, defined = 0;
    for (int64_t k = 0; j->base && k < j->rows; k++)
        j->base[k] = base_of(row_of(j, logits, compact, k), j->classes);
    for (int32_t of = 0; of < (j->classes == 2 ? 1 : j->classes); of++) {
        rank_class(j, logits, compact, of);
        double area = rank_auc(j->item, j->rows);
        sum += isnan(area) ? 0 : area;
        defined += !isnan(area);
    }
    return defined > 0 ? sum / defined : 0;
}

/* exp of the mean of log p(label). */
static double likelihood(const struct judge *j, const float *logits, bool compact)
{
    double sum = 0;
    for (int64_t k = 0; k < j->rows; k++) {
        const float *row = row_of(j, logits, compact, k);
        double top = (double)row[largest(row, j->classes)], total = 0;
        for (int32_t i = 0; i < j->classes; i++)
            total += exp((double)row[i] - top);
        sum += (double)row[j->label[k]] - top - log(total);
    }
    return exp(sum / (double)j->rows);
}

double judge_score(const struct judge *j, const float *logits, bool compact)
{
    if (j->rows == 0)
        return 0;
    switch (j->metric) {
    case METRIC_MACRO_F1:
    case METRIC_BALANCED_ACCURACY: return class_mean(j, logits, compact);
    case METRIC_AVERAGE_PRECISION:
        rank_class(j, logits, compact, j->positive);
        return rank_average_precision(j->item, j->rows);
    case METRIC_ROC_AUC: return mean_auc(j, logits, compact);
    case METRIC_LOG_LIKELIHOOD: return likelihood(j, logits, compact);
    default: return accuracy_of(j, logits, compact);
    }
}
