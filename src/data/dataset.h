/* A dataset: a graph with features, labels and known splits, exactly as in its file. Readers (one
 * file per format) fill it; everything else only reads it. dataset_graph() cleans it (undirected,
 * no loops, no repeats), so that `consm info` can report both sides. */
#ifndef DATA_DATASET_H
#define DATA_DATASET_H

#include "data/choices.h"
#include "graph/csr.h"
#include "graph/roles.h"

struct cells;
struct faults;
struct notes;
struct recipe;

/* Which weight counts if a file lists a pair of nodes with different weights. */
enum repeat_rule { DUPLICATES_MEAN, DUPLICATES_KEEP_FIRST, DUPLICATES_ERROR, DUPLICATES_KINDS };
extern const char *const duplicates_name[DUPLICATES_KINDS]; /* "mean", "keep-first", "error" */

enum dataset_taken { TAKEN_ID, TAKEN_LABEL, TAKEN_WEIGHT, DATASET_TAKEN };

struct dataset {
    char *name;       /* for messages: "cora", or the path */
    int64_t nodes;    /* n */
    int64_t features; /* f; 0 when the file has none */
    int32_t classes;  /* c; 0 when there are no labels */

    /* The edges as stored, in file order; each line is one entry even in undirected files. */
    int64_t edges;
    int32_t *from, *to; /* (edges) */
    float *weight;      /* (edges), or NULL */
    bool directed;      /* the file says that direction matters (a hint; models decide) */
    enum repeat_rule duplicates;

    /* Exactly one of these is set when features > 0. */
    struct csr *sparse; /* (n, f) */
    float *dense;       /* (n, f) row-major */

    int32_t *label;      /* (n): 0 … c-1, or -1 unknown; never NULL after loading */
    char **class_name;   /* (c), or NULL: "0", "1", … */
    int32_t class_kind;  /* of enum consm_class_kind */
    char **node_id;      /* (n), or NULL: "0", "1", … */
    char **feature_name; /* (f), or NULL */

    /* If the features come from a table: how its columns became features, and, unless all cells
     * were numbers, the cells themselves, so that a model can apply its own recipe. Or NULL. */
    struct recipe *recipe;
    struct cells *cells;

    /* Attributes that no model reads (data/table/notes.h), if requested; or NULL. */
    struct notes *node_notes, *edge_notes;

    /* The splits that came with the file, each n roles. */
    int64_t splits;
    uint8_t *role; /* (splits, n) of enum split_role, or NULL */

    /* The columns used for ids, labels and weights, for messages; "": no table. */
    char taken[DATASET_TAKEN][80];
    struct choices choices; /* a user's choices about how to read it */

    char sha256[65]; /* of the bytes read, files in a fixed order; "" for generated sets */

    /* For a graph in parts: the rows of the cleaned graph. For a folder from `consm partition`,
     * they are in a mapped, unchecked file (readers/parts.h); with it, the standardisation of its
     * dense columns. */
    struct csr *rows;
    const float *shift, *scale; /* (f), or NULL */
    /* If each process read its own rows of a plain list (readers/edges_in_parts.h): the rows that
     * it has of `rows`, of `dense`, which is then sparse memory, and of `sparse`; or NULL. `from`
     * and `to` are then NULL. */
    struct partition *partition;
    float *measured; /* (2f) storage of shift and scale in that case */
    void *rows_mapping;
    size_t rows_bytes;

    void *mapping; /* a mapped file that arrays above point into, or NULL */
    size_t mapping_bytes;
    unsigned borrowed; /* arrays in the mapping or owned by the caller: DATASET_BORROWS_… */

    /* The edges and dense features are not checked yet, because reading them would make opening a
     * large mapped file slow. dataset_graph() checks them; other code that uses them as indices
     * calls dataset_check() first. */
    bool unchecked;
};

enum {
    DATASET_BORROWS_EDGES = 1,
    DATASET_BORROWS_DENSE = 2,
    DATASET_BORROWS_LABELS = 4,
    DATASET_BORROWS_ROLES = 8,
    /* The strings follow the pointers in the array's own block (names_pack): one block to free
     * instead of one per name. */
    DATASET_PACKED_IDS = 16,
    DATASET_PACKED_CLASSES = 32,
    DATASET_PACKED_FEATURES = 64
};

/* Makes an empty dataset with that name. */
consm_status dataset_new(struct dataset **out, const char *name);
void dataset_free(struct dataset *d);

/* Checks what readers guarantee: ends and labels in range, finite features and weights, unique ids.
 * Every reader ends with it. The message names `name` and the first fault. */
consm_status dataset_check(const struct dataset *d);

/* The cleaned graph: undirected, without loops and repeats. A pair that is listed more than once,
 * in either direction, gets its weight by d->duplicates. */
consm_status dataset_graph(struct csr **out, const struct dataset *d, struct edge_facts *facts);

/* Logs one line if pairs were listed with different weights. */
void dataset_say_duplicates(const struct dataset *d, int64_t pairs);
/* CONSM_EFORMAT: `differ` pairs have more than one weight, and d->duplicates is error. */
consm_status dataset_refuse_duplicates(const struct dataset *d, int64_t pairs);

/* The name of a node, class or feature; without a name its number, written into buffer. */
const char *dataset_node_id(const struct dataset *d, int64_t node, char buffer[24]);
const char *dataset_class_name(const struct dataset *d, int32_t class_index, char buffer[24]);

/* Fills d->sparse from a dense array if at most a third of it is non-zero, else keeps the array.
 * Takes ownership of the array. */
consm_status dataset_set_features(struct dataset *d, float *dense, int64_t features);

/* The same with an array that the caller owns and that outlives the dataset. */
consm_status dataset_borrow_features(struct dataset *d, const float *dense, int64_t features);

/* Makes features from a table's cells, one row per node, and takes ownership of the cells. Faults
 * of the cells go into faults, which name the file; then d has no features yet. */
consm_status dataset_take_cells(struct dataset *d, struct cells *cells, struct faults *faults,
                                const char *file);

#endif
