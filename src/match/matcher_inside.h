/* Internals of the matching module, for the files of src/match. */
#ifndef MATCH_MATCHER_INSIDE_H
#define MATCH_MATCHER_INSIDE_H

#include "graph/partition.h"
#include "match/reach.h"
#include "nn/learner.h"
#include "program/program.h"

/*
 * Mapping as part of the training step, for far backends: to the nearest reference, anew at every
 * step (inside.c). The sets over all edges are one constant matrix (labelled·c, rows in reach),
 * each set c times; pruned members have weight 0.
 */
struct inside {
    struct csr *sets;    /* NULL: the host maps */
    float *kept;         /* (nnz) 1, or 0: not in the set over the kept edges */
    struct index *label; /* (labelled) their classes */
};

/* Mapping between steps and pooling of all nodes as programs, for the same backends (far.c). */
struct far {
    struct csr *sets;            /* (labelled·c, n) the current sets, each c times */
    struct index *train, *label; /* (labelled) their nodes and classes */
    struct program *map;         /* the program that maps them; NULL: mapping is part of the step */
    node plan;
    float *kept;   /* (nnz) of the graph: 1, or 0 */
    float *wanted; /* (n) whether to pool a node's set */
};

/*
 * The module for a graph in parts (in_parts.c). Arrays over all nodes are indexed globally and hold
 * the rows of the partition and fetched ones.
 */
struct in_parts {
    const struct partition *partition; /* of the graph; NULL: all of it is here */
    struct partition rows;             /* of P's rows, which belong to the labelled nodes */
    struct row_halo *neighbours;       /* neighbours of the partition's nodes */
    struct csr *near;                  /* the graph with their rows */
    struct row_halo *members;          /* members of the sets being mapped */
    int32_t *here; /* (heres) nodes whose embedding is here: the partition's and fetched ones */
    int64_t heres;
    float *h; /* (n, width) */
    float *
        membership; /* (n, c) 1/size of its class for a labelled node: r is its transpose times h */
    node references;                      /* of learner.eval: r */
    double *magnitude;                    /* (n) of costs */
    uint8_t *wanted;                      /* (n) scratch */
    uint8_t *chosen;                      /* (edges) scratch */
    struct learner alone;                 /* M, for pairs that other processes do not see */
    float *left_part, *right_part, *head; /* (n, hidden), (n, hidden), (n, c) its inputs */
};

/*
 * What differs between a whole graph (whole.c), mapping and pooling as programs (far.c), and a
 * graph in parts (in_parts.c). All processes call these together.
 */
struct match_way {
    consm_status (*open)(struct matcher *m);         /* allocates for pruning */
    consm_status (*open_scoring)(struct matcher *m); /* plans, and h' of all nodes; may be NULL */
    void (*keep_all)(struct matcher *m);             /* keeps all edges */
    consm_status (*reserve)(struct matcher *m, int64_t members); /* allocates P */
    /* h of all nodes, and r if there are labels */
    consm_status (*references)(const float **h, struct matcher *m);
    /* chooses the kept edges: all, the best by score, or, if that is NULL, by their own scores */
    consm_status (*prune)(struct matcher *m, int64_t kept, const float *score, const float *h);
    consm_status (*sets)(struct matcher *m,
                         const float *h);     /* after the sets changed: what mapping needs */
    consm_status (*again)(struct matcher *m); /* after embeddings changed */
    consm_status (*plan)(const float **plan, struct matcher *m); /* NULL: from m->plans */
    consm_status (*pool)(struct matcher *m, const int32_t *only, int64_t count, const float *h);
    node (*pooled)(const struct matcher *m, struct program *p,
                   node h);                     /* NULL: the host provides it */
    consm_status (*project)(struct matcher *m); /* M's first layer on the pooled rows */
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
    struct team *team; /* the backend's, for loops that are not programs */

    struct learner learner;          /* its eval program encodes */
    struct learner *scorer;          /* whose parameters M uses when it scores */
    struct program *project, *score; /* project: only if M concatenates */
    node embedding, head;            /* of learner.eval: h and f(h) */
    struct program *near;            /* h of the nodes in reach only, or NULL: see matcher_train */
    node near_embedding;
    node pooled_input; /* of project, or of score: h' of every node */
    node ego_input;    /* of project: h of every node */
    node left_part, right_part, left_input, right_input; /* from project to score */
    node head_input;                                     /* of score: f(h) of every node */
    node scores;

    struct reach reach;                /* the rows that training computes */
    struct subgraphs sets;             /* of the labelled nodes */
    struct pooling pooling;            /* their P */
    struct inside inside;              /* instead of P if mapping is part of the step */
    struct far far;                    /* instead of plans and pooled */
    struct in_parts parts;             /* of the graph */
    struct index *member, *member_row; /* (members) instead of P when pooling takes the maximum */
    struct index *pooled_row;          /* (labelled·c) rows of h' among its results */
    int32_t *member_reference;         /* (members) */
    float *member_plan;                /* (members, c), for the linear map */
    size_t reference_capacity, plan_capacity;
    uint8_t *keep; /* (nnz) of the graph */

    struct pool_scratch *scratch;  /* one per thread */
    float *similarity, *own_score; /* (n, c), (|E|): S and S_i·S_j */
    int64_t *next;                 /* (n) of edge_walk */

    int references; /* (c, f) r, stored among the parameters, so that it is saved with them */
    float *reference_point; /* (c, width) their values after the last update_references() */
    struct ot_plans *plans; /* from nodes to reference points; NULL: on the backend */

    int64_t pairs;              /* per step, half of them positive */
    struct index *left, *right; /* (pairs) positions among the labelled nodes */
    struct index *ego;          /* (labelled) the labelled nodes' rows in reach */
    float *times;               /* (labelled) how often the pairs name each node */
    float *target, *weight;     /* (pairs) */
    int64_t *class_start;       /* (c+1) */
    int32_t *by_class;          /* (labelled) positions, grouped by class */
    int64_t next_ego, sampled;  /* the next ego; pairs drawn so far */

    struct index *score_left, *score_right; /* (SCORE_BATCH) nodes */
    int32_t *batch_left, *batch_right;      /* the same on the host */
    int64_t score_batch;
    float *pooled;        /* (n, c·f), or of a block of nodes */
    bool projected;       /* since the last pooling */
    uint64_t pooled_from; /* what all nodes' sets were pooled from: see matcher_pool(); 0: none */
    int64_t poolings;     /* so far */
    /* If nodes are pooled in blocks: the results of project (n, hidden), and a block's h. */
    float *block_left, *block_right, *block_ego;
};

/* matcher.c: how nodes are assigned to references, and the current references, with h of every
 * node. */
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
void inside_keep(struct matcher *m); /* by the current sets */
/* h' of the labelled nodes, (labelled·c, width), from h and from h without dropout. */
node inside_pool(const struct matcher *m, struct program *p, node h, node plain);

/* whole.c: h' of all nodes would be the largest array of a large graph, but only project reads it,
 * so nodes are pooled and projected in blocks. far.c and in_parts.c also use the rest. */
enum { BLOCK_ROWS = 1 << 16 };
bool whole_in_blocks(const struct matcher *m);
consm_status whole_open(struct matcher *m);
void whole_keep_all(struct matcher *m);
consm_status whole_reserve(struct matcher *m, int64_t members);
consm_status whole_references(const float **h, struct matcher *m);
consm_status whole_prune(struct matcher *m, int64_t kept, const float *score, const float *h);
consm_status whole_head(const float **out, struct matcher *m);
/* h' of the given nodes (NULL: all) into m->pooled, from h and the costs that are set. */
void whole_pool_all(struct matcher *m, const int32_t *only, int64_t count, const float *h);
/* Runs m->project, whose inputs are bound, and binds its results to m->score. */
consm_status whole_run_project(struct matcher *m);

/* far.c: sets are those over all edges. Makes it the matcher's way if the backend can. */
consm_status far_new(struct matcher *m);
void far_free(struct far *a);
consm_status far_record_map(struct matcher *m);
/* cost of the given points; all_costs (n, c), whose mean scales ε. */
struct transport far_route(const struct matcher *m, struct program *p, node cost, node all_costs,
                           enum take take);
/* Assignments from a plan of a program; without mass splitting an entry is 1 or 0. */
void far_assign(int32_t *reference, const float *plan, const struct subgraphs *s, int64_t classes);

/* in_parts.c */
void in_parts_close(struct matcher *m);

/* pairs.c: the pairs of the next step. */
consm_status matcher_group(struct matcher *m);
consm_status matcher_draw_pairs(struct matcher *m);

#endif
