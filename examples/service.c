/*
 * A saved model in a service: loads it once, then answers requests for as long as they come. Here a
 * request is a line on standard input that names a graph; the answer is a line of JSON. A request
 * that fails is answered too and harms nobody.
 *
 *     service MODEL-FILE < requests
 */
#include <consm.h>

#include <stdio.h>
#include <string.h>

/* The message as a JSON string; messages hold no control characters. */
static void print_failure(void)
{
    printf("{\"error\": \"");
    for (const char *c = consm_errmsg(); *c; c++)
        printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    printf("\"}\n");
}

static void answer(const struct consm_model *model, const char *graph)
{
    struct consm_dataset *data = NULL;
    struct consm_prediction *guess = NULL;
    /* One thread per request: a real service would serve several requests side by side, and one
     * model may be used by all of them. */
    if (consm_dataset_open(&data, graph, NULL) < 0 || consm_predict(&guess, model, data, 1) < 0) {
        print_failure();
    } else {
        double sure = 0;
        for (int64_t i = 0; i < guess->nodes; i++)
            sure += (double)guess->confidence[i] / (double)guess->nodes;
        printf("{\"nodes\": %lld, \"mean_confidence\": %.4f, \"counts\": {",
               (long long)guess->nodes, sure);
        for (int32_t k = 0; k < guess->classes; k++) {
            char name[24];
            int64_t count = 0;
            for (int64_t i = 0; i < guess->nodes; i++)
                count += guess->label[i] == k;
            printf("%s\"%s\": %lld", k ? ", " : "", consm_model_class(model, k, name),
                   (long long)count);
        }
        printf("}}\n");
    }
    fflush(stdout);
    consm_prediction_free(guess);
    consm_dataset_free(data);
}

int main(int argc, char **argv)
{
    struct consm_model *model;
    char line[4096];
    if (argc != 2) {
        fprintf(stderr, "usage: service MODEL-FILE < requests\n");
        return 2;
    }
    if (consm_model_load(&model, argv[1]) < 0) {
        fprintf(stderr, "service: %s\n", consm_errmsg());
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (*line)
            answer(model, line);
    }
    consm_model_free(model);
    return 0;
}
