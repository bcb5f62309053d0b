/* Layers that several models share. Parameter names carry the layer's number: w1, b1. */
#ifndef NN_LAYERS_H
#define NN_LAYERS_H

#include "program/program.h"

/* x·W + b; W is "w<name>" (in, out), b is "b<name>" (1, out). x may be sparse. */
node linear(struct program *p, const char *name, node x, int64_t out);

/* x·W, as above without the bias. */
node linear_no_bias(struct program *p, const char *name, node x, int64_t out);

/* x·W with another initialisation than Glorot's. */
node linear_from(struct program *p, const char *name, node x, int64_t out, enum init init);

/* x + b in every row, b as above. */
node with_bias(struct program *p, const char *name, node x);

/* x·W + b with the smaller initialisation of torch.nn.Linear, for models whose references use it.
 */
node fully_connected(struct program *p, const char *name, node x, int64_t out);

/* S·x·W + b: the graph convolution with a constant matrix. The narrow product comes first, unless
 * S·x is the same in every epoch. */
node graph_conv(struct program *p, const char *name, const struct csr *s, node x, int64_t out);

/* S·x·W, as above without the bias. */
node graph_conv_no_bias(struct program *p, const char *name, const struct csr *s, node x,
                        int64_t out);

/* Normalises each row to mean 0 and variance 1, then multiplies by "<name>.scale" and adds
 * "<name>.shift", both (1, f) (Ba et al. 2016). */
node layer_norm(struct program *p, const char *name, node x);

/* dropout(relu(x)), between two layers. */
node hidden_step(struct program *p, node x, double dropout_rate);

/* layer_name(3).text is "3", valid to the end of its expression. */
struct layer_name {
    char text[24];
};
struct layer_name layer_name(int64_t number);

#endif
