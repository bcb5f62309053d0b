/* Growing graphs: after any changes a graph equals one that is built anew, and a predictor on it
 * has the same bits; readers and a writer at once; failed changes change nothing. THREADED */
#include "failing_memory.h"

#include "app/growing.h"
#include "app/predictor.h"
#include "base/rng.h"
#include <math.h>
#include <pthread.h>

enum { N = 240, M = 380, F = 12, MORE = 30, MOST = N + 10 * MORE };

/* The expected graph, stored in the simplest way. */
struct truth {
    int64_t nodes;
    bool weighted, sparse, named;
    float edge[MOST][MOST]; /* 0: none */
    float x[MOST][F];
    int32_t label[MOST];
    char id[MOST][12];
    const char *name[MOST];
};

static float draw_feature(struct rng *r, bool sparse)
{
    return sparse && rng_below(r, 6) ? 0 : 0.05f + (float)rng_uniform(r);
}

static void draw_node(struct truth *t, struct rng *r, int64_t i)
{
    for (int k = 0; k < F; k++)
        t->x[i][k] = draw_feature(r, t->sparse);
    t->label[i] = i % 3 ? (int32_t)(i % 2) : -1;
    snprintf(t->id[i], sizeof t->id[i], "n%d", (int)i);
    t->name[i] = t->id[i];
}

static void set_edge(struct truth *t, int64_t a, int64_t b, float weight)
{
    t->edge[a][b] = t->edge[b][a] = weight;
}

static struct truth *truth_new(bool weighted, bool sparse, bool named, uint64_t seed)
{
    struct truth *t = mem_zalloc(1, sizeof *t);
    struct rng r;
    rng_init(&r, seed, 1);
    t->nodes = N;
    t->weighted = weighted;
    t->sparse = sparse;
    t->named = named;
    for (int64_t i = 0; i < N; i++)
        draw_node(t, &r, i);
    for (int k = 0; k < M; k++) {
        int64_t a = (int64_t)rng_below(&r, N), b = (int64_t)rng_below(&r, N);
        if (a != b)
            set_edge(t, a, b, weighted ? 0.1f + (float)rng_uniform(&r) : 1);
    }
    return t;
}

/* A dataset of the expected graph, made the ordinary way. */
static struct consm_dataset *build(const struct truth *t)
{
    static int32_t from[MOST * 20], to[MOST * 20];
    static float weight[MOST * 20];
    struct consm_dataset *d;
    int64_t edges = 0;
    for (int64_t a = 0; a < t->nodes; a++)
        for (int64_t b = a + 1; b < t->nodes; b++)
            if (t->edge[a][b] != 0) {
                from[edges] = (int32_t)a;
                to[edges] = (int32_t)b;
                weight[edges++] = t->edge[a][b];
            }
    struct consm_arrays a = {.size = sizeof a,
                             .nodes = t->nodes,
                             .edges = edges,
                             .features = F,
                             .classes = 2,
                             .from = from,
                             .to = to,
                             .weight = t->weighted ? weight : NULL,
                             .feature = t->x,
                             .label = t->label,
                             .node_id = t->named ? t->name : NULL};
    OK(consm_dataset_from_arrays(&d, &a));
    return d;
}

/* ---- the same as anew ---------------------------------------------------- */

static void same_dataset(const struct consm_dataset *a, const struct consm_dataset *b)
{
    const struct prepared *p, *q;
    const struct dataset *x = a->data, *y = b->data;
    char one[24], two[24];
    OK(dataset_prepared(&p, a));
    OK(dataset_prepared(&q, b));
    assert_int_equal(x->nodes, y->nodes);
    assert_int_equal(p->graph->nnz, q->graph->nnz);
    assert_memory_equal(p->graph->start, q->graph->start, (size_t)(x->nodes + 1) * 8);
    assert_memory_equal(p->graph->col, q->graph->col, (size_t)p->graph->nnz * 4);
    assert_int_equal(!p->graph->val, !q->graph->val);
    if (p->graph->val)
        assert_memory_equal(p->graph->val, q->graph->val, (size_t)p->graph->nnz * 4);
    assert_memory_equal(x->label, y->label, (size_t)x->nodes * 4);
    assert_int_equal(!x->sparse, !y->sparse);
    if (x->sparse) {
        assert_int_equal(x->sparse->nnz, y->sparse->nnz);
        assert_memory_equal(x->sparse->col, y->sparse->col, (size_t)x->sparse->nnz * 4);
        assert_memory_equal(x->sparse->val, y->sparse->val, (size_t)x->sparse->nnz * 4);
    } else {
        assert_memory_equal(x->dense, y->dense, (size_t)(x->nodes * F) * 4);
    }
    for (int64_t i = 0; i < x->nodes; i++)
        assert_string_equal(consm_node_id(a, i, one), consm_node_id(b, i, two));
}

/* The graph, and predictors on it, compared with one built anew. */
static void check(const struct truth *t, struct consm_graph *g, struct consm_predictor **p,
                  const struct consm_model *const *m, int models)
{
    enum { ASKED = 9 };
    struct consm_dataset *now, *anew = build(t);
    OK(consm_graph_dataset(&now, g));
    same_dataset(now, anew);
    assert_int_equal(consm_graph_nodes(g), t->nodes);
    for (int i = 0; i < models; i++) {
        struct consm_prediction *all, *some;
        int64_t asked[ASKED];
        OK(consm_predict(&all, m[i], anew, 1));
        for (int64_t k = 0; k < ASKED; k++)
            asked[k] = t->nodes - 1 - k * (t->nodes / ASKED);
        OK(consm_predictor_nodes(&some, p[i], asked, ASKED));
        for (int64_t k = 0; k < ASKED; k++) {
            assert_memory_equal(some->probability + 2 * k, all->probability + 2 * asked[k], 8);
            if (all->in_set)
                assert_memory_equal(some->in_set + 2 * k, all->in_set + 2 * asked[k], 2);
            if (t->named)
                assert_int_equal(some->seen[k], all->seen[asked[k]]);
        }
        consm_prediction_free(some);
        consm_prediction_free(all);
    }
    consm_dataset_free(now);
    consm_dataset_free(anew);
}

/* ---- changing both ------------------------------------------------------- */

static void add_nodes(struct truth *t, struct rng *r, struct consm_graph *g)
{
    int64_t first;
    for (int64_t i = t->nodes; i < t->nodes + MORE; i++)
        draw_node(t, r, i);
    struct consm_arrays rows = {.size = sizeof rows,
                                .nodes = MORE,
                                .features = F,
                                .feature = t->x[t->nodes],
                                .label = t->label + t->nodes,
                                .node_id = t->named ? t->name + t->nodes : NULL};
    OK(consm_graph_add_nodes(g, &rows, &first));
    assert_int_equal(first, t->nodes);
    t->nodes += MORE;
}

static void add_edges(struct truth *t, struct rng *r, struct consm_graph *g)
{
    enum { COUNT = 50 };
    int64_t from[COUNT], to[COUNT];
    float weight[COUNT];
    for (int k = 0; k < COUNT; k++) {
        from[k] = (int64_t)rng_below(r, (uint32_t)t->nodes);
        to[k] = (from[k] + 1 + (int64_t)rng_below(r, (uint32_t)t->nodes - 1)) % t->nodes;
        weight[k] = t->weighted ? 0.1f + (float)rng_uniform(r) : 1;
        set_edge(t, from[k], to[k], weight[k]);
    }
    OK(consm_graph_add_edges(g, from, to, t->weighted ? weight : NULL, COUNT));
}

static void remove_edges(struct truth *t, struct rng *r, struct consm_graph *g)
{
    enum { COUNT = 25 };
    int64_t from[COUNT], to[COUNT], count = 0;
    for (int64_t a = 0; a < t->nodes && count < COUNT; a++)
        for (int64_t b = 0; b < t->nodes && count < COUNT; b++)
            if (t->edge[a][b] != 0 && rng_below(r, 8) == 0) {
                from[count] = a;
                to[count++] = b;
                set_edge(t, a, b, 0);
            }
    OK(consm_graph_remove_edges(g, from, to, count));
}

static void set_rows(struct truth *t, struct rng *r, struct consm_graph *g)
{
    enum { COUNT = 7 };
    int64_t who[COUNT];
    int32_t label[COUNT];
    float x[COUNT][F];
    for (int k = 0; k < COUNT; k++) {
        who[k] = (int64_t)rng_below(r, (uint32_t)t->nodes);
        for (int f = 0; f < F; f++)
            x[k][f] = t->x[who[k]][f] = draw_feature(r, t->sparse);
        label[k] = t->label[who[k]] = (int32_t)rng_below(r, 3) - 1;
    }
    struct consm_arrays rows = {.size = sizeof rows, .nodes = COUNT, .features = F, .feature = x};
    OK(consm_graph_set_features(g, who, &rows));
    OK(consm_graph_set_labels(g, who, label, COUNT));
}

static struct consm_model *train(const char *model, const struct consm_dataset *d,
                                 const char *coverage)
{
    struct consm_options *o;
    struct consm_model *m;
    OK(consm_options_new(&o, model));
    OK(consm_options_set(o, "epochs", "3"));
    OK(consm_options_set(o, "hidden", "8"));
    OK(consm_options_set(o, "threads", "1"));
    OK(consm_options_set(o, "coverage", coverage));
    if (strcmp(model, "consm") == 0)
        OK(consm_options_set(o, "backbone", "gcn"));
    OK(consm_train(&m, d, o));
    consm_options_free(o);
    return m;
}

/* Rounds of changes of every kind; most: changed nodes after which there is a new base. */
static void grow(bool weighted, bool sparse, bool named, int64_t most)
{
    static const char *const model[] = {"gcn", "gat", "dropedge", "h2gcn", "consm", "fagcn"};
    enum { MODELS = sizeof model / sizeof *model, ROUNDS = 4 };
    struct truth *t = truth_new(weighted, sparse, named, 3);
    struct consm_dataset *d = build(t);
    struct consm_graph *g;
    struct consm_model *m[MODELS];
    struct consm_predictor *p[MODELS];
    struct rng r;
    rng_init(&r, 9, 2);
    OK(consm_graph_new(&g, d));
    g->most = most;
    g->aside = false;
    for (int i = 0; i < MODELS; i++) {
        m[i] = train(model[i], d, i == 0 ? "0.8" : "0");
        OK(consm_predictor_new_on(&p[i], m[i], g, 1));
        predictor_set_largest(p[i], 1);
    }
    consm_dataset_free(d);
    check(t, g, p, (const struct consm_model *const *)m, MODELS);
    for (int k = 0; k < ROUNDS; k++) {
        add_edges(t, &r, g);
        check(t, g, p, (const struct consm_model *const *)m, 1);
        add_nodes(t, &r, g);
        set_rows(t, &r, g);
        add_edges(t, &r, g);
        remove_edges(t, &r, g);
        check(t, g, p, (const struct consm_model *const *)m, MODELS);
    }
    for (int i = 0; i < MODELS; i++) {
        consm_predictor_free(p[i]);
        consm_model_free(m[i]);
    }
    consm_graph_free(g);
    mem_free(t);
}

static void dense_rows(void **state)
{
    (void)state;
    grow(false, false, true, 1 << 20);
}

static void sparse_weighted_rows(void **state)
{
    (void)state;
    grow(true, true, false, 1 << 20);
}

static void new_bases(void **state)
{
    (void)state;
    grow(true, false, true, 60);
}

/* Changes made while a new base is built are in the new base; repeatedly, with changes of every
 * kind, of old nodes and of new ones. */
static void changes_outlive_a_new_base(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        struct truth *t = truth_new(true, sparse, true, 7);
        struct consm_dataset *d = build(t);
        struct consm_model *m = train("gcn", d, "0");
        const struct consm_model *const one = m;
        struct consm_graph *g;
        struct consm_predictor *p;
        struct rng r;
        rng_init(&r, 21, 2);
        OK(consm_graph_new(&g, d));
        g->most = 1 << 20;
        OK(consm_predictor_new_on(&p, m, g, 1));
        predictor_set_largest(p, 1);
        for (int k = 0; k < 4; k++) {
            add_edges(t, &r, g);
            add_nodes(t, &r, g);
            set_rows(t, &r, g);
            struct version *from = version_hold(g); /* what the builder sees */
            remove_edges(t, &r, g);
            set_rows(t, &r, g);
            if (k != 1) { /* once without new nodes */
                add_nodes(t, &r, g);
                add_edges(t, &r, g);
            }
            const struct consm_dataset *before = g->now->base;
            OK(base_build(g, from));
            assert_true(g->now->base != before && g->now->changed.count > 0);
            assert_true(g->now->base->data->nodes == from->nodes);
            version_release(g, from);
            check(t, g, &p, &one, 1);
        }
        consm_predictor_free(p);
        consm_graph_free(g);
        consm_model_free(m);
        consm_dataset_free(d);
        mem_free(t);
    }
}

/* ---- tables -------------------------------------------------------------- */

/* The model's recipe reads new rows of a table, including unknown values. */
static void recipes_read_new_rows(void **state)
{
    enum { P = 60, NEW_ROWS = 3 };
    static char id[P + NEW_ROWS][16], day[P + NEW_ROWS][40];
    static const char *name[P + NEW_ROWS], *when[P + NEW_ROWS], *kind[P + NEW_ROWS];
    static double amount[P + NEW_ROWS];
    static int32_t from[P], to[P], label[P + NEW_ROWS];
    static const char *const kinds[] = {"shop", "person", "bank"};
    const int64_t ends[2][NEW_ROWS] = {{P, P + 1, P + 2}, {3, P, 7}};
    (void)state;
    for (int i = 0; i < P + NEW_ROWS; i++) {
        snprintf(id[i], sizeof id[i], "p%d", i);
        snprintf(day[i], sizeof day[i], "2024-%02d-%02d", 1 + i % 12, 1 + i % 28);
        name[i] = id[i];
        when[i] = day[i];
        kind[i] = i < P ? kinds[i % 3] : i == P ? "casino" : kinds[i % 3];
        amount[i] = i == P + 1 ? (double)NAN : i * 1.5;
        label[i] = i % 2;
        if (i < P) {
            from[i] = i;
            to[i] = (i + 2) % P;
        }
    }
    struct consm_column column[3] = {{.size = sizeof *column, .name = "since", .text = when},
                                     {.size = sizeof *column, .name = "kind", .text = kind},
                                     {.size = sizeof *column, .name = "amount", .number = amount}};
    const struct consm_column *columns[3] = {&column[0], &column[1], &column[2]};
    struct consm_arrays all = {.size = sizeof all,
                               .nodes = P,
                               .edges = P,
                               .classes = 2,
                               .from = from,
                               .to = to,
                               .label = label,
                               .node_id = name,
                               .columns = 3,
                               .column = columns};
    struct consm_dataset *d, *anew, *refused;
    OK(consm_dataset_from_arrays(&d, &all));
    struct consm_model *m = train("gcn", d, "0");
    struct consm_graph *g;
    struct consm_predictor *p;
    struct consm_prediction *some, *whole;
    OK(consm_graph_new(&g, d));
    OK(consm_predictor_new_on(&p, m, g, 1));
    predictor_set_largest(p, 1);
    struct consm_arrays rows = all;
    for (int k = 0; k < 3; k++) {
        column[k].text += column[k].text ? P : 0;
        column[k].number += column[k].number ? P : 0;
    }
    rows.nodes = NEW_ROWS;
    rows.edges = 0;
    rows.from = rows.to = NULL;
    rows.label = label + P;
    rows.node_id = name + P;
    OK(consm_graph_add_nodes(g, &rows, NULL));
    OK(consm_graph_add_edges(g, ends[0], ends[1], NULL, NEW_ROWS));
    OK(consm_predictor_nodes(&some, p, ends[0], NEW_ROWS));

    int32_t more_from[P + NEW_ROWS], more_to[P + NEW_ROWS];
    for (int k = 0; k < P + NEW_ROWS; k++) {
        more_from[k] = k < P ? from[k] : (int32_t)ends[0][k - P];
        more_to[k] = k < P ? to[k] : (int32_t)ends[1][k - P];
    }
    for (int k = 0; k < 3; k++) {
        column[k].text -= column[k].text ? P : 0;
        column[k].number -= column[k].number ? P : 0;
    }
    all.nodes = all.edges = P + NEW_ROWS;
    all.from = more_from;
    all.to = more_to;
    OK(consm_dataset_from_arrays(&anew, &all));
    OK(consm_predict(&whole, m, anew, 1));
    assert_memory_equal(some->probability, whole->probability + 2 * P,
                        (size_t)(2 * NEW_ROWS) * sizeof(float));
    assert_int_equal(consm_graph_dataset(&refused, g), CONSM_EINVAL);
    assert_non_null(strstr(consm_errmsg(), "not added to it"));
    consm_prediction_free(some);
    consm_prediction_free(whole);
    consm_predictor_free(p);
    consm_graph_free(g);
    consm_model_free(m);
    consm_dataset_free(anew);
    consm_dataset_free(d);
}

/* ---- readers and a writer ------------------------------------------------ */

struct reading {
    struct consm_graph *graph;
    struct consm_predictor *predictor;
};

static void *read_on(void *arg)
{
    const struct reading *w = arg;
    for (int64_t k = 0; k < 20; k++) {
        struct consm_prediction *p;
        int64_t asked[2] = {k % N, consm_graph_nodes(w->graph) - 1};
        OK(consm_predictor_nodes(&p, w->predictor, asked, 2));
        assert_true(isfinite(p->confidence[0]) && isfinite(p->confidence[1]));
        consm_prediction_free(p);
    }
    return NULL;
}

static void readers_and_a_writer(void **state)
{
    enum { READERS = 32, ROUNDS = 8 };
    struct truth *t = truth_new(false, false, true, 5);
    struct consm_dataset *d = build(t);
    struct consm_model *m = train("gcn", d, "0");
    struct consm_graph *g;
    struct consm_predictor *p;
    pthread_t thread[READERS];
    struct rng r;
    (void)state;
    rng_init(&r, 11, 3);
    OK(consm_graph_new(&g, d));
    g->most = 30; /* a thread changes bases under readers and writer, too */
    OK(consm_predictor_new_on(&p, m, g, 1));
    predictor_set_largest(p, 1);
    struct reading reading = {g, p};
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_on, &reading), 0);
    for (int k = 0; k < ROUNDS; k++) {
        add_edges(t, &r, g);
        add_nodes(t, &r, g);
        set_rows(t, &r, g);
        remove_edges(t, &r, g);
    }
    for (int i = 0; i < READERS; i++)
        pthread_join(thread[i], NULL);
    base_wait(g);
    assert_true(g->now->base != d); /* it did */
    const struct consm_model *const one = m;
    check(t, g, &p, &one, 1);
    consm_predictor_free(p);
    consm_graph_free(g);
    consm_model_free(m);
    consm_dataset_free(d);
    mem_free(t);
}

/* Ids of old nodes and of new ones; a short buffer cuts them. */
static void nodes_tell_their_ids(void **state)
{
    static const char *const id[] = {"Zoe", "a long name"};
    float row[2 * F] = {0};
    struct truth *t = truth_new(false, false, true, 5);
    struct consm_dataset *d = build(t);
    struct consm_arrays rows = {
        .size = sizeof rows, .nodes = 2, .features = F, .feature = row, .node_id = id};
    struct consm_graph *g;
    char out[64], buffer[24];
    int64_t first;
    (void)state;
    OK(consm_graph_new(&g, d));
    OK(consm_graph_add_nodes(g, &rows, &first));
    OK(consm_graph_id(out, sizeof out, g, 4));
    assert_string_equal(out, consm_node_id(d, 4, buffer));
    OK(consm_graph_id(out, sizeof out, g, first + 1));
    assert_string_equal(out, "a long name");
    OK(consm_graph_id(out, 4, g, first + 1));
    assert_string_equal(out, "a l");
    FAILS(consm_graph_id(out, 4, g, first + 2), CONSM_ENOTFOUND, "does not exist");
    FAILS(consm_graph_id(out, 0, g, first), CONSM_EINVAL, "room");
    consm_graph_free(g);
    consm_dataset_free(d);
    mem_free(t);
}

/* A version that a reader holds does not change. */
static void a_reader_keeps_its_version(void **state)
{
    struct truth *t = truth_new(false, false, true, 6);
    struct consm_dataset *d = build(t), *before, *after;
    struct consm_graph *g;
    struct rng r;
    int64_t nodes = d->data->nodes;
    (void)state;
    rng_init(&r, 1, 4);
    OK(ZNEW(d->data->role, nodes)); /* a split: it stays */
    for (int64_t i = 0; i < nodes; i++)
        d->data->role[i] = d->data->label[i] < 0 ? SPLIT_NONE : (uint8_t)(SPLIT_TRAIN + i % 3);
    d->data->splits = 1;
    OK(consm_graph_new(&g, d));
    add_edges(t, &r, g);
    struct consm_dataset *then = build(t);
    struct version *held = version_hold(g);
    add_nodes(t, &r, g);
    remove_edges(t, &r, g);
    OK(version_dataset(&before, held));
    same_dataset(before, then);
    OK(consm_graph_dataset(&after, g));
    assert_int_equal(after->data->nodes, before->data->nodes + MORE);
    assert_int_equal(after->data->splits, 1);
    assert_memory_equal(after->data->role, d->data->role, (size_t)nodes);
    for (int64_t i = nodes; i < after->data->nodes; i++)
        assert_int_equal(after->data->role[i], SPLIT_NONE);
    version_release(g, held);
    consm_dataset_free(then);
    consm_dataset_free(before);
    consm_dataset_free(after);
    consm_graph_free(g);
    consm_dataset_free(d);
    mem_free(t);
}

/* ---- faults -------------------------------------------------------------- */

static void refused(consm_status got, consm_status expected, const char *message)
{
    if (got != expected || !strstr(consm_errmsg(), message))
        fail_msg("got %d \"%s\": expected %d \"%s\"", got, consm_errmsg(), expected, message);
}

static void faults_change_nothing(void **state)
{
    struct truth *t = truth_new(false, false, true, 8);
    struct consm_dataset *d = build(t), *now;
    struct consm_graph *g;
    static const float row[F + 1];
    const float weight[2] = {1, 2};
    const char *twice = "n5", *fresh = "fresh";
    int64_t a = 0, b = 0, found;
    (void)state;
    OK(consm_graph_new(&g, d));
    while (t->edge[a][b] == 0)
        b = (b + 1) % N, a += b == 0;
    const int64_t from[2] = {a, a}, to[2] = {b, N}, own[1] = {4}, none[1] = {-1};
    int64_t stranger[2] = {b, 0};
    while (t->edge[a][stranger[1]] != 0 || stranger[1] == a)
        stranger[1]++;
    const int32_t label[1] = {2};
    struct consm_arrays rows = {
        .size = sizeof rows, .nodes = 1, .features = F, .feature = row, .node_id = &twice};
    refused(consm_graph_add_edges(g, from, to, NULL, 2), CONSM_ENOTFOUND, "edge 1 joins nodes");
    refused(consm_graph_add_edges(g, own, own, NULL, 1), CONSM_EINVAL, "to itself");
    refused(consm_graph_add_edges(g, from, to, weight, 1), CONSM_EINVAL, "without weights");
    refused(consm_graph_remove_edges(g, from, stranger, 2), CONSM_ENOTFOUND, "edges to remove");
    refused(consm_graph_add_nodes(g, &rows, NULL), CONSM_EINVAL, "node \"n5\" exists already");
    rows.node_id = NULL;
    refused(consm_graph_add_nodes(g, &rows, NULL), CONSM_EINVAL, "have ids");
    rows.node_id = &fresh;
    rows.features = F + 1;
    refused(consm_graph_add_nodes(g, &rows, NULL), CONSM_EINVAL, "13 features: expected 12");
    refused(consm_graph_set_features(g, own, &rows), CONSM_EINVAL, "13 features: expected 12");
    rows.features = F;
    refused(consm_graph_set_features(g, none, &rows), CONSM_ENOTFOUND, "no node number -1");
    refused(consm_graph_set_labels(g, own, label, 1), CONSM_EINVAL, "label 0 is 2");
    refused(consm_graph_find(&found, g, &fresh, 1), CONSM_ENOTFOUND, "no node \"fresh\"");
    OK(consm_graph_dataset(&now, g));
    same_dataset(now, d);
    consm_dataset_free(now);
    OK(consm_graph_add_nodes(g, &rows, NULL));
    OK(consm_graph_find(&found, g, &fresh, 1));
    assert_int_equal(found, N);
    OK(consm_graph_find(&found, g, &twice, 1));
    assert_int_equal(found, 5);
    consm_graph_free(g);
    consm_dataset_free(d);
    mem_free(t);
}

/* ---- memory that runs out ------------------------------------------------ */

static struct consm_model *small_model;

static consm_status grow_a_little(void)
{
    const int32_t from[4] = {0, 1, 2, 3}, to[4] = {1, 2, 3, 0}, label[4] = {0, 1, 0, -1};
    const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const char *const id[4] = {"a", "b", "c", "d"}, *const fresh = "e";
    const int64_t one[1] = {4}, other[1] = {2};
    struct consm_arrays all = {.size = sizeof all,
                               .nodes = 4,
                               .edges = 4,
                               .features = 2,
                               .classes = 2,
                               .from = from,
                               .to = to,
                               .feature = x,
                               .label = label,
                               .node_id = id};
    struct consm_arrays row = {
        .size = sizeof row, .nodes = 1, .features = 2, .feature = x, .node_id = &fresh};
    struct consm_dataset *d = NULL, *now = NULL;
    struct consm_graph *g = NULL;
    struct consm_predictor *p = NULL;
    struct consm_prediction *said = NULL;
    struct version *held = NULL;
    consm_status st = CONSM_OK;
    TRY(consm_dataset_from_arrays(&d, &all));
    TRY(consm_graph_new(&g, d));
    TRY(consm_predictor_new_on(&p, small_model, g, 1));
    predictor_set_largest(p, 1);
    TRY(consm_graph_add_nodes(g, &row, NULL));
    TRY(consm_graph_add_edges(g, one, other, NULL, 1));
    row.node_id = NULL;
    TRY(consm_graph_set_features(g, other, &row));
    TRY(consm_predictor_nodes(&said, p, one, 1));
    TRY(consm_graph_remove_edges(g, other, one, 1));
    TRY(consm_graph_set_labels(g, one, label, 1));
    held = version_hold(g);
    TRY(consm_graph_add_edges(g, other, one, NULL, 1));
    TRY(base_build(g, held)); /* a new base, and an edge that came later */
    TRY(consm_graph_dataset(&now, g));
done:
    consm_prediction_free(said);
    version_release(g, held);
    consm_predictor_free(p);
    consm_graph_free(g);
    consm_dataset_free(now);
    consm_dataset_free(d);
    return st;
}

static void memory_may_run_out(void **state)
{
    static consm_status (*const calls[])(void) = {grow_a_little};
    struct consm_dataset *d;
    (void)state;
    OK(consm_dataset_open(&d, "csbm:nodes=30,classes=2,features=2", NULL));
    small_model = train("gcn", d, "0");
    consm_dataset_free(d);
    memory_runs_out(calls, 1, 100);
    consm_model_free(small_model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_rows),
        cmocka_unit_test(sparse_weighted_rows),
        cmocka_unit_test(new_bases),
        cmocka_unit_test(changes_outlive_a_new_base),
        cmocka_unit_test(recipes_read_new_rows),
        cmocka_unit_test(readers_and_a_writer),
        cmocka_unit_test(a_reader_keeps_its_version),
        cmocka_unit_test(nodes_tell_their_ids),
        cmocka_unit_test(faults_change_nothing),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
