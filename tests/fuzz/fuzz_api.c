/* Fuzzes the public interface: an input is a list of calls, three bytes each (the call and two
 * arguments), that a custom model makes while it records; then it trains, predicts and scores
 * edges. */
#include "consm.h"

#include <stdlib.h>

struct calls {
    const uint8_t *byte;
    size_t count;
};

static consm_node record(struct consm_program *p, const struct consm_inputs *in, void *ctx)
{
    const struct calls *c = ctx;
    consm_node x = consm_linear(p, "in", in->x, 4);
    const struct consm_matrix *s = consm_inputs_view(p, in, CONSM_VIEW_GCN);
    for (size_t i = 0; i + 3 <= c->count; i += 3) {
        const uint8_t *b = c->byte + i;
        consm_node y = (consm_node)(b[1] % 40) - 1, z = (consm_node)(b[2] % 40) - 1;
        float a = (float)b[2] / 64 - 1;
        char name[8] = {'p', (char)('a' + b[1] % 8), 0};
        switch (b[0] % 34) {
        case 0: x = consm_linear(p, name, y, b[2] % 9); break;
        case 1: x = consm_graph_conv(p, name, s, y, b[2] % 9); break;
        case 2: x = consm_batch_norm(p, name, y); break;
        case 3: x = consm_matmul(p, y, z); break;
        case 4: x = consm_matmul_t(p, y, b[0] & 64, z, b[0] & 128); break;
        case 5: x = consm_axpby(p, a, y, 1 - a, z); break;
        case 6: x = consm_mul(p, y, z); break;
        case 7: x = consm_scale_by(p, y, z); break;
        case 8: x = consm_scale_rows(p, y, z); break;
        case 9: x = consm_add_bias(p, y, z); break;
        case 10: x = consm_concat(p, y, z); break;
        case 11: x = consm_slice(p, y, b[2] % 5 - 1, b[2] / 32); break;
        case 12: x = consm_col_sum(p, y); break;
        case 13: x = consm_row_sum(p, y); break;
        case 14: x = consm_dot(p, y, z); break;
        case 15: x = consm_expand(p, y, b[2] & 1 ? in->nodes : 1, b[2] / 16); break;
        case 16: x = consm_relu(p, y); break;
        case 17: x = consm_elu(p, y); break;
        case 18: x = consm_tanh(p, y); break;
        case 19: x = consm_log_sigmoid(p, y); break;
        case 20: x = consm_exp(p, y); break;
        case 21: x = consm_log(p, y, a); break;
        case 22: x = consm_clamp(p, y, a, 1); break;
        case 23: x = consm_dropout(p, y, a); break;
        case 24: s = consm_inputs_view(p, in, (enum consm_view)(b[1] % 6)); break;
        case 25: x = consm_spmm(p, s, y); break;
        case 26: x = consm_spmm_values(p, s, y, z); break;
        case 27: x = consm_sddmm(p, s, y, z, b[0] / 64); break;
        case 28: x = consm_edge_add(p, s, y, z); break;
        case 29: x = consm_edge_sum(p, s, y); break;
        case 30: x = consm_edge_softmax(p, s, y); break;
        case 31: x = consm_edge_drop(p, s, a); break;
        case 32: x = consm_softmax(p, y); break;
        default: x = consm_row_normalize(p, y);
        }
        if (x == CONSM_POISON)
            return x;
    }
    return consm_node_rows(p, x) == in->nodes ? consm_linear(p, "out", x, in->classes) : x;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct consm_dataset *graph;
    struct calls calls = {data, size > 90 ? 90 : size};
    struct consm_options *o = NULL;
    struct consm_model *m = NULL;
    struct consm_prediction *guess = NULL;
    struct consm_edge_scores *scores = NULL;
    if (!graph &&
        consm_dataset_open(&graph, "csbm:nodes=20,classes=2,degree=3,features=3", NULL) < 0)
        abort();
    if (consm_options_new(&o, "gcn") == CONSM_OK) {
        consm_options_set(o, "epochs", "2");
        consm_options_set(o, "per_class", "3");
        consm_options_set(o, "threads", "1");
        consm_options_build(o, "fuzzed", record, &calls);
        if (consm_train(&m, graph, o) == CONSM_OK &&
            consm_predict(&guess, m, graph, 1) == CONSM_OK &&
            consm_score_edges(&scores, m, graph, 1) == CONSM_OK)
            consm_edge_scores_free(scores);
        consm_prediction_free(guess);
        consm_model_free(m);
    }
    consm_options_free(o);
    return 0;
}
