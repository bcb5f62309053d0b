/* Boosted trees from a library that not every machine has: what libconsm_trees.so exports as
 * `consm_boost`. It makes trees from a table; src/train/forest.h evaluates them without the
 * library. */
#ifndef PROGRAM_BOOST_H
#define PROGRAM_BOOST_H

#include "program/plugin.h"

struct boost_task {
    int64_t rows, columns;
    const float *value;  /* (rows, columns), NaN: missing */
    const float *label;  /* (rows) a class from 0 on */
    const float *weight; /* (rows), or NULL: all 1 */
    int32_t classes;     /* with up to two there is one tree a round, with more one per class */
    int64_t depth;       /* most questions from root to leaf */
    double lr, l2;
    double least;                   /* minimum sum of second derivatives, with weights, in a leaf */
    int64_t bins;                   /* bins per column */
    double row_share, column_share; /* drawn for each tree */
    uint64_t seed;
};

/* A node of a tree, FOREST_COLUMNS floats. A question's left answer follows it directly; the right
 * one is the given number of nodes after the question. A leaf has column -1 and its value as split.
 */
enum forest_column {
    FOREST_COLUMN, /* the column to compare: less than the split goes left */
    FOREST_SPLIT,
    FOREST_RIGHT,
    FOREST_MISSING_LEFT, /* 1: a missing value goes left, 0: right */
    FOREST_COLUMNS
};

struct boost;
struct boost_library {
    consm_status (*open)(struct boost **out, const struct boost_task *task,
                         const struct plugin_services *services);
    /* The trees of one more round: *out (nodes, FOREST_COLUMNS), which the caller frees with the
     * services. The same on any number of threads, because the library uses one. */
    consm_status (*round)(struct boost *b, float **out, int64_t *nodes);
    void (*close)(struct boost *b);
};
/* A number that differs if the two sides have different struct layouts. */
static inline uint64_t boost_layout(void)
{
    return plugin_layout() ^
           (sizeof(struct boost_task) << 16 | sizeof(struct boost_library) << 4 | FOREST_COLUMNS);
}

typedef consm_status boost_library_fn(const struct boost_library **out,
                                      const struct plugin_services *services, uint64_t layout);

#endif
