/* The inside of the matching module, for the files of src/match. */
#ifndef MATCH_MATCHER_INSIDE_H
#define MATCH_MATCHER_INSIDE_H

#include "graph/partition.h"
#include "match/reach.h"
#include "nn/learner.h"
#include "program/program.h"

/*
 * Mapping as a part of the training step, for backends to which the host is far: to the nearest
 * reference, anew at every step (inside.c). The sets over all edges are one matrix that never
 * changes, (labelled·c, rows in reach), each set c times; what is pruned weighs nothing.
 */
struct inside {
    struct csr *sets;    /* NULL: mapping is the host's */
    float *kept;         /* (nnz) 1, or 0: not in the set over the kept edges */
    struct index *label; /* (labelled) their classes */
};

/*
 * Mapping between steps and pooling of all nodes as programs, for the same backends (apart.c).
 */
struct far {
    bool used;
    struct csr *sets;            /* (labelled·c, n) the sets as they are, each c times … */
    struct index *train, *label; /* (labelled) … of these nodes, with these classes … */
    struct program *map;         /* … and what maps them; NULL: mapping is a part of the step */
    node plan;
    float *kept;   /* (nnz) of the graph: 1, or 0 */
    float *wanted; /* (n) whether a node's set is to be pooled */
};

/*
 * The module where every process has a partition of the graph (parts.c). Arrays of all nodes are
 * addressed as a whole and hold the rows of the partition and those that were sent for.
 */
struct in_parts {
    const struct partition *partition; /* of the graph; NULL: all of it is here */
    struct partition rows;             /* … and of P's rows, which go with the labelled nodes */
    struct row_halo *neighbours;       /* of the partition's nodes … */
    struct csr *near;                  /* … and the graph with their rows */
    struct row_halo *members;          /* of the sets that are being mapped */
    int32_t *here; /* (heres) nodes whose embedding is here: the partition's and these */
    int64_t heres;
    float *h; /* (n, width) */
    float
        *membership; /* (n, c) of a labelled node 1/size of its class: r is its transpose times h */
    node references; /* of learner.eval: r */
    double *magnitude;    /* (n) of costs */
    uint8_t *wanted;      /* (n) scratch */
    uint8_t *chosen;      /* (edges) scratch */
    struct learner alone; /* M, for pairs of which the other processes know nothing … */
    float *left_part, *right_part, *head; /* (n, hidden), (n, hidden), (n, c) … and what it reads */
};

struct matcher {
    struct match_data data;
    const struct config *config;
    uint64_t seed;
    struct team *team; /* the backend's, for what is no program */

    struct learner learner;          /* its eval encodes */
    struct program *project, *score; /* project: only where M concatenates */
    node embedding, head;            /* of learner.eval: h and f(h) */
    struct program *near;            /* h of the nodes in reach alone, or NULL: see matcher_train */
    node near_embedding;
    node pooled_input; /* of project, or of score: h' of every node */
    node ego_input;    /* of project: h of every node */
    node left_part, right_part, left_input, right_input; /* from project to score */
    node head_input;                                     /* of score: f(h) of every node */
    node scores;

    struct reach reach;                /* the rows that training computes */
    struct subgraphs sets;             /* of the labelled nodes */
    struct pooling pooling;            /* their P */
    struct inside inside;              /* instead of P where mapping is a part of the step */
    struct far far;                    /* instead of plans and pooled */
    struct in_parts parts;             /* of the graph */
    struct index *member, *member_row; /* (members) instead of P when pooling takes the largest … */
    struct index *pooled_row;          /* (labelled·c) … and the rows of h' among its results */
    int32_t *member_reference;         /* (members) */
    float *member_plan;                /* (members, c), for the linear map */
    size_t reference_capacity, plan_capacity;
    uint8_t *keep; /* (nnz) of the graph */

    struct pool_scratch *scratch;  /* one per thread */
    float *similarity, *own_score; /* (n, c), (|E|): S and S_i·S_j */
    int32_t *order;                /* (|E|) of the selection */

    int references;         /* (c, f) r, among the parameters, so that they are saved with them */
    float *reference_point; /* (c, width) their values, as of the last update_references() */
    struct ot_plans *plans; /* from nodes to reference points; NULL: the backend's own */

    int64_t pairs;              /* per step, half of them positive */
    struct index *left, *right; /* (pairs) positions among the labelled nodes */
    struct index *ego;          /* (labelled) the labelled nodes' rows in reach */
    float *times;               /* (labelled) how often the pairs name each */
    float *target, *weight;     /* (pairs) */
    int64_t *class_start;       /* (c+1) */
    int32_t *by_class;          /* (labelled) positions, grouped by class */
    int64_t next_ego, sampled;  /* whose turn it is; pairs drawn so far */

    struct index *score_left, *score_right; /* (SCORE_BATCH) nodes */
    int32_t *batch_left, *batch_right;      /* … as they are handed over */
    int64_t score_batch;
    float *pooled;  /* (n, c·f) */
    bool projected; /* since the last pooling */
};

/* matcher.c: how nodes go to references, and where these are now, with h of every node. */
struct consm_ot_options matcher_transport(const struct config *c);
consm_status matcher_references(const float **h, struct matcher *m);

/* record.c: the three programs over one parameter store. */
consm_status matcher_record(struct matcher *m);
/* h of the nodes that the program reads, or of all. */
node matcher_encode(const struct matcher *m, struct program *p, double dropout, bool all);

/* inside.c: sets are those over all edges. */
consm_status inside_new(struct matcher *m);
void inside_free(struct inside *in);
void inside_keep(struct matcher *m); /* as the sets are now */
/* h' of the labelled nodes, (labelled·c, width), from h and from what it is without dropout. */
node inside_pool(const struct matcher *m, struct program *p, node h, node plain);

/* apart.c: sets are those over all edges. */
consm_status far_new(struct matcher *m);
void far_free(struct far *a);
void far_sets(struct matcher *m); /* as they are now */
void far_keep(struct matcher *m); /* as the kept edges are now */
void far_want(struct matcher *m, const int32_t *only, int64_t count); /* only NULL: all */
/* Set i's plan (c, size) begins at c·start[i]; where mass does not split an entry is 1 or 0. */
consm_status far_map(const float **plan, struct matcher *m);
void far_assign(int32_t *reference, const float *plan, const struct subgraphs *s, int64_t classes);
/* cost of the points in question; all_costs (n, c), whose mean ε is relative to. */
struct transport far_route(const struct matcher *m, struct program *p, node cost, node all_costs,
                           enum take take);
consm_status far_record_map(struct matcher *m);
/* h' (n, c·width) of all nodes from their h. */
node far_pool(const struct matcher *m, struct program *p, node h);

/* parts.c. All processes call these together. */
consm_status in_parts_open(struct matcher *m);
void in_parts_close(struct matcher *m);
consm_status in_parts_reserve(struct matcher *m, int64_t members); /* room for P */
consm_status in_parts_references(const float **h, struct matcher *m);
consm_status in_parts_prune(struct matcher *m, int64_t kept, const float *score);
void in_parts_keep_all(struct matcher *m);
consm_status in_parts_sets(struct matcher *m);  /* the members of new sets, and their costs … */
consm_status in_parts_costs(struct matcher *m); /* … again, when embeddings are new */
consm_status in_parts_pool(struct matcher *m, const int32_t *only, int64_t count);
consm_status in_parts_project(struct matcher *m);
consm_status in_parts_ends(struct matcher *m, const int32_t *left, const int32_t *right,
                           int64_t count);
consm_status in_parts_head(const float **out, struct matcher *m);

/* pairs.c: what the next step trains on. */
consm_status matcher_group(struct matcher *m);
consm_status matcher_draw_pairs(struct matcher *m);

#endif
