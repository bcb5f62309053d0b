/* Compressed sparse rows: consm's only sparse matrix, for graphs, bag-of-words features and pooling
 * matrices. Row r holds entries start[r] … start[r+1]-1, columns ascending. */

/*
 * The transpose is cached, because every backward pass needs it. For a symmetric pattern it is the
 * matrix itself.
 */
#ifndef GRAPH_CSR_H
#define GRAPH_CSR_H

#include "base/alloc.h"
#include "base/threads.h"

/* The rows that this process holds, if processes divide the rows of a graph's matrices. */
struct partition {
    int64_t low, high; /* rows low … high-1 */
    /* Sends each process's rows (cut) of an array to all; `bytes` per row. */
    consm_status (*gather)(const int64_t *cut, void *array, size_t bytes);
    int parts, part;    /* number of processes, and this one's number */
    const int64_t *cut; /* (parts+1) process p owns rows cut[p] … cut[p+1]-1 */
    /* Sends records of `bytes` each: send[p] … send[p+1]-1 to process p. *out holds the received
     * ones, got[p] … got[p+1]-1 from process p (parts+1); the caller frees it. */
    consm_status (*swap)(void **out, int64_t *got, const void *record, const int64_t *send,
                         size_t bytes);
    uint64_t (*total)(uint64_t mine); /* sum over all processes, modulo 2^64 */
};

struct csr {
    int64_t rows, cols, nnz;
    int64_t *start; /* (rows+1) */
    int32_t *col;   /* (nnz) */
    float *val;     /* (nnz), or NULL: every entry is 1 */
    struct csr
        *t; /* the transpose; NULL until csr_transpose(); this matrix if the pattern is symmetric */
    int64_t *t_entry; /* (nnz) entry k of the transpose is entry t_entry[k] here; may be NULL if t
                         was known without computing it, see csr_transpose_entries() */
    bool changes;     /* its entries change between runs: derive nothing from them */
    bool symmetric;   /* made as its own transpose; false: csr_transpose() finds out */
    bool borrowed;    /* start, col, val belong to someone else (a mapped file) */
    /* NULL: all rows are here. Otherwise col and val are sparse memory (alloc.h), filled for the
     * partition's rows; start is complete. Programs take all rows of such a matrix. */
    const struct partition *partition;
    uint64_t version; /* how often its entries were rewritten: csr_touch() */
    uint64_t
        serial; /* of csr_new(), from 1 on, also in copies that borrow its arrays; 0: unknown */
};

/* A single process (NULL) is a partition that owns every row. The rows that are here: low … high-1.
 */
static inline int64_t partition_low(const struct partition *p)
{
    return p ? p->low : 0;
}
static inline int64_t partition_high(const struct partition *p, int64_t rows)
{
    return p ? p->high : rows;
}
/* Sends each process's rows of an array to all; the sum over all processes. A single process has
 * both. */
static inline consm_status partition_gather(const struct partition *p, void *array, size_t bytes)
{
    return p ? p->gather(p->cut, array, bytes) : CONSM_OK;
}
static inline uint64_t partition_total(const struct partition *p, uint64_t mine)
{
    return p ? p->total(mine) : mine;
}
static inline int partition_parts(const struct partition *p)
{
    return p ? p->parts : 1;
}
static inline bool partition_here(const struct partition *p, int64_t row)
{
    return !p || (row >= p->low && row < p->high);
}
static inline int64_t csr_low(const struct csr *a)
{
    return partition_low(a->partition);
}
static inline int64_t csr_high(const struct csr *a)
{
    return partition_high(a->partition, a->rows);
}

/* A row of a matrix, wherever it is stored. */
struct csr_row {
    const int32_t *col; /* (count) ascending */
    const float *val;   /* (count), or NULL: every entry is 1 */
    int64_t count;
};

/* A matrix with some rows stored elsewhere, because they changed. */
struct csr_rows {
    const struct csr *base;
    /* Whether row i is stored elsewhere, and the row; NULL: none is. Rows after the last of base
     * always are. */
    bool (*changed)(const void *ctx, int64_t i, struct csr_row *out);
    const void *ctx;
};

static inline struct csr_row csr_row(const struct csr_rows *s, int64_t i)
{
    struct csr_row row;
    if (s->changed && s->changed(s->ctx, i, &row))
        return row;
    int64_t at = s->base->start[i];
    return (struct csr_row){s->base->col + at, s->base->val ? s->base->val + at : NULL,
                            s->base->start[i + 1] - at};
}

/* Statistics of turning an edge list into a matrix. */
struct edge_facts {
    int64_t stored;  /* lines of the list */
    int64_t loops;   /* self-loops among them */
    int64_t repeats; /* entries that repeat a (row, column), without loops */
    int64_t differ;  /* (row, column)s whose entries differ in weight */
    int64_t kept;    /* entries of the matrix; for CSR_UNDIRECTED each edge counts twice */
};

enum csr_policy {
    CSR_DIRECTED = 0,
    CSR_UNDIRECTED = 1, /* add every edge in reverse too */
    CSR_DROP_LOOPS = 2, /* leave self-loops out */
    /* Weights of repeated edges add up, or their mean is taken; with neither the first in the list
     * stays. None of it depends on node numbers. */
    CSR_SUM_REPEATS = 4,
    CSR_MEAN_REPEATS = 8
};

/* Makes the rows × cols matrix of count edges in any order; weight may be NULL. Time O(rows +
 * count). CSR_UNDIRECTED treats (a,b) and (b,a) as repeats of one edge and gives both the same
 * weight. An end outside the matrix is an error that names the edge. facts may be NULL. */
consm_status csr_from_edges(struct csr **out, int64_t rows, int64_t cols, int64_t count,
                            const int32_t *from, const int32_t *to, const float *weight,
                            unsigned policy, struct edge_facts *facts);

/* Makes a matrix with room for nnz entries (start zeroed, val NULL unless weighted). */
consm_status csr_new(struct csr **out, int64_t rows, int64_t cols, int64_t nnz, bool weighted);

/* Keeps the non-zero entries of a dense (rows, cols) array. */
consm_status csr_from_dense(struct csr **out, const float *dense, int64_t rows, int64_t cols);

void csr_free(struct csr *a);

/* Computes and caches a->t, and a->t_entry unless the matrix is its own transpose, if missing.
 * O(rows + cols + nnz). */
consm_status csr_transpose(struct csr *a);

/* As csr_transpose(), and makes t_entry even if t is there without it. Values stored outside the
 * matrix need t_entry. A matrix that changes has none. */
consm_status csr_transpose_entries(struct csr *a);

/* Both on a team, which may be NULL; the result does not depend on it. */
consm_status csr_transpose_on(struct csr *a, struct team *team);
consm_status csr_transpose_entries_on(struct csr *a, struct team *team);

/* Call it after rewriting entries of a matrix that programs read (one that `changes`). The caller
 * also rewrites the cached transpose. */
void csr_touch(struct csr *a);

/* Drops the cached transpose of a matrix whose entries were rewritten. */
void csr_drop_transpose(struct csr *a);

/* Position of entry (row, col), or -1. O(log degree). */
int64_t csr_find(const struct csr *a, int64_t row, int32_t col);

/* row (nnz): the row of each entry. */
void csr_entry_rows(int32_t *row, const struct csr *a);

/* Derived matrices. For a matrix in parts, which is symmetric and has no loops, all processes call
 * the function together; each makes its own rows, with the transpose. */

/* Â = D^-1/2 (A + I) D^-1/2, D the degrees of A + I (Kipf and Welling 2017), with weights. loops
 * false: D^-1/2 A D^-1/2; rows without entries stay empty. */
consm_status csr_gcn_normalize(struct csr **out, const struct csr *a, bool loops);

/* The factor of row and column `self`: 1 over the root of the row's sum, with its loop. */
double csr_gcn_factor(const struct csr_row *row, int64_t self, bool loops);
/* The same for a part of a graph, with the factors (rows) of the whole graph. */
consm_status csr_gcn_normalize_by(struct csr **out, const struct csr *a, bool loops,
                                  const double *factor);

/* csr_transpose_entries() of a matrix in parts, for the rows of the partition. */
consm_status partition_entries(struct csr *a);

/* A + I with weights: a node's loop counts 1 more. */
consm_status csr_add_loops(struct csr **out, const struct csr *a);

/* The pattern of nodes exactly two steps apart: A² without A and the diagonal. Time O(paths of
 * length two); memory is that of the result, never n². */
consm_status csr_strict_two_hop(struct csr **out, const struct csr *a);

/* D^-1 A; for a matrix in parts without a transpose. */
consm_status csr_row_normalize(struct csr **out, const struct csr *a);

/* The same, with a loop for every node without neighbours. */
consm_status csr_neighbour_mean(struct csr **out, const struct csr *a);

/* a·diag(factor): every column c times factor[c]. */
consm_status csr_scale_columns(struct csr **out, const struct csr *a, const float *factor);

/* The sub-matrix of the given rows and columns (ascending, unique); keep may be NULL for all. */
consm_status csr_submatrix(struct csr **out, const struct csr *a, const int32_t *keep_rows,
                           int64_t row_count, const int32_t *keep_cols, int64_t col_count);

#endif
