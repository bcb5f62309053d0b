/* The public operation builders, for models that the caller defines (app/custom.c). A public
 * program is the internal one under another name; a public matrix is a csr. */
#include "app/objects.h"
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

/* Whether a builder can be recorded. A missing node poisons the program, unless it is poisoned
 * already. */
static bool usable(struct consm_program *p, const char *who, const consm_node *x, int count)
{
    if (!p)
        return false;
    for (int i = 0; i < count; i++)
        if (!program_has(inner(p), x[i])) {
            program_fault(inner(p), "%s: node %d does not exist", who, x[i]);
            return false;
        }
    return true;
}
#define USABLE(p, ...)                                     \
    usable(p, __func__, (const consm_node[]){__VA_ARGS__}, \
           (int)(sizeof((const consm_node[]){__VA_ARGS__}) / sizeof(consm_node)))

/* The same for a builder with a name and without operands. */
static bool named(struct consm_program *p, const char *who, const char *name)
{
    if (p && !name)
        program_fault(inner(p), "%s: the name is NULL", who);
    return p && name;
}

/* ---- what a build function of the caller reads ---------------------------- */

const struct consm_matrix *consm_inputs_view(struct consm_program *p, const struct consm_inputs *in,
                                             enum consm_view view)
{
    const struct custom_inside *inside = in ? in->inside : NULL;
    if (!p)
        return NULL;
    if (!inside || view < CONSM_VIEW_ADJACENCY || view > CONSM_VIEW_TWO_HOP) {
        program_fault(inner(p), "view %d does not exist", (int)view);
        return NULL;
    }
    return (const struct consm_matrix *)graph_view(inner(p), inside->in, (enum view)view);
}

int64_t consm_matrix_entries(const struct consm_matrix *m)
{
    return m ? matrix(m)->nnz : 0;
}

double consm_inputs_option(const struct consm_inputs *in, const char *name)
{
    const struct custom_inside *inside = in ? in->inside : NULL;
    const struct config_row *row = inside && name ? config_find(name) : NULL;
    const char *field = row ? (const char *)inside->config + row->offset : NULL;
    if (!row || row->kind == CONFIG_WORD)
        return (double)NAN;
    return row->kind == CONFIG_INT ? (double)*(const int64_t *)field : *(const double *)field;
}

void consm_program_dump(const struct consm_program *p, consm_line_fn line, void *ctx)
{
    if (p && line)
        program_dump((const struct program *)p, line, ctx);
}

bool consm_program_training(const struct consm_program *p)
{
    return p && program_training((const struct program *)p);
}

consm_node consm_program_name(struct consm_program *p, consm_node x, const char *name)
{
    return named(p, __func__, name) && USABLE(p, x) ? program_name(inner(p), x, name)
                                                    : CONSM_POISON;
}

int64_t consm_node_rows(const struct consm_program *p, consm_node x)
{
    return p ? program_rows((const struct program *)p, x) : 0;
}

int64_t consm_node_cols(const struct consm_program *p, consm_node x)
{
    return p ? program_cols((const struct program *)p, x) : 0;
}

/* ---- builders ------------------------------------------------------------ */

consm_node consm_param(struct consm_program *p, const char *name, int64_t rows, int64_t cols,
                       enum consm_init init)
{
    if (!named(p, __func__, name))
        return CONSM_POISON;
    if (init < CONSM_INIT_ZERO || init > CONSM_INIT_NORMAL)
        return program_fault(inner(p), "parameter %s: initialisation %d does not exist", name,
                             (int)init);
    return param(inner(p), name, rows, cols, (enum init)init);
}

consm_node consm_input(struct consm_program *p, const float *values, int64_t rows, int64_t cols)
{
    if (p && !values)
        return program_fault(inner(p), "%s: the values are NULL", __func__);
    return p ? input(inner(p), values, rows, cols) : CONSM_POISON;
}

consm_node consm_fill(struct consm_program *p, float value, int64_t rows, int64_t cols)
{
    return p ? fill(inner(p), value, rows, cols) : CONSM_POISON;
}

consm_node consm_noise(struct consm_program *p, int64_t rows, int64_t cols)
{
    return p ? noise(inner(p), rows, cols) : CONSM_POISON;
}

consm_node consm_linear(struct consm_program *p, const char *name, consm_node x, int64_t out)
{
    return named(p, __func__, name) && USABLE(p, x) ? linear(inner(p), name, x, out) : CONSM_POISON;
}

consm_node consm_graph_conv(struct consm_program *p, const char *name, const struct consm_matrix *s,
                            consm_node x, int64_t out)
{
    return named(p, __func__, name) && USABLE(p, x) ? graph_conv(inner(p), name, matrix(s), x, out)
                                                    : CONSM_POISON;
}

consm_node consm_batch_norm(struct consm_program *p, const char *name, consm_node x)
{
    return named(p, __func__, name) && USABLE(p, x) ? batch_norm(inner(p), name, x) : CONSM_POISON;
}

consm_node consm_matmul_t(struct consm_program *p, consm_node x, bool x_transposed, consm_node y,
                          bool y_transposed)
{
    return USABLE(p, x, y) ? matmul_t(inner(p), x, x_transposed, y, y_transposed) : CONSM_POISON;
}

consm_node consm_axpby(struct consm_program *p, float a, consm_node x, float b, consm_node y)
{
    return USABLE(p, x, y) ? axpby(inner(p), a, x, b, y) : CONSM_POISON;
}

consm_node consm_scale(struct consm_program *p, float a, consm_node x)
{
    return USABLE(p, x) ? scale(inner(p), a, x) : CONSM_POISON;
}

consm_node consm_slice(struct consm_program *p, consm_node x, int64_t from, int64_t cols)
{
    return USABLE(p, x) ? slice(inner(p), x, from, cols) : CONSM_POISON;
}

consm_node consm_expand(struct consm_program *p, consm_node x, int64_t rows, int64_t cols)
{
    return USABLE(p, x) ? expand(inner(p), x, rows, cols) : CONSM_POISON;
}

consm_node consm_clamp(struct consm_program *p, consm_node x, float low, float high)
{
    return USABLE(p, x) ? clamp(inner(p), x, low, high) : CONSM_POISON;
}

consm_node consm_spmm_values(struct consm_program *p, const struct consm_matrix *s,
                             consm_node values, consm_node x)
{
    return USABLE(p, values, x) ? spmm_values(inner(p), matrix(s), values, x) : CONSM_POISON;
}

consm_node consm_sddmm(struct consm_program *p, const struct consm_matrix *s, consm_node x,
                       consm_node y, int64_t heads)
{
    return USABLE(p, x, y) ? sddmm(inner(p), matrix(s), x, y, heads) : CONSM_POISON;
}

consm_node consm_edge_add(struct consm_program *p, const struct consm_matrix *s, consm_node x,
                          consm_node y)
{
    return USABLE(p, x, y) ? edge_add(inner(p), matrix(s), x, y) : CONSM_POISON;
}

consm_node consm_edge_drop(struct consm_program *p, const struct consm_matrix *s, float rate)
{
    return p ? edge_drop(inner(p), matrix(s), rate) : CONSM_POISON;
}

/* The other builders come in a few forms. */
#define ONE(name, to)                                              \
    consm_node consm_##name(struct consm_program *p, consm_node x) \
    {                                                              \
        return USABLE(p, x) ? to(inner(p), x) : CONSM_POISON;      \
    }
#define ONE_NUMBER(name, to)                                                \
    consm_node consm_##name(struct consm_program *p, consm_node x, float a) \
    {                                                                       \
        return USABLE(p, x) ? to(inner(p), x, a) : CONSM_POISON;            \
    }
#define TWO(name, to)                                                            \
    consm_node consm_##name(struct consm_program *p, consm_node x, consm_node y) \
    {                                                                            \
        return USABLE(p, x, y) ? to(inner(p), x, y) : CONSM_POISON;              \
    }
#define EDGE(name, to)                                                                           \
    consm_node consm_##name(struct consm_program *p, const struct consm_matrix *s, consm_node x) \
    {                                                                                            \
        return USABLE(p, x) ? to(inner(p), matrix(s), x) : CONSM_POISON;                         \
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
