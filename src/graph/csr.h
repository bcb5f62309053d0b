/*
 * Compressed sparse rows: the one sparse matrix of consm, for graphs, for bag-of-words features and
 * for pooling matrices. Row r holds entries start[r] … start[r+1]-1, columns ascending.
 *
 * The transpose is cached inside because every backward pass needs it. For a symmetric pattern it
 * is the matrix itself.
 */
#ifndef GRAPH_CSR_H
#define GRAPH_CSR_H

#include "base/alloc.h"

/* Which rows of a graph's matrices are here, where its rows are spread over processes. */
struct partition {
    int64_t low, high; /* rows low … high-1 */
    /* Of an array with so many bytes for every row: each process's own rows to all. */
    consm_status (*gather)(void *array, size_t bytes);
    int parts, part;    /* the processes, and which of them this one is … */
    const int64_t *cut; /* (parts+1) … and what they own: rows cut[p] … cut[p+1]-1 */
    /* Sends every process records of so many bytes, send[p] … send[p+1]-1 to process p. *out are
     * those that came, from process p got[p] … got[p+1]-1 (parts+1); the caller's to free. */
    consm_status (*swap)(void **out, int64_t *got, const void *record, const int64_t *send,
                         size_t bytes);
    uint64_t (*total)(uint64_t mine); /* of all processes' numbers, modulo 2^64 */
    /* Until it is called with NULL: what the host reads of a program's value with as many rows are
     * these (ascending, the same for all) and its own. */
    consm_status (*want)(const int32_t *row, int64_t count);
};

struct csr {
    int64_t rows, cols, nnz;
    int64_t *start; /* (rows+1) */
    int32_t *col;   /* (nnz) */
    float *val;     /* (nnz), or NULL: every entry is 1 */
    struct csr
        *t; /* the transpose, NULL until csr_transpose(); == this if the pattern is symmetric */
    int64_t *t_entry; /* (nnz) entry k of the transpose is entry t_entry[k] here; may be NULL where
                         t was known without looking, see csr_transpose_entries() */
    bool changes;     /* its entries are rewritten between runs: nothing may be derived from them */
    bool borrowed;    /* start, col, val belong to someone else (a mapped file) */
    /* NULL: all rows are here. Else col and val are sparse memory (alloc.h), filled for the rows of
     * the share; start is whole. Programs take all rows of such a matrix. */
    const struct partition *partition;
    uint64_t version; /* how often its entries were rewritten: see csr_touch() */
};

/* The rows that are here: low … high-1. One process has them all. */
static inline int64_t csr_low(const struct csr *a)
{
    return a->partition ? a->partition->low : 0;
}
static inline int64_t csr_high(const struct csr *a)
{
    return a->partition ? a->partition->high : a->rows;
}

/* A row of a matrix, wherever it lies. */
struct csr_row {
    const int32_t *col; /* (count) ascending */
    const float *val;   /* (count), or NULL: every entry is 1 */
    int64_t count;
};

/* A matrix some of whose rows are kept elsewhere, because they changed. */
struct csr_rows {
    const struct csr *base;
    /* Whether row i is kept elsewhere, and then the row; NULL: none is. Rows behind base's all
     * are. */
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

/* What became of an edge list on its way into a matrix. */
struct edge_facts {
    int64_t stored;  /* lines of the list */
    int64_t loops;   /* self-loops among them */
    int64_t repeats; /* entries that named a (row, column) again, loops not counted */
    int64_t differ;  /* (row, column)s whose entries do not all have the same weight */
    int64_t kept;    /* entries of the matrix; for CSR_UNDIRECTED each edge counts twice */
};

enum csr_policy {
    CSR_DIRECTED = 0,
    CSR_UNDIRECTED = 1, /* every edge also backwards */
    CSR_DROP_LOOPS = 2, /* self-loops are left out */
    /* Weights of repeated edges add up, or their mean counts; without either the first in the list
     * stays. None of it depends on how nodes are numbered. */
    CSR_SUM_REPEATS = 4,
    CSR_MEAN_REPEATS = 8
};

/* The rows × cols matrix of count edges in any order; weight may be NULL. Time O(rows + count).
 * CSR_UNDIRECTED treats (a,b) and (b,a) as repeats of one edge and gives both the same weight.
 * An end outside the matrix is an error that names the edge. facts may be NULL. */
consm_status csr_from_edges(struct csr **out, int64_t rows, int64_t cols, int64_t count,
                            const int32_t *from, const int32_t *to, const float *weight,
                            unsigned policy, struct edge_facts *facts);

/* An empty-valued matrix with room for nnz entries (start zeroed, val NULL unless weighted). */
consm_status csr_new(struct csr **out, int64_t rows, int64_t cols, int64_t nnz, bool weighted);

/* Keeps only the entries of a dense (rows, cols) array that are not zero. */
consm_status csr_from_dense(struct csr **out, const float *dense, int64_t rows, int64_t cols);

void csr_free(struct csr *a);

/* Computes and caches a->t and a->t_entry; nothing to do when they are there. O(rows + cols +
 * nnz).*/
consm_status csr_transpose(struct csr *a);

/* The same where the transpose may be there alone: also makes t_entry, which values that live
 * outside the matrix are read through. A matrix that changes has none. */
consm_status csr_transpose_entries(struct csr *a);

/* To be called by whoever rewrote entries of a matrix that programs read (one that `changes`). The
 * cached transpose is the caller's to rewrite as well. */
void csr_touch(struct csr *a);

/* Forgets the cached transpose, for matrices whose entries were rewritten. */
void csr_drop_transpose(struct csr *a);

/* Position of entry (row, col), or -1. O(log degree). */
int64_t csr_find(const struct csr *a, int64_t row, int32_t col);

/* row (nnz): the row each entry stands in. */
void csr_entry_rows(int32_t *row, const struct csr *a);

/* First row whose entries begin at or behind entry; shares rows out evenly by non-zeros. */
int64_t csr_row_of_entry(const struct csr *a, int64_t entry);

/* Matrices made of others. Of one in parts, which is symmetric and has no loops, all processes
 * make the rows that are theirs together, with the transpose. */

/* Â = D^-1/2 (A + I) D^-1/2, D the degrees of A + I (Kipf and Welling 2017). Weights count. With
 * loops false: D^-1/2 A D^-1/2; rows without entries stay empty. */
consm_status csr_gcn_normalize(struct csr **out, const struct csr *a, bool loops);

/* What it multiplies row and column `self` by: 1 over the root of the row's sum, with its loop. */
double csr_gcn_factor(const struct csr_row *row, int64_t self, bool loops);
/* The same matrix of a part of a graph, by the factors (rows) of the whole one. */
consm_status csr_gcn_normalize_by(struct csr **out, const struct csr *a, bool loops,
                                  const double *factor);

/* csr_transpose_entries() of a matrix in parts, for the rows of the partition. */
consm_status partition_entries(struct csr *a);

/* A + I, weights kept: a node's loop counts 1 more. */
consm_status csr_add_loops(struct csr **out, const struct csr *a);

/* The pattern of nodes exactly two steps apart: A² without A and the diagonal. Takes
 * O(Σ over paths of length two); its size is what it finds, never n². */
consm_status csr_strict_two_hop(struct csr **out, const struct csr *a);

/* D^-1 A; of a matrix in parts without a transpose. */
consm_status csr_row_normalize(struct csr **out, const struct csr *a);

/* The same of a graph, a node without neighbours being its own. */
consm_status csr_neighbour_mean(struct csr **out, const struct csr *a);

/* The sub-matrix of the given rows and columns (ascending, unique); keep may be NULL for all. */
consm_status csr_submatrix(struct csr **out, const struct csr *a, const int32_t *keep_rows,
                           int64_t row_count, const int32_t *keep_cols, int64_t col_count);

#endif
