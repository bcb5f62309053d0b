/* `consm predict`: labels every node of a graph with a trained model. */
#include "base/counted.h"
#include "commands.h"
#include "data_args.h"
#include "embeddings_output.h"
#include "model_args.h"
#include "nodes_args.h"
#include "predictions_output.h"

#include "app/graph_output.h"
#include "app/prepare.h"
#include "base/alloc.h"
#include <stdio.h>
#include <unistd.h>

static const struct flag flags[] = {
    {"output", "FILE", "write the CSV to FILE (standard output)", 'o'},
    {"probabilities", NULL, "add a column with the probability of each class", 0},
    {"json", NULL, "print one JSON object per node instead of CSV", 0},
    SAFE_CSV_FLAG,
    {"graph", "FILE",
     "also write the graph as it was read, with predictions and\n"
     "trust, for Gephi and others (.graphml, .gexf, .gml or .json)",
     0},
    {"embeddings", "FILE", "also write the nodes' embeddings to FILE (.npy or .csv)", 0},
    {"class", "CLASS",
     "class of --threshold and --top (default: the class with a\n"
     "threshold, or the positive class of model selection)",
     0},
    {"threshold", "P", "predict CLASS where its probability is P or more", 0},
    {"top", "K",
     "only the K nodes with the highest probability of CLASS,\n"
     "ranked; ties by log-odds",
     0},
    {"nodes", "LIST",
     "predict only these nodes: ids a,b or a file with one id per\n"
     "line. Same results, but faster: only what they need is computed",
     0},
    {"threads", "N", "threads (default: one per processor; a small graph uses one)", 0},
    {"device", "NAME", "cpu, cuda, cuda:N or auto (cpu)", 0},
    DATA_FLAGS,
    PARTS_FLAG,
    {0}};

static void print_line(FILE *out, const char *which, const struct consm_metrics *found)
{
    if (found->nodes > found->foreign)
        fprintf(out, "accuracy %.4f, macro-F1 %.4f on the %lld %s%s with labels\n", found->accuracy,
                found->macro_f1, (long long)found->nodes, which,
                found->nodes == 1 ? "node" : "nodes");
}

/* Prints the accuracy if there are labels: to standard output if the CSV goes to a file, else only
 * to a terminal. */
static consm_status print_accuracy(const struct model_args *m, const struct consm_prediction *p,
                                   bool to_file)
{
    consm_status st = CONSM_OK;
    struct consm_metrics *all = NULL, *new = NULL;
    int64_t seen = 0;
    FILE *out = to_file ? stdout : stderr;
    if (!to_file && !isatty(STDERR_FILENO))
        return CONSM_OK;
    TRY(consm_evaluate_prediction(&all, m->model, p, m->data, CONSM_ALL_NODES));
    for (int64_t i = 0; p->seen && i < p->nodes; i++)
        seen += p->seen[i];
    if (p->seen)
        fprintf(out, "the model was trained or validated on %lld of %s; new to it: %lld\n",
                (long long)seen, COUNTED(p->nodes, "node"), (long long)(p->nodes - seen));
    print_line(out, "", all);
    if (seen > 0 && all->nodes > 0) {
        TRY(consm_evaluate_prediction(&new, m->model, p, m->data, CONSM_NEW_NODES));
        print_line(out, "new ", new);
    }
done:
    consm_metrics_free(all);
    consm_metrics_free(new);
    return st;
}

/* The class of --threshold and --top; -1: neither was given. */
static int find_class(int32_t *out, const struct args *args, const struct consm_model *m)
{
    struct consm_model_info info = {.size = sizeof info};
    *out = -1;
    if (!args_has(args, "threshold") && !args_has(args, "top"))
        return args_has(args, "class")
                   ? args_fail(args, EXIT_USAGE, "--class needs --threshold or --top")
                   : EXIT_DONE;
    if (args_has(args, "class"))
        return model_args_class(out, args, "class", m);
    consm_status st = consm_model_info(&info, m);
    if (st < 0)
        return args_status(args, st);
    *out = info.threshold_class >= 0 ? info.threshold_class : info.positive;
    return *out >= 0 ? EXIT_DONE
                     : args_fail(args, EXIT_USAGE, "--threshold and --top need --class CLASS");
}

static consm_status write_graph(const char *path, const struct model_args *m,
                                const struct consm_prediction *prediction)
{
    consm_status st = CONSM_OK;
    struct consm_edge_scores *scores = NULL;
    if (!path)
        return CONSM_OK;
    TRY(dataset_whole(m->data, "--graph"));
    TRY(consm_score_edges_on(&scores, m->model, m->data, m->device, m->threads));
    TRY(graph_output_write(path, m->model, prediction, scores, m->data));
done:
    consm_edge_scores_free(scores);
    return st;
}

/* Predicts the nodes of --nodes, or all; *asked stays NULL for all. */
static consm_status predict(struct consm_prediction **out, int64_t **asked, const struct args *args,
                            const struct model_args *m)
{
    consm_status st = CONSM_OK;
    int64_t count;
    if (!args_has(args, "nodes"))
        return consm_predict_on(out, m->model, m->data, m->device, m->threads);
    TRY(nodes_args_find(asked, &count, m->data, args_get(args, "nodes")));
    TRY(consm_predict_nodes(out, m->model, m->data, *asked, count, m->threads));
done:
    return st;
}

/* Refuses flags that need all nodes with --nodes. */
static int check_nodes(const struct args *args)
{
    static const char *const not_with[] = {"graph", "embeddings", "device", "in-parts"};
    for (size_t i = 0; args_has(args, "nodes") && i < sizeof not_with / sizeof *not_with; i++)
        if (args_has(args, not_with[i]))
            return args_fail(args, EXIT_USAGE, "--nodes cannot be combined with --%s", not_with[i]);
    return EXIT_DONE;
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct model_args m;
    struct consm_prediction *prediction = NULL;
    struct predictions_style style = {args_has(args, "json"),
                                      args_has(args, "probabilities"),
                                      args_has(args, "safe-csv"),
                                      NULL,
                                      0,
                                      -1,
                                      NULL};
    int64_t *order = NULL, *asked = NULL, top = 0;
    double threshold = 0;
    int code = args_int(args, "top", 1, INT64_MAX / 2, &top);
    if (code || (code = args_double(args, "threshold", 0, 1, &threshold)) ||
        (code = check_nodes(args)) ||
        (code = model_args_open(&m, args, "labels.csv", args_has(args, "graph"))))
        return code;
    if ((code = find_class(&style.ranked, args, m.model))) {
        model_args_close(&m);
        return code;
    }
    if (args_has(args, "graph"))
        TRY(graph_output_check(args_get(args, "graph"))); /* before the work */
    TRY(embeddings_check(args_get(args, "embeddings")));
    if (args_has(args, "threshold"))
        TRY(consm_model_set_threshold(m.model, style.ranked, threshold));
    TRY(predict(&prediction, &asked, args, &m));
    style.node = asked;
    if (style.ranked >= 0)
        TRY(dataset_whole(m.data, "--threshold and --top"));
    if (top) {
        TRY(predictions_rank(&order, prediction, style.ranked));
        style.order = order;
        style.rows = top < prediction->nodes ? top : prediction->nodes;
    }
    TRY(predictions_write(m.output, m.model, prediction, m.data, &style));
    TRY(write_graph(args_get(args, "graph"), &m, prediction));
    TRY(embeddings_write(args_get(args, "embeddings"), m.model, m.data, m.device, m.threads));
    if (!asked)
        TRY(print_accuracy(&m, prediction, args_has(args, "output")));
done:
    mem_free(order);
    mem_free(asked);
    consm_prediction_free(prediction);
    model_args_close(&m);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_predict = {
    .name = "predict",
    .summary = "label the nodes of a graph with a trained model",
    .usage = "MODEL GRAPH [-o FILE] [--probabilities] [--top K] [--nodes LIST] [--json]",
    .text =
        "Writes id,label,confidence,seen for every node of GRAPH. GRAPH may contain nodes and "
        "edges\n"
        "that the model has never seen. The column seen is 1 for nodes whose labels were used in\n"
        "training or validation; it is left out on a graph without node ids, unless it is the\n"
        "training graph. Features are matched by name if both sides have names; if columns are\n"
        "missing, an error names them. On the training graph, the labels equal those of training,\n"
        "bit for bit. If GRAPH has labels, the accuracy is printed.\n\n"
        "  consm train ./mygraph -o out/\n"
        "  consm predict out/model.safetensors ./mygraph-next-week -o labels.csv\n"
        "  consm predict out/model.safetensors ./mygraph --probabilities | head\n"
        "  consm predict out/model.safetensors ./mygraph --top 50 --class fraud\n"
        "  consm predict out/model.safetensors ./mygraph --nodes alice,bob\n",
    .flags = flags,
    .run = run,
};
