/* Boosted trees by a library that not every machine has: what libconsm_trees.so exports as
 * `consm_boost`. It makes trees of a table; who reads them is src/train/forest.h, which needs no
 * library for it. */
#ifndef PROGRAM_BOOST_H
#define PROGRAM_BOOST_H

#include "program/plugin.h"

struct boost_task {
    int64_t rows, columns;
    const float *value;  /* (rows, columns), NaN where one is missing */
    const float *label;  /* (rows) a class from 0 on */
    const float *weight; /* (rows), or NULL: all 1 */
    int32_t classes;     /* up to two have one tree a round, more have one each */
    int64_t depth;       /* the most questions from root to leaf */
    double lr, l2;
    double least; /* sum of second derivatives, weights included, that a leaf must have */
    int64_t bins; /* values that a column is cut into */
    double row_share, column_share; /* drawn for each tree */
    uint64_t seed;
};

/* A node of a tree, FOREST_COLUMNS floats. Right behind a question stands its left answer, and the
 * right one so many nodes behind the question itself. A leaf has column -1 and its value as split.
 */
enum forest_column {
    FOREST_COLUMN, /* whose value is asked for: less than the split goes left */
    FOREST_SPLIT,
    FOREST_RIGHT,
    FOREST_MISSING_LEFT, /* 1: a missing value goes left, 0: right */
    FOREST_COLUMNS
};

struct boost;
struct boost_library {
    consm_status (*open)(struct boost **out, const struct boost_task *task,
                         const struct plugin_services *services);
    /* The trees of one more round: *out (nodes, FOREST_COLUMNS), the caller's to free with the
     * services. The same on any number of threads, for the library uses one. */
    consm_status (*round)(struct boost *b, float **out, int64_t *nodes);
    void (*close)(struct boost *b);
};
/* A number that differs where the two sides would read each other's structs wrongly. */
static inline uint64_t boost_layout(void)
{
    return plugin_layout() ^
           (sizeof(struct boost_task) << 16 | sizeof(struct boost_library) << 4 | FOREST_COLUMNS);
}

typedef consm_status boost_library_fn(const struct boost_library **out,
                                      const struct plugin_services *services, uint64_t layout);

#endif
