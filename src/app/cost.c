/* Terms of the forecasts, and their sums. */
#include "app/cost.h"

#include "app/prepare.h"
#include "train/portfolio_work.h"

#include <math.h>

/* Scoring pools so many nodes at once (src/match/whole.c). */
enum { POOLED_AT_ONCE = 65536 };

/* A forecast is for graphs that were not measured, so its range is at least so wide. */
static const double LEAST_ERROR = 0.1;

static const char *const names[COST_KINDS][COST_TERMS] = {
    [COST_SECONDS] = {"fixed", "updates", "moved", "multiplied", "edges", "values"},
    [COST_RACE_BYTES] = {"fixed", "scores", "edges", "values", "kept", "weights"},
    [COST_ROUNDS_BYTES] = {"fixed", "nodes", "edges", "values", "pooled", "reached"},
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

/* ConSM's defaults, and the work of its comparison of backbones. */
static consm_status work_of(struct portfolio_work *out, struct config *config,
                            const struct cost_sizes *s)
{
    consm_status st = CONSM_OK;
    const struct model_def *model;
    struct portfolio_sizes sizes = {.nodes = s->nodes,
                                    .entries = 2 * s->edges,
                                    .two_hop = s->two_hop,
                                    .labels_a_class = s->labels / fmax(1, s->classes),
                                    .columns = s->columns,
                                    .classes = (int32_t)s->classes,
                                    .threads = s->threads};
    TRY(model_find(&model, "consm"));
    model_defaults(model, config);
    TRY(portfolio_work(out, config, &sizes));
done:
    return st;
}

/* Of n nodes, those in the surroundings of l labels with m nodes each, which overlap: about
 * n (1 - exp(-l m / n)). */
static double reached_by(const struct cost_sizes *s, double surroundings)
{
    double n = fmax(1, s->nodes);
    return n * -expm1(-s->labels * surroundings / n);
}

/* Values that a step of the widest candidate keeps: those of a layer for all nodes that the layers
 * after it reach from a label. Each track may hold that candidate, or one as wide. */
static double kept_values(const struct cost_sizes *s, const struct portfolio_work *work)
{
    double degree = 2 * s->edges / fmax(1, s->nodes), surroundings = 1, ring = 1, kept = 0;
    for (int64_t hop = 0; hop < work->layers; hop++) {
        ring *= degree;
        surroundings += ring;
        kept += (double)work->width * reached_by(s, surroundings);
    }
    return work->tracks * kept;
}

consm_status cost_terms(double out[COST_TERMS], enum cost_kind kind, const struct cost_sizes *s)
{
    consm_status st = CONSM_OK;
    struct portfolio_work work;
    struct config config;
    TRY(work_of(&work, &config, s));
    double degree = 2 * s->edges / fmax(1, s->nodes), values = s->nodes * s->columns;
    /* Nodes whose hidden values a step of GCN needs: those with a label and their neighbours. */
    double reached = fmin(s->nodes, s->labels * (1 + degree));
    /* Nodes in the subgraphs of the labelled ones. */
    double members = reached_by(s, fmin(1 + degree + degree * degree, (double)config.two_hop_cap));
    const double term[COST_KINDS][COST_TERMS] = {
        [COST_SECONDS] = {1, work.updates, work.moved, work.multiplied, s->edges, values},
        [COST_RACE_BYTES] = {1, s->nodes * s->classes, s->edges, values, kept_values(s, &work),
                             s->features * work.widths},
        [COST_ROUNDS_BYTES] = {1, s->nodes, s->edges, values,
                               fmin(s->nodes, POOLED_AT_ONCE) * s->classes, members},
        [COST_GCN_BYTES] = {1, s->nodes, s->edges, values, s->nodes * s->classes, reached},
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

consm_status cost_forecast_consm(struct cost_range *out, const struct cost_sizes *s)
{
    consm_status st = CONSM_OK;
    struct cost_range race, rounds;
    TRY(cost_forecast(&race, COST_RACE_BYTES, s));
    TRY(cost_forecast(&rounds, COST_ROUNDS_BYTES, s));
    *out = (struct cost_range){fmax(race.low, rounds.low), fmax(race.usual, rounds.usual),
                               fmax(race.high, rounds.high)};
done:
    return st;
}
