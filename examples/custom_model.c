/*
 * A custom model, written with the operation builders: each node's own features and its neighbours'
 * are transformed separately and then joined, so that neighbours of another class do no harm (the
 * idea of H2GCN, Zhu et al. 2020, in its smallest form).
 *
 *     Z = [ σ(X·W_own + b) ‖ σ(D^-1/2 A D^-1/2 X·W_near + b) ]·W_out + b
 *
 * Training, gradients, validation, saving and prediction then work as for any model.
 */
#include <consm.h>

#include <stdio.h>

static consm_node own_and_near(struct consm_program *p, const struct consm_inputs *in, void *ctx)
{
    const struct consm_matrix *near = consm_inputs_view(p, in, CONSM_VIEW_SYMMETRIC);
    int64_t hidden = (int64_t)consm_inputs_option(in, "hidden");
    float dropout = (float)consm_inputs_option(in, "dropout");
    (void)ctx;
    consm_node own = consm_relu(p, consm_linear(p, "_own", in->x, hidden));
    consm_node around = consm_relu(p, consm_graph_conv(p, "_near", near, in->x, hidden));
    consm_node both = consm_program_name(p, consm_concat(p, own, around), "own and near");
    return consm_linear(p, "_out", consm_dropout(p, both, dropout), in->classes);
}

static void print_line(void *ctx, const char *line)
{
    (void)ctx;
    puts(line);
}

static consm_status test_accuracy(double *out, struct consm_model **model,
                                  const struct consm_dataset *data, consm_build_fn build)
{
    struct consm_options *options = NULL;
    consm_status st;
    if ((st = consm_options_new(&options, "gcn")) == 0 &&
        (st = consm_options_set(options, "split", "random")) == 0 &&
        (st = consm_options_set(options, "epochs", "150")) == 0 &&
        (!build || (st = consm_options_build(options, "own_and_near", build, NULL)) == 0) &&
        (st = consm_train(model, data, options)) == 0)
        *out = consm_model_metrics(*model, CONSM_TEST)->accuracy;
    consm_options_free(options);
    return st;
}

int main(void)
{
    struct consm_dataset *data = NULL;
    struct consm_model *mine = NULL, *gcn = NULL;
    double my_accuracy = 0, gcn_accuracy = 0;
    consm_status st;
    if ((st = consm_dataset_open(&data, "csbm:nodes=1000,homophily=0.1,signal=1.5", NULL)) == 0 &&
        (st = test_accuracy(&my_accuracy, &mine, data, own_and_near)) == 0 &&
        (st = test_accuracy(&gcn_accuracy, &gcn, data, NULL)) == 0 &&
        (st = consm_model_dump(mine, data, print_line, NULL)) == 0)
        printf("test accuracy: own_and_near %.3f, gcn %.3f\n", my_accuracy, gcn_accuracy);
    if (st < 0)
        fprintf(stderr, "custom_model: %s\n", consm_errmsg());
    consm_model_free(mine);
    consm_model_free(gcn);
    consm_dataset_free(data);
    return st < 0;
}
