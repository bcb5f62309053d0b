/* Costs of ConSM with default parameters on generated graphs that differ in one thing at a time,
 * and peak memory on large ones. A sum of terms (app/cost.h) is fitted to them. */
#include "study/costs_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the graphs ---------------------------------------------------------- */

struct graph_case {
    double nodes, degree, features, classes, labels; /* labels: training nodes of a class */
};

static const struct graph_case base = {2000, 10, 16, 4, 20};

/* Each graph is the first one with one value changed. The labels are those that change a run: from
 * 50 on deep networks take part, and the warm-up grows with their root. */
const double costs_value[AXES][VALUES] = {
    [NODES] = {500, 2000, 8000}, [EDGES] = {5, 10, 40},  [FEATURES] = {16, 64, 256},
    [CLASSES] = {2, 4, 8},       [LABELS] = {5, 20, 60},
};

/* Runs for peak memory have all candidates and few updates. */
static const struct graph_case large[] = {
    {10000, 20, 16, 4, 20},  {100000, 5, 16, 4, 20},    {100000, 20, 16, 4, 20},
    {50000, 20, 256, 4, 20}, {100000, 10, 16, 20, 20},  {100000, 20, 16, 4, 5000},
    {50000, 60, 16, 4, 20},  {300000, 10, 64, 4, 5000}, {1000000, 20, 16, 4, 20},
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

/* name (128) holds the dataset's name, which the run points to. */
static consm_status run_on(struct study_run *run, char name[128], const struct graph_case *g,
                           const char *method, bool few_updates, const struct study_options *o)
{
    consm_status st = CONSM_OK;
    const struct model_def *model;
    snprintf(name, 128, "csbm:nodes=%.0f,degree=%.0f,features=%.0f,classes=%.0f,homophily=0.5",
             g->nodes, g->degree, g->features, g->classes);
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
    char name[128];
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
    double found[8];
    static const char *const field[8] = {"nodes",   "edges",   "labels_train", "two_hop",
                                         "data_mb", "seconds", "train_mb",     "processor_seconds"};
    struct study_cell cell;
    for (int i = 0; i < 8; i++) {
        TRY(view_cell(&cell, v, run, 1, field[i]));
        found[i] = cell.mean;
    }
    TRY(view_cell(&cell, v, run, 1, "instructions"));
    *out = (struct measured){.sizes = {.nodes = found[0],
                                       .edges = found[1],
                                       .columns = g->features,
                                       .classes = g->classes,
                                       .labels = found[2],
                                       .two_hop = found[3]},
                             .seconds = found[5],
                             .processor = found[7],
                             .peak_mb = found[4] + found[6],
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

static consm_status measure(struct costs *c, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    struct model *m = c->model;
    char name[128];
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
            TRY(add_run(&m[COST_BYTES], COST_BYTES, &at->sizes, 1e6 * at->peak_mb));
        }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < LARGE; k++) {
            struct measured *at = &c->large[i][k];
            enum cost_kind kind = i ? COST_GCN_BYTES : COST_BYTES;
            TRY(run_on(&run, name, &large[k], i ? "gcn" : "consm", true, v->options));
            TRY(look_up(at, v, &run, &large[k]));
            TRY(add_run(&m[kind], kind, &at->sizes, 1e6 * at->peak_mb));
        }
    for (int kind = 0; kind < COST_KINDS; kind++)
        TRY(fit(&m[kind], kind));
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
