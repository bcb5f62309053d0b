/* The validation metric for model selection: which one, and its validation nodes. */
#include "train/judge.h"

#include <string.h>

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
    TRY(judge_with_team(j, NULL));
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

consm_status judge_with_team(struct judge *j, struct team *team)
{
    consm_status st = CONSM_OK;
    const enum score_metric metric = judge_metric(j);
    const int threads = team ? team_size(team) : 1;
    struct score_room room = {.team = team};
    mem_free(j->scratch);
    TRY(NEW(j->scratch, score_room_lay(&room, NULL, metric, j->rows, j->classes, threads)));
    score_room_lay(&room, j->scratch, metric, j->rows, j->classes, threads);
    j->room = room;
done:
    return st;
}

void judge_close(struct judge *j)
{
    mem_free(j->node);
    mem_free(j->label);
    mem_free(j->scratch);
    *j = (struct judge){0};
}

/* ---- the score ----------------------------------------------------------- */

enum score_metric judge_metric(const struct judge *j)
{
    switch (j->metric) {
    case METRIC_MACRO_F1: return SCORE_MACRO_F1;
    case METRIC_BALANCED_ACCURACY: return SCORE_BALANCED_ACCURACY;
    case METRIC_AVERAGE_PRECISION: return SCORE_AVERAGE_PRECISION;
    case METRIC_ROC_AUC: return SCORE_ROC_AUC;
    case METRIC_LOG_LIKELIHOOD: return SCORE_LOG_LIKELIHOOD;
    default: return SCORE_ACCURACY;
    }
}

static struct scored_rows rows_of(const struct judge *j, const float *logits, bool compact)
{
    return (struct scored_rows){.logits = logits,
                                .label = j->label,
                                .logit_row = compact ? NULL : j->node,
                                .rows = j->rows,
                                .classes = j->classes,
                                .positive = j->positive};
}

double judge_score(const struct judge *j, const float *logits, bool compact)
{
    const struct scored_rows x = rows_of(j, logits, compact);
    return score_rows(judge_metric(j), &x, &j->room);
}

double judge_surprise(const struct judge *j, const float *logits, bool compact)
{
    const struct scored_rows x = rows_of(j, logits, compact);
    return score_mean_surprise(&x, &j->room);
}
