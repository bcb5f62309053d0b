/* Shared by the files of src/program; private to them. */
#ifndef PROGRAM_INTERNAL_H
#define PROGRAM_INTERNAL_H

#include "program/program.h"
#include "program/traits.h"

struct node_info {
    enum op op;
    int64_t rows, cols;
    node src[NODE_SOURCES];
    struct attr attr;
    char name[32];
    int parameter; /* of a PARAM, or of the parameter whose gradient this is (PLACE_GRAD) */
    bool needs_grad, keep, live;
    bool constant; /* the same in every run */
    bool lasts;    /* and read in every run */
    bool common;   /* another program reads it between runs */
    enum place place;
    size_t offset;                     /* into its block, in floats */
    const float *data;                 /* of an input: the caller's floats */
    const struct partition *partition; /* of its rows that are here; NULL: all are */
    int32_t leaf;                      /* of an input in a compiled program, else -1 */
    int32_t instr;                     /* its position in the run order, -1: none */
    const int32_t *part;       /* (rows) the recorded rows that restrict.c kept; NULL: all */
    const struct csr *whole;   /* the recorded matrix, if restrict.c made a smaller one */
    node update[NODE_UPDATES]; /* leaves or BESIDE nodes that it also writes, else POISON */
    float *mirror;             /* its value on the host, if the arena is elsewhere */
    uint64_t fetched;          /* the run of that value */
};

/* Something that the program made and frees: a restricted matrix, an index, op memory. */
struct owned {
    void *thing;
    void (*release)(void *thing);
};

struct program {
    struct params *params;
    bool training, compiled, later; /* later: compiled by its first run */
    node count, forward;            /* nodes; those recorded before the gradient */
    size_t capacity;
    struct node_info *node;
    node loss, penalty; /* POISON: none */
    node *gradient;     /* during differentiation: each node's gradient so far */
    node *renamed,
        recorded;       /* where restrict.c put the nodes that callers know, and their number */
    uint32_t streams;   /* random streams in use */
    size_t state_bytes; /* state of all operations */
    bool optimizes;
    struct optimiser optimiser;
    consm_status fault;
    char fault_text[512];

    size_t owned_count, owned_capacity;
    struct owned *owned;

    struct backend *backend;
    struct planned plan;
    struct instr *instr; /* of the plan */
    struct leaf *leaf;   /* of the plan */
    size_t leaf_capacity;
    struct compiled *ready;
    struct block arena, state;
    size_t arena_floats;
    uint64_t runs;

    struct program *next_reader,
        *source;       /* of the store's readers; the program whose values it takes */
    uint64_t computed; /* 1 + the parameters' version of its last run; 0: none */
};

struct op_info {
    const char *name;
    void (*gradient)(struct program *p, node self, node g);
};
extern const struct op_info op_table[OP_COUNT];

/* Records an operation; absent sources are POISON and only come last. */
struct op_args {
    enum op op;
    int64_t rows, cols;
    node src[NODE_SOURCES];
    int sources;
    struct attr attr;
    node update[NODE_UPDATES]; /* leaves that it also writes */
    int updates;
};
node program_record(struct program *p, const struct op_args *args);
#define RECORD(p, ...) program_record(p, &(struct op_args){__VA_ARGS__})

/* The node that a caller's handle means now; POISON if it was not needed. */
node node_now(const struct program *p, node x);

/* True if x is a node; false, without a message, if something before it failed. */
bool node_good(const struct program *p, node x);
#define ROWS(p, x) ((p)->node[x].rows)
#define COLS(p, x) ((p)->node[x].cols)

/* Adds g to the gradient of x, if x needs one. (grad.c) */
void grad_add(struct program *p, node x, node g);
bool grad_wanted(const struct program *p, node x);

/* The transpose of a constant matrix, made on first use; poisons the program on failure. */
const struct csr *program_transpose(struct program *p, const struct csr *s);

/* The same for values that are nodes: also gives its entries' positions in s. */
const struct csr *program_transpose_entries(struct program *p, const struct csr *s);

/* What operation x writes besides its result, as its update `slot`: (rows, cols). Recorded after x,
 * because its readers need x. */
node program_beside(struct program *p, node x, int slot, int64_t rows, int64_t cols);

/* Whether x may overwrite a source of which it is the last reader. */
bool program_in_place(const struct program *p, node x, node source);

/* Records everything again. For each recorded node, `instead` may record others and name the
 * replacement; if it leaves POISON, the node is copied. renamed: where earlier nodes went.
 * (lower.c) */
typedef consm_status instead_fn(node *out, struct program *p, const struct node_info *old,
                                void *ctx, node x, const node *renamed);
consm_status program_rewrite(struct program *p, instead_fn *instead, void *ctx);

/* Compiles what program_compile_later() left. */
consm_status program_ready(struct program *p);

/* The passes of program_compile, in this order. */
consm_status program_fuse(struct program *p);
consm_status program_restrict(struct program *p);
consm_status program_lower(struct program *p);
consm_status program_compose(struct program *p);
consm_status program_differentiate(struct program *p);
consm_status program_plan(struct program *p);
consm_status program_emit(struct program *p);

/* During planning: finds what other programs of the store may take from p, and gives it its own
 * place. After compiling p: tells them, or lets p take values. Before a run: whether what p takes
 * is up to date. program_part: takes p out of all this. (common.c) */
consm_status program_common(struct program *p);
consm_status program_join(struct program *p);
bool program_fresh(const struct program *p);
void program_part(struct program *p);

/* The gradient functions, one per differentiable operation family. */
void grad_matmul(struct program *p, node self, node g);
void grad_axpby(struct program *p, node self, node g);
void grad_scale(struct program *p, node self, node g);
void grad_mul(struct program *p, node self, node g);
void grad_scale_by(struct program *p, node self, node g);
void grad_scale_rows(struct program *p, node self, node g);
void grad_add_bias(struct program *p, node self, node g);
void grad_bias_relu_dropout(struct program *p, node self, node g);
void grad_concat(struct program *p, node self, node g);
void grad_slice(struct program *p, node self, node g);
void grad_reshape(struct program *p, node self, node g);
void grad_col_sum(struct program *p, node self, node g);
void grad_row_sum(struct program *p, node self, node g);
void grad_sum(struct program *p, node self, node g);
void grad_dot(struct program *p, node self, node g);
void grad_expand(struct program *p, node self, node g);
void grad_unary(struct program *p, node self, node g);
void grad_dropout(struct program *p, node self, node g);
void grad_spmm(struct program *p, node self, node g);
void grad_spmm_fused(struct program *p, node self, node g);
void grad_spmm_add(struct program *p, node self, node g);
void grad_spmm_values(struct program *p, node self, node g);
void grad_sddmm(struct program *p, node self, node g);
void grad_head_dot(struct program *p, node self, node g);
void grad_attend(struct program *p, node self, node g);
void grad_edge_add(struct program *p, node self, node g);
void grad_edge_sum(struct program *p, node self, node g);
void grad_edge_softmax(struct program *p, node self, node g);
void grad_gather(struct program *p, node self, node g);
void grad_segment_sum(struct program *p, node self, node g);
void grad_segment_mean(struct program *p, node self, node g);
void grad_segment_max(struct program *p, node self, node g);
void grad_row_normalize(struct program *p, node self, node g);
void grad_pair_cosine(struct program *p, node self, node g);
void grad_pair_squared(struct program *p, node self, node g);
void grad_batch_norm(struct program *p, node self, node g);
void grad_nuclear(struct program *p, node self, node g);
void grad_softmax(struct program *p, node self, node g);
void grad_log_softmax(struct program *p, node self, node g);
void grad_nll(struct program *p, node self, node g);
void grad_bce(struct program *p, node self, node g);
void grad_l1(struct program *p, node self, node g);
void grad_mse(struct program *p, node self, node g);

#endif
