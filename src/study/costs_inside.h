/* What costs.c measures and costs_tables.c shows. */
#ifndef STUDY_COSTS_INSIDE_H
#define STUDY_COSTS_INSIDE_H

#include "app/cost.h"
#include "study/costs.h"

/* What default runs vary, and the values of each. */
enum axis { NODES, EDGES, FEATURES, CLASSES, LABELS, AXES };
enum { VALUES = 3, LARGE = 21, MOST = AXES * VALUES + LARGE };
extern const double costs_value[AXES][VALUES];
double costs_base(enum axis axis); /* the value of the graph that others differ from */

struct measured {
    struct cost_sizes sizes;
    double seconds, processor, instructions;
    double race_mb, rounds_mb, peak_mb; /* of GCN only the last */
};

/* A sum of terms that was fitted to runs. */
struct model {
    int64_t runs;
    double x[MOST * COST_TERMS], y[MOST];
    double coefficient[COST_TERMS];
    double low, high; /* measured / forecast */
    bool fitted;
};
double costs_forecast(const struct model *m, const double *term);

struct costs {
    struct measured varied[AXES][VALUES];
    struct measured large[2][LARGE]; /* ConSM, GCN */
    struct model model[COST_KINDS];
};

consm_status costs_tables(struct report *r, const struct costs *c);

#endif
