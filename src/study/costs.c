/* Costs of ConSM with default parameters on generated graphs that differ in one thing at a time,
 * and peak memory on large ones. A sum of terms (app/cost.h) is fitted to them. */
#include "study/costs_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the graphs ---------------------------------------------------------- */

struct graph_case {
    double nodes, degree, features, classes, labels; /* labels: training nodes of a class */
    double words; /* of a node with sparse features; 0: dense ones */
};

static const struct graph_case base = {2000, 10, 16, 4, 20, 0};

/* Each graph is the first one with one value changed. The labels are those that change a run: from
 * 50 on deep networks take part, and the warm-up grows with their root. */
const double costs_value[AXES][VALUES] = {
    [NODES] = {500, 2000, 8000}, [EDGES] = {5, 10, 40},  [FEATURES] = {16, 64, 256},
    [CLASSES] = {2, 4, 8},       [LABELS] = {5, 20, 60},
};

/* Runs for peak memory have all candidates and few updates. */
static const struct graph_case large[] = {
    {10000, 20, 16, 4, 20, 0},    {100000, 5, 16, 4, 20, 0},    {100000, 20, 16, 4, 20, 0},
    {50000, 20, 256, 4, 20, 0},   {100000, 10, 16, 20, 20, 0},  {100000, 20, 16, 4, 5000, 0},
    {50000, 60, 16, 4, 20, 0},    {300000, 10, 64, 4, 5000, 0}, {1000000, 10, 16, 4, 20, 0},
    {20000, 200, 16, 4, 20, 0},   {100000, 40, 16, 4, 1, 0},    {30000, 10, 64, 8, 20, 0},
    {10000, 10, 256, 4, 1250, 0}, {3000, 40, 16, 4, 20, 0},     {50000, 20, 1000, 4, 20, 50},
    {300000, 20, 16, 4, 20, 0},   {20000, 20, 16, 4, 2500, 0},  {30000, 30, 16, 4, 20, 0},
    {10000, 10, 2000, 4, 20, 50}, {50000, 10, 16, 4, 2, 0},     {200000, 60, 16, 4, 20, 0},
};
_Static_assert(sizeof large / sizeof *large == LARGE, "one table");

double costs_base(enum axis axis)
{
    return costs_value[axis][axis == FEATURES ? 0 : 1];
}

static struct graph_case varied(enum axis axis, int k)
{
    struct graph_case g = base;
    double *const field[AXES] = {&g.nodes, &g.degree, &g.features, &g.classes, &g.labels};
    *field[axis] = costs_value[axis][k];
    return g;
}

/* A quick study has the first graph, fewer nodes and fewer edges, and one graph for memory. */
static bool is_left_out(const struct study_options *o, enum axis axis, int k)
{
    return o->quick && (axis > EDGES || k > 1);
}

static int large_of(const struct study_options *o)
{
    return o->quick ? 1 : LARGE;
}

/* name (144) holds the dataset's name, which the run points to. */
static consm_status run_on(struct study_run *run, char name[144], const struct graph_case *g,
                           const char *method, bool few_updates, const struct study_options *o)
{
    consm_status st = CONSM_OK;
    const struct model_def *model;
    int end =
        snprintf(name, 144, "csbm:nodes=%.0f,degree=%.0f,features=%.0f,classes=%.0f,homophily=0.5",
                 g->nodes, g->degree, g->features, g->classes);
    if (g->words > 0)
        snprintf(name + end, 144 - (size_t)end, ",words=%.0f", g->words);
    TRY(model_find(&model, method));
    *run = plan_run(TASK_COST, name, model, "random");
    run->split_options.per_class = (int64_t)g->labels;
    run->device = o->device;
    if (few_updates) {
        run->config.epochs = 6;
        run->config.warmup = 6;
        run->config.rounds = 1;
        run->config.gnn_steps = 1;
        run->config.match_steps = 2;
    }
done:
    return st;
}

consm_status costs_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct study_run run;
    char name[144];
    for (enum axis a = NODES; a < AXES; a++)
        for (int k = 0; k < VALUES; k++) {
            struct graph_case g = varied(a, k);
            if (is_left_out(o, a, k))
                continue;
            TRY(run_on(&run, name, &g, "consm", false, o));
            TRY(plan_add(plan, &run));
        }
    for (int k = 0; k < large_of(o); k++) {
        TRY(run_on(&run, name, &large[k], "consm", true, o));
        TRY(plan_add(plan, &run));
        TRY(run_on(&run, name, &large[k], "gcn", true, o));
        TRY(plan_add(plan, &run));
    }
done:
    return st;
}

/* ---- what was measured --------------------------------------------------- */

/* peak_mb is NaN without a run. */
static consm_status look_up(struct measured *out, const struct study_view *v,
                            const struct study_run *run, const struct graph_case *g)
{
    consm_status st = CONSM_OK;
    enum { FIELDS = 10 };
    double found[FIELDS];
    static const char *const field[FIELDS] = {
        "nodes",   "edges",   "labels_train", "two_hop", "peak_mb",
        "seconds", "race_mb", "rounds_mb",    "threads", "processor_seconds"};
    struct study_cell cell;
    for (int i = 0; i < FIELDS; i++) {
        TRY(view_cell(&cell, v, run, 1, field[i]));
        found[i] = cell.mean;
    }
    TRY(view_cell(&cell, v, run, 1, "instructions"));
    *out = (struct measured){
        .sizes = {.nodes = found[0],
                  .edges = found[1],
                  .columns = g->words > 0 ? COST_SPARSE_COLUMNS * g->words : g->features,
                  .features = g->features,
                  .classes = g->classes,
                  .labels = found[2],
                  .two_hop = found[3],
                  .threads = (int)fmax(1, found[8])},
        .seconds = found[5],
        .processor = found[9],
        .peak_mb = found[4],
        .race_mb = found[6],
        .rounds_mb = found[7],
        .instructions = cell.mean};
done:
    return st;
}

/* ---- the model ----------------------------------------------------------- */

static consm_status add_run(struct model *m, enum cost_kind kind, const struct cost_sizes *s,
                            double y)
{
    consm_status st = CONSM_OK;
    if (!(y > 0) || !isfinite(y) || m->runs == MOST)
        return CONSM_OK;
    TRY(cost_terms(m->x + m->runs * COST_TERMS, kind, s));
    m->y[m->runs++] = y;
done:
    return st;
}

/* Rounds begin with what the comparison left: of a small graph many small blocks, which the
 * allocator keeps, and of any graph the winner's programs. So they are fitted only on larger
 * graphs, and where they hold more than the comparison did; on others the forecast is not theirs.
 */
enum { LEAST_NODES_OF_ROUNDS = 20000 };

static consm_status add_consm(struct model m[COST_KINDS], const struct measured *at)
{
    consm_status st = CONSM_OK;
    TRY(add_run(&m[COST_RACE_BYTES], COST_RACE_BYTES, &at->sizes, 1e6 * at->race_mb));
    if (at->sizes.nodes >= LEAST_NODES_OF_ROUNDS && at->rounds_mb > at->race_mb + 1)
        TRY(add_run(&m[COST_ROUNDS_BYTES], COST_ROUNDS_BYTES, &at->sizes, 1e6 * at->rounds_mb));
done:
    return st;
}

double costs_forecast(const struct model *m, const double *term)
{
    double sum = 0;
    for (int j = 0; j < COST_TERMS; j++)
        sum += m->coefficient[j] * term[j];
    return sum;
}

/* More runs than terms, or there is nothing that could disagree. */
static consm_status fit(struct model *m, enum cost_kind kind)
{
    consm_status st = CONSM_OK;
    int terms = 0;
    while (cost_term_name(kind, terms))
        terms++;
    if (m->runs <= terms)
        return CONSM_OK;
    TRY(stats_fit_terms(m->coefficient, m->x, m->y, m->runs, COST_TERMS));
    m->low = m->high = m->y[0] / costs_forecast(m, m->x);
    for (int64_t i = 1; i < m->runs; i++) {
        double ratio = m->y[i] / costs_forecast(m, m->x + i * COST_TERMS);
        m->low = fmin(m->low, ratio);
        m->high = fmax(m->high, ratio);
    }
    m->fitted = true;
done:
    return st;
}

/* The peaks of ConSM's runs by their forecast, the larger of two sums. */
static consm_status range_of_consm(struct costs *c)
{
    consm_status st = CONSM_OK;
    struct model *race = &c->model[COST_RACE_BYTES], *rounds = &c->model[COST_ROUNDS_BYTES];
    double term[COST_TERMS], low = INFINITY, high = 0;
    if (!race->fitted || !rounds->fitted)
        return CONSM_OK;
    for (int i = 0; i < AXES * VALUES + LARGE; i++) {
        const struct measured *at =
            i < LARGE ? &c->large[0][i] : &c->varied[(i - LARGE) / VALUES][(i - LARGE) % VALUES];
        if (!isfinite(at->peak_mb))
            continue;
        TRY(cost_terms(term, COST_RACE_BYTES, &at->sizes));
        double forecast = costs_forecast(race, term);
        TRY(cost_terms(term, COST_ROUNDS_BYTES, &at->sizes));
        forecast = fmax(forecast, costs_forecast(rounds, term));
        low = fmin(low, 1e6 * at->peak_mb / forecast);
        high = fmax(high, 1e6 * at->peak_mb / forecast);
    }
    race->low = rounds->low = low;
    race->high = rounds->high = high;
done:
    return st;
}

static consm_status measure(struct costs *c, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    struct model *m = c->model;
    char name[144];
    for (enum axis a = NODES; a < AXES; a++)
        for (int k = 0; k < VALUES; k++) {
            struct measured *at = &c->varied[a][k];
            struct graph_case g = varied(a, k);
            bool again = a != NODES && costs_value[a][k] == costs_base(a);
            TRY(run_on(&run, name, &g, "consm", false, v->options));
            TRY(look_up(at, v, &run, &g));
            if (again)
                continue;
            TRY(add_run(&m[COST_SECONDS], COST_SECONDS, &at->sizes, at->processor));
            TRY(add_consm(m, at));
        }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < LARGE; k++) {
            struct measured *at = &c->large[i][k];
            TRY(run_on(&run, name, &large[k], i ? "gcn" : "consm", true, v->options));
            TRY(look_up(at, v, &run, &large[k]));
            TRY(i ? add_run(&m[COST_GCN_BYTES], COST_GCN_BYTES, &at->sizes, 1e6 * at->peak_mb)
                  : add_consm(m, at));
        }
    for (int kind = 0; kind < COST_KINDS; kind++)
        TRY(fit(&m[kind], kind));
    TRY(range_of_consm(c));
done:
    return st;
}

consm_status costs_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct costs *c = NULL;
    TRY(ZNEW(c, 1));
    TRY(measure(c, v));
    TRY(costs_tables(r, c));
done:
    mem_free(c);
    return st;
}
