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
 * Mapping between steps and pooling of all nodes as programs, for the same backends (far.c).
 */
struct far {
    struct csr *sets;            /* (labelled·c, n) the sets as they are, each c times … */
    struct index *train, *label; /* (labelled) … of these nodes, with these classes … */
    struct program *map;         /* … and what maps them; NULL: mapping is a part of the step */
    node plan;
    float *kept;   /* (nnz) of the graph: 1, or 0 */
    float *wanted; /* (n) whether a node's set is to be pooled */
};

/*
 * The module where every process has a partition of the graph (in_parts.c). Arrays of all nodes are
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

/*
 * What differs where all is here (whole.c), where mapping and pooling are programs (far.c) and
 * where each process has its rows (in_parts.c); all processes call these together.
 */
struct match_way {
    consm_status (*open)(struct matcher *m);         /* room for pruning */
    consm_status (*open_scoring)(struct matcher *m); /* plans, and h' of all nodes; may be NULL */
    void (*keep_all)(struct matcher *m);             /* edges */
    consm_status (*reserve)(struct matcher *m, int64_t members); /* room for P */
    /* h of all nodes, and r where there are labels */
    consm_status (*references)(const float **h, struct matcher *m);
    /* the kept edges: all, the first by score, or, where that is NULL, by their own */
    consm_status (*prune)(struct matcher *m, int64_t kept, const float *score, const float *h);
    consm_status (*sets)(struct matcher *m, const float *h); /* are new: what mapping needs … */
    consm_status (*again)(struct matcher *m);                /* … when embeddings are new */
    consm_status (*plan)(const float **plan, struct matcher *m); /* NULL: from m->plans */
    consm_status (*pool)(struct matcher *m, const int32_t *only, int64_t count, const float *h);
    node (*pooled)(const struct matcher *m, struct program *p,
                   node h);                     /* NULL: the host brings it */
    consm_status (*project)(struct matcher *m); /* M's first layer of what is pooled */
    /* what M reads of these pairs; may be NULL */
    consm_status (*ends)(struct matcher *m, const int32_t *left, const int32_t *right,
                         int64_t count);
    consm_status (*head)(const float **out, struct matcher *m);
};
extern const struct match_way whole_way, far_way, in_parts_way;

struct matcher {
    const struct match_way *way;
    struct match_data data;
    const struct config *config;
    uint64_t seed;
    struct team *team; /* the backend's, for what is no program */

    struct learner learner;          /* its eval encodes */
    struct learner *scorer;          /* whose parameters M has when it scores */
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
int64_t matcher_largest_set(const struct matcher *m); /* of two hops, or the cap */

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

/* whole.c: what far.c has in common with it. */
consm_status whole_open(struct matcher *m);
void whole_keep_all(struct matcher *m);
consm_status whole_reserve(struct matcher *m, int64_t members);
consm_status whole_references(const float **h, struct matcher *m);
consm_status whole_prune(struct matcher *m, int64_t kept, const float *score, const float *h);
consm_status whole_head(const float **out, struct matcher *m);
/* Runs m->project, whose inputs are bound, and binds what it makes to m->score. */
consm_status whole_run_project(struct matcher *m);

/* far.c: sets are those over all edges. Makes it the matcher's way where the backend can. */
consm_status far_new(struct matcher *m);
void far_free(struct far *a);
consm_status far_record_map(struct matcher *m);
/* cost of the points in question; all_costs (n, c), whose mean ε is relative to. */
struct transport far_route(const struct matcher *m, struct program *p, node cost, node all_costs,
                           enum take take);
/* Of a plan as programs make it: where mass does not split an entry is 1 or 0. */
void far_assign(int32_t *reference, const float *plan, const struct subgraphs *s, int64_t classes);

/* in_parts.c */
void in_parts_close(struct matcher *m);

/* pairs.c: what the next step trains on. */
consm_status matcher_group(struct matcher *m);
consm_status matcher_draw_pairs(struct matcher *m);

#endif
