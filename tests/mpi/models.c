/* Trains every model on a small graph and writes FOLDER/MODEL.safetensors and
 * FOLDER/MODEL.predictions. Under mpirun the training is divided among the ranks; check_mpi.sh
 * compares the files of any number of ranks with those of one process. usage: mpi_models FOLDER
 * DATASET EPOCHS [MODEL[,OPTION=VALUE]… …] */
#include "app/objects.h"
#include "backends/ranks.h"
#include "consm.h"
#include "io/file.h"
#include "models/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ConSM would choose among many candidates; here it runs two rounds of each of its programs. */
static const struct {
    const char *name, *value;
} brief[] = {{"backbone", "gcn"},
             {"warmup", "3"},
             {"rounds", "2"},
             {"match_steps", "3"},
             {"gnn_steps", "3"}};

static consm_status save_predictions(const char *path, const struct consm_prediction *p)
{
    consm_status st = CONSM_OK;
    struct file_writer *w = NULL;
    TRY(file_create(&w, path));
    TRY(file_write(w, p->probability, (size_t)(p->nodes * p->classes) * sizeof *p->probability));
    TRY(file_commit(w));
done:
    file_close(w);
    return st;
}

/* The settings after the model's name. */
static consm_status set_options(struct consm_options *options, const char *text)
{
    consm_status st = CONSM_OK;
    char name[64], value[64];
    for (; (text = strchr(text, ',')); text++) {
        if (sscanf(text, ",%63[^=]=%63[^,]", name, value) != 2)
            return status_fail(CONSM_EINVAL, "expected ,OPTION=VALUE: %s", text);
        TRY(consm_options_set(options, name, value));
    }
done:
    return st;
}

static consm_status train_one(const char *folder, const char *model, const char *epochs,
                              const struct consm_dataset *data)
{
    consm_status st = CONSM_OK;
    struct consm_options *options = NULL;
    struct consm_model *trained = NULL;
    struct consm_prediction *guess = NULL;
    char path[4096], name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(model, ","), model);
    TRY(consm_options_new(&options, name));
    TRY(consm_options_set(options, "split", "random"));
    TRY(consm_options_set(options, "per_class", "4"));
    TRY(consm_options_set(options, "epochs", epochs));
    TRY(consm_options_set(options, "threads", "1"));
    for (size_t i = 0; strcmp(name, "consm") == 0 && i < sizeof brief / sizeof *brief; i++)
        TRY(consm_options_set(options, brief[i].name, brief[i].value));
    TRY(set_options(options, model));
    TRY(consm_train(&trained, data, options));
    snprintf(path, sizeof path, "%s/%s.safetensors", folder, model);
    TRY(consm_model_save(trained, path));
    TRY(consm_predict(&guess, trained, data, 1));
    /* In a graph in parts each rank has the probabilities of its own nodes. */
    TRY(partition_gather(data->prepared.partition, guess->probability,
                         (size_t)guess->classes * sizeof *guess->probability));
    snprintf(path, sizeof path, "%s/%s.predictions", folder, model);
    TRY(save_predictions(path, guess));
done:
    consm_prediction_free(guess);
    consm_model_free(trained);
    consm_options_free(options);
    return st;
}

int main(int argc, char **argv)
{
    consm_status st = CONSM_OK;
    struct consm_dataset *data = NULL;
    const struct ranks *ranks = &ranks_alone;
    if (argc < 4)
        return 2;
    TRY(ranks_join(&ranks));
    if (ranks->rank > 0)
        file_write_nothing();
    TRY(dataset_open_among(&data, argv[2], NULL, ranks));
    for (int i = 4; i < argc; i++)
        TRY(train_one(argv[1], argv[i], argv[3], data));
    for (const struct model_def *const *m = model_list(); argc == 4 && *m; m++)
        TRY(train_one(argv[1], (*m)->name, argv[3], data));
done:
    if (st < 0)
        fprintf(stderr, "mpi_models: rank %d: %s\n", ranks->rank, consm_errmsg());
    consm_dataset_free(data);
    if (ranks->end(st < 0))
        ranks->abandon(1);
    return st < 0;
}
