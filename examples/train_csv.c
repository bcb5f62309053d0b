/*
 * From CSV files to labels: trains on the people of examples/friends whose club is known, and
 * predicts the club of the others, with confidence.
 *
 *     train_csv [FOLDER [MODEL-FILE]]
 */
#include <consm.h>

#include <stdio.h>

static bool show(void *ctx, const struct consm_progress *p)
{
    (void)ctx;
    if (p->epoch % 50 == 0)
        fprintf(stderr, "epoch %lld: loss %.3f, best on validation %.3f\n", (long long)p->epoch,
                p->loss, p->best_val);
    return false; /* true would stop it */
}

static void print_unknown(const struct consm_dataset *data, const struct consm_model *model,
                          const struct consm_prediction *guess)
{
    const int32_t *known = consm_dataset_labels(data);
    char id[24], name[24];
    puts("id,label,confidence");
    for (int64_t i = 0; i < guess->nodes; i++)
        if (known[i] < 0)
            printf("%s,%s,%.3f\n", consm_node_id(data, i, id),
                   consm_model_class(model, guess->label[i], name), (double)guess->confidence[i]);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "examples/friends";
    struct consm_dataset *data = NULL;
    struct consm_options *options = NULL;
    struct consm_model *model = NULL;
    struct consm_prediction *guess = NULL;
    consm_status st;

    if ((st = consm_dataset_open(&data, folder, NULL)) < 0 ||
        (st = consm_options_new(&options, "gcn")) < 0 ||
        (st = consm_options_set(options, "epochs", "200")) < 0 ||
        (st = consm_options_set(options, "class_weights", "balanced")) < 0)
        goto done;
    consm_options_on_progress(options, show, NULL);
    if ((st = consm_train(&model, data, options)) < 0 ||
        (st = consm_predict(&guess, model, data, 0)) < 0)
        goto done;

    struct consm_model_info info = {.size = sizeof info};
    consm_model_info(&info, model);
    fprintf(stderr,
            "%lld training and %lld validation nodes: validation accuracy %.2f, temperature %.2f\n",
            (long long)info.trained, (long long)info.validated,
            consm_model_metrics(model, CONSM_VALIDATION)->accuracy, info.temperature);
    print_unknown(data, model, guess);
    if (argc > 2)
        st = consm_model_save(model, argv[2]);
done:
    if (st < 0)
        fprintf(stderr, "train_csv: %s\n", consm_errmsg());
    consm_prediction_free(guess);
    consm_model_free(model);
    consm_options_free(options);
    consm_dataset_free(data);
    return st < 0;
}
