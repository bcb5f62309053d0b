/* Networks that were tried without distrusted edges, as companions of ConSM: each predicts without
 * the edges in which ConSM has less trust than one threshold. The file, a resumed run and a few
 * nodes give the same bits; a refit leaves their parameters. test_companions.c has the rest. */
#include "check.h"

#include "app/objects.h"
#include "graph/edges.h"
#include "train/edge_trust.h"
#include "train/session.h"
#include <math.h>
#include <unistd.h>

/* A run with such companions, and whether ConSM itself leaves out edges in the end. */
static const struct {
    const char *graph;
    uint64_t seed;
    bool dropped;
} runs[] = {
    {"csbm:nodes=240,classes=3,degree=5,homophily=0.5,features=8,signal=0.8,seed=3", 2, true},
    {"csbm:nodes=240,classes=3,degree=5,homophily=0.6,features=8,signal=0.8,seed=3", 1, false},
    {"csbm:nodes=240,classes=3,degree=5,homophily=0.5,features=8,signal=0.8,seed=3", 7, true}};
enum { OWN = 2, RUNS = sizeof runs / sizeof *runs }; /* OWN: with ConSM's own, over all edges */

static struct consm_options *options(int run)
{
    static const char *const few[][2] = {
        {"warmup", "12"},    {"rounds", "1"},        {"gnn_steps", "4"},  {"match_steps", "10"},
        {"add_share", "0"},  {"guesses", "no"},      {"entropy", "0"},    {"attract", "zeta"},
        {"per_class", "20"}, {"metric", "accuracy"}, {"with_trees", "no"}};
    struct consm_options *o;
    OK(consm_options_new(&o, "consm"));
    o->threads = 1;
    o->seed = runs[run].seed;
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        OK(consm_options_set(o, few[i][0], few[i][1]));
    return o;
}

static struct consm_dataset *opened(int run)
{
    struct consm_dataset *d;
    OK(consm_dataset_open(&d, runs[run].graph, NULL));
    return d;
}

static struct consm_model *trained(const struct consm_dataset *d, int run, const char *name,
                                   const char *value)
{
    struct consm_model *m;
    struct consm_options *o = options(run);
    if (name)
        OK(consm_options_set(o, name, value));
    OK(consm_train(&m, d, o));
    consm_options_free(o);
    return m;
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

static void same_answers(const struct consm_model *a, const struct consm_model *b,
                         const struct consm_dataset *d)
{
    struct consm_prediction *p, *q;
    struct consm_edge_scores *s, *t;
    OK(consm_predict(&p, a, d, 1));
    OK(consm_predict(&q, b, d, 2));
    OK(consm_score_edges(&s, a, d, 1));
    OK(consm_score_edges(&t, b, d, 2));
    assert_memory_equal(p->probability, q->probability,
                        (size_t)(p->nodes * p->classes) * sizeof *p->probability);
    assert_true(s->edges > 0 && s->edges == t->edges);
    assert_memory_equal(s->score, t->score, (size_t)s->edges * sizeof *s->score);
    consm_prediction_free(p);
    consm_prediction_free(q);
    consm_edge_scores_free(s);
    consm_edge_scores_free(t);
}

/* ---- what they predict ----------------------------------------------------------- */

/* A graph of the edges whose score is not below a threshold. */
static struct csr *trusted(const struct edge_trust *t, int64_t nodes, double below)
{
    struct csr *out;
    int32_t *left = calloc((size_t)t->edges->count, sizeof *left);
    int32_t *right = calloc((size_t)t->edges->count, sizeof *right);
    int64_t count = 0;
    for (int64_t e = 0; e < t->edges->count; e++)
        if ((double)t->score[e] >= below) {
            left[count] = t->edges->left[e];
            right[count++] = t->edges->right[e];
        }
    assert_true(count > 0 && count < t->edges->count);
    OK(csr_from_edges(&out, nodes, nodes, count, left, right, NULL, CSR_UNDIRECTED, NULL));
    free(left);
    free(right);
    return out;
}

struct mean {
    double *of; /* (n, c): Σ votes/all · softmax(logits / T) */
    double votes;
};

static void mix_in(struct mean *to, const struct consm_model *m, const struct problem *p,
                   struct backend *backend, double votes, double temperature)
{
    struct session *s;
    const float *logits;
    int64_t c = p->classes;
    OK(model_session(&s, m, p, backend));
    OK(session_logits(&logits, s));
    for (int64_t i = 0; i < p->nodes; i++) {
        double sum = 0;
        for (int64_t j = 0; j < c; j++)
            sum += exp((double)logits[i * c + j] / temperature);
        for (int64_t j = 0; j < c; j++)
            to->of[i * c + j] +=
                votes / to->votes * exp((double)logits[i * c + j] / temperature) / sum;
    }
    session_free(s);
}

/* Each network over the edges that it should see, which are cut out here. */
static consm_status add_up(void *ctx, const struct consm_model *m, const struct problem *p,
                           struct backend *backend)
{
    struct mean *to = ctx;
    struct session *consm;
    struct edge_trust trust;
    struct views *views;
    struct problem less = *p;
    assert_non_null(to->of = calloc((size_t)(p->nodes * p->classes), sizeof *to->of));
    to->votes = (double)m->own_votes;
    for (int64_t i = 0; i < m->companions; i++)
        to->votes += (double)m->companion[i]->picks;
    OK(model_session(&consm, m, p, backend));
    OK(session_trust(&trust, consm));
    struct csr *graph = trusted(&trust, p->nodes, model_companions_below(m));
    OK(views_new(&views, graph));
    less.graph = graph;
    less.views = views;
    mix_in(to, m, p, backend, (double)m->own_votes, m->own_temperature);
    for (int64_t i = 0; i < m->companions; i++) {
        const struct consm_model *one = m->companion[i];
        mix_in(to, one, one->config.drop_below > 0 ? &less : p, backend, (double)one->picks,
               one->temperature);
    }
    edge_trust_free(&trust);
    session_free(consm);
    views_free(views);
    csr_free(graph);
    return CONSM_OK;
}

static void they_see_trusted_edges_only(void **state)
{
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        struct consm_dataset *d = opened(run);
        struct consm_model *m = trained(d, run, NULL, NULL);
        struct consm_prediction *p;
        struct mean mean;
        assert_true(clean_ones(m) > 0);
        assert_true((m->config.drop_below > 0) == runs[run].dropped);
        OK(model_on_dataset(m, d, 1, add_up, &mean));
        OK(consm_predict(&p, m, d, 1));
        for (int64_t i = 0; i < p->nodes; i++) {
            int64_t best = 0;
            for (int32_t k = 1; k < p->classes; k++)
                if (mean.of[i * p->classes + k] > mean.of[i * p->classes + best])
                    best = k;
            assert_int_equal(p->label[i], best);
        }
        free(mean.of);
        consm_prediction_free(p);
        consm_model_free(m);
        consm_dataset_free(d);
    }
}

/* ConSM's network before it left out edges. */
static void the_network_over_all_edges_may_be_one(void **state)
{
    (void)state;
    struct consm_dataset *d = opened(OWN);
    struct consm_model *m = trained(d, OWN, NULL, NULL);
    int found = 0;
    for (int i = 0; i < m->result.companions.count; i++)
        if (m->result.companions.of[i].number == 0) {
            assert_false(m->result.companions.of[i].clean);
            found++;
        }
    assert_int_equal(found, 1);
    consm_model_free(m);
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
    struct csr *out;
    int32_t *left = calloc((size_t)graph->nnz, sizeof *left);
    int32_t *right = calloc((size_t)graph->nnz, sizeof *right);
    int64_t count = 0;
    for (int32_t i = 0; i < graph->rows; i++)
        for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++)
            if (i < graph->col[e] && (i != w->left || graph->col[e] != w->right)) {
                left[count] = i;
                right[count++] = graph->col[e];
            }
    OK(csr_from_edges(&out, graph->rows, graph->rows, count, left, right, NULL, CSR_UNDIRECTED,
                      NULL));
    free(left);
    free(right);
    return out;
}

static void mix_over(struct mean *to, const struct consm_model *m, const struct problem *p,
                     struct backend *backend, const struct csr *edges, const struct without *w,
                     double votes, double temperature)
{
    struct consm_model held = *m;
    struct problem less = *p;
    struct views *views;
    struct csr *graph = cut(edges, w);
    held.config.drop_below = 0;
    OK(views_new(&views, graph));
    less.graph = graph;
    less.views = views;
    mix_in(to, &held, &less, backend, votes, temperature);
    views_free(views);
    csr_free(graph);
}

/* Each network over the edges that it has in the whole graph, without one. */
static consm_status hold(void *ctx, const struct consm_model *m, const struct problem *p,
                         struct backend *backend)
{
    struct without *w = ctx;
    struct session *consm;
    struct edge_trust trust;
    struct mean mean = {.votes = (double)m->result.companions.votes};
    int64_t c = p->classes;
    float *row = calloc((size_t)c, sizeof *row);
    assert_non_null(mean.of = calloc((size_t)(p->nodes * c), sizeof *mean.of));
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
        struct consm_model *m = trained(d, run, NULL, NULL);
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
        consm_model_free(m);
        consm_dataset_free(d);
    }
}

/* ---- the file -------------------------------------------------------------------- */

/* A file in which a companion leaves out other edges than the rest is refused. */
static void refuse_two_thresholds(struct consm_model *m, const char *path)
{
    struct consm_model *loaded;
    struct consm_model *last = m->companion[m->companions - 1];
    const double kept = last->config.drop_below;
    last->config.drop_below = 0.9;
    OK(consm_model_save(m, path));
    FAILS(consm_model_load(&loaded, path), CONSM_EFORMAT,
          "drop_below 0.9: expected 0 or that of another companion");
    last->config.drop_below = kept;
}

static void the_file_holds_them(void **state)
{
    (void)state;
    char path[] = "/tmp/consm-clean-XXXXXX";
    const int64_t nodes[] = {3, 77};
    for (int run = 0; run < RUNS; run++) {
        struct consm_dataset *d = opened(run);
        struct consm_model *m = trained(d, run, NULL, NULL), *loaded;
        struct consm_prediction *all, *some;
        struct consm_explanation *why;
        strcpy(path, "/tmp/consm-clean-XXXXXX");
        close(mkstemp(path));
        OK(consm_model_save(m, path));
        OK(consm_model_load(&loaded, path));
        assert_true(model_companions_below(loaded) == model_companions_below(m));
        same_answers(m, loaded, d);
        OK(consm_predict(&all, loaded, d, 1));
        OK(consm_predict_nodes(&some, loaded, d, nodes, 2, 1));
        for (int i = 0; i < 2; i++)
            assert_memory_equal(some->probability + i * all->classes,
                                all->probability + nodes[i] * all->classes,
                                (size_t)all->classes * sizeof(float));
        OK(consm_explain(&why, loaded, d, 3, NULL));
        assert_near((double)why->probability, (double)all->confidence[3], 1e-6);
        consm_explanation_free(why);
        consm_prediction_free(all);
        consm_prediction_free(some);
        refuse_two_thresholds(m, path);
        consm_model_free(m);
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
    char path[] = "/tmp/consm-clean-XXXXXX";
    struct consm_dataset *d = opened(0);
    struct consm_options *o = options(0);
    struct consm_model *whole, *part;
    int64_t calls = 0;
    consm_options_on_progress(o, count_calls, &calls);
    OK(consm_train(&whole, d, o));
    close(mkstemp(path));
    assert_true(calls > 100);
    const int64_t at[] = {calls * 2 / 3, calls * 4 / 5, calls * 9 / 10, calls};
    for (int i = 0; i < 4; i++) {
        int64_t left = at[i];
        unlink(path);
        consm_options_on_progress(o, stop, &left);
        OK(consm_options_checkpoint(o, path, 0, true));
        FAILS(consm_train(&part, d, o), CONSM_ECANCEL, "");
        OK(consm_train(&part, d, o));
        assert_int_equal(part->companions, whole->companions);
        same_answers(whole, part, d);
        consm_model_free(part);
    }
    consm_model_free(whole);
    unlink(path);
    consm_options_free(o);
    consm_dataset_free(d);
}

/* Those over fewer edges keep their parameters, the others learn anew. */
static void a_refit_leaves_them(void **state)
{
    (void)state;
    struct consm_dataset *d = opened(0);
    struct consm_model *m = trained(d, 0, NULL, NULL), *again = trained(d, 0, "refit", "yes");
    assert_int_equal(again->companions, m->companions);
    assert_true(clean_ones(again) > 0);
    for (int64_t k = 0; k < m->companions; k++) {
        const struct model_tensor *a = &m->companion[k]->tensor[0],
                                  *b = &again->companion[k]->tensor[0];
        int same = memcmp(a->value, b->value, (size_t)(a->rows * a->cols) * sizeof(float)) == 0;
        assert_string_equal(a->name, b->name);
        assert_int_equal(same, m->companion[k]->config.drop_below > 0);
    }
    consm_model_free(m);
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
    return cmocka_run_group_tests(tests, NULL, NULL);
}
