/* `consm explain`: explains a node's prediction by removing edges, neighbours and features. */
#include "commands.h"
#include "data_args.h"
#include "json_line.h"
#include "model_args.h"
#include "shown.h"

#include "app/explain_values.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {
    {"label", "CLASS",
     "explain the probability of CLASS (default: the predicted\n"
     "class)",
     0},
    {"top", "N", "number of features, neighbours and edges to print (10)", 0},
    {"limit", "N", "number of features, neighbours and edges to test, nearest first (500)", 0},
    {"threads", "N", "threads (default: one per processor; a small graph uses one)", 0},
    {"json", NULL, "print everything as one JSON object", 0},
    DATA_FLAGS,
    {0}};

static int find_node(int64_t *out, const struct args *args, const struct consm_dataset *data,
                     const char *name)
{
    if (consm_dataset_find(out, data, &name, 1) < 0)
        return args_fail(args, EXIT_USAGE, "%s", consm_errmsg());
    return EXIT_DONE;
}

/* ---- tables -------------------------------------------------------------- */

static void add_effect(struct table *t, float log_odds)
{
    char text[32];
    snprintf(text, sizeof text, "%+.3f", (double)log_odds);
    table_text(t, text);
}

static void add_trust(struct table *t, float weight, float trust, bool weighted)
{
    if (weighted)
        table_number(t, (double)weight, 3);
    if (isnan(trust))
        table_empty(t);
    else
        table_number(t, (double)trust, 3);
}

static consm_status new_table(struct table **t, const char *what)
{
    consm_status st = table_new(t, what, NULL);
    if (st == CONSM_OK) {
        table_column(*t, "effect", TABLE_RIGHT, NULL);
        table_column(*t, what, TABLE_LEFT, NULL);
    }
    return st;
}

static consm_status print_features(const struct consm_explanation *e, const struct model_args *m,
                                   int64_t top)
{
    struct table *t;
    char buffer[24], low[32], high[32], name[SHOWN], range[80];
    if (e->features == 0)
        return CONSM_OK;
    if (new_table(&t, "feature") < 0)
        return CONSM_ENOMEM;
    table_column(t, "value", TABLE_RIGHT, NULL);
    table_column(t, "usual", TABLE_LEFT, NULL);
    for (int64_t i = 0; i < e->features && i < top; i++) {
        const char *feature = consm_model_feature(m->model, e->feature[i], buffer);
        table_row(t);
        add_effect(t, e->feature_log_odds[i]);
        table_text(t, shown(name, feature, 0));
        table_text(t, feature_text(low, m->model, feature, e->feature_value[i]));
        snprintf(range, sizeof range, "%s to %s",
                 feature_text(low, m->model, feature, e->feature_low[i]),
                 feature_text(high, m->model, feature, e->feature_high[i]));
        table_text(t, range);
    }
    return shown_table(t);
}

static consm_status print_neighbours(const struct consm_explanation *e, const struct model_args *m,
                                     bool weighted, int64_t top)
{
    struct table *t;
    char buffer[24], name[SHOWN];
    if (e->neighbours == 0)
        return CONSM_OK;
    if (new_table(&t, "neighbour") < 0)
        return CONSM_ENOMEM;
    table_column(t, "label", TABLE_LEFT, NULL);
    table_column(t, "predicted", TABLE_LEFT, NULL);
    table_column(t, "probability", TABLE_RIGHT, NULL);
    if (weighted)
        table_column(t, "edge weight", TABLE_RIGHT, NULL);
    table_column(t, "edge trust", TABLE_RIGHT, NULL);
    for (int64_t i = 0; i < e->neighbours && i < top; i++) {
        table_row(t);
        add_effect(t, e->neighbour_log_odds[i]);
        table_text(t, shown(name, consm_node_id(m->data, e->neighbour[i], buffer), 0));
        if (e->neighbour_label[i] < 0)
            table_text(t, "unknown");
        else
            table_text(t,
                       shown(name, consm_model_class(m->model, e->neighbour_label[i], buffer), 0));
        table_text(t, shown(name, consm_model_class(m->model, e->neighbour_said[i], buffer), 0));
        table_number(t, (double)e->neighbour_probability[i], 3);
        add_trust(t, e->neighbour_weight[i], e->neighbour_trust[i], weighted);
    }
    return shown_table(t);
}

static consm_status print_edges(const struct consm_explanation *e, const struct model_args *m,
                                bool weighted, int64_t top)
{
    struct table *t;
    char id[24], from[SHOWN], to[SHOWN], both[2 * SHOWN + 8];
    if (e->edges == 0)
        return CONSM_OK;
    if (new_table(&t, "edge") < 0)
        return CONSM_ENOMEM;
    if (weighted)
        table_column(t, "weight", TABLE_RIGHT, NULL);
    table_column(t, "trust", TABLE_RIGHT, NULL);
    for (int64_t i = 0; i < e->edges && i < top; i++) {
        snprintf(both, sizeof both, "%s – %s",
                 shown(from, consm_node_id(m->data, e->edge_from[i], id), 0),
                 shown(to, consm_node_id(m->data, e->edge_to[i], id), 0));
        table_row(t);
        add_effect(t, e->edge_log_odds[i]);
        table_text(t, both);
        add_trust(t, e->edge_weight[i], e->edge_trust[i], weighted);
    }
    return shown_table(t);
}

static void print_tried(const char *what, int64_t tried, int64_t all)
{
    if (tried < all)
        printf("\n"
               "Tested the nearest %lld of %lld %s.\n",
               (long long)tried, (long long)all, what);
}

static consm_status print_people(const struct consm_explanation *e, const struct model_args *m,
                                 int64_t at, int64_t top)
{
    consm_status st = CONSM_OK;
    struct consm_model_info info = {.size = sizeof info};
    struct consm_dataset_info data = {.size = sizeof data};
    char buffer[24], class[SHOWN], name[SHOWN];
    TRY(consm_model_info(&info, m->model));
    TRY(consm_dataset_info(&data, m->data));
    shown(class, consm_model_class(m->model, e->label, buffer), 0);
    shown(name, consm_node_id(m->data, at, buffer), 0);
    printf("%s: probability of %s %.4f (log-odds %+.3f%s)\n", name, class, (double)e->probability,
           e->log_odds, info.doubt > 0 ? " before shrinking towards uniform" : "");
    printf(
        "Effect: decrease of the log-odds of %s when the feature is hidden or the neighbour or "
        "edge removed.\n"
        "Positive: it supports %s. If the effect is +0.69, removal halves the odds; -0.69 doubles "
        "them.\n",
        class, class);
    TRY(print_features(e, m, top));
    TRY(print_neighbours(e, m, data.weighted, top));
    TRY(print_edges(e, m, data.weighted, top));
    print_tried("features", e->features, e->features_in_reach);
    print_tried("neighbours", e->neighbours, e->neighbours_in_reach);
    print_tried("edges", e->edges, e->edges_in_reach);
done:
    return st;
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *edges_json(const struct consm_explanation *e, const struct model_args *m)
{
    char a[24], b[24];
    json_t *list = json_array();
    for (int64_t i = 0; i < e->edges; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:f, s:f, s:f, s:o}", "source",
                                              consm_node_id(m->data, e->edge_from[i], a), "target",
                                              consm_node_id(m->data, e->edge_to[i], b), "effect",
                                              (double)e->edge_effect[i], "log_odds",
                                              (double)e->edge_log_odds[i], "weight",
                                              (double)e->edge_weight[i], "trust",
                                              json_figure((double)e->edge_trust[i])));
    return list;
}

static json_t *neighbours_json(const struct consm_explanation *e, const struct model_args *m)
{
    char a[24], b[24];
    json_t *list = json_array();
    for (int64_t i = 0; i < e->neighbours; i++) {
        json_t *label = e->neighbour_label[i] < 0
                            ? json_null()
                            : json_string(consm_model_class(m->model, e->neighbour_label[i], a));
        json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:o, s:s, s:f, s:f, s:o}", "id",
                                              consm_node_id(m->data, e->neighbour[i], a), "effect",
                                              (double)e->neighbour_effect[i], "log_odds",
                                              (double)e->neighbour_log_odds[i], "label", label,
                                              "predicted",
                                              consm_model_class(m->model, e->neighbour_said[i], b),
                                              "probability", (double)e->neighbour_probability[i],
                                              "weight", (double)e->neighbour_weight[i], "trust",
                                              json_figure((double)e->neighbour_trust[i])));
    }
    return list;
}

static json_t *features_json(const struct consm_explanation *e, const struct model_args *m)
{
    char a[24];
    json_t *list = json_array();
    for (int64_t i = 0; i < e->features; i++)
        json_array_append_new(
            list,
            json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f}", "name",
                      consm_model_feature(m->model, e->feature[i], a), "effect",
                      (double)e->feature_effect[i], "log_odds", (double)e->feature_log_odds[i],
                      "value", (double)e->feature_value[i], "low", (double)e->feature_low[i],
                      "high", (double)e->feature_high[i], "mean", (double)e->feature_mean[i]));
    return list;
}

static void print_json(const struct consm_explanation *e, const struct model_args *m, int64_t at)
{
    char a[24], b[24];
    bool all = e->edges == e->edges_in_reach && e->neighbours == e->neighbours_in_reach &&
               e->features == e->features_in_reach;
    json_t *reach =
        json_pack("{s:I, s:I, s:I}", "edges", (json_int_t)e->edges_in_reach, "neighbours",
                  (json_int_t)e->neighbours_in_reach, "features", (json_int_t)e->features_in_reach);
    json_line(json_pack("{s:s, s:s, s:f, s:f, s:b, s:o, s:o, s:o, s:o}", "id",
                        consm_node_id(m->data, at, a), "label",
                        consm_model_class(m->model, e->label, b), "probability",
                        (double)e->probability, "log_odds", e->log_odds, "complete", (int)all,
                        "in_reach", reach, "edges", edges_json(e, m), "neighbours",
                        neighbours_json(e, m), "features", features_json(e, m)),
              6);
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct model_args m;
    struct consm_explanation *e = NULL;
    int64_t at = 0, top = 10, limit = 0;
    const char *name = args->count == 3 ? args->item[2] : NULL;
    if (!name)
        return args_fail(args, EXIT_USAGE,
                         "expected a model, a graph and a node, as in `consm explain "
                         "out/model.safetensors ./mygraph Ada`");
    int code = args_int(args, "top", 1, INT32_MAX, &top);
    if (code || (code = args_int(args, "limit", 1, INT32_MAX, &limit)))
        return code;
    args->count = 2;
    if ((code = model_args_open(&m, args, NULL, false)))
        return code;
    if ((code = find_node(&at, args, m.data, name))) {
        model_args_close(&m);
        return code;
    }
    struct consm_explain_options how = {.size = sizeof how, .threads = m.threads, .limit = limit};
    how.of_label = args_has(args, "label");
    if (how.of_label && (code = model_args_class(&how.label, args, "label", m.model))) {
        model_args_close(&m);
        return code;
    }
    TRY(consm_explain(&e, m.model, m.data, at, &how));
    if (args_has(args, "json"))
        print_json(e, &m, at);
    else
        TRY(print_people(e, &m, at, top));
done:
    consm_explanation_free(e);
    model_args_close(&m);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_explain = {
    .name = "explain",
    .summary = "explain a node's prediction",
    .usage = "MODEL GRAPH NODE [--label CLASS] [--top N] [--json]",
    .text =
        "Removes edges and neighbours near the node and hides features, one at a time, and\n"
        "predicts again. A hidden feature is 0 (sparse) or the column's mean (dense) on all nodes\n"
        "that the model reads. Structural features are not hidden. The effect is the decrease of\n"
        "the label's log-odds; it is negative if they increase.\n"
        "Log-odds show differences even where the probability is 0.9999 both times. Each table\n"
        "begins with the largest effect, positive or negative. It also shows the values behind\n"
        "the effect: the node's value and the range of 90 % of all nodes, the neighbour's known\n"
        "label and prediction, the edge's weight and trust.\n\n"
        "  consm explain out/model.safetensors ./mygraph Ada\n"
        "  consm explain out/model.safetensors ./mygraph Ada --label fraud --json\n",
    .flags = flags,
    .run = run,
};
