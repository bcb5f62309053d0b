/* Networks that were tried without distrusted edges, as companions of ConSM: each predicts without
 * the edges in which ConSM has less trust than one threshold. The file, a resumed run and a few
 * nodes give the same bits; a refit leaves their parameters. test_companions.c has the rest. */
#include "companions.h"

#include "graph/edges.h"
#include "train/edge_trust.h"

/* A run with such companions, and whether ConSM itself leaves out edges in the end. */
static const struct {
    const char *graph;
    uint64_t seed;
    bool dropped;
} runs[] = {
    {"csbm:nodes=180,classes=3,degree=5,homophily=0.5,features=8,signal=0.8,seed=3", 7, true},
    {"csbm:nodes=180,classes=3,degree=5,homophily=0.5,features=8,signal=0.8,seed=3", 8, false},
    {"csbm:nodes=180,classes=3,degree=5,homophily=0.5,features=8,signal=0.8,seed=3", 1, true}};
enum { OWN = 2, RUNS = sizeof runs / sizeof *runs }; /* OWN: with ConSM's own, over all edges */

static struct consm_options *options(int run)
{
    struct consm_options *o = companion_options(1);
    o->seed = runs[run].seed;
    OK(consm_options_set(o, "per_class", "20"));
    return o;
}

static struct consm_dataset *opened(int run)
{
    struct consm_dataset *d;
    OK(consm_dataset_open(&d, runs[run].graph, NULL));
    return d;
}

/* A run's model, trained for the first test that asks. */
static struct consm_model *first[RUNS];
static struct consm_model *trained(const struct consm_dataset *d, int run)
{
    if (!first[run])
        first[run] = companion_train(d, options(run), NULL, NULL);
    return first[run];
}

static int free_trained(void **state)
{
    (void)state;
    for (int run = 0; run < RUNS; run++)
        consm_model_free(first[run]);
    return 0;
}

static int clean_ones(const struct consm_model *m)
{
    int clean = 0;
    for (int64_t i = 0; i < m->companions; i++) {
        assert_true(m->result.companions.of[i].clean == (m->companion[i]->config.drop_below > 0));
        clean += m->result.companions.of[i].clean;
    }
    return clean;
}

/* ---- what they predict ----------------------------------------------------------- */

/* Edges that a test picks. */
struct picked {
    int64_t count;
    int32_t *left, *right;
};

static struct picked room_for(int64_t edges)
{
    return (struct picked){.left = calloc((size_t)edges, sizeof(int32_t)),
                           .right = calloc((size_t)edges, sizeof(int32_t))};
}

static void pick(struct picked *to, int32_t left, int32_t right)
{
    to->left[to->count] = left;
    to->right[to->count++] = right;
}

/* Their graph; frees them. */
static struct csr *graph_of(struct picked *p, int64_t nodes)
{
    struct csr *out;
    OK(csr_from_edges(&out, nodes, nodes, p->count, p->left, p->right, NULL, CSR_UNDIRECTED, NULL));
    free(p->left);
    free(p->right);
    return out;
}

/* A graph of the edges whose score is not below a threshold. */
static struct csr *trusted(const struct edge_trust *t, int64_t nodes, double below)
{
    struct picked rest = room_for(t->edges->count);
    for (int64_t e = 0; e < t->edges->count; e++)
        if ((double)t->score[e] >= below)
            pick(&rest, t->edges->left[e], t->edges->right[e]);
    assert_true(rest.count > 0 && rest.count < t->edges->count);
    return graph_of(&rest, nodes);
}

/* Adds a network over other edges. */
static void add_over(struct mean *to, const struct consm_model *m, const struct problem *p,
                     struct backend *backend, const struct csr *graph, double votes,
                     double temperature)
{
    struct problem less = *p;
    struct views *views;
    OK(views_new(&views, graph));
    less.graph = graph;
    less.views = views;
    mean_add(to, m, &less, backend, votes, temperature);
    views_free(views);
}

/* Each network over the edges that it should see, which are cut out here. */
static consm_status add_up(void *ctx, const struct consm_model *m, const struct problem *p,
                           struct backend *backend)
{
    struct mean *to = ctx;
    struct session *consm;
    struct edge_trust trust;
    mean_open(to, m, p);
    OK(model_session(&consm, m, p, backend));
    OK(session_trust(&trust, consm));
    struct csr *clean = trusted(&trust, p->nodes, model_companions_below(m));
    mean_add(to, m, p, backend, (double)m->own_votes, m->own_temperature);
    for (int64_t i = 0; i < m->companions; i++) {
        const struct consm_model *one = m->companion[i];
        add_over(to, one, p, backend, one->config.drop_below > 0 ? clean : p->graph,
                 (double)one->picks, one->temperature);
    }
    edge_trust_free(&trust);
    session_free(consm);
    csr_free(clean);
    return CONSM_OK;
}

static void they_see_trusted_edges_only(void **state)
{
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        struct consm_dataset *d = opened(run);
        struct consm_model *m = trained(d, run);
        struct mean mean;
        assert_true(clean_ones(m) > 0);
        assert_true((m->config.drop_below > 0) == runs[run].dropped);
        OK(model_on_dataset(m, d, 1, add_up, &mean));
        mean_predicts(&mean, m, d);
        consm_dataset_free(d);
    }
}

/* ConSM's network before it left out edges. */
static void the_network_over_all_edges_may_be_one(void **state)
{
    (void)state;
    struct consm_dataset *d = opened(OWN);
    struct consm_model *m = trained(d, OWN);
    int found = 0;
    for (int i = 0; i < m->result.companions.count; i++)
        if (m->result.companions.of[i].number == 0) {
            assert_false(m->result.companions.of[i].clean);
            found++;
        }
    assert_int_equal(found, 1);
    consm_dataset_free(d);
}

/* ---- explanations ---------------------------------------------------------------- */

struct without {
    int32_t left, right; /* an edge; -1: none */
    int64_t node;
    int32_t label;
    double log_odds; /* of the label */
};

/* A graph without an edge. */
static struct csr *cut(const struct csr *graph, const struct without *w)
{
    struct picked rest = room_for(graph->nnz);
    for (int32_t i = 0; i < graph->rows; i++)
        for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++)
            if (i < graph->col[e] && (i != w->left || graph->col[e] != w->right))
                pick(&rest, i, graph->col[e]);
    return graph_of(&rest, graph->rows);
}

static void mix_over(struct mean *to, const struct consm_model *m, const struct problem *p,
                     struct backend *backend, const struct csr *edges, const struct without *w,
                     double votes, double temperature)
{
    struct consm_model held = *m;
    struct csr *graph = cut(edges, w);
    held.config.drop_below = 0;
    add_over(to, &held, p, backend, graph, votes, temperature);
    csr_free(graph);
}

/* Each network over the edges that it has in the whole graph, without one. */
static consm_status hold(void *ctx, const struct consm_model *m, const struct problem *p,
                         struct backend *backend)
{
    struct without *w = ctx;
    struct session *consm;
    struct edge_trust trust;
    struct mean mean;
    int64_t c = p->classes;
    float *row = calloc((size_t)c, sizeof *row);
    mean_open(&mean, m, p);
    assert_true(mean.votes == (double)m->result.companions.votes);
    OK(model_session(&consm, m, p, backend));
    OK(session_trust(&trust, consm));
    struct csr *clean = trusted(&trust, p->nodes, model_companions_below(m));
    mix_over(&mean, m, p, backend, views_get(consm->problem->views, VIEW_ADJACENCY), w,
             (double)m->own_votes, m->own_temperature);
    for (int64_t i = 0; i < m->companions; i++) {
        const struct consm_model *one = m->companion[i];
        mix_over(&mean, one, p, backend, one->config.drop_below > 0 ? clean : p->graph, w,
                 (double)one->picks, one->temperature);
    }
    for (int64_t k = 0; k < c; k++)
        row[k] = (float)log(mean.of[w->node * c + k]);
    w->log_odds = model_log_odds(m, row, w->label);
    edge_trust_free(&trust);
    session_free(consm);
    csr_free(clean);
    free(mean.of);
    free(row);
    return CONSM_OK;
}

static void explanations_hold_their_edges(void **state)
{
    (void)state;
    enum { NODE = 3, EDGES = 4 };
    for (int run = 0; run < RUNS; run++) {
        struct consm_dataset *d = opened(run);
        struct consm_model *m = trained(d, run);
        struct consm_explanation *why;
        OK(consm_explain(&why, m, d, NODE, NULL));
        struct without all = {-1, -1, NODE, why->label, 0};
        OK(model_on_dataset(m, d, 1, hold, &all));
        assert_near(why->log_odds, all.log_odds, 1e-4);
        assert_true(why->edges >= EDGES);
        for (int64_t e = 0; e < EDGES; e++) {
            struct without one = {why->edge_from[e], why->edge_to[e], NODE, why->label, 0};
            OK(model_on_dataset(m, d, 1, hold, &one));
            assert_near((double)why->edge_log_odds[e], all.log_odds - one.log_odds, 1e-4);
        }
        assert_true(fabs((double)why->edge_log_odds[0]) > 1e-3);
        consm_explanation_free(why);
        consm_dataset_free(d);
    }
}

/* ---- the file -------------------------------------------------------------------- */

/* A file in which a companion leaves out other edges than another one is refused. */
static void refuse_two_thresholds(struct consm_model *m, const char *path)
{
    struct consm_model *loaded, *changed = m->companion[m->companions - 1];
    if (clean_ones(m) == 1 && changed->config.drop_below > 0)
        changed = m->companion[0];
    assert_true(m->companions > 1);
    const double kept = changed->config.drop_below;
    changed->config.drop_below = 0.9;
    OK(consm_model_save(m, path));
    FAILS(consm_model_load(&loaded, path), CONSM_EFORMAT,
          "expected 0 or that of another companion");
    changed->config.drop_below = kept;
}

static void the_file_holds_them(void **state)
{
    (void)state;
    char path[] = "/tmp/consm-clean-XXXXXX";
    for (int run = 0; run < RUNS; run++) {
        struct consm_dataset *d = opened(run);
        struct consm_model *m = trained(d, run), *loaded;
        strcpy(path, "/tmp/consm-clean-XXXXXX");
        loaded = companions_from_file(path, m, d);
        assert_true(model_companions_below(loaded) == model_companions_below(m));
        refuse_two_thresholds(m, path);
        consm_model_free(loaded);
        unlink(path);
        consm_dataset_free(d);
    }
}

/* ---- runs that are interrupted, and those on all labels ---------------------------- */

static bool stop(void *ctx, const struct consm_progress *p)
{
    (void)p;
    int64_t *left = ctx;
    return --*left == 0;
}

static bool count_calls(void *ctx, const struct consm_progress *p)
{
    (void)p;
    ++*(int64_t *)ctx;
    return false;
}

/* Stopped in the last third, where the trials without edges are, and at the last update. */
static void a_resumed_run_has_them(void **state)
{
    (void)state;
    struct consm_dataset *d = opened(0);
    struct consm_options *o = options(0);
    struct consm_model *whole;
    int64_t calls = 0;
    consm_options_on_progress(o, count_calls, &calls);
    OK(consm_train(&whole, d, o));
    assert_true(calls > 100);
    const int64_t at[] = {calls * 2 / 3, calls * 4 / 5, calls * 9 / 10, calls};
    for (int i = 0; i < 4; i++) {
        int64_t left = at[i];
        companions_resume(whole, d, o, stop, &left);
    }
    consm_model_free(whole);
    consm_options_free(o);
    consm_dataset_free(d);
}

/* Those over fewer edges keep their parameters, the others learn anew. */
static void a_refit_leaves_them(void **state)
{
    (void)state;
    struct consm_dataset *d = opened(0);
    struct consm_model *m = trained(d, 0);
    struct consm_model *again = companion_train(d, options(0), "refit", "yes");
    assert_int_equal(again->companions, m->companions);
    assert_true(clean_ones(again) > 0);
    for (int64_t k = 0; k < m->companions; k++)
        assert_true(same_first_tensor(m->companion[k], again->companion[k]) ==
                    (m->companion[k]->config.drop_below > 0));
    consm_model_free(again);
    consm_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_see_trusted_edges_only),
        cmocka_unit_test(the_network_over_all_edges_may_be_one),
        cmocka_unit_test(explanations_hold_their_edges),
        cmocka_unit_test(the_file_holds_them),
        cmocka_unit_test(a_resumed_run_has_them),
        cmocka_unit_test(a_refit_leaves_them),
    };
    return cmocka_run_group_tests(tests, NULL, free_trained);
}
