/* `consm predict`: labels every node of a graph with a trained model. */
#include "commands.h"
#include "data_args.h"
#include "model_args.h"
#include "predictions_output.h"

static const struct flag flags[] = {{"output", "FILE", "where the CSV goes (standard output)", 'o'},
                                    {"probabilities", NULL, "a column per class as well", 0},
                                    {"threads", "N", "threads (one per processor)", 0},
                                    {"device", "NAME", "cpu, cuda, cuda:N or auto (cpu)", 0},
                                    DATA_FLAGS,
                                    {0}};

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct model_args m;
    struct consm_prediction *prediction = NULL;
    int code = model_args_open(&m, args, "labels.csv");
    if (code)
        return code;
    TRY(consm_predict_on(&prediction, m.model, m.data, m.device, m.threads));
    TRY(predictions_write(m.output, m.model, prediction, m.data, args_has(args, "probabilities")));
done:
    consm_prediction_free(prediction);
    model_args_close(&m);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_predict = {
    .name = "predict",
    .summary = "label the nodes of a graph with a trained model",
    .usage = "MODEL GRAPH [-o FILE] [--probabilities]",
    .text = "Writes id,label,confidence for every node of GRAPH, which may have nodes and edges\n"
            "the model never saw. Features are matched by name where both sides have names;\n"
            "missing columns are an error that names them. On the graph of training the labels\n"
            "are those of training, bit for bit.\n\n"
            "  consm train ./mygraph -o out/\n"
            "  consm predict out/model.safetensors ./mygraph-next-week -o labels.csv\n"
            "  consm predict out/model.safetensors ./mygraph --probabilities | head\n",
    .flags = flags,
    .run = run,
};
