/* The report's section on trust: the scores' distribution, the edges with the most and the least
 * trust, and the weight of each kind of evidence (witness). */
#include "app/report_parts.h"
#include "base/counted.h"

#include "base/number.h"
#include "match/trust.h"
#include "train/consm/consm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 10, BINS = 10 };

consm_status trust_by_entry(float **out, const struct consm_edge_scores *s, const struct csr *graph)
{
    consm_status st = CONSM_OK;
    int64_t *fill = NULL;
    *out = NULL;
    TRY(NEW(*out, graph->nnz));
    TRY(NEW(fill, graph->rows));
    for (int64_t i = 0; i < graph->rows; i++)
        fill[i] = graph->start[i];
    /* Edges are sorted by their smaller end, then by their larger one, like the entries of every
     * row. */
    for (int64_t e = 0; e < s->edges; e++) {
        (*out)[fill[s->from[e]]++] = s->score[e];
        (*out)[fill[s->to[e]]++] = s->score[e];
    }
done:
    mem_free(fill);
    if (st < 0) {
        mem_free(*out);
        *out = NULL;
    }
    return st;
}

static void add_histogram(struct report *r, const struct consm_edge_scores *s)
{
    static const char *const series[] = {"kept", "dropped"};
    static const char *const bin[BINS] = {"0.0", "0.1", "0.2", "0.3", "0.4",
                                          "0.5", "0.6", "0.7", "0.8", "0.9"};
    static const int style[] = {FIGURE_TRUSTED, FIGURE_DISTRUSTED};
    double count[BINS * 2] = {0};
    for (int64_t e = 0; e < s->edges; e++) {
        int at = (int)((double)s->score[e] * BINS);
        at = at < 0 ? 0 : at >= BINS ? BINS - 1 : at;
        count[at * 2 + !s->kept[e]]++;
    }
    struct bar_chart chart = {
        .words = {"trust", "Distribution of trust",
                  "Trust is the probability that both ends of an edge have the same class.", NULL},
        .y = {.label = "Edges", .from_zero = true},
        .group_label = "Trust (lower bound of the bin)",
        .group = bin,
        .series = series,
        .groups = BINS,
        .series_count = 2,
        .value = count,
        .style = style,
    };
    report_bars(r, &chart);
}

/* ---- the edges at both ends ---------------------------------------------- */

struct listed {
    float score;
    int64_t edge;
};

static int more_first(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x->edge > y->edge ? 1 : -1;
}

static void add_edge(struct table *t, const struct report_input *in, int64_t e)
{
    const struct consm_edge_scores *s = in->scores;
    const int32_t *said = in->run->prediction->label;
    const struct dataset *d = in->data;
    char id[24], name[24];
    table_row(t);
    table_text(t, dataset_node_id(d, s->from[e], id));
    table_text(t, dataset_class_name(d, said[s->from[e]], name));
    table_text(t, dataset_node_id(d, s->to[e], id));
    table_text(t, dataset_class_name(d, said[s->to[e]], name));
    table_number(t, (double)s->score[e], 4);
}

static void add_list(struct report *r, const struct report_input *in, const struct listed *list,
                     int64_t count, bool least)
{
    struct table *t = report_new_table(
        r, least ? "least" : "most", least ? "The least trusted edges" : "The most trusted edges");
    table_column(t, "From", TABLE_LEFT, NULL);
    table_column(t, "Predicted", TABLE_LEFT, NULL);
    table_column(t, "To", TABLE_LEFT, NULL);
    table_column(t, "Its prediction", TABLE_LEFT, "predicted class of this node");
    table_column(t, "Trust", TABLE_RIGHT, NULL);
    for (int64_t i = 0; i < LISTED && i < count; i++)
        add_edge(t, in, list[least ? count - 1 - i : i].edge);
}

static consm_status add_ends(struct report *r, const struct report_input *in)
{
    consm_status st = CONSM_OK;
    struct listed *list = NULL;
    int64_t count = in->scores->edges;
    TRY(NEW(list, count));
    for (int64_t e = 0; e < count; e++)
        list[e] = (struct listed){in->scores->score[e], e};
    qsort(list, (size_t)count, sizeof *list, more_first);
    add_list(r, in, list, count, true);
    add_list(r, in, list, count, false);
done:
    mem_free(list);
    return st;
}

/* ---- what it is made of -------------------------------------------------- */

/* Bias and a weight per witness of a ConSM model, or of an ensemble's first; NULL: another model,
 * whose trust is the agreement of its predictions. */
static const float *weights_of(const struct consm_model *m)
{
    if (model_answers_weights(m))
        return model_answers_weights(m) + 2; /* after the temperatures */
    for (int64_t i = 0; i < m->tensors; i++)
        if (strcmp(m->tensor[i].name, CONSM_TRUST) == 0 &&
            m->tensor[i].rows * m->tensor[i].cols == TRUST_NUMBERS)
            return m->tensor[i].value + 2;
    for (int64_t i = 0; i < m->members; i++)
        if (weights_of(m->member[i]))
            return weights_of(m->member[i]);
    return NULL;
}

static void add_witnesses(struct report *r, const float *weight)
{
    static const char *const words[WITNESSES] = {
        "subgraphs match (ConSM's coefficient)",
        "predicted classes agree",
        "predictions from features alone agree",
        "both predictions are certain",
        "features are similar",
        "feature vectors are of similar size",
        "common neighbours",
        "degrees are similar",
        "an end is a training node",
        "predictions agree at a training node",
    };
    struct table *t = report_new_table(r, "witnesses", "Evidence for an edge and its weight");
    table_column(t, "Evidence", TABLE_LEFT, NULL);
    table_column(t, "Weight", TABLE_RIGHT, "in the log-odds; fitted on edges with known labels");
    table_column(t, "Direction", TABLE_LEFT, NULL);
    for (int k = 0; k < WITNESSES; k++) {
        double by = (double)weight[1 + k];
        table_row(t);
        table_text(t, words[k]);
        table_number(t, by, 3);
        table_text(t, by > 0.05 ? "for the edge" : by < -0.05 ? "against it" : "little effect");
    }
}

consm_status report_add_trust(struct report *r, const struct report_input *in)
{
    consm_status st = CONSM_OK;
    const struct consm_edge_scores *s = in->scores;
    const float *weight = weights_of(in->run->model);
    int64_t kept = 0;
    char text[400];
    if (s->edges == 0)
        return CONSM_OK;
    for (int64_t e = 0; e < s->edges; e++)
        kept += s->kept[e];
    number_print(
        text, sizeof text,
        "%lld of %s are kept: those with trust ≥ %.3f. edges.csv lists all edges. %s",
        (long long)kept, COUNTED(s->edges, "edge"), s->threshold,
        weight ? "Trust is a logistic regression over ten kinds of evidence, fitted on edges "
                 "between nodes with training or validation labels and shrunk towards weights "
                 "learned on many graphs."
               : "For this model, trust is the agreement between the predictions of both ends.");
    report_section(r, "Trust", text);
    report_in_columns(r);
    add_histogram(r, s);
    if (weight)
        add_witnesses(r, weight);
    TRY(add_ends(r, in));
done:
    return st;
}
