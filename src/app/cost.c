/* Terms of the forecasts, and their sums. */
#include "app/cost.h"

#include "app/prepare.h"
#include "train/portfolio_work.h"

#include <math.h>

/* Hidden units of most candidates: wider features are multiplied with weights before they are
 * moved. */
enum { WIDTH = 64 };

/* A forecast is for graphs that were not measured, so its range is at least so wide. */
static const double LEAST_ERROR = 0.1;

static const char *const names[COST_KINDS][COST_TERMS] = {
    [COST_SECONDS] = {"fixed", "updates", "moved", "multiplied", "edges", "values"},
    [COST_BYTES] = {"fixed", "nodes", "edges", "values", "scores", "widest", "reached widest",
                    "reached values", "pairs"},
    [COST_GCN_BYTES] = {"fixed", "nodes", "edges", "values", "scores", "reached"},
};

static const double coefficient[COST_KINDS][COST_TERMS] = {
#define COEFFICIENTS(kind, ...) [COST_##kind] = {__VA_ARGS__},
#define WITHIN(kind, low, high)
#define MEASURED(text)
#include "app/cost.def"
#undef COEFFICIENTS
#undef WITHIN
#undef MEASURED
};

/* The smallest and the largest measured value, as a multiple of the forecast. */
static const struct {
    double low, high;
} within[COST_KINDS] = {
#define COEFFICIENTS(kind, ...)
#define WITHIN(kind, low, high) [COST_##kind] = {low, high},
#define MEASURED(text)
#include "app/cost.def"
#undef COEFFICIENTS
#undef WITHIN
#undef MEASURED
};

const char *const cost_measured_on =
#define COEFFICIENTS(kind, ...)
#define WITHIN(kind, low, high)
#define MEASURED(text) text
#include "app/cost.def"
#undef COEFFICIENTS
#undef WITHIN
#undef MEASURED
    ;

const char *cost_term_name(enum cost_kind kind, int term)
{
    return term < COST_TERMS ? names[kind][term] : NULL;
}

static consm_status work_of(struct portfolio_work *out, const struct cost_sizes *s)
{
    consm_status st = CONSM_OK;
    const struct model_def *model;
    struct config config;
    struct portfolio_sizes sizes = {.nodes = s->nodes,
                                    .entries = 2 * s->edges,
                                    .two_hop = s->two_hop,
                                    .labels_a_class = s->labels / fmax(1, s->classes),
                                    .columns = s->columns,
                                    .classes = (int32_t)s->classes};
    TRY(model_find(&model, "consm"));
    model_defaults(model, &config);
    TRY(portfolio_work(out, &config, &sizes));
done:
    return st;
}

consm_status cost_terms(double out[COST_TERMS], enum cost_kind kind, const struct cost_sizes *s)
{
    consm_status st = CONSM_OK;
    struct portfolio_work work = {0};
    if (kind != COST_GCN_BYTES)
        TRY(work_of(&work, s));
    /* Nodes whose hidden values a training step needs: those with a label and their neighbours; of
     * deep candidates also the neighbours' neighbours. */
    double degree = 2 * s->edges / fmax(1, s->nodes);
    double reached = fmin(s->nodes, s->labels * (1 + degree));
    double far = fmin(s->nodes, s->labels * (1 + degree * (1 + degree)));
    const double term[COST_KINDS][COST_TERMS] = {
        [COST_SECONDS] = {1, work.updates, work.moved, work.multiplied, s->edges,
                          s->nodes * s->columns},
        [COST_BYTES] = {1, s->nodes, s->edges, s->nodes * s->columns, s->nodes * s->classes,
                        work.values, work.values / fmax(1, s->nodes) * far,
                        far * fmin(s->columns, WIDTH), work.pairs},
        [COST_GCN_BYTES] = {1, s->nodes, s->edges, s->nodes * s->columns, s->nodes * s->classes,
                            reached},
    };
    for (int i = 0; i < COST_TERMS; i++)
        out[i] = term[kind][i];
done:
    return st;
}

consm_status cost_forecast(struct cost_range *out, enum cost_kind kind, const struct cost_sizes *s)
{
    consm_status st = CONSM_OK;
    double term[COST_TERMS], sum = 0;
    TRY(cost_terms(term, kind, s));
    for (int i = 0; i < COST_TERMS; i++)
        sum += coefficient[kind][i] * term[i];
    *out = (struct cost_range){sum * fmin(1 - LEAST_ERROR, within[kind].low), sum,
                               sum * fmax(1 + LEAST_ERROR, within[kind].high)};
done:
    return st;
}
