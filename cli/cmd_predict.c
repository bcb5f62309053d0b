/* `consm predict`: labels every node of a graph with a trained model. */
#include "commands.h"
#include "data_args.h"
#include "train_output.h"

#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {{"output", "FILE", "where the CSV goes (standard output)", 'o'},
                                    {"probabilities", NULL, "a column per class as well", 0},
                                    {"threads", "N", "threads (one per processor)", 0},
                                    DATA_FLAGS,
                                    {0}};

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct consm_model *model = NULL;
    struct consm_dataset *data = NULL;
    struct consm_prediction *prediction = NULL;
    struct dataset *opened = NULL;
    const char *output = args_get(args, "output");
    int64_t threads = 0;
    int code = args_int(args, "threads", 1, 1024, &threads);
    if (code)
        return code;
    if (args->count != 2)
        return args_fail(args, EXIT_USAGE,
                         "expected a model and a graph, as in `consm predict out/model.safetensors "
                         "./mygraph -o labels.csv`");
    TRY(consm_model_load(&model, args->item[0]));
    args->item[0] = args->item[1];
    args->count = 1;
    if ((code = data_args_open(&opened, args, NULL))) {
        consm_model_free(model);
        return code;
    }
    TRY(dataset_wrap(&data, opened));
    TRY(consm_predict(&prediction, model, data, (int)threads));
    TRY(predictions_write(output ? output : "-", model, prediction, opened,
                          args_has(args, "probabilities")));
done:
    consm_prediction_free(prediction);
    consm_dataset_free(data);
    consm_model_free(model);
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
