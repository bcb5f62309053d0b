/* Every function that makes an object gives it to the caller last. An interrupted caller (Ctrl-C in
 * Python) frees what it was given while the call still runs, so its pointer must be NULL until
 * then. The allocator checks the caller's pointer at every allocation and free. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    void **watched; /* the caller's pointer, while a call works */
    long looks, early;
} watch;

static void look(void)
{
    if (!watch.watched)
        return;
    watch.looks++;
    watch.early += *watch.watched != NULL;
}

static void *take(void *ctx, size_t bytes)
{
    (void)ctx;
    look();
    return aligned_alloc(64, bytes);
}

static void give(void *ctx, void *block)
{
    (void)ctx;
    look();
    free(block);
}

static int calls;

/* Runs a call that gives an object to *out; works with the type of any of them. */
#define WATCH(out, call)                                                                           \
    do {                                                                                           \
        watch.watched = (void **)&(out);                                                           \
        watch.looks = watch.early = 0;                                                             \
        (out) = NULL;                                                                              \
        consm_status got = (call);                                                                 \
        watch.watched = NULL;                                                                      \
        if (got != CONSM_OK || !(out) || watch.looks == 0 || watch.early > 0)                      \
            fail_msg("%s: status %d, %ld looks, %ld of them saw an unfinished result", #call, got, \
                     watch.looks, watch.early);                                                    \
        calls++;                                                                                   \
    } while (0)

static void set(struct consm_options *o, const char *name, const char *value)
{
    OK(consm_options_set(o, name, value));
}

/* ---- the calls ----------------------------------------------------------- */

static void ask(const struct consm_model *model, const struct consm_dataset *data)
{
    struct consm_prediction *p;
    struct consm_edge_scores *s;
    struct consm_explanation *e;
    struct consm_embedding *b;
    struct consm_metrics *m;
    WATCH(p, consm_predict(&p, model, data, 1));
    assert_non_null(p->in_set); /* sets are made after probabilities: the case that was wrong */
    consm_prediction_free(p);
    WATCH(p, consm_predict_on(&p, model, data, "cpu", 1));
    consm_prediction_free(p);
    const int64_t some[2] = {5, 0};
    struct consm_predictor *predictor;
    struct consm_graph *growing;
    struct consm_dataset *grown;
    WATCH(p, consm_predict_nodes(&p, model, data, some, 2, 1));
    consm_prediction_free(p);
    WATCH(predictor, consm_predictor_new(&predictor, model, data, 1));
    WATCH(p, consm_predictor_nodes(&p, predictor, some, 2));
    consm_prediction_free(p);
    consm_predictor_free(predictor);
    WATCH(growing, consm_graph_new(&growing, (struct consm_dataset *)data));
    WATCH(predictor, consm_predictor_new_on(&predictor, model, growing, 1));
    OK(consm_graph_add_edges(growing, &some[0], &some[1], NULL, 1));
    WATCH(e, consm_predictor_explain(&e, predictor, 0, NULL));
    consm_explanation_free(e);
    WATCH(s, consm_predictor_edges(&s, predictor, some, 2));
    consm_edge_scores_free(s);
    consm_predictor_free(predictor);
    WATCH(grown, consm_graph_dataset(&grown, growing));
    consm_dataset_free(grown);
    consm_graph_free(growing);
    WATCH(s, consm_score_edges(&s, model, data, 1));
    consm_edge_scores_free(s);
    WATCH(s, consm_score_edges_on(&s, model, data, "cpu", 1));
    uint8_t *dropped = calloc((size_t)s->edges + 1, 1);
    struct consm_dataset *clean;
    dropped[0] = 1;
    WATCH(clean, consm_dataset_clean(&clean, (struct consm_dataset *)data, s, dropped, NULL));
    consm_dataset_free(clean);
    free(dropped);
    consm_edge_scores_free(s);
    WATCH(s, consm_suggest_edges(&s, model, data, 3, NULL, 1));
    consm_edge_scores_free(s);
    WATCH(e, consm_explain(&e, model, data, 0, NULL));
    consm_explanation_free(e);
    WATCH(b, consm_embed(&b, model, data, NULL, 1));
    consm_embedding_free(b);
    WATCH(m, consm_evaluate(&m, model, data, 1));
    consm_metrics_free(m);
    WATCH(m, consm_evaluate_on(&m, model, data, (enum consm_which)0, NULL, 1));
    consm_metrics_free(m);
    OK(consm_predict(&p, model, data, 1));
    WATCH(m, consm_evaluate_prediction(&m, model, p, data, CONSM_ALL_NODES));
    consm_metrics_free(m);
    consm_prediction_free(p);
}

static void train_and_ask(const char *name, const char *ensemble, struct consm_dataset *data)
{
    char path[64];
    struct consm_options *o;
    struct consm_model *model, *again;
    snprintf(path, sizeof path, "/tmp/consm-last-%ld.safetensors", (long)getpid());
    WATCH(o, consm_options_new(&o, name));
    set(o, "epochs", "3");
    set(o, "hidden", "8");
    set(o, "coverage", "0.8");
    set(o, "threads", "1");
    set(o, "ensemble", ensemble);
    set(o, "per_class", "6");
    if (strcmp(name, "consm") == 0) {
        set(o, "backbone", "gcn");
        set(o, "rounds", "1");
        set(o, "warmup", "3");
    }
    WATCH(model, consm_train(&model, data, o));
    OK(consm_model_save(model, path));
    WATCH(again, consm_model_load(&again, path));
    unlink(path);
    ask(again, data);
    consm_model_free(again);
    consm_model_free(model);
    consm_options_free(o);
}

static void results_come_last(void **state)
{
    (void)state;
    int32_t from[3] = {0, 1, 2}, to[3] = {1, 2, 0}, label[3] = {1, -1, 0};
    struct consm_arrays a = {.size = sizeof a, .nodes = 3, .edges = 3, .from = from, .to = to};
    struct consm_labels l = {.size = sizeof l, .classes = 2, .label = label};
    struct consm_dataset *data, *graph, *labelled;
    WATCH(graph, consm_dataset_from_arrays(&graph, &a));
    WATCH(labelled, consm_dataset_with_labels(&labelled, graph, &l));
    consm_dataset_free(labelled);
    consm_dataset_free(graph);
    WATCH(data, consm_dataset_open(&data, "karate", NULL));
    consm_dataset_free(data);
    WATCH(data, consm_dataset_open_with(&data, "csbm:nodes=60,classes=2,features=10", NULL));
    train_and_ask("gcn", "1", data);
    int once = calls;
    train_and_ask("gcn", "2", data);
    train_and_ask("consm", "1", data);
    consm_dataset_free(data);
    calls = once;
}

/* The list above is complete: the header has as many functions that give an object. */
static void no_function_is_left_out(void **state)
{
    (void)state;
    char line[512];
    int found = 0;
    FILE *header = fopen(TESTS_DIR "/../include/consm.h", "r");
    assert_non_null(header);
    while (fgets(line, sizeof line, header)) {
        const char *at = strstr(line, "**out");
        found += at && strncmp(line, " *", 2) != 0;
    }
    fclose(header);
    assert_int_equal(calls, found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(results_come_last),
                                       cmocka_unit_test(no_function_is_left_out)};
    const struct consm_allocator allocator = {take, give, NULL};
    consm_set_allocator(&allocator);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
