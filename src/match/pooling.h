/* Subgraphs and their pooling: the two-hop set of a node over the kept edges, each member's
 * reference point, and h'_i, one pooled row per reference (section 4.1.3, "Map and aggregation").
 * */

/*
 * For training, the pooling of some nodes is a sparse matrix P with (nodes × c) rows, so that h' =
 * P·h is an operation of a program, differentiable with fixed assignments. For scoring, h' of every
 * node is computed directly, block by block, and no set is stored.
 */
#ifndef MATCH_POOLING_H
#define MATCH_POOLING_H

#include "base/threads.h"
#include "graph/csr.h"
#include "match/walk.h"
#include "models/config.h"
#include "ot/linear_ot.h"
#include "program/index.h"

/* The subgraphs of some nodes over the kept edges; larger ones are sampled down to a cap. */
struct subgraphs {
    int64_t count;
    int64_t *start;  /* (count+1) */
    int32_t *member; /* ascending within a set; a node belongs to its own set */
    size_t capacity; /* of member */
    int64_t sampled; /* number of sets that were sampled */
};

/* Collects Ã[i] = A ∨ A² with i itself, for node[0 … count-1]. cap 0: no limit. From a larger set,
 * cap members are drawn by Philox from (seed, node), always with the node itself. walk is scratch.
 * In a graph in parts, which must have the rows of neighbours, sets of nodes elsewhere stay empty.
 */
consm_status subgraphs_collect(struct subgraphs *s, struct walk *walk, const struct csr *graph,
                               const uint8_t *keep, const int32_t *node, int64_t count, int64_t cap,
                               uint64_t seed);
void subgraphs_free(struct subgraphs *s);

/* P and its transpose for given subgraphs; with split, it has room to split every member over c
 * references. P keeps its address while sets and assignments change. */
struct pooling {
    int64_t rows, classes; /* of h; member i is row place[i] */
    const int32_t *place;
    struct csr *matrix; /* (count·c, rows), transpose attached */
    size_t capacity;    /* entries there is room for */
    int64_t *slot;      /* (rows+1) scratch */
};

/* For a graph in parts: who owns the rows of P, who owns those of its transpose, and the entries
 * that each needs room for. */
struct pooling_parts {
    const struct partition *rows, *nodes;
    int64_t entries;
};

/* parts: NULL for a whole graph, which pooling_reserve() gives room. */
consm_status pooling_new(struct pooling *p, int64_t count, int64_t classes, int64_t rows,
                         const int32_t *place, const struct pooling_parts *parts);
void pooling_free(struct pooling *p);

/* Makes room for `entries` entries; when P grows, its content is lost. */
consm_status pooling_reserve(struct pooling *p, int64_t entries);

/* Assigns member k of set i to reference[k] (one entry per member, in the order of s->member). An
 * empty reference gives a zero row. */
consm_status pooling_assign(struct pooling *p, const struct subgraphs *s, const int32_t *reference,
                            enum config_pool pool);

/* The same as two lists for gather and segment_max: entry k is a member and its row of h'. Both
 * have the length of the largest subgraphs; unused entries go to an extra row after the last. */
consm_status pooling_list(struct index *member, struct index *row, const struct subgraphs *s,
                          const int32_t *reference, int64_t classes, const int32_t *place);

/* Splits mass: h' = c·P*·h (Eq. linear_ot). Set i's plan (c, size) begins at weight[c·start[i]];
 * its rows sum to 1/c, so the factor c makes each pooled row a mean. */
consm_status pooling_split(struct pooling *p, const struct subgraphs *s, const float *weight);

/* Maps the members of every set: reference (members), or the plans' weights (c·members) for
 * pooling_split(). plans hold the costs of the current h. */
void pooling_map(int32_t *reference, float *weight, const struct subgraphs *s, int64_t classes,
                 struct ot_plans *plans, struct team *team);

/* h' (n, c·f) of every node over the kept edges, or of some nodes only. */
struct pool_all {
    const struct csr *graph;
    const int32_t *node; /* (count) those to pool; NULL: first … first+count-1 */
    int64_t count, first;
    bool packed;         /* row k of the result is that of the k-th node, else row i of node i */
    const uint8_t *keep; /* (nnz) */
    const float *h;      /* (n, f) */
    struct ot_plans *plans;
    int64_t c, f, cap;
    uint64_t seed;
    enum config_pool pool;
    bool split; /* split a member's mass over several references (linear map) */
};
/* One worker's scratch, for sets of up to `largest` members. */
struct pool_scratch {
    struct walk walk;
    int64_t *size;      /* (c) members per reference */
    int32_t *reference; /* (largest) */
    float *weight;      /* (c·largest), when masses split */
};
consm_status pool_scratch_new(struct pool_scratch *s, int64_t nodes, int64_t c, int64_t largest,
                              bool split);
void pool_scratch_free(struct pool_scratch *s);

/* scratch: one per thread of the team. No set is stored. */
void pooling_all(float *pooled, const struct pool_all *q, struct pool_scratch *scratch,
                 struct team *team);

#endif
