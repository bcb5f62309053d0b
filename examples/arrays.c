/*
 * Trains on a graph in memory: 64-bit edge lists, sparse rows of doubles and a mask of training
 * nodes, as numerical programs have them. Lists GCN's parameters, trains, and can be interrupted: a
 * second call with the same file continues where the first stopped.
 *
 *     arrays [CHECKPOINT-FILE]
 */
#include <consm.h>

#include <stdio.h>

enum { NODES = 200, EDGES = 3 * NODES, ENTRIES = 2 * NODES };

static int64_t from[EDGES], to[EDGES], label[NODES], start[NODES + 1], column[ENTRIES];
static double value[ENTRIES];
static uint8_t role[NODES];

/* Makes two groups, even and odd; most edges stay within a group, and a node's two features mostly
 * point to its group. */
static void plant(void)
{
    for (int64_t i = 0; i < NODES; i++) {
        label[i] = i % 2;
        role[i] = (uint8_t)(i < 60 ? CONSM_TRAIN : i < 100 ? CONSM_VALIDATION : CONSM_TEST);
        for (int64_t k = 0; k < 3; k++) {
            from[3 * i + k] = i;
            to[3 * i + k] = (i + (k == 0 ? 3 : 2 * k + 2)) % NODES;
        }
        start[i + 1] = 2 * (i + 1);
        column[2 * i] = i % 3 ? label[i] : 1 - label[i];
        column[2 * i + 1] = 2 + i % 5;
        value[2 * i] = value[2 * i + 1] = 1;
    }
}

static void print_parameters(const char *method)
{
    struct consm_parameter p = {.size = sizeof p};
    for (int32_t i = 0; consm_parameter_get(&p, method, i) == CONSM_OK; i++)
        if (p.own)
            printf("%-14s %-6s %s\n", p.name, p.value, p.help);
}

int main(int argc, char **argv)
{
    struct consm_arrays arrays = {.size = sizeof arrays,
                                  .name = "planted",
                                  .nodes = NODES,
                                  .edges = EDGES,
                                  .features = 7,
                                  .classes = 2,
                                  .wide_ends = true,
                                  .wide_features = true,
                                  .wide_columns = true,
                                  .wide_labels = true,
                                  .from = from,
                                  .to = to,
                                  .feature = value,
                                  .feature_start = start,
                                  .feature_column = column,
                                  .label = label,
                                  .role = role};
    struct consm_model_info info = {.size = sizeof info};
    struct consm_dataset *data = NULL;
    struct consm_options *options = NULL;
    struct consm_model *model = NULL;
    consm_status st;

    plant();
    print_parameters("gcn");
    if ((st = consm_dataset_from_arrays(&data, &arrays)) == 0 &&
        (st = consm_options_new(&options, "gcn")) == 0 &&
        (st = consm_options_checkpoint(options, argc > 1 ? argv[1] : NULL, 50, true)) == 0 &&
        (st = consm_train(&model, data, options)) == 0 &&
        (st = consm_model_info(&info, model)) == 0)
        printf("%lld training and %lld validation nodes; test accuracy %.2f after epoch %lld\n",
               (long long)info.trained, (long long)info.validated,
               consm_model_metrics(model, CONSM_TEST)->accuracy, (long long)info.best_epoch);
    if (st < 0)
        fprintf(stderr, "arrays: %s\n", consm_errmsg());
    consm_model_free(model);
    consm_options_free(options);
    consm_dataset_free(data);
    return st < 0;
}
