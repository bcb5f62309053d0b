/* Every function of the public interface, with every pointer NULL and every number out of range
 * (tests/api_calls.py generates the calls from the headers): an error that names it, never a crash.
 * And custom models that are wrong in every possible way. */
#include "check.h"

#include "consm_ot.h"
#include <math.h>
#include <unistd.h>

/* The objects of the calls, by the names that api_calls.py uses. */
static struct {
    struct consm_dataset *dataset;
    struct consm_model *model;
    struct consm_options *options;
    struct consm_prediction *prediction;
    struct consm_edge_scores *scores;
    struct consm_explanation *explanation;
} good, made;
static const void *lent;

static struct consm_dataset_info dataset_info;
static struct consm_model_info model_info;
static struct consm_method method;
static struct consm_parameter parameter;
static struct consm_candidate candidate;
static struct consm_epoch epoch;
static struct consm_arrays arrays;
static struct consm_ot_options ot_options;
static struct consm_ot_result ot_result;
static const struct consm_metrics *metrics;
static double doubles[16] = {0.5, 0.5, 0.5, 0.5}, doubles_out[16];
static float floats[16] = {1, 2, 3, 4, 5, 6, 7, 8}, floats_out[16];
static uint8_t bytes[16];
static int32_t label[16] = {0, 1}, assignment[16];
static int64_t counts[256], start[2] = {0, 2};
static char buffer[64], file[64];
static const char *now;

static void on_line(void *ctx, const char *line)
{
    (void)ctx;
    (void)line;
}

static consm_node on_build(struct consm_program *p, const struct consm_inputs *in, void *ctx)
{
    (void)ctx;
    return consm_linear(p, "a", in->x, in->classes);
}

static struct consm_options *made_options(void)
{
    consm_options_free(made.options);
    OK(consm_options_new(&made.options, "gcn"));
    return made.options;
}

static struct consm_model *made_model(void)
{
    consm_model_free(made.model);
    OK(consm_model_load(&made.model, file));
    return made.model;
}

/* A call with a forbidden NULL must name it; the others may succeed or fail. */
static void check_status(consm_status st, int must_fail)
{
    if (must_fail && (st != CONSM_EINVAL || !strstr(consm_errmsg(), "NULL")))
        fail_msg("%s: %d \"%s\": expected CONSM_EINVAL", now, st, consm_errmsg());
    if (st < 0 && !*consm_errmsg())
        fail_msg("%s: %d without a message", now, st);
}

static void check_text(const char *text)
{
    if (text && strlen(text) > 1000)
        fail_msg("%s: a long text", now);
}

/* ---- calls while a model records ------------------------------------------ */

static struct {
    struct consm_program *p;
    const struct consm_inputs *in;
    const struct consm_matrix *matrix;
    consm_node x, one, row, column, edge;
    int number; /* of the call */
    bool poisoned;
} world;

#include "api_calls.h"

static void forget(void)
{
    consm_dataset_free(made.dataset);
    consm_model_free(made.model);
    consm_options_free(made.options);
    consm_prediction_free(made.prediction);
    consm_edge_scores_free(made.scores);
    consm_explanation_free(made.explanation);
    memset(&made, 0, sizeof made);
    dataset_info = (struct consm_dataset_info){.size = sizeof dataset_info};
    model_info = (struct consm_model_info){.size = sizeof model_info};
    method = (struct consm_method){.size = sizeof method};
    parameter = (struct consm_parameter){.size = sizeof parameter};
    candidate = (struct consm_candidate){.size = sizeof candidate};
    epoch = (struct consm_epoch){.size = sizeof epoch};
    ot_options = (struct consm_ot_options){.size = sizeof ot_options};
    OK(consm_ot_defaults(&ot_options));
}

static void no_pointer_and_no_number_breaks_a_call(void **state)
{
    (void)state;
    for (int i = 0; i < PLAIN_CALLS; i++) {
        forget();
        call_plain(i);
    }
    forget();
}

static consm_node record_call(struct consm_program *p, const struct consm_inputs *in, void *ctx)
{
    (void)ctx;
    consm_node h = consm_linear(p, "first", in->x, 2);
    world.p = p;
    world.in = in;
    world.matrix = consm_inputs_view(p, in, CONSM_VIEW_GCN);
    world.x = h;
    world.one = consm_fill(p, 1, 1, 1);
    world.row = consm_fill(p, 1, 1, 2);
    world.column = consm_fill(p, 1, in->nodes, 1);
    world.edge = consm_fill(p, 1, consm_matrix_entries(world.matrix), 1);
    call_recorded(world.number);
    return consm_linear(p, "last", h, in->classes);
}

static void no_pointer_and_no_number_breaks_a_recording(void **state)
{
    (void)state;
    struct consm_options *o;
    int trained = 0;
    OK(consm_options_new(&o, "gcn"));
    OK(consm_options_set(o, "epochs", "1"));
    OK(consm_options_set(o, "per_class", "2"));
    OK(consm_options_set(o, "threads", "1"));
    OK(consm_options_build(o, "mine", record_call, NULL));
    for (world.number = 0; world.number < RECORDED_CALLS; world.number++) {
        struct consm_model *m = NULL;
        world.poisoned = false;
        consm_status st = consm_train(&m, good.dataset, o);
        bool no_program = strstr(now, "(p = NULL)") != NULL;
        if (world.poisoned && !no_program && (st == CONSM_OK || !*consm_errmsg()))
            fail_msg("%s: poisoned, but trained: %d %s", now, st, consm_errmsg());
        trained += st == CONSM_OK;
        consm_model_free(m);
    }
    assert_in_range(trained, RECORDED_CALLS / 4, RECORDED_CALLS - 1);
    consm_options_free(o);
}

/* ---- models that are wrong ------------------------------------------------ */

enum wrong {
    RETURNS_POISON,
    RETURNS_ANY_NODE,
    RETURNS_FEATURES,
    RETURNS_OTHER_SHAPE,
    READS_NO_MATRIX,
    READS_NO_VIEW,
    ADDS_FEATURES,
    FORGETS_A_POISON,
    WRONG_MODELS
};

static consm_node record_wrong(struct consm_program *p, const struct consm_inputs *in, void *ctx)
{
    enum wrong wrong = *(enum wrong *)ctx;
    consm_node h = consm_linear(p, "1", in->x, in->classes);
    switch (wrong) {
    case RETURNS_POISON: return CONSM_POISON;
    case RETURNS_ANY_NODE: return 12345;
    case RETURNS_FEATURES: return in->x;
    case RETURNS_OTHER_SHAPE: return consm_linear(p, "2", h, in->classes + 1);
    case READS_NO_MATRIX: return consm_spmm(p, NULL, h);
    case READS_NO_VIEW: return consm_spmm(p, consm_inputs_view(p, in, (enum consm_view)99), h);
    case ADDS_FEATURES: return consm_linear(p, "2", consm_relu(p, in->x), in->classes);
    case FORGETS_A_POISON: consm_add(p, h, CONSM_POISON); return h;
    default: return h;
    }
}

/* The header promises that consm_train() reports the first fault. */
static void wrong_models_are_reported(void **state)
{
    (void)state;
    struct consm_options *o;
    struct consm_dataset *sparse;
    enum wrong wrong;
    OK(consm_dataset_open(&sparse, "csbm:nodes=40,features=30,words=4", NULL));
    OK(consm_options_new(&o, "gcn"));
    OK(consm_options_set(o, "epochs", "2"));
    OK(consm_options_set(o, "per_class", "2"));
    OK(consm_options_build(o, "mine", record_wrong, &wrong));
    for (wrong = 0; wrong < WRONG_MODELS; wrong++) {
        struct consm_model *m;
        consm_status st = consm_train(&m, sparse, o);
        if (st != CONSM_EPROGRAM || !*consm_errmsg())
            fail_msg("wrong model %d: %d %s", (int)wrong, st, consm_errmsg());
    }
    consm_options_free(o);
    consm_dataset_free(sparse);
}

/* ---- the world ------------------------------------------------------------ */

/* Refuses absurd sizes. */
static void *small_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return size > (size_t)64 << 20 ? NULL : aligned_alloc(64, size);
}

static void plain_free(void *ctx, void *block)
{
    (void)ctx;
    free(block);
}

static int open_world(void **state)
{
    static const int32_t from[] = {0, 1, 2}, to[] = {1, 2, 3};
    (void)state;
    snprintf(file, sizeof file, "/tmp/consm-calls-%ld.safetensors", (long)getpid());
    consm_set_allocator(&(struct consm_allocator){small_alloc, plain_free, NULL});
    arrays = (struct consm_arrays){
        .size = sizeof arrays, .nodes = 4, .edges = 3, .from = from, .to = to};
    OK(consm_dataset_open(&good.dataset, "karate", NULL));
    OK(consm_options_new(&good.options, "gcn"));
    OK(consm_options_set(good.options, "epochs", "2"));
    OK(consm_options_set(good.options, "per_class", "2"));
    OK(consm_train(&good.model, good.dataset, good.options));
    OK(consm_model_save(good.model, file));
    metrics = consm_model_metrics(good.model, CONSM_TRAIN);
    forget();
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    forget();
    consm_dataset_free(good.dataset);
    consm_options_free(good.options);
    consm_model_free(good.model);
    consm_set_allocator(NULL);
    unlink(file);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pointer_and_no_number_breaks_a_call),
        cmocka_unit_test(no_pointer_and_no_number_breaks_a_recording),
        cmocka_unit_test(wrong_models_are_reported),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
