/* A clean graph: which edges are dropped, what stays of the dataset, and suggested missing edges.
 */
#include "failing_memory.h"

#include "app/objects.h"
#include "base/alloc.h"
#include "base/rng.h"
#include "match/near.h"
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- choosing ------------------------------------------------------------ */

enum { EDGES = 6 };

static void edges_are_chosen_by_trust(void **state)
{
    (void)state;
    float score[EDGES] = {0.9f, 0.1f, 0.45f, 0.6f, 0.2f, 0.45f};
    uint8_t kept[EDGES] = {1, 0, 1, 1, 0, 1}, dropped[EDGES];
    struct consm_edge_scores s = {.edges = EDGES, .score = score, .kept = kept, .threshold = 0.4};
    struct consm_clean_options o = {.size = sizeof o, .share = -1, .threshold = -1};
    OK(consm_clean_choose(dropped, &s, NULL)); /* what the model does not keep */
    assert_memory_equal(dropped, ((uint8_t[]){0, 1, 0, 0, 1, 0}), EDGES);
    OK(consm_clean_choose(dropped, &s, &o));
    assert_memory_equal(dropped, ((uint8_t[]){0, 1, 0, 0, 1, 0}), EDGES);
    o.threshold = 0.5;
    OK(consm_clean_choose(dropped, &s, &o));
    assert_memory_equal(dropped, ((uint8_t[]){0, 1, 1, 0, 1, 1}), EDGES);
    o.share = 0.5; /* three: of equal scores the earlier */
    OK(consm_clean_choose(dropped, &s, &o));
    assert_memory_equal(dropped, ((uint8_t[]){0, 1, 1, 0, 1, 0}), EDGES);
    o.share = 0;
    OK(consm_clean_choose(dropped, &s, &o));
    assert_memory_equal(dropped, ((uint8_t[]){0, 0, 0, 0, 0, 0}), EDGES);
    o.share = 1.5;
    FAILS(consm_clean_choose(dropped, &s, &o), CONSM_EINVAL, "at most 1");
    o.share = NAN;
    FAILS(consm_clean_choose(dropped, &s, &o), CONSM_EINVAL, "at most 1");
    FAILS(consm_clean_choose(NULL, &s, NULL), CONSM_EINVAL, "dropped");
}

/* ---- the dataset --------------------------------------------------------- */

static consm_status try_small_graph(struct consm_dataset **out)
{
    static const int32_t from[] = {0, 1, 2, 1, 3, 2}, to[] = {1, 0, 3, 2, 3, 0};
    static const float weight[] = {1, 1, 2, 3, 1, 4};
    static const int32_t label[] = {0, 0, 1, 1};
    struct consm_arrays a = {.size = sizeof a,
                             .nodes = 4,
                             .edges = 6,
                             .classes = 2,
                             .from = from,
                             .to = to,
                             .weight = weight,
                             .label = label};
    return consm_dataset_from_arrays(out, &a);
}

static struct consm_dataset *small_graph(void)
{
    struct consm_dataset *d;
    OK(try_small_graph(&d));
    return d;
}

static void dropped_edges_go_and_all_else_stays(void **state)
{
    (void)state;
    struct consm_dataset *d = small_graph(), *clean;
    int32_t from[] = {0, 0, 1, 2}, to[] = {1, 2, 2, 3}; /* 0-1 is stored twice, 3-3 is a loop */
    uint8_t dropped[] = {1, 0, 0, 1};
    int32_t new_from[] = {0}, new_to[] = {3};
    struct consm_edge_scores s = {.edges = 4, .from = from, .to = to};
    struct consm_edge_scores added = {.edges = 1, .from = new_from, .to = new_to};
    OK(consm_dataset_clean(&clean, d, &s, dropped, &added));
    consm_dataset_free(d); /* the clean one stays valid */
    const struct dataset *c = clean->data;
    assert_int_equal(c->edges, 4);
    assert_memory_equal(c->from, ((int32_t[]){1, 3, 2, 0}), 4 * sizeof *c->from);
    assert_memory_equal(c->to, ((int32_t[]){2, 3, 0, 3}), 4 * sizeof *c->to);
    assert_memory_equal(c->weight, ((float[]){3, 1, 4, 2}), 4 * sizeof *c->weight);
    assert_memory_equal(c->label, ((int32_t[]){0, 0, 1, 1}), 4 * sizeof *c->label);
    const struct prepared *p;
    OK(dataset_prepared(&p, clean));
    assert_int_equal(p->graph->nnz, 2 * 3);
    assert_true(csr_find(p->graph, 0, 1) < 0 && csr_find(p->graph, 0, 3) >= 0);
    consm_dataset_free(clean);
    d = small_graph();
    new_to[0] = 4;
    FAILS(consm_dataset_clean(&clean, d, &s, dropped, &added), CONSM_EINVAL, "expected 0 to 3");
    assert_null(clean);
    consm_dataset_free(d);
}

/* A pair that is added to a graph with weights but without edges has weight 1. */
static void the_first_edge_has_weight_one(void **state)
{
    (void)state;
    static const int32_t label[] = {0, 1, -1, -1};
    static const float weight[1];
    int32_t ends[] = {1, 2};
    struct consm_arrays a = {.size = sizeof a,
                             .nodes = 4,
                             .classes = 2,
                             .from = ends,
                             .to = ends,
                             .weight = weight,
                             .label = label};
    struct consm_dataset *d, *clean;
    struct consm_edge_scores none = {.from = ends, .to = ends};
    struct consm_edge_scores added = {.edges = 1, .from = &ends[0], .to = &ends[1]};
    OK(consm_dataset_from_arrays(&d, &a));
    assert_non_null(d->data->weight);
    OK(consm_dataset_clean(&clean, d, &none, (uint8_t[]){0}, &added));
    assert_int_equal(clean->data->edges, 1);
    assert_true(clean->data->weight[0] == 1);
    consm_dataset_free(clean);
    consm_dataset_free(d);
}

static consm_status clean_it(void)
{
    consm_status st = CONSM_OK;
    struct consm_dataset *d = NULL, *clean = NULL;
    int32_t from[] = {0, 0, 1, 2}, to[] = {1, 2, 2, 3};
    uint8_t dropped[] = {1, 0, 0, 1};
    struct consm_edge_scores s = {.edges = 4, .from = from, .to = to};
    TRY(try_small_graph(&d));
    TRY(consm_dataset_clean(&clean, d, &s, dropped, NULL));
done:
    consm_dataset_free(clean);
    consm_dataset_free(d);
    return st;
}

/* The arrays of the graph that is cleaned are not freed with those of a copy that failed. */
static void memory_runs_out_while_cleaning(void **state)
{
    (void)state;
    static consm_status (*const calls[])(void) = {clean_it};
    memory_runs_out(calls, 1, 8);
}

static void a_clean_graph_can_be_saved(void **state)
{
    (void)state;
    struct consm_dataset *d = small_graph(), *again;
    char folder[] = "/tmp/test_clean_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/graph.npz", folder);
    OK(consm_dataset_save(d, path, NULL));
    OK(consm_dataset_open(&again, path, NULL));
    assert_int_equal(again->data->edges, 6);
    FAILS(consm_dataset_save(d, path, "nonsense"), CONSM_EINVAL, "nonsense");
    consm_dataset_free(again);
    consm_dataset_free(d);
    unlink(path);
    rmdir(folder);
}

/* ---- near pairs ---------------------------------------------------------- */

/* Rows around eight directions; near rows share one. */
static float *clustered(int64_t n, int64_t width)
{
    float *x = mem_alloc((size_t)(n * width), sizeof *x);
    struct rng r;
    rng_init(&r, 3, 3);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < width; k++)
            x[i * width + k] = (float)(0.05 * rng_normal(&r) + (i % 8 == k ? 1 : 0));
    return x;
}

/* More rows than are compared with all others. They are all alike, so that every order is that of
 * their numbers: each finds a row beside it, also the first and the last. */
static void the_first_and_last_row_are_found(void **state)
{
    (void)state;
    enum { ROWS = 4097 };
    static float x[ROWS];
    static uint8_t met[ROWS];
    struct near_list list = {0};
    for (int i = 0; i < ROWS; i++)
        x[i] = 1;
    OK(near_pairs(&list, &(struct near_rows){.rows = ROWS, .width = 1, .dense = x}, 1, 1));
    assert_int_equal(list.count, ROWS);
    for (int64_t k = 0; k < list.count; k++) {
        assert_in_range(list.pair[k][1] - list.pair[k][0], 1, 24);
        met[list.pair[k][0]] = met[list.pair[k][1]] = 1;
    }
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(met[i], 1);
    near_free(&list);
}

/* All against all, and along projections: the share of pairs within a direction. */
static void near_rows_are_found(void **state)
{
    (void)state;
    static const int64_t sizes[] = {200, 5000};
    for (int i = 0; i < 2; i++) {
        int64_t n = sizes[i], width = 16, inside = 0;
        float *x = clustered(n, width);
        struct near_list list = {0};
        struct csr *graph;
        struct near_rows rows = {.rows = n, .width = width, .dense = x};
        int32_t from[] = {0}, to[] = {8};
        OK(csr_from_edges(&graph, n, n, 1, from, to, NULL, CSR_UNDIRECTED, NULL));
        OK(near_pairs(&list, &rows, 5, 1));
        OK(near_pairs(&list, &rows, 5, 1)); /* the same again: repeats are dropped */
        near_tidy(&list, graph);
        for (int64_t k = 0; k < list.count; k++) {
            assert_true(list.pair[k][0] < list.pair[k][1] && list.pair[k][1] < n);
            assert_false(list.pair[k][0] == 0 && list.pair[k][1] == 8);
            inside += list.pair[k][0] % 8 == list.pair[k][1] % 8;
        }
        assert_true(list.count >= n * 5 / 2 && list.count <= n * 5);
        assert_true((double)inside > 0.95 * (double)list.count);
        near_free(&list);
        csr_free(graph);
        mem_free(x);
    }
}

/* Exactly the nearest, compared with a plain loop. */
static void few_rows_are_compared_exactly(void **state)
{
    (void)state;
    enum { N = 40, WIDTH = 5 };
    float *x = clustered(N, WIDTH);
    struct near_list list = {0};
    struct near_rows rows = {.rows = N, .width = WIDTH, .dense = x};
    OK(near_pairs(&list, &rows, 1, 1));
    assert_int_equal(list.count, N);
    for (int64_t i = 0; i < N; i++) {
        int64_t best = -1;
        double largest = -1;
        for (int64_t j = 0; j < N; j++) {
            double xy = 0, xx = 0, yy = 0;
            for (int k = 0; k < WIDTH; k++) {
                double a = (double)x[i * WIDTH + k], b = (double)x[j * WIDTH + k];
                xy += a * b;
                xx += a * a;
                yy += b * b;
            }
            double cosine = xy / sqrt(xx * yy);
            if (j != i && cosine > largest) {
                largest = cosine;
                best = j;
            }
        }
        int64_t other = list.pair[i][0] == i ? list.pair[i][1] : list.pair[i][0];
        assert_int_equal(other, best);
    }
    near_free(&list);
    mem_free(x);
}

/* Suggested pairs are not edges, are sorted, are at most as many as requested, and mostly of one
 * class. */
static void missing_edges_are_suggested(void **state)
{
    (void)state;
    enum { MOST = 60 };
    struct consm_dataset *d;
    struct consm_options *o;
    struct consm_model *model;
    static const char *const models[] = {"consm", "gcn"};
    OK(consm_dataset_open(
        &d, "csbm:nodes=200,classes=2,degree=4,features=16,signal=2.5,homophily=0.8,seed=3", NULL));
    for (int i = 0; i < 2; i++) {
        struct consm_edge_scores *s;
        const struct prepared *p;
        int64_t inside = 0;
        OK(consm_options_new(&o, models[i]));
        OK(consm_options_set(o, "split", "random"));
        OK(consm_options_set(o, "per_class", "15"));
        OK(consm_options_set(o, "epochs", "60"));
        if (i == 0) {
            OK(consm_options_set(o, "backbone", "gcn"));
            OK(consm_options_set(o, "rounds", "1"));
            OK(consm_options_set(o, "warmup", "40"));
            OK(consm_options_set(o, "gnn_steps", "10"));
        }
        OK(consm_train(&model, d, o));
        OK(consm_suggest_edges(&s, model, d, MOST, NULL, 1));
        OK(dataset_prepared(&p, d));
        const int32_t *label = consm_dataset_labels(d);
        assert_int_equal(s->edges, MOST);
        for (int64_t e = 0; e < s->edges; e++) {
            assert_true(s->from[e] < s->to[e]);
            assert_true(csr_find(p->graph, s->from[e], s->to[e]) < 0);
            assert_true(s->score[e] >= 0 && s->score[e] <= 1);
            inside += label[s->from[e]] == label[s->to[e]];
        }
        assert_true(inside > MOST * 8 / 10);
        consm_edge_scores_free(s);
        FAILS(consm_suggest_edges(&s, model, d, -1, NULL, 1), CONSM_EINVAL, "0 or more");
        consm_model_free(model);
        consm_options_free(o);
    }
    consm_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_chosen_by_trust),
        cmocka_unit_test(dropped_edges_go_and_all_else_stays),
        cmocka_unit_test(the_first_edge_has_weight_one),
        cmocka_unit_test(memory_runs_out_while_cleaning),
        cmocka_unit_test(a_clean_graph_can_be_saved),
        cmocka_unit_test(near_rows_are_found),
        cmocka_unit_test(the_first_and_last_row_are_found),
        cmocka_unit_test(few_rows_are_compared_exactly),
        cmocka_unit_test(missing_edges_are_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
