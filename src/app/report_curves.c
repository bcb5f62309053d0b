/* The report's curves (learning, precision-recall, ROC), and the most uncertain nodes. */
#include "app/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- candidates ---------------------------------------------------------- */

/* The candidates of --backbone auto that trained longest. */
static consm_status add_candidates(struct report *r, const struct consm_model *m)
{
    consm_status st = CONSM_OK;
    const struct train_curve *c = &m->curve;
    int64_t chosen[CURVE_CANDIDATES];
    double *place = NULL;
    char name[CURVE_CANDIDATES][48];
    struct figure_series series[CURVE_CANDIDATES];
    int count = curve_longest(chosen, c);
    const int64_t winner = curve_winner(c);
    if (count < 2)
        return CONSM_OK;
    TRY(NEW(place, 2 * c->count));
    double *x = place, *y = place + c->count;
    for (int k = 0; k < count; k++) {
        int64_t n = 0;
        for (int64_t i = 0; i < c->count; i++) {
            const struct curve_point *p = &c->point[i];
            if ((int64_t)p->candidate != chosen[k] || p->member > 1)
                continue;
            if (n > 1 && y[n - 1] == p->score && y[n - 2] == p->score)
                n--; /* the middle of a flat stretch is not drawn */
            x[n] = p->number;
            y[n++] = p->score < -1 ? (double)NAN : p->score;
            snprintf(name[k], sizeof name[k], "%s (candidate %lld%s)",
                     config_names_backbone[(int)p->backbone], (long long)chosen[k],
                     chosen[k] == winner ? ", chosen" : "");
        }
        series[k] = (struct figure_series){
            .name = name[k], .x = x, .y = y, .n = n, .strong = chosen[k] == winner};
        x += n;
        y += n;
    }
    char caption[160], last[48];
    snprintf(last, sizeof last, "; number %lld was chosen", (long long)winner);
    snprintf(caption, sizeof caption,
             "Validation score of the candidates that were trained longest%s.", winner ? last : "");
    struct line_chart chart = {.words = {"candidates", "Choice of the backbone", caption, NULL},
                               .x = {.label = "Update of the candidate"},
                               .y = {.label = report_metric(m)},
                               .series = series,
                               .series_count = count,
                               .wide = true};
    report_lines(r, &chart);
done:
    mem_free(place);
    return st;
}

/* ---- learning ------------------------------------------------------------ */

/* All epochs: those of the winner as a candidate, then those of the run. */
struct whole_curve {
    double *epoch, *loss, *score; /* (count) */
    int64_t count;
};

static void whole_free(struct whole_curve *w)
{
    mem_free(w->epoch);
    mem_free(w->loss);
    mem_free(w->score);
}

static void add_point(struct whole_curve *w, const struct curve_point *p)
{
    w->epoch[w->count] = p->number;
    w->loss[w->count] = p->loss;
    w->score[w->count++] = p->score < -1 ? (double)NAN : p->score;
}

static consm_status curve_join(struct whole_curve *w, const struct consm_model *m)
{
    consm_status st = CONSM_OK;
    const struct train_curve *c = &m->curve;
    int64_t begins = 0;
    *w = (struct whole_curve){0};
    TRY(NEW(w->epoch, c->count));
    TRY(NEW(w->loss, c->count));
    TRY(NEW(w->score, c->count));
    while (begins < c->count && c->point[begins].candidate != 0)
        begins++;
    double first = begins < c->count ? c->point[begins].number : INFINITY;
    for (int64_t i = 0; i < c->count; i++)
        if (c->point[i].member <= 1 && c->point[i].chosen == 1 && c->point[i].number <= first)
            add_point(w, &c->point[i]);
    /* The run starts with the winner's last update, whose loss is already known. */
    bool twice = w->count > 0 && w->epoch[w->count - 1] == first;
    for (int64_t i = begins; i < c->count; i++)
        if (c->point[i].member <= 1 && c->point[i].candidate == 0 && !(twice && i == begins))
            add_point(w, &c->point[i]);
done:
    return st;
}

int64_t report_best_epoch(const struct consm_model *m)
{
    int64_t seen = strcmp(m->def->name, "consm") == 0 && !m->members ? curve_best(&m->curve) : 0;
    return seen > 0 ? seen : m->result.best_epoch;
}

static void draw_learning(struct report *r, const struct whole_curve *w,
                          const struct consm_model *m)
{
    struct figure_series lost = {
        .name = "training loss", .x = w->epoch, .y = w->loss, .n = w->count};
    struct figure_series judged = {
        .name = "validation", .x = w->epoch, .y = w->score, .n = w->count, .strong = true};
    struct figure_rule best = {.label = "best", .at = (double)report_best_epoch(m)};
    struct line_chart chart = {
        .words = {"loss", "Learning curve: loss", "Training loss by epoch.", NULL},
        .x = {.label = "Epoch"},
        .y = {.label = "Loss"},
        .series = &lost,
        .series_count = 1};
    report_lines(r, &chart);
    chart.words = (struct figure_words){"learning", "Learning curve: validation",
                                        "Validation metric by epoch.", NULL};
    chart.y = (struct figure_axis){.label = report_metric(m)};
    chart.series = &judged;
    chart.rule = &best;
    chart.rules = m->members || report_best_epoch(m) == 0 ? 0 : 1;
    if (m->count[SPLIT_VAL])
        report_lines(r, &chart);
}

consm_status report_add_learning(struct report *r, const struct report_input *in)
{
    consm_status st = CONSM_OK;
    const struct consm_model *m = in->run->model;
    struct whole_curve whole = {0};
    TRY(curve_join(&whole, m));
    if (whole.count >= 2)
        draw_learning(r, &whole, m);
    TRY(add_candidates(r, m));
    report_add_candidates(r, m);
done:
    whole_free(&whole);
    return st;
}

/* ---- precision, recall, false alarms ------------------------------------- */

enum { MOST_CLASSES = 8 };

/* The lines of a chart and their points. */
struct drawn {
    double x[MOST_CLASSES][RANK_POINTS + 1], y[MOST_CLASSES][RANK_POINTS + 1];
    char name[MOST_CLASSES][24];
    struct figure_series series[MOST_CLASSES];
    int count;
};

static void draw_class(struct drawn *d, const struct consm_model *m, int32_t k, bool roc)
{
    const struct consm_curve_point *point;
    int64_t n = consm_metrics_curve(&point, consm_model_metrics(m, report_role(m)), k);
    int at = d->count;
    if (n == 0)
        return;
    d->x[at][0] = 0;
    d->y[at][0] = roc ? 0 : point[0].precision;
    for (int64_t i = 0; i < n; i++) {
        d->x[at][i + 1] = roc ? point[i].false_positive_rate : point[i].recall;
        d->y[at][i + 1] = roc ? point[i].recall : point[i].precision;
    }
    d->series[at] = (struct figure_series){.name = consm_model_class(m, k, d->name[at]),
                                           .x = d->x[at],
                                           .y = d->y[at],
                                           .n = n + 1,
                                           .strong = k == m->positive - 1};
    d->count++;
}

static void add_curves(struct report *r, const struct consm_model *m, struct drawn *d, bool roc)
{
    d->count = 0;
    for (int32_t k = 0; k < m->classes && d->count < MOST_CLASSES; k++)
        if (!m->positive || k == m->positive - 1)
            draw_class(d, m, k, roc);
    if (d->count == 0)
        return;
    struct line_chart chart = {
        .words =
            {roc ? "roc" : "precision-recall", roc ? "ROC curve" : "Precision-recall curve",
             roc ? "True positive rate (recall) against false positive rate, for every threshold."
                 : "Precision against recall, for every threshold.",
             NULL},
        .x = {.label = roc ? "False positive rate" : "Recall", .fixed = true, .high = 1},
        .y = {.label = roc ? "Recall" : "Precision", .fixed = true, .high = 1},
        .series = d->series,
        .series_count = d->count};
    report_lines(r, &chart);
}

/* Of the metric's class, else of the first eight classes. */
consm_status report_add_curves(struct report *r, const struct consm_model *m)
{
    consm_status st = CONSM_OK;
    struct drawn *d = NULL;
    TRY(ZNEW(d, 1));
    add_curves(r, m, d, false);
    add_curves(r, m, d, true);
done:
    mem_free(d);
    return st;
}

/* ---- whom to ask about --------------------------------------------------- */

struct doubtful {
    float confidence, log_odds;
    int64_t node;
};

static int least_first(const void *a, const void *b)
{
    const struct doubtful *x = a, *y = b;
    if (x->confidence != y->confidence)
        return x->confidence > y->confidence ? 1 : -1;
    if (x->log_odds != y->log_odds) /* few validation nodes shrink many confidences to one value */
        return x->log_odds > y->log_odds ? 1 : -1;
    return x->node > y->node ? 1 : -1;
}

/* The most probable class other than the predicted one. */
static int32_t runner_up(const float *p, int32_t classes, int32_t said)
{
    int32_t best = -1;
    for (int32_t k = 0; k < classes; k++)
        if (k != said && (best < 0 || p[k] > p[best]))
            best = k;
    return best;
}

static void add_doubtful(struct table *t, const struct report_input *in, int64_t i)
{
    const struct consm_prediction *p = in->run->prediction;
    const float *row = p->probability + i * p->classes;
    int32_t second = runner_up(row, p->classes, p->label[i]);
    char id[24], name[24];
    table_row(t);
    table_text(t, dataset_node_id(in->data, i, id));
    table_text(t, dataset_class_name(in->data, p->label[i], name));
    table_number(t, (double)p->confidence[i], 4);
    table_text(t, second < 0 ? "" : dataset_class_name(in->data, second, name));
    table_number(t, second < 0 ? 0 : (double)row[second], 4);
}

/* If everything is labelled, lists nodes that did not train. */
static int64_t doubtful_of(struct doubtful *list, const struct report_input *in, bool labelled)
{
    const struct consm_prediction *p = in->run->prediction;
    int64_t count = 0;
    for (int64_t i = 0; i < p->nodes; i++)
        if (labelled ? in->run->roles.role[i] != SPLIT_TRAIN : in->data->label[i] < 0)
            list[count++] = (struct doubtful){
                p->confidence[i], p->log_odds ? p->log_odds[i * p->classes + p->label[i]] : 0, i};
    return count;
}

/* Labels for these nodes would help the model most. */
consm_status report_add_uncertain(struct report *r, const struct report_input *in)
{
    enum { LISTED = 15 };
    consm_status st = CONSM_OK;
    const struct consm_prediction *p = in->run->prediction;
    struct doubtful *list = NULL;
    int64_t count = 0;
    if (p->classes < 2)
        return CONSM_OK;
    TRY(NEW(list, p->nodes));
    count = doubtful_of(list, in, false);
    bool labelled = count == 0;
    if (labelled)
        count = doubtful_of(list, in, true);
    if (count == 0)
        goto done;
    qsort(list, (size_t)count, sizeof *list, least_first);
    struct table *t =
        report_new_table(r, "uncertain",
                         labelled ? "The most uncertain nodes outside the training set"
                                  : "The most uncertain nodes without a label");
    table_column(t, "Node", TABLE_LEFT, NULL);
    table_column(t, "Predicted", TABLE_LEFT, NULL);
    table_column(t, "Confidence", TABLE_RIGHT, NULL);
    table_column(t, "Second", TABLE_LEFT, "second most probable class");
    table_column(t, "Probability", TABLE_RIGHT, "of that class");
    for (int64_t i = 0; i < LISTED && i < count; i++)
        add_doubtful(t, in, list[i].node);
done:
    mem_free(list);
    return st;
}
