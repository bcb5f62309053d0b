/* Boosted trees on a table of nodes (graph/neighbour_columns.h), like XGBGraph of GADBench (Tang et
 * al., NeurIPS 2023). An epoch is one round of XGBoost, in a plug-in; validation chooses the number
 * of rounds. Predictions are computed here, from checked numbers: a model file with trees needs no
 * plug-in, and none of its bytes reach XGBoost. */
#include "train/forest.h"

#include "backends/plugin.h"
#include "graph/neighbour_columns.h"
#include "train/metrics.h"
#include "train/session.h"
#include <math.h>
#include <string.h>

struct trees {
    float *logits; /* (n, c): during training of labelled and validation nodes, then of all */
    float *node;   /* (nodes, FOREST_COLUMNS) of all rounds so far */
    int64_t nodes;
    size_t room;

    /* While training. */
    const struct boost_library *library;
    const struct plugin_services *services;
    struct boost *boost;
    int32_t *row; /* (rows) nodes: training nodes, then validation nodes */
    int64_t rows;
    float *value; /* (rows, columns) */
};

static int64_t columns_of(const struct session *s)
{
    return neighbour_columns_count(s->problem->features);
}

/* ---- reading trees --------------------------------------------------------- */

/* Rows of a table that a team of threads divides. */
struct reading {
    const struct forest *forest;
    const float *value; /* (rows, columns) */
    const int32_t *place, *row;
    int64_t rows, columns;
    float *logits;
    int32_t classes;
};

static void read_rows(void *arg, struct worker who)
{
    const struct reading *r = arg;
    int64_t from, to;
    team_range(who, r->rows, 1, &from, &to);
    for (int64_t i = from; i < to; i++)
        forest_add(r->logits + (r->row ? r->row[i] : i) * r->classes, r->forest, 0,
                   r->forest->trees, r->value + i * r->columns, r->place, r->classes);
}

static consm_status make_table(float **out, struct session *s, const int32_t *row, int64_t rows,
                               const int64_t *column, int64_t columns)
{
    consm_status st = CONSM_OK;
    const struct problem *p = s->problem;
    struct neighbour_source source = {
        .graph = p->graph,
        .sparse = s->sparse_normalized ? s->sparse_normalized : p->sparse,
        .dense = s->dense_normalized ? s->dense_normalized : p->dense,
        .features = p->features,
    };
    TRY(NEW(*out, rows * columns));
    TRY(neighbour_columns(*out, &source, row, rows, column, columns, s->backend->host));
done:
    return st;
}

/* Logits of all nodes, from the columns that the trees use. */
static consm_status predict_all(struct session *s)
{
    consm_status st = CONSM_OK;
    struct trees *own = s->own;
    const struct problem *p = s->problem;
    struct forest forest = {0};
    int64_t *column = NULL, all = columns_of(s);
    int32_t *place = NULL;
    float *value = NULL;
    TRY(forest_open(&forest, own->node, own->nodes, all, p->classes));
    TRY(NEW(column, all));
    TRY(NEW(place, all));
    int64_t columns = forest_columns(column, &forest, all);
    for (int64_t c = 0; c < columns; c++)
        place[column[c]] = (int32_t)c;
    TRY(make_table(&value, s, NULL, p->nodes, column, columns));
    memset(own->logits, 0, (size_t)(p->nodes * p->classes) * sizeof *own->logits);
    struct reading r = {&forest, value, place, NULL, p->nodes, columns, own->logits, p->classes};
    team_run(s->backend->host, read_rows, &r);
    session_touch(s, own->logits);
    s->learner.params->trained = forest.leaves;
done:
    forest_close(&forest);
    mem_free(column);
    mem_free(place);
    mem_free(value);
    return st;
}

/* ---- making them ----------------------------------------------------------- */

/* The table of training and validation nodes. */
static consm_status make_rows(struct session *s)
{
    consm_status st = CONSM_OK;
    struct trees *own = s->own;
    int64_t *column = NULL, columns = columns_of(s), labelled = s->labelled->count;
    own->rows = labelled + s->judge.rows;
    TRY(NEW(column, columns));
    TRY(NEW(own->row, own->rows));
    for (int64_t i = 0; i < labelled; i++)
        own->row[i] = s->labelled->row[i];
    for (int64_t i = 0; i < s->judge.rows; i++)
        own->row[labelled + i] = s->judge.node[i];
    for (int64_t c = 0; c < columns; c++)
        column[c] = c;
    TRY(make_table(&own->value, s, own->row, own->rows, column, columns));
done:
    mem_free(column);
    return st;
}

/* XGBoost's default of 1 would forbid every question if a class has five labels. */
static const double LEAST_SHARE = 0.02;

/* A round looks at every bin of every column in every leaf. With few rows that is most of its time,
 * so a bin holds ROWS_A_BIN rows or more; and words are present or not, and there are thousands. */
enum { MOST_BINS = 256, LEAST_BINS = 64, ROWS_A_BIN = 8 };

static int64_t bins_for(int64_t rows, int64_t features)
{
    int64_t bins = features > NEIGHBOUR_NARROW ? LEAST_BINS : rows / ROWS_A_BIN;
    return bins < LEAST_BINS ? LEAST_BINS : bins > MOST_BINS ? MOST_BINS : bins;
}

static consm_status begin(struct session *s)
{
    consm_status st = CONSM_OK;
    struct trees *own = s->own;
    const struct config *c = &s->options.config;
    float *label = NULL;
    TRY(make_rows(s));
    TRY(NEW(label, s->labelled->count));
    for (int64_t i = 0; i < s->labelled->count; i++)
        label[i] = (float)s->target[own->row[i]];
    struct boost_task task = {
        .rows = s->labelled->count,
        .columns = columns_of(s),
        .value = own->value,
        .label = label,
        .weight = s->row_weight,
        .classes = s->problem->classes,
        .depth = c->tree_depth,
        .lr = c->lr,
        .l2 = c->weight_decay,
        .least = fmin(1, LEAST_SHARE * (double)s->labelled->count),
        .bins = bins_for(s->labelled->count, s->problem->features),
        .row_share = c->row_share,
        .column_share = c->column_share,
        .seed = s->options.seed,
    };
    TRY(own->library->open(&own->boost, &task, own->services));
done:
    mem_free(label);
    return st;
}

/* One more round, and its effect on the nodes of the table. */
static consm_status trees_step(struct session *s, double *loss)
{
    consm_status st = CONSM_OK;
    struct trees *own = s->own;
    const struct problem *p = s->problem;
    struct forest forest = {0};
    float *made = NULL;
    int64_t nodes;
    if (!own->boost)
        TRY(begin(s));
    TRY(own->library->round(own->boost, &made, &nodes));
    TRY(forest_open(&forest, made, nodes, columns_of(s), p->classes));
    struct reading r = {&forest,   own->value,    NULL,        own->row,
                        own->rows, columns_of(s), own->logits, p->classes};
    team_run(s->backend->host, read_rows, &r);
    session_touch(s, own->logits);
    size_t more = (size_t)nodes * FOREST_COLUMNS, used = (size_t)own->nodes * FOREST_COLUMNS;
    TRY(GROW(own->node, used, own->room, more));
    memcpy(own->node + used, made, more * sizeof *made);
    own->nodes += nodes;
    struct predicted learned = {own->logits, p->label,   p->role, SPLIT_TRAIN,
                                p->nodes,    p->classes, NULL};
    *loss = metrics_nll(&learned, 1);
    TRY(learner_took(&s->learner, *loss));
done:
    forest_close(&forest);
    mem_free(made);
    return st;
}

/* Keeps the rounds up to the best one. */
static consm_status trees_restore(struct session *s)
{
    consm_status st = CONSM_OK;
    struct trees *own = s->own;
    struct forest forest = {0};
    TRY(forest_open(&forest, own->node, own->nodes, columns_of(s), s->problem->classes));
    int64_t trees = s->learner.best_step * forest_group(s->problem->classes);
    if (trees > 0 && trees < forest.trees)
        own->nodes = forest.root[trees];
    TRY(predict_all(s));
done:
    forest_close(&forest);
    return st;
}

/* ---- as a procedure -------------------------------------------------------- */

static consm_status trees_open(struct session *s)
{
    consm_status st = CONSM_OK;
    struct trees *own;
    const struct problem *p = s->problem;
    TRY(ZNEW(own, 1));
    s->own = own;
    TRY(ZNEW(own->logits, p->nodes * p->classes));
    if (s->options.eval_only)
        return CONSM_OK;
    if (columns_of(s) > 1 << 24) /* a float holds such a number exactly */
        TRY(status_fail(CONSM_ELIMIT, "trees: %lld features are too many", (long long)p->features));
    TRY(plugin_boost(&own->library, &own->services));
done:
    return st;
}

static consm_status trees_loaded(struct session *s)
{
    consm_status st = CONSM_OK;
    struct trees *own = s->own;
    int64_t count = s->options.forest_nodes * FOREST_COLUMNS;
    TRY(NEW(own->node, count));
    memcpy(own->node, s->options.forest, (size_t)count * sizeof *own->node);
    own->nodes = s->options.forest_nodes;
    TRY(predict_all(s));
done:
    return st;
}

static node trees_logits(struct session *s, struct program *p)
{
    const struct trees *own = s->own;
    return input(p, own->logits, s->problem->nodes, s->problem->classes);
}

static void trees_close(struct session *s)
{
    struct trees *own = s->own;
    if (!own)
        return;
    if (own->boost)
        own->library->close(own->boost);
    mem_free(own->logits);
    mem_free(own->node);
    mem_free(own->row);
    mem_free(own->value);
    mem_free(own);
}

void session_forest(const float **numbers, int64_t *nodes, const struct session *s)
{
    const struct trees *own = s->procedure && s->procedure->step ? s->own : NULL;
    *numbers = own ? own->node : NULL;
    *nodes = own ? own->nodes : 0;
}

consm_status trees_beside(const struct model_def **model, struct config *out,
                          const struct config *from)
{
    consm_status st = CONSM_OK;
    TRY(model_find(model, "trees"));
    model_defaults(*model, out);
    out->metric = from->metric;
    out->ties = from->ties;
    out->class_weights = from->class_weights;
    out->tree_depth = from->tree_depth;
    out->row_share = from->row_share;
    out->column_share = from->column_share;
done:
    return st;
}

const struct procedure trees_procedure = {
    .model = "trees",
    .open = trees_open,
    .loaded = trees_loaded,
    .logits = trees_logits,
    .step = trees_step,
    .restore = trees_restore,
    .close = trees_close,
};
