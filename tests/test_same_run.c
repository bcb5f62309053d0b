/* The command and the library train the same: the same data, model, seed and options give the same
 * bits through `consm train -o` and through consm_train(), with all defaults. */
#include "check.h"

#include "datasets.h"

struct run {
    const char *data, *model;
    const char *option[4][2];
};

/* A user's own graph (dense columns: standardised, ties by loss, all labels), registered sets
 * (random split), and options that override the defaults. */
static const char *const friends = TESTS_DIR "/../examples/friends";
static const char *const planted =
    "csbm:nodes=120,classes=3,degree=5,features=12,signal=1.2,seed=4";

static void train_by_command(const struct run *run, const char *folder)
{
    char line[1024];
    int used = snprintf(line, sizeof line, "'%s' train '%s' --model %s --seed 2 -o '%s'",
                        CONSM_COMMAND, run->data, run->model, folder);
    for (int i = 0; i < 4 && run->option[i][0]; i++)
        used += snprintf(line + used, sizeof line - (size_t)used, " --%s %s", run->option[i][0],
                         run->option[i][1]);
    snprintf(line + used, sizeof line - (size_t)used, " > /dev/null 2>&1");
    if (system(line) != 0)
        fail_msg("failed: %s", line);
}

static struct consm_model *train_by_library(const struct run *run, const struct consm_dataset *d)
{
    struct consm_options *o;
    struct consm_model *m;
    OK(consm_options_new(&o, run->model));
    OK(consm_options_set(o, "seed", "2"));
    for (int i = 0; i < 4 && run->option[i][0]; i++)
        OK(consm_options_set(o, run->option[i][0], run->option[i][1]));
    OK(consm_train(&m, d, o));
    consm_options_free(o);
    return m;
}

static void assert_same_bits(const struct consm_model *a, const struct consm_model *b,
                             const struct consm_dataset *d)
{
    struct consm_prediction *x, *y;
    struct consm_model_info left = {.size = sizeof left}, right = {.size = sizeof right};
    consm_model_info(&left, a);
    consm_model_info(&right, b);
    assert_int_equal(left.best_epoch, right.best_epoch);
    assert_int_equal(left.epochs, right.epochs);
    assert_string_equal(left.split, right.split);
    assert_memory_equal(&left.temperature, &right.temperature, sizeof left.temperature);
    OK(consm_predict(&x, a, d, 1));
    OK(consm_predict(&y, b, d, 1));
    assert_int_equal(x->nodes, y->nodes);
    assert_memory_equal(x->probability, y->probability,
                        (size_t)(x->nodes * x->classes) * sizeof *x->probability);
    consm_prediction_free(x);
    consm_prediction_free(y);
}

static void same_through_both(const struct run *run)
{
    struct consm_dataset *d;
    struct consm_model *of_command, *of_library;
    train_by_command(run, in_scratch("out"));
    OK(consm_model_load(&of_command, in_scratch("out/model.safetensors")));
    OK(consm_dataset_open(&d, run->data, NULL));
    of_library = train_by_library(run, d);
    assert_same_bits(of_command, of_library, d);
    consm_model_free(of_command);
    consm_model_free(of_library);
    consm_dataset_free(d);
}

static void own_graphs_train_the_same(void **state)
{
    (void)state;
    same_through_both(&(struct run){friends, "gcn", {{0}}});
    same_through_both(&(struct run){friends, "mlp", {{"ties", "first"}, {"epochs", "40"}}});
    same_through_both(&(struct run){friends, "gcn", {{"normalize-features", "none"}}});
    same_through_both(
        &(struct run){friends, "consm", {{"warmup", "20"}, {"rounds", "1"}, {"match-steps", "5"}}});
}

static void known_sets_train_the_same(void **state)
{
    (void)state;
    same_through_both(&(struct run){planted, "gcn", {{"per-class", "10"}, {"epochs", "40"}}});
    same_through_both(&(struct run){"karate", "appnp", {{"per-class", "4"}, {"epochs", "40"}}});
    same_through_both(&(struct run){"karate", "gat", {{"split", "auto"}, {"epochs", "20"}}});
}

/* Former differences: the chosen epoch, and features in their own units. */
static void defaults_of_own_graphs_matter(void **state)
{
    struct consm_dataset *d;
    struct consm_model *m, *plain;
    struct consm_model_info info = {.size = sizeof info}, plain_info = {.size = sizeof plain_info};
    (void)state;
    OK(consm_dataset_open(&d, friends, NULL));
    m = train_by_library(&(struct run){friends, "gcn", {{0}}}, d);
    plain = train_by_library(
        &(struct run){friends, "gcn", {{"normalize-features", "none"}, {"ties", "first"}}}, d);
    consm_model_info(&info, m);
    consm_model_info(&plain_info, plain);
    assert_true(info.best_epoch > plain_info.best_epoch);
    consm_model_free(m);
    consm_model_free(plain);
    consm_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(own_graphs_train_the_same, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(known_sets_train_the_same, scratch_make, scratch_remove),
        cmocka_unit_test(defaults_of_own_graphs_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
