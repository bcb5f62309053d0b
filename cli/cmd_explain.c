/* `consm explain`: what a node's label hangs on, by taking edges, neighbours and features away. */
#include "commands.h"
#include "data_args.h"
#include "json_line.h"
#include "model_args.h"
#include "shown.h"

#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {{"top", "N", "how many of each kind to print (10)", 0},
                                    {"threads", "N", "threads (one per processor)", 0},
                                    {"json", NULL, "everything as one JSON object", 0},
                                    DATA_FLAGS,
                                    {0}};

static int find_node(int64_t *out, const struct args *args, const struct consm_dataset *data,
                     const char *name)
{
    char id[24];
    for (int64_t i = 0; i < data->data->nodes; i++)
        if (strcmp(consm_node_id(data, i, id), name) == 0) {
            *out = i;
            return EXIT_DONE;
        }
    return args_fail(args, EXIT_USAGE, "%s has no node %s", data->data->name, name);
}

static void print_edges(const struct consm_explanation *e, const struct model_args *m, int64_t top)
{
    char id[24], from[SHOWN], to[SHOWN];
    for (int64_t i = 0; i < e->edges && i < top; i++)
        printf("  %+.4f  edge %s – %s\n", (double)e->edge_effect[i],
               shown(from, consm_node_id(m->data, e->edge_from[i], id), 0),
               shown(to, consm_node_id(m->data, e->edge_to[i], id), 0));
}

static void print_people(const struct consm_explanation *e, const struct model_args *m, int64_t at,
                         int64_t top)
{
    char buffer[24], name[SHOWN];
    printf("%s is said to be %s, with probability %.4f. Without …, that probability falls by:\n",
           shown(name, consm_node_id(m->data, at, buffer), 0),
           consm_model_class(m->model, e->label, (char[24]){0}), (double)e->probability);
    print_edges(e, m, top);
    for (int64_t i = 0; i < e->neighbours && i < top; i++)
        printf("  %+.4f  neighbour %s\n", (double)e->neighbour_effect[i],
               shown(name, consm_node_id(m->data, e->neighbour[i], buffer), 0));
    for (int64_t i = 0; i < e->features && i < top; i++)
        printf("  %+.4f  feature %s\n", (double)e->feature_effect[i],
               shown(name, consm_model_feature(m->model, e->feature[i], buffer), 0));
    if (e->edges < e->edges_in_reach || e->features < e->features_in_reach)
        printf("  (%lld of %lld edges and %lld of %lld features in reach were tried)\n",
               (long long)e->edges, (long long)e->edges_in_reach, (long long)e->features,
               (long long)e->features_in_reach);
}

static void print_json(const struct consm_explanation *e, const struct model_args *m, int64_t at)
{
    char a[24], b[24];
    json_t *edges = json_array(), *near = json_array(), *features = json_array();
    for (int64_t i = 0; i < e->edges; i++)
        json_array_append_new(edges, json_pack("{s:s, s:s, s:f}", "source",
                                               consm_node_id(m->data, e->edge_from[i], a), "target",
                                               consm_node_id(m->data, e->edge_to[i], b), "effect",
                                               (double)e->edge_effect[i]));
    for (int64_t i = 0; i < e->neighbours; i++)
        json_array_append_new(near, json_pack("{s:s, s:f}", "id",
                                              consm_node_id(m->data, e->neighbour[i], a), "effect",
                                              (double)e->neighbour_effect[i]));
    for (int64_t i = 0; i < e->features; i++)
        json_array_append_new(features, json_pack("{s:s, s:f}", "name",
                                                  consm_model_feature(m->model, e->feature[i], a),
                                                  "effect", (double)e->feature_effect[i]));
    json_line(json_pack("{s:s, s:s, s:f, s:o, s:o, s:o}", "id", consm_node_id(m->data, at, a),
                        "label", consm_model_class(m->model, e->label, b), "probability",
                        (double)e->probability, "edges", edges, "neighbours", near, "features",
                        features),
              6);
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct model_args m;
    struct consm_explanation *e = NULL;
    int64_t at = 0, top = 10;
    const char *name = args->count == 3 ? args->item[2] : NULL;
    if (!name)
        return args_fail(args, EXIT_USAGE,
                         "expected a model, a graph and a node, as in `consm explain "
                         "out/model.safetensors ./mygraph Ada`");
    int code = args_int(args, "top", 1, INT32_MAX, &top);
    if (code)
        return code;
    args->count = 2;
    if ((code = model_args_open(&m, args, NULL)))
        return code;
    if ((code = find_node(&at, args, m.data, name))) {
        model_args_close(&m);
        return code;
    }
    struct consm_explain_options how = {.size = sizeof how, .threads = m.threads};
    TRY(consm_explain(&e, m.model, m.data, at, &how));
    if (args_has(args, "json"))
        print_json(e, &m, at);
    else
        print_people(e, &m, at, top);
done:
    consm_explanation_free(e);
    model_args_close(&m);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_explain = {
    .name = "explain",
    .summary = "say what a node's label hangs on",
    .usage = "MODEL GRAPH NODE [--top N] [--json]",
    .text = "Takes edges, neighbours and features of the node's surroundings away, one at a time,\n"
            "and predicts again: the effect is how far the probability of its label falls without\n"
            "it, negative where it rises. The largest change comes first.\n\n"
            "  consm explain out/model.safetensors ./mygraph Ada\n",
    .flags = flags,
    .run = run,
};
