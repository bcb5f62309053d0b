/* The sets of a study: opened once, with their hashes; published graphs from a data folder. */
#include "folder.h"

#include "io/file.h"
#include "study/sets.h"

static void run_shell(const char *format, ...)
{
    char command[600];
    va_list list;
    va_start(list, format);
    vsnprintf(command, sizeof command, format, list);
    va_end(list);
    assert_int_equal(system(command), 0);
}

static const char *hash_of(const struct study_sets *s, const char *name)
{
    return json_string_value(json_object_get(s->hashes, name));
}

/* A file is opened once and hashed, a generated set never; what cannot be opened is not among
 * them. */
static void sets_are_opened_once(void **state)
{
    (void)state;
    struct study_sets s = {0};
    const char *path = TESTS_DIR "/data/models/graph";
    OK(sets_open(&s, "csbm:nodes=50", NULL));
    assert_int_equal(s.count, 0);
    OK(sets_open(&s, path, &(struct data_options){0}));
    OK(sets_open(&s, path, &(struct data_options){0}));
    assert_int_equal(s.count, 1);
    const struct study_set *set = sets_find(&s, path);
    assert_non_null(set);
    assert_int_equal(set->prepared.graph->rows, set->data->nodes);
    assert_string_equal(hash_of(&s, path), set->data->sha256);
    assert_int_equal(strlen(set->data->sha256), 64);
    assert_true(sets_open(&s, in_folder("nothing.gml"), &(struct data_options){0}) < 0);
    assert_int_equal(s.count, 1);
    assert_null(sets_find(&s, in_folder("nothing.gml")));
    sets_free(&s);
    assert_int_equal(s.count, 0);
}

static void attacked_graphs_are_found(void **state)
{
    (void)state;
    struct study_sets s = {0};
    const struct csr *graph;
    struct data_options how = {.data_dir = folder};
    char *path;
    run_shell("mkdir -p %s/attacked/prognn && cp " TESTS_DIR "/data/formats/coo.npz "
              "%s/attacked/prognn/a.npz",
              folder, folder);
    OK(sets_attacked_file(&path, "prognn/a.npz", folder));
    assert_string_equal(path, in_folder("attacked/prognn/a.npz"));
    mem_free(path);
    OK(sets_attacked_file(&path, "prognn/b.npz", folder));
    assert_null(path);
    OK(sets_open(&s, "csbm:nodes=50", NULL)); /* makes the hashes */
    OK(sets_open_graph(&s, "prognn/b.npz", &how));
    assert_int_equal(s.count, 0);
    FAILS(sets_graph(&graph, &s, "prognn/b.npz"), CONSM_ENOTFOUND, "prognn/b.npz was never opened");
    assert_null(graph);
    OK(sets_open_graph(&s, "prognn/a.npz", &how));
    OK(sets_open_graph(&s, "prognn/a.npz", &how));
    assert_int_equal(s.count, 1);
    assert_int_equal(strlen(hash_of(&s, "prognn/a.npz")), 64);
    OK(sets_graph(&graph, &s, "prognn/a.npz"));
    assert_ptr_equal(graph, s.set[0].prepared.graph);
    assert_true(graph->nnz > 0);
    sets_free(&s);
}

static void what_is_at_hand(void **state)
{
    (void)state;
    assert_true(sets_at_hand("karate", NULL));
    assert_true(sets_at_hand("csbm:nodes=50", NULL));
    assert_true(sets_at_hand(TESTS_DIR "/data/formats/g.gml", NULL));
    assert_false(sets_at_hand(in_folder("nothing"), NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sets_are_opened_once, fresh, clean),
        cmocka_unit_test_setup_teardown(attacked_graphs_are_found, fresh, clean),
        cmocka_unit_test_setup_teardown(what_is_at_hand, fresh, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
