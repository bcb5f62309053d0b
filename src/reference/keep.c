/* What is worth keeping: the validation metrics by their definitions, pair by pair. */
#include "program/keep.h"
#include "reference/kernels.h"

#include <math.h>

/* Position k of the index: its row, and that row's label. */
#define ROW(k)           ((int64_t)in->attr.index->row[k])
#define LABEL(k)         ((int64_t)in->attr.label[ROW(k)])
#define EACH_POSITION(k) for (int64_t k = 0; k < in->attr.index->count; k++)

/* The column of a row's largest value, of equal ones the first. */
static int64_t largest(const struct instr *in, int64_t r)
{
    int64_t best = 0;
    for (int64_t c = 1; c < in->src_cols[0]; c++)
        best = X(r, c) > X(r, best) ? c : best;
    return best;
}

/* log(p / (1 - p)) of a class */
static float log_odds(const struct instr *in, int64_t r, int64_t of)
{
    double most = -INFINITY, rest = 0;
    for (int64_t c = 0; c < in->src_cols[0]; c++)
        most = c != of ? larger(most, X(r, c)) : most;
    for (int64_t c = 0; c < in->src_cols[0]; c++)
        rest += c != of ? exp(X(r, c) - most) : 0;
    return in->src_cols[0] < 2 ? 0 : (float)(X(r, of) - most - log(rest));
}

static double mean_surprise(const struct instr *in)
{
    double sum = 0, count = (double)in->attr.index->count;
    EACH_POSITION(k)
    {
        double total = 0;
        for (int64_t c = 0; c < in->src_cols[0]; c++)
            total += exp(X(ROW(k), c) - X(ROW(k), largest(in, ROW(k))));
        sum += log(total) - (X(ROW(k), LABEL(k)) - X(ROW(k), largest(in, ROW(k))));
    }
    return count > 0 ? sum / count : 0;
}

static double accuracy(const struct instr *in)
{
    double right = 0;
    EACH_POSITION(k)
    right += largest(in, ROW(k)) == LABEL(k);
    return right / (double)in->attr.index->count;
}

/* The mean over classes of 2·both / (are + said); for balanced accuracy said is are. */
static double class_mean(const struct instr *in)
{
    double sum = 0, classes = 0;
    for (int64_t c = 0; c < in->src_cols[0]; c++) {
        double are = 0, said = 0, both = 0;
        EACH_POSITION(k)
        {
            are += LABEL(k) == c;
            said += in->attr.metric == SCORE_MACRO_F1 ? largest(in, ROW(k)) == c : LABEL(k) == c;
            both += LABEL(k) == c && largest(in, ROW(k)) == c;
        }
        sum += are + said > 0 ? 2 * both / (are + said) : 0;
        classes += are + said > 0;
    }
    return sum / classes;
}

/* The share of pairs of a row of the class and another row that are in this order. */
static double auc(const struct instr *in, int64_t of)
{
    double won = 0, pairs = 0;
    EACH_POSITION(k)
    EACH_POSITION(j)
    {
        if (LABEL(k) != of || LABEL(j) == of)
            continue;
        float mine = log_odds(in, ROW(k), of), other = log_odds(in, ROW(j), of);
        won += mine > other ? 1 : mine == other ? 0.5 : 0;
        pairs++;
    }
    return won / pairs;
}

static double mean_auc(const struct instr *in)
{
    double sum = 0, classes = 0;
    for (int64_t c = 0; c < in->src_cols[0]; c++) {
        double area = auc(in, c);
        sum += isnan(area) ? 0 : area;
        classes += !isnan(area);
    }
    return classes > 0 ? sum / classes : 0;
}

/* The mean over the positive rows of the precision among the rows that are not behind. */
static double average_precision(const struct instr *in)
{
    const int64_t of = in->attr.positive;
    double sum = 0, positives = 0;
    EACH_POSITION(k)
    {
        double right = 0, all = 0;
        EACH_POSITION(j)
        {
            bool before = log_odds(in, ROW(j), of) >= log_odds(in, ROW(k), of);
            all += before;
            right += before && LABEL(j) == of;
        }
        sum += LABEL(k) == of ? right / all : 0;
        positives += LABEL(k) == of;
    }
    return sum / positives;
}

static double score(const struct instr *in)
{
    if (in->attr.index->count == 0)
        return 0;
    switch (in->attr.metric) {
    case SCORE_MACRO_F1:
    case SCORE_BALANCED_ACCURACY: return class_mean(in);
    case SCORE_AVERAGE_PRECISION: return average_precision(in);
    case SCORE_ROC_AUC: return mean_auc(in);
    case SCORE_LOG_LIKELIHOOD: return exp(-mean_surprise(in));
    default: return accuracy(in);
    }
}

/* Copies the parameters if the metric is the largest so far, or equal with a smaller mean of -log
 * softmax(x_r)[label_r]. */
LOOP(keep)
{
    struct keep_record *record = (struct keep_record *)in->update[0];
    struct kept_epoch *now = &record->epoch[record->count++ % KEEP_ROOM];
    *now = (struct kept_epoch){.loss = (double)in->src[1][0],
                               .score = score(in),
                               .tie = in->attr.a != 0 ? mean_surprise(in) : 0};
    now->kept = now->score > record->score || in->attr.b != 0 ||
                (now->score == record->score && now->tie < record->tie);
    for (int64_t c = 0; now->kept && c < in->cols; c++)
        OUT(0, c) = SRC(2, 0, c);
    if (now->kept) {
        record->score = now->score;
        record->tie = now->tie;
    }
}
