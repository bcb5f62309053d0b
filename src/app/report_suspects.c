/* The report's list of nodes to examine, with reasons, and a picture of the first one. */
#include "app/report_parts.h"
#include "app/suspects.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_list(struct report *r, const struct report_input *in, const struct suspects *s)
{
    const struct consm_model *m = in->run->model;
    const struct consm_prediction *p = in->run->prediction;
    char buffer[24], title[200];
    snprintf(title, sizeof title, "The nodes most likely to be %.100s",
             consm_model_class(m, s->class_index, buffer));
    struct table *t = report_new_table(r, "suspects", title);
    table_column(t, "Node", TABLE_LEFT, NULL);
    table_column(t, "Predicted", TABLE_LEFT, NULL);
    table_column(t, "Probability", TABLE_RIGHT, "of the class in the title");
    table_column(t, "Log-odds", TABLE_RIGHT, "tie-break between equal probabilities");
    if (s->explanation)
        table_column(t, "Evidence", TABLE_PROSE,
                     "with its effect on the log-odds, strongest first");
    for (int64_t i = 0; i < s->count && i < SUSPECTS_EXPLAINED; i++) {
        int64_t at = s->row[i].node * p->classes + s->class_index;
        table_row(t);
        table_text(t, dataset_node_id(in->data, s->row[i].node, buffer));
        table_text(t, consm_model_class(m, p->label[s->row[i].node], buffer));
        table_number(t, (double)p->probability[at], 4);
        table_number(t, (double)p->log_odds[at], 2);
        if (s->row[i].reasons)
            table_text(t, s->row[i].reasons);
    }
}

/* Bars of the effects of one list. */
static void add_effects(struct report *r, const struct consm_explanation *e,
                        const struct report_input *in, bool features, const char *title)
{
    enum { MOST = 8 };
    static const char *const series[] = {"effect"};
    char buffer[24], name[MOST][120];
    const char *group[MOST];
    double value[MOST];
    int64_t count = features ? e->features : e->neighbours;
    count = count < MOST ? count : MOST;
    for (int64_t i = 0; i < count; i++) {
        if (features)
            snprintf(name[i], sizeof name[i], "%.60s",
                     consm_model_feature(in->run->model, e->feature[i], buffer));
        else
            snprintf(name[i], sizeof name[i], "%.60s",
                     dataset_node_id(in->data, e->neighbour[i], buffer));
        group[i] = name[i];
        value[i] = features ? (double)e->feature_log_odds[i] : (double)e->neighbour_log_odds[i];
    }
    if (count == 0)
        return;
    struct bar_chart chart = {
        .words = {features ? "why-features" : "why-neighbours", title,
                  features ? "Decrease of the log-odds when the feature is hidden; "
                             "negative: evidence against the class."
                           : "Decrease of the log-odds when the neighbour is removed; "
                             "negative: evidence against the class.",
                  NULL},
        .y = {.label = "Effect on the log-odds", .from_zero = true},
        .group_label = features ? "Feature" : "Neighbour",
        .group = group,
        .series = series,
        .groups = (int)count,
        .series_count = 1,
        .value = value};
    report_bars(r, &chart);
}

void report_add_suspects(struct report *r, const struct report_input *in)
{
    const struct suspects *s = in->suspects;
    const struct consm_model *m = in->run->model;
    char text[400], title[200], id[24], name[24];
    if (!s || s->count == 0 || (s->class_index < 0 && !s->explanation))
        return;
    if (s->class_index >= 0)
        report_section(r, "Nodes to inspect",
                       "suspects.csv lists the first hundred; consm explain says more about each.");
    else
        report_section(r, "Explanation",
                       "Explains the prediction of the most uncertain node; consm explain does the "
                       "same for any node.");
    if (s->class_index >= 0)
        add_list(r, in, s);
    if (s->explanation) {
        snprintf(title, sizeof title,
                 "Why %.60s may be %.60s: ", dataset_node_id(in->data, s->explained, id),
                 consm_model_class(m, s->explanation->label, name));
        snprintf(text, sizeof text, "%s%s", title, "features");
        add_effects(r, s->explanation, in, true, text);
        snprintf(text, sizeof text, "%s%s", title, "neighbours");
        add_effects(r, s->explanation, in, false, text);
    }
}
