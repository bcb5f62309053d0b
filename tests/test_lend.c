/* What datasets share: arrays that make the same dataset again, replaced labels, the list of public
 * sets, and the report of a model trained on them. THREADED */
#include "failing_memory.h"

#include "app/objects.h"
#include <pthread.h>
#include <unistd.h>

static struct consm_model *trained(const struct consm_dataset *data)
{
    struct consm_options *options;
    struct consm_model *model;
    OK(consm_options_new(&options, "gcn"));
    OK(consm_options_set(options, "epochs", "12"));
    OK(consm_options_set(options, "hidden", "8"));
    OK(consm_options_set(options, "split", "auto"));
    OK(consm_train(&model, data, options));
    consm_options_free(options);
    return model;
}

/* Two datasets on which training comes to the same bits. */
static void train_alike(const struct consm_dataset *a, const struct consm_dataset *b)
{
    struct consm_model *of_a = trained(a), *of_b = trained(b);
    struct consm_prediction *p, *q;
    OK(consm_predict(&p, of_a, a, 1));
    OK(consm_predict(&q, of_b, b, 1));
    assert_int_equal(p->nodes, q->nodes);
    assert_memory_equal(p->probability, q->probability,
                        (size_t)(p->nodes * p->classes) * sizeof *p->probability);
    consm_prediction_free(p);
    consm_prediction_free(q);
    consm_model_free(of_a);
    consm_model_free(of_b);
}

static const char sparse_set[] = "csbm:nodes=80,features=40,words=4,homophily=0.8";
static const char dense_set[] = "csbm:nodes=80,features=5,homophily=0.8";

static void arrays_make_the_same_dataset(void **state)
{
    (void)state;
    const char *const sets[] = {sparse_set, dense_set, "karate"};
    for (int i = 0; i < 3; i++) {
        struct consm_dataset *data, *again, *third;
        struct consm_arrays a = {.size = sizeof a};
        OK(consm_dataset_open(&data, sets[i], NULL));
        OK(consm_dataset_arrays(&a, data));
        assert_int_equal(a.wide_starts, i != 1);
        OK(consm_dataset_from_arrays(&again, &a));
        OK(consm_dataset_from_arrays(&third, &a));
        train_alike(again, third);
        assert_int_equal(again->data->edges, data->data->edges);
        assert_memory_equal(again->data->from, a.from, (size_t)a.edges * 4);
        if (a.feature_start)
            assert_memory_equal(again->data->sparse->col, a.feature_column,
                                (size_t)again->data->sparse->nnz * 4);
        else
            assert_memory_equal(again->data->dense, a.feature, (size_t)(a.nodes * a.features) * 4);
        consm_dataset_free(data);
        consm_dataset_free(again);
        consm_dataset_free(third);
    }
}

static void older_programs_are_served(void **state)
{
    (void)state;
    struct consm_dataset *data;
    struct consm_arrays a = {.size = offsetof(struct consm_arrays, wide_starts)};
    OK(consm_dataset_open(&data, sparse_set, NULL));
    /* Without wide_starts the caller could not know their width. */
    FAILS(consm_dataset_arrays(&a, data), CONSM_EINVAL, "");
    consm_dataset_free(data);
}

static void splits_are_lent(void **state)
{
    (void)state;
    uint8_t role[4] = {CONSM_TRAIN, CONSM_VALIDATION, CONSM_TEST, 0};
    int32_t ends[] = {0, 1, 2, 1, 2, 3}, label[] = {0, 1, 0, 1};
    struct consm_arrays a = {.size = sizeof a,
                             .nodes = 4,
                             .edges = 3,
                             .classes = 2,
                             .from = ends,
                             .to = ends + 3,
                             .label = label,
                             .role = role};
    struct consm_dataset *data;
    OK(consm_dataset_from_arrays(&data, &a));
    assert_memory_equal(consm_dataset_roles(data, 0), role, 4);
    assert_null(consm_dataset_roles(data, 1));
    assert_null(consm_dataset_roles(data, -1));
    consm_dataset_free(data);
}

static void labels_replace_a_graphs_own(void **state)
{
    (void)state;
    const char *const name[] = {"even", "odd", "never"};
    struct consm_dataset *graph, *data, *copy;
    struct consm_arrays a = {.size = sizeof a};
    int64_t label[80];
    int32_t narrow[80];
    char buffer[24];
    OK(consm_dataset_open(&graph, dense_set, NULL));
    OK(consm_dataset_arrays(&a, graph));
    for (int i = 0; i < 80; i++)
        narrow[i] = (int32_t)(label[i] = i < 60 ? i % 2 : -5);
    struct consm_labels l = {
        .size = sizeof l, .classes = 3, .wide = true, .label = label, .class_name = name};
    OK(consm_dataset_with_labels(&data, graph, &l));
    a.classes = 3;
    a.label = narrow;
    a.class_name = name;
    OK(consm_dataset_from_arrays(&copy, &a));
    assert_ptr_equal(data->data->dense, graph->data->dense);
    consm_dataset_free(graph); /* what is shared stays */
    assert_string_equal(consm_class_name(data, 1, buffer), "odd");
    assert_int_equal(consm_dataset_labels(data)[79], -1);
    train_alike(data, copy);
    consm_dataset_free(data);
    consm_dataset_free(copy);
}

/* A graph with a split of its own, and other labels without one: both are freed, in any order. */
static void a_split_is_not_shared(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct consm_dataset *both[2];
        int32_t label[96];
        for (int i = 0; i < 96; i++)
            label[i] = i % 2;
        struct consm_labels l = {.size = sizeof l, .classes = 2, .label = label};
        OK(consm_dataset_open(&both[0], TESTS_DIR "/data/models/graph", NULL));
        assert_non_null(both[0]->data->role);
        OK(consm_dataset_with_labels(&both[1], both[0], &l));
        assert_null(both[1]->data->role);
        assert_int_equal(both[1]->data->splits, 0);
        consm_dataset_free(both[first]);
        consm_dataset_free(both[1 - first]);
    }
}

static void wrong_labels_are_refused(void **state)
{
    (void)state;
    struct consm_dataset *graph, *data;
    int32_t label[34] = {0};
    uint8_t role[34] = {0};
    const char *const twice[] = {"a", "a"};
    struct consm_labels l = {.size = sizeof l, .classes = 2, .label = label};
    OK(consm_dataset_open(&graph, "karate", NULL));
    label[7] = 2;
    FAILS(consm_dataset_with_labels(&data, graph, &l), CONSM_EINVAL, "label[7] is 2");
    label[7] = 1;
    role[3] = 9;
    l.role = role;
    FAILS(consm_dataset_with_labels(&data, graph, &l), CONSM_EINVAL, "role[3] is 9");
    l.role = NULL;
    l.class_name = twice;
    FAILS(consm_dataset_with_labels(&data, graph, &l), CONSM_EINVAL, "both \"a\"");
    l.classes = -1;
    FAILS(consm_dataset_with_labels(&data, graph, &l), CONSM_EINVAL, "-1 classes");
    assert_null(data);
    consm_dataset_free(graph);
}

/* ---- one graph, several threads ------------------------------------------- */

static void *relabel_and_train(void *graph)
{
    int32_t label[80];
    for (int i = 0; i < 80; i++)
        label[i] = i % 2;
    struct consm_labels l = {.size = sizeof l, .classes = 2, .label = label};
    for (int round = 0; round < 3; round++) {
        struct consm_dataset *data;
        OK(consm_dataset_with_labels(&data, graph, &l));
        consm_model_free(trained(data));
        consm_dataset_free(data);
    }
    return NULL;
}

static void a_graph_is_shared_by_threads(void **state)
{
    (void)state;
    struct consm_dataset *graph;
    pthread_t thread[3];
    OK(consm_dataset_open(&graph, dense_set, NULL));
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, relabel_and_train, graph), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(graph->owners, 1);
    consm_dataset_free(graph);
}

/* ---- public sets, reports ------------------------------------------------- */

static void public_sets_are_listed(void **state)
{
    (void)state;
    struct consm_known_set s = {.size = sizeof s};
    struct consm_known_file f = {.size = sizeof f};
    int32_t sets = 0;
    bool cora = false;
    while (consm_known_set_get(&s, sets) == CONSM_OK) {
        cora |= strcmp(s.name, "cora") == 0;
        for (int32_t i = 0; i < s.files; i++) {
            OK(consm_known_file_get(&f, s.name, i));
            assert_non_null(strstr(f.base, "://"));
            assert_true(!f.sha256 || strlen(f.sha256) == 64);
        }
        FAILS(consm_known_file_get(&f, s.name, s.files), CONSM_ENOTFOUND, "has no file number");
        sets++;
    }
    assert_true(cora && sets > 5);
    FAILS(consm_known_file_get(&f, "coar", 0), CONSM_ENOTFOUND, "did you mean cora?");
    FAILS(consm_known_set_get(&s, -1), CONSM_ENOTFOUND, "dataset number -1 does not exist");
}

static void a_report_is_written(void **state)
{
    (void)state;
    struct consm_dataset *data;
    struct consm_options *options;
    struct consm_model *model;
    char path[] = "/tmp/consm-lend-XXXXXX", text[200000];
    int fd = mkstemp(path);
    OK(consm_dataset_open(&data, "karate", NULL));
    OK(consm_options_new(&options, "gcn"));
    OK(consm_options_set(options, "per_class", "4"));
    OK(consm_options_set(options, "epochs", "5"));
    OK(consm_train(&model, data, options));
    OK(consm_report_write(path, model, data, options));
    FILE *f = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    assert_non_null(strstr(text, "gcn on karate"));
    assert_null(strstr(text, "--config"));
    FAILS(consm_report_write("/nowhere/at/all.html", model, data, options), CONSM_EIO, "/nowhere");
    close(fd);
    unlink(path);
    consm_model_free(model);
    consm_options_free(options);
    consm_dataset_free(data);
}

static consm_status share_once(void)
{
    consm_status st = CONSM_OK;
    struct consm_dataset *graph = NULL, *data = NULL;
    int32_t label[34] = {0};
    const char *const name[] = {"a", "b"};
    struct consm_labels l = {.size = sizeof l, .classes = 2, .label = label, .class_name = name};
    TRY(consm_dataset_open(&graph, "karate", NULL));
    TRY(consm_dataset_with_labels(&data, graph, &l));
done:
    consm_dataset_free(graph);
    consm_dataset_free(data);
    return st;
}

static void memory(void **state)
{
    (void)state;
    static consm_status (*const calls[])(void) = {share_once};
    memory_runs_out(calls, 1, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_make_the_same_dataset),
        cmocka_unit_test(older_programs_are_served),
        cmocka_unit_test(splits_are_lent),
        cmocka_unit_test(labels_replace_a_graphs_own),
        cmocka_unit_test(a_split_is_not_shared),
        cmocka_unit_test(wrong_labels_are_refused),
        cmocka_unit_test(a_graph_is_shared_by_threads),
        cmocka_unit_test(public_sets_are_listed),
        cmocka_unit_test(a_report_is_written),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
