/* `consm predict`: labels every node of a graph with a trained model. */
#include "commands.h"
#include "data_args.h"
#include "embeddings_output.h"
#include "graph_output.h"
#include "model_args.h"
#include "predictions_output.h"

#include "app/objects.h"
#include <stdio.h>
#include <unistd.h>

static const struct flag flags[] = {{"output", "FILE", "where the CSV goes (standard output)", 'o'},
                                    {"probabilities", NULL, "a column per class as well", 0},
                                    {"json", NULL, "one JSON object per node instead of CSV", 0},
                                    SAFE_CSV_FLAG,
                                    {"graph", "FILE",
                                     "write the graph with predictions and trust too, for Gephi:\n"
                                     "FILE ends in .graphml or .gexf",
                                     0},
                                    {"embeddings", "FILE",
                                     "write what the model knows of each node before it names a\n"
                                     "class, too: FILE ends in .npy or .csv",
                                     0},
                                    {"threads", "N", "threads (one per processor)", 0},
                                    {"device", "NAME", "cpu, cuda, cuda:N or auto (cpu)", 0},
                                    DATA_FLAGS,
                                    PARTS_FLAG,
                                    {0}};

/* How good it is, where labels are there: to standard output when the CSV goes to a file, else to a
 * terminal only. */
static consm_status print_accuracy(const struct model_args *m, const struct consm_prediction *p,
                                   bool to_file)
{
    consm_status st = CONSM_OK;
    struct metrics found = {0};
    FILE *out = to_file ? stdout : stderr;
    if (!to_file && !isatty(STDERR_FILENO))
        return CONSM_OK;
    TRY(model_evaluate(&found, m->model, p, m->data->data));
    if (found.all.nodes > 0)
        fprintf(out, "accuracy %.4f, macro-F1 %.4f on the %lld nodes with labels\n",
                found.all.accuracy, found.all.macro_f1, (long long)found.all.nodes);
done:
    metrics_free(&found);
    return st;
}

static consm_status write_graph(const char *path, const struct model_args *m,
                                const struct consm_prediction *prediction)
{
    consm_status st = CONSM_OK;
    struct consm_edge_scores *scores = NULL;
    const struct prepared *prepared;
    if (!path)
        return CONSM_OK;
    TRY(dataset_prepared(&prepared, m->data));
    TRY(prepare_whole(prepared, "--graph"));
    TRY(consm_score_edges_on(&scores, m->model, m->data, m->device, m->threads));
    TRY(graph_output_write(path, m->model, prediction, scores, m->data));
done:
    consm_edge_scores_free(scores);
    return st;
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct model_args m;
    struct consm_prediction *prediction = NULL;
    int code = model_args_open(&m, args, "labels.csv");
    if (code)
        return code;
    if (args_has(args, "graph"))
        TRY(graph_output_check(args_get(args, "graph"))); /* before the work */
    TRY(embeddings_check(args_get(args, "embeddings")));
    TRY(consm_predict_on(&prediction, m.model, m.data, m.device, m.threads));
    TRY(predictions_write(m.output, m.model, prediction, m.data,
                          &(struct predictions_style){args_has(args, "json"),
                                                      args_has(args, "probabilities"),
                                                      args_has(args, "safe-csv")}));
    TRY(write_graph(args_get(args, "graph"), &m, prediction));
    TRY(embeddings_write(args_get(args, "embeddings"), m.model, m.data, m.device, m.threads));
    TRY(print_accuracy(&m, prediction, args_has(args, "output")));
done:
    consm_prediction_free(prediction);
    model_args_close(&m);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_predict = {
    .name = "predict",
    .summary = "label the nodes of a graph with a trained model",
    .usage = "MODEL GRAPH [-o FILE] [--probabilities] [--json]",
    .text = "Writes id,label,confidence for every node of GRAPH, which may have nodes and edges\n"
            "the model never saw. Features are matched by name where both sides have names;\n"
            "missing columns are an error that names them. On the graph of training the labels\n"
            "are those of training, bit for bit. Where GRAPH has labels, accuracy is printed.\n\n"
            "  consm train ./mygraph -o out/\n"
            "  consm predict out/model.safetensors ./mygraph-next-week -o labels.csv\n"
            "  consm predict out/model.safetensors ./mygraph --probabilities | head\n",
    .flags = flags,
    .run = run,
};
