/* The operation builders under their public names, and models of the caller's own. A public program
 * is the inner one by another name, a public matrix is a csr. */
#include "api/objects.h"
#include "nn/layers.h"

#include <math.h>

static struct program *inner(struct consm_program *p)
{
    return (struct program *)p;
}

static const struct csr *matrix(const struct consm_matrix *m)
{
    return (const struct csr *)m;
}

/* ---- build functions of the caller --------------------------------------- */

/* What consm_inputs.inside points to. */
struct inside {
    const struct inputs *in;
    const struct config *config;
};

node custom_build(struct program *p, const struct inputs *in, const struct config *c)
{
    const struct custom *custom = in->context;
    struct inside inside = {in, c};
    struct consm_inputs inputs = {.x = in->x,
                                  .nodes = in->nodes,
                                  .features = in->features,
                                  .classes = in->classes,
                                  .inside = &inside};
    if (!custom || !custom->build)
        return program_fault(p, "the model's equations are missing");
    return custom->build((struct consm_program *)p, &inputs, custom->ctx);
}

const struct consm_matrix *consm_inputs_view(struct consm_program *p, const struct consm_inputs *in,
                                             enum consm_view view)
{
    const struct inside *inside = in->inside;
    return (const struct consm_matrix *)graph_view(inner(p), inside->in, (enum view)view);
}

int64_t consm_matrix_entries(const struct consm_matrix *m)
{
    return m ? matrix(m)->nnz : 0;
}

double consm_inputs_option(const struct consm_inputs *in, const char *name)
{
    const struct inside *inside = in->inside;
    const struct config_row *row = config_find(name);
    const char *field = row ? (const char *)inside->config + row->offset : NULL;
    if (!row || row->kind == CONFIG_WORD)
        return (double)NAN;
    return row->kind == CONFIG_INT ? (double)*(const int64_t *)field : *(const double *)field;
}

void consm_program_dump(const struct consm_program *p, consm_line_fn line, void *ctx)
{
    program_dump((const struct program *)p, line, ctx);
}

bool consm_program_training(const struct consm_program *p)
{
    return program_training((const struct program *)p);
}

consm_node consm_program_name(struct consm_program *p, consm_node x, const char *name)
{
    return program_name(inner(p), x, name);
}

int64_t consm_node_rows(const struct consm_program *p, consm_node x)
{
    return program_rows((const struct program *)p, x);
}

int64_t consm_node_cols(const struct consm_program *p, consm_node x)
{
    return program_cols((const struct program *)p, x);
}

/* ---- builders ------------------------------------------------------------ */

consm_node consm_param(struct consm_program *p, const char *name, int64_t rows, int64_t cols,
                       enum consm_init init)
{
    return param(inner(p), name, rows, cols, (enum init)init);
}

consm_node consm_input(struct consm_program *p, const float *values, int64_t rows, int64_t cols)
{
    return input(inner(p), values, rows, cols);
}

consm_node consm_fill(struct consm_program *p, float value, int64_t rows, int64_t cols)
{
    return fill(inner(p), value, rows, cols);
}

consm_node consm_noise(struct consm_program *p, int64_t rows, int64_t cols)
{
    return noise(inner(p), rows, cols);
}

consm_node consm_linear(struct consm_program *p, const char *name, consm_node x, int64_t out)
{
    return linear(inner(p), name, x, out);
}

consm_node consm_graph_conv(struct consm_program *p, const char *name, const struct consm_matrix *s,
                            consm_node x, int64_t out)
{
    return s ? graph_conv(inner(p), name, matrix(s), x, out) : CONSM_POISON;
}

consm_node consm_batch_norm(struct consm_program *p, const char *name, consm_node x)
{
    return batch_norm(inner(p), name, x);
}

consm_node consm_matmul_t(struct consm_program *p, consm_node x, bool x_transposed, consm_node y,
                          bool y_transposed)
{
    return matmul_t(inner(p), x, x_transposed, y, y_transposed);
}

consm_node consm_axpby(struct consm_program *p, float a, consm_node x, float b, consm_node y)
{
    return axpby(inner(p), a, x, b, y);
}

consm_node consm_scale(struct consm_program *p, float a, consm_node x)
{
    return scale(inner(p), a, x);
}

consm_node consm_slice(struct consm_program *p, consm_node x, int64_t from, int64_t cols)
{
    return slice(inner(p), x, from, cols);
}

consm_node consm_expand(struct consm_program *p, consm_node x, int64_t rows, int64_t cols)
{
    return expand(inner(p), x, rows, cols);
}

consm_node consm_clamp(struct consm_program *p, consm_node x, float low, float high)
{
    return clamp(inner(p), x, low, high);
}

consm_node consm_spmm_values(struct consm_program *p, const struct consm_matrix *s,
                             consm_node values, consm_node x)
{
    return s ? spmm_values(inner(p), matrix(s), values, x) : CONSM_POISON;
}

consm_node consm_sddmm(struct consm_program *p, const struct consm_matrix *s, consm_node x,
                       consm_node y, int64_t heads)
{
    return s ? sddmm(inner(p), matrix(s), x, y, heads) : CONSM_POISON;
}

consm_node consm_edge_add(struct consm_program *p, const struct consm_matrix *s, consm_node x,
                          consm_node y)
{
    return s ? edge_add(inner(p), matrix(s), x, y) : CONSM_POISON;
}

consm_node consm_edge_drop(struct consm_program *p, const struct consm_matrix *s, float rate)
{
    return s ? edge_drop(inner(p), matrix(s), rate) : CONSM_POISON;
}

/* The rest come in a few forms. */
#define ONE(name, to)                                              \
    consm_node consm_##name(struct consm_program *p, consm_node x) \
    {                                                              \
        return to(inner(p), x);                                    \
    }
#define ONE_NUMBER(name, to)                                                \
    consm_node consm_##name(struct consm_program *p, consm_node x, float a) \
    {                                                                       \
        return to(inner(p), x, a);                                          \
    }
#define TWO(name, to)                                                            \
    consm_node consm_##name(struct consm_program *p, consm_node x, consm_node y) \
    {                                                                            \
        return to(inner(p), x, y);                                               \
    }
#define EDGE(name, to)                                                                           \
    consm_node consm_##name(struct consm_program *p, const struct consm_matrix *s, consm_node x) \
    {                                                                                            \
        return s ? to(inner(p), matrix(s), x) : CONSM_POISON;                                    \
    }

TWO(matmul, matmul)
TWO(add, add)
TWO(sub, sub)
TWO(mul, mul)
TWO(scale_by, scale_by)
TWO(scale_rows, scale_rows)
TWO(add_bias, add_bias)
TWO(concat, concat)
TWO(dot, dot)
ONE(col_sum, col_sum)
ONE(row_sum, row_sum)
ONE(sum, sum)
ONE(relu, relu)
ONE(elu, elu)
ONE(tanh, tanh_)
ONE(sigmoid, sigmoid)
ONE(log_sigmoid, log_sigmoid)
ONE(exp, exp_)
ONE(square, square)
ONE(abs, abs_)
ONE(row_normalize, row_normalize)
ONE(softmax, softmax)
ONE(log_softmax, log_softmax)
ONE_NUMBER(leaky_relu, leaky_relu)
ONE_NUMBER(log, log_)
ONE_NUMBER(dropout, dropout)
EDGE(spmm, spmm)
EDGE(edge_sum, edge_sum)
EDGE(edge_softmax, edge_softmax)
