/* The public interface: options, training, prediction, custom models, and model files, valid and
 * broken. THREADED */
#include "check.h"

#include "app/objects.h"
#include "train/consm/candidates.h"
#include <math.h>
#include <pthread.h>
#include <unistd.h>

static const char *const small = "csbm:nodes=150,classes=3,degree=5,features=12,signal=1.5,"
                                 "homophily=0.8,seed=4";

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/consm-api-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if a test, or the library, left a file behind */
}

static const char *scratch(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void scratch_remove(const char *name)
{
    unlink(scratch(name));
}

static struct consm_options *quick(const char *model)
{
    struct consm_options *o;
    OK(consm_options_new(&o, model));
    OK(consm_options_set(o, "epochs", "6"));
    OK(consm_options_set(o, "split", "random"));
    OK(consm_options_set(o, "per-class", "10"));
    OK(consm_options_set(o, "threads", "1"));
    OK(consm_options_set(o, "warmup", "4"));
    OK(consm_options_set(o, "rounds", "1"));
    OK(consm_options_set(o, "gnn_steps", "2"));
    OK(consm_options_set(o, "match_steps", "6")); /* ThreadSanitizer takes seconds for a hundred */
    OK(consm_options_set(o, "match_refresh", "3"));
    OK(consm_options_set(o, "match_width", "16"));
    return o;
}

static struct consm_model *trained(const struct consm_dataset *d, const char *model)
{
    struct consm_options *o = quick(model);
    struct consm_model *m;
    OK(consm_train(&m, d, o));
    consm_options_free(o);
    return m;
}

static void assert_same_prediction(const struct consm_prediction *a,
                                   const struct consm_prediction *b)
{
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->classes, b->classes);
    assert_memory_equal(a->label, b->label, (size_t)a->nodes * sizeof *a->label);
    assert_memory_equal(a->confidence, b->confidence, (size_t)a->nodes * sizeof *a->confidence);
    assert_memory_equal(a->probability, b->probability,
                        (size_t)(a->nodes * a->classes) * sizeof *a->probability);
}

/* ---- options ------------------------------------------------------------- */

static void options_are_checked(void **state)
{
    (void)state;
    struct consm_options *o;
    FAILS(consm_options_new(&o, "dropedeg"), CONSM_ENOTFOUND, "did you mean dropedge?");
    assert_null(o);
    OK(consm_options_new(&o, "gcn"));
    FAILS(consm_options_set(o, "hiden", "3"), CONSM_ENOTFOUND, "did you mean hidden?");
    FAILS(consm_options_set(o, "treads", "3"), CONSM_ENOTFOUND, "did you mean threads?");
    FAILS(consm_options_set(o, "hidden", "0"), CONSM_EINVAL, "from 1 to 65536");
    FAILS(consm_options_set(o, "seed", "-1"), CONSM_EINVAL, "whole number");
    FAILS(consm_options_set(o, "per_class", "2.5"), CONSM_EINVAL, "whole number");
    FAILS(consm_options_set(o, "train_ratio", "1.5"), CONSM_EINVAL, "from 0 to 1");
    FAILS(consm_options_set(o, "class_weights", "balansed"), CONSM_EINVAL,
          "did you mean balanced?");
    OK(consm_options_set(o, "weight-decay", "0.001"));
    OK(consm_options_set(o, "seed", "18446744073709551615"));
    OK(consm_options_set(o, "split", "public"));
    OK(consm_options_set(o, "split", "paper"));
    consm_options_free(o);
    consm_options_free(NULL);
}

/* ---- datasets ------------------------------------------------------------ */

static void datasets_open_and_answer(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_dataset_info info = {.size = sizeof info};
    char buffer[24];
    OK(consm_dataset_open(&d, "karate", NULL));
    consm_dataset_info(&info, d);
    assert_string_equal(info.name, "karate");
    assert_int_equal(info.nodes, 34);
    assert_int_equal(info.edges, 78);
    assert_int_equal(info.classes, 2);
    assert_int_equal(info.labelled, 34);
    struct consm_dataset_info forgotten = {0};
    FAILS(consm_dataset_info(&forgotten, d), CONSM_EINVAL, "the size member of a struct");
    assert_non_null(consm_node_id(d, 0, buffer));
    assert_non_null(consm_class_name(d, 1, buffer));
    assert_in_range(consm_dataset_labels(d)[33], 0, 1);
    consm_dataset_free(d);
    FAILS(consm_dataset_open(&d, "karat", NULL), CONSM_ENOTFOUND, "did you mean karate?");
    assert_null(d);
}

/* ---- training and predicting --------------------------------------------- */

struct heard {
    int64_t calls, stop_at;
    int64_t before; /* calls before the first epoch */
};

static bool listen_to(void *ctx, const struct consm_progress *progress)
{
    struct heard *heard = ctx;
    assert_int_equal(progress->epochs, progress->epoch == 0 ? 0 : 6);
    heard->before += progress->epoch == 0;
    return ++heard->calls == heard->stop_at;
}

static void training_reports_and_stops(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_model *m;
    struct consm_model_info info = {.size = sizeof info};
    struct heard heard = {0};
    OK(consm_dataset_open(&d, small, NULL));
    struct consm_options *o = quick("mlp");
    consm_options_on_progress(o, listen_to, &heard);
    OK(consm_train(&m, d, o));
    assert_int_equal(heard.calls, 6);
    consm_model_info(&info, m);
    assert_string_equal(info.model, "mlp");
    assert_string_equal(info.split, "random");
    assert_int_equal(info.epochs, 6);
    assert_int_equal(info.trained, 30);
    assert_int_equal(info.held_out, 0);
    assert_true(info.temperature > 0);
    const struct consm_metrics *test = consm_model_metrics(m, CONSM_TEST);
    assert_null(consm_model_metrics(m, (enum consm_role)4));
    assert_null(consm_metrics_class(test, 3));
    assert_int_equal(test->size, sizeof *test);
    assert_int_equal(test->nodes, info.tested);
    assert_int_equal(consm_metrics_class(test, 0)->support + consm_metrics_class(test, 1)->support +
                         consm_metrics_class(test, 2)->support,
                     test->nodes);
    consm_model_free(m);
    heard = (struct heard){.stop_at = 2};
    FAILS(consm_train(&m, d, o), CONSM_ECANCEL, "epoch 2");
    assert_null(m);
    consm_options_free(o);

    /* ConSM reports progress, and can be stopped, while it chooses its backbone. */
    o = quick("consm");
    consm_options_on_progress(o, listen_to, &heard);
    heard = (struct heard){.stop_at = 7};
    FAILS(consm_train(&m, d, o), CONSM_ECANCEL, "choice of the backbone");
    assert_int_equal(heard.before, 7);
    heard = (struct heard){0};
    OK(consm_train(&m, d, o));
    /* A warm-up of four updates is shorter than the first rung: every candidate that the graph and
     * its labels allow gets all four. */
    assert_true(heard.before % 4 == 0);
    assert_in_range(heard.before / 4, 10, CONSM_CANDIDATES);
    assert_int_equal(heard.calls, heard.before + 3); /* epoch 4, and two more */
    consm_model_free(m);
    consm_options_free(o);
    consm_dataset_free(d);
}

/* Own labels without a split: all train except a fifth of each class, which validates. */
static void validation_is_held_out(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_options *o;
    struct consm_model *m, *same;
    struct consm_model_info info = {.size = sizeof info};
    OK(consm_dataset_open(&d, small, NULL));
    int32_t *label = (int32_t *)consm_dataset_labels(d);
    int64_t known[3] = {0};
    for (int64_t i = 0; i < 150; i++)
        if (known[label[i]]++ >= (label[i] == 2 ? 1 : 10 + label[i]))
            label[i] = -1; /* 10 of class 0, 11 of class 1, 1 of class 2 */
    OK(consm_options_new(&o, "gcn"));
    OK(consm_options_set(o, "epochs", "3"));
    OK(consm_options_set(o, "split", "auto"));
    OK(consm_train(&m, d, o));
    consm_model_info(&info, m);
    assert_string_equal(info.split, "labels");
    assert_int_equal(info.held_out, 2 + 2);
    assert_int_equal(info.validated, 4);
    assert_int_equal(info.trained, 18);
    assert_int_equal(info.tested, 0);
    assert_true(isnan(consm_model_metrics(m, CONSM_TEST)->accuracy));
    OK(consm_train(&same, d, o));
    assert_memory_equal(m->tensor[0].value, same->tensor[0].value,
                        (size_t)(m->tensor[0].rows * m->tensor[0].cols) * sizeof(float));
    consm_model_free(m);
    consm_model_free(same);
    consm_options_free(o);
    consm_dataset_free(d);
}

/* A model's predictions at training equal later ones, also from its file and with any number of
 * threads. */
static void predictions_come_back_bit_for_bit(void **state)
{
    (void)state;
    const char *const sets[] = {"csbm:nodes=120,features=60,words=6,classes=3", small, "karate"};
    /* Models train on threads on graphs like the others in test_train_threads, too. */
    for (size_t k = 0; k < (UNDER_TSAN ? 1 : 3); k++) {
        struct consm_dataset *d, *again;
        OK(consm_dataset_open(&d, sets[k], NULL));
        for (const struct model_def *const *def = model_list(); *def; def++) {
            struct consm_model *m, *loaded;
            struct consm_prediction *first, *later, *read;
            struct roles roles;
            struct training_request r = {.roles = &roles, .threads = 2};
            struct consm_options *o = quick((*def)->name);
            OK(dataset_prepared(&r.prepared, d));
            OK(roles_make(&roles, d->data, "auto", 1, NULL));
            r.options = (struct train_options){.model = o->model, .config = o->config, .seed = 1};
            OK(model_train(&m, &first, &r));
            OK(consm_predict(&later, m, d, 3));
            assert_same_prediction(first, later);
            OK(consm_model_save(m, scratch("m.safetensors")));
            OK(consm_model_load(&loaded, scratch("m.safetensors")));
            OK(consm_dataset_open(&again, sets[k], NULL));
            OK(consm_predict(&read, loaded, again, 1));
            assert_same_prediction(first, read);
            consm_prediction_free(first);
            consm_prediction_free(later);
            consm_prediction_free(read);
            consm_dataset_free(again);
            consm_model_free(m);
            consm_model_free(loaded);
            consm_options_free(o);
            roles_free(&roles);
        }
        consm_dataset_free(d);
    }
    scratch_remove("m.safetensors");
}

/* A prediction is measured as it is, with the same figures as a prediction made for it. */
static void predictions_are_measured(void **state)
{
    (void)state;
    struct consm_dataset *d, *other;
    struct consm_metrics *by_model, *by_prediction;
    struct consm_prediction *p;
    OK(consm_dataset_open(&d, small, NULL));
    OK(consm_dataset_open(&other, "karate", NULL));
    struct consm_model *m = trained(d, "gcn");
    OK(consm_predict(&p, m, d, 1));
    assert_true(p->own_low == 0 && p->own_high == p->nodes); /* not a graph in parts */
    for (int which = CONSM_ALL_NODES; which <= CONSM_SEEN_NODES; which++) {
        OK(consm_evaluate_on(&by_model, m, d, (enum consm_which)which, NULL, 1));
        OK(consm_evaluate_prediction(&by_prediction, m, p, d, (enum consm_which)which));
        assert_true(by_model->nodes > 0);
        assert_memory_equal(by_model, by_prediction, sizeof *by_model);
        consm_metrics_free(by_model);
        consm_metrics_free(by_prediction);
    }
    FAILS(consm_evaluate_prediction(&by_model, m, p, other, CONSM_ALL_NODES), CONSM_EINVAL,
          "expected 34 nodes, as in karate");
    assert_null(by_model);
    consm_prediction_free(p);
    consm_model_free(m);
    consm_dataset_free(d);
    consm_dataset_free(other);
}

/* A threshold that is set decides predictions and their metrics, also from a file. */
static void thresholds_can_be_set(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_model *loaded;
    struct consm_model_info info = {.size = sizeof info};
    struct consm_metrics *metrics;
    struct consm_prediction *p;
    OK(consm_dataset_open(&d, small, NULL));
    struct consm_model *m = trained(d, "gcn");
    FAILS(consm_model_set_threshold(m, -1, 0.5), CONSM_EINVAL, "class -1: expected 0 to 2");
    FAILS(consm_model_set_threshold(m, 99, 0.5), CONSM_EINVAL, "class 99");
    FAILS(consm_model_set_threshold(m, 1, 1.5), CONSM_EINVAL, "threshold 1.5: expected");
    FAILS(consm_model_set_threshold(m, 1, (double)NAN), CONSM_EINVAL, "threshold nan");
    OK(consm_model_set_threshold(m, 1, 0)); /* every node reaches it */
    OK(consm_model_save(m, scratch("m.safetensors")));
    OK(consm_model_load(&loaded, scratch("m.safetensors")));
    OK(consm_model_info(&info, loaded));
    assert_true(info.threshold_class == 1 && info.threshold == 0);
    assert_true(isnan(info.threshold_precision) && isnan(info.threshold_recall));
    OK(consm_predict(&p, loaded, d, 1));
    for (int64_t i = 0; i < p->nodes; i++) {
        assert_int_equal(p->label[i], 1);
        assert_true(p->confidence[i] == p->probability[i * p->classes + 1]);
    }
    OK(consm_evaluate_prediction(&metrics, loaded, p, d, CONSM_ALL_NODES));
    assert_int_equal(consm_metrics_class(metrics, 1)->predicted, metrics->nodes);
    consm_metrics_free(metrics);
    consm_prediction_free(p);
    consm_model_free(m);
    consm_model_free(loaded);
    consm_dataset_free(d);
    scratch_remove("m.safetensors");
}

/* What ConSM chooses by validation for a given backbone; other models choose nothing. */
static void features_can_be_chosen(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_model *m, *given;
    struct heard heard = {0};
    OK(consm_dataset_open(&d, "csbm:nodes=120,features=60,words=6,classes=3", NULL));
    struct consm_options *o = quick("consm");
    OK(consm_options_set(o, "backbone", "gcn"));
    OK(consm_options_set(o, "normalize_features", "auto"));
    OK(consm_options_set(o, "folds", "no")); /* it would report progress, too */
    consm_options_on_progress(o, listen_to, &heard);
    OK(consm_train(&m, d, o));
    assert_int_equal(heard.before, 2 * 4); /* two ways, a warm-up each */
    assert_int_equal(m->config.backbone, BACKBONE_GCN);
    assert_true(m->config.normalize_features == FEATURES_NONE ||
                m->config.normalize_features == FEATURES_ROW);
    OK(consm_options_set(o, "normalize_features",
                         config_names_normalize_features[m->config.normalize_features]));
    OK(consm_train(&given, d, o));
    assert_true(m->result.val_acc == given->result.val_acc);
    consm_model_free(given);
    consm_model_free(m);
    consm_options_free(o);
    o = quick("gcn");
    OK(consm_options_set(o, "normalize_features", "auto"));
    FAILS(consm_train(&m, d, o), CONSM_EINVAL, "for gcn use none, row, scale or standard");
    consm_options_free(o);
    consm_dataset_free(d);
}

/* Message weights are stored as the module that makes them: a file works on its own graph, with the
 * same bits, and on any other. Without a round that helped, messages are unweighted. */
static void messages_travel(void **state)
{
    (void)state;
    const char *const kinds[] = {"weighted", "signed"};
    struct consm_dataset *d, *other;
    OK(consm_dataset_open(&d, small, NULL));
    OK(consm_dataset_open(&other,
                          "csbm:nodes=90,classes=3,degree=4,features=12,signal=1.5,homophily=0.8,"
                          "seed=5",
                          NULL));
    for (int rounds = 0; rounds < 2; rounds++)
        for (int k = 0; k < 2; k++) {
            struct consm_options *o = quick("consm");
            struct consm_model *m, *loaded;
            struct consm_prediction *first, *later, *there, *plain;
            struct roles roles;
            struct training_request r = {.roles = &roles, .threads = 2};
            OK(consm_options_set(o, "backbone", "gcn"));
            OK(consm_options_set(o, "messages", kinds[k]));
            OK(consm_options_set(o, "warmup", rounds ? "0" : "6")); /* 6 are all the epochs */
            OK(dataset_prepared(&r.prepared, d));
            OK(roles_make(&roles, d->data, "auto", 1, NULL));
            r.options = (struct train_options){.model = o->model, .config = o->config, .seed = 1};
            OK(model_train(&m, &first, &r));
            assert_string_equal(config_names_messages[m->config.messages],
                                rounds ? kinds[k] : "none");
            OK(consm_model_save(m, scratch("m.safetensors")));
            OK(consm_model_load(&loaded, scratch("m.safetensors")));
            OK(consm_predict(&later, loaded, d, 2));
            assert_same_prediction(first, later);
            OK(consm_predict(&there, loaded, other, 1));
            loaded->config.messages = MESSAGES_NONE;
            OK(consm_predict(&plain, loaded, other, 1));
            size_t bytes = (size_t)(there->nodes * there->classes) * sizeof *there->probability;
            assert_int_equal(memcmp(there->probability, plain->probability, bytes) != 0, rounds);
            consm_prediction_free(first);
            consm_prediction_free(later);
            consm_prediction_free(there);
            consm_prediction_free(plain);
            consm_model_free(m);
            consm_model_free(loaded);
            consm_options_free(o);
            roles_free(&roles);
        }
    consm_dataset_free(other);
    consm_dataset_free(d);
    scratch_remove("m.safetensors");
}

static void files_remember_everything(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_model *loaded;
    struct consm_model_info a = {.size = sizeof a}, b = {.size = sizeof b};
    OK(consm_dataset_open(&d, small, NULL));
    struct consm_model *m = trained(d, "gcn");
    OK(consm_model_save(m, scratch("m.safetensors")));
    OK(consm_model_load(&loaded, scratch("m.safetensors")));
    consm_model_info(&a, m);
    consm_model_info(&b, loaded);
    assert_string_equal(a.model, b.model);
    assert_string_equal(a.dataset, b.dataset);
    assert_string_equal(a.version, consm_version());
    assert_string_equal(b.version, a.version);
    assert_int_equal(a.features, b.features);
    assert_int_equal(a.classes, b.classes);
    assert_int_equal(a.best_epoch, b.best_epoch);
    assert_int_equal(a.validated, b.validated);
    assert_true(a.temperature == b.temperature && a.ece_before == b.ece_before);
    for (const struct config_row *row = config_rows(); row->name; row++) {
        char x[32], y[32];
        assert_string_equal(config_text(&m->config, row, x), config_text(&loaded->config, row, y));
    }
    for (int role = CONSM_TRAIN; role <= CONSM_TEST; role++) {
        const struct consm_metrics *x = consm_model_metrics(m, role);
        const struct consm_metrics *y = consm_model_metrics(loaded, role);
        assert_true(x->macro_f1 == y->macro_f1 && x->ece == y->ece && x->roc_auc == y->roc_auc);
        int64_t of_x[9], of_y[9];
        consm_metrics_confusion(of_x, x);
        consm_metrics_confusion(of_y, y);
        assert_memory_equal(of_x, of_y, sizeof of_x);
    }
    consm_model_free(m);
    consm_model_free(loaded);
    consm_dataset_free(d);
    scratch_remove("m.safetensors");
}

/* ---- other graphs -------------------------------------------------------- */

/* Twelve nodes in two groups, features named a, b, c. */
struct toy {
    int32_t from[16], to[16], label[13];
    float feature[13 * 4];
    const char *name[4];
    struct consm_arrays arrays;
};

static void toy_make(struct toy *t, int64_t nodes, int64_t columns, const char *const *names)
{
    *t = (struct toy){0};
    t->arrays = (struct consm_arrays){.size = sizeof t->arrays,
                                      .nodes = nodes,
                                      .edges = nodes,
                                      .features = columns,
                                      .classes = 2,
                                      .from = t->from,
                                      .to = t->to,
                                      .feature = t->feature,
                                      .label = t->label,
                                      .feature_name = names};
    for (int64_t i = 0; i < nodes; i++) {
        t->from[i] = (int32_t)i;
        t->to[i] = (int32_t)((i + 2) % nodes);
        t->label[i] = i % 2;
        for (int64_t k = 0; k < columns; k++) /* a column's values follow its name */
            t->feature[i * columns + k] =
                0.3f + sinf((float)(names ? *names[k] : (char)('a' + k)) + 1.7f * (float)i);
    }
}

static void features_are_matched_by_name(void **state)
{
    (void)state;
    static const char *const abc[] = {"a", "b", "c"}, *const cxab[] = {"c", "x", "a", "b"},
                             *const ac[] = {"a", "c"};
    struct toy train, shuffled, lacking, nameless;
    struct consm_dataset *d, *other;
    struct consm_options *o;
    struct consm_model *m;
    struct consm_prediction *p, *q;
    toy_make(&train, 12, 3, abc);
    toy_make(&shuffled, 12, 4, cxab);
    toy_make(&lacking, 12, 2, ac);
    toy_make(&nameless, 12, 4, NULL);
    OK(consm_dataset_from_arrays(&d, &train.arrays));
    OK(consm_options_new(&o, "gcn"));
    OK(consm_options_set(o, "epochs", "5"));
    OK(consm_train(&m, d, o));
    OK(consm_predict(&p, m, d, 1));
    OK(consm_dataset_from_arrays(&other, &shuffled.arrays));
    OK(consm_predict(&q, m, other, 1));
    assert_same_prediction(p, q);
    consm_prediction_free(p);
    consm_prediction_free(q);
    consm_dataset_free(other);
    OK(consm_dataset_from_arrays(&other, &lacking.arrays));
    FAILS(consm_predict(&q, m, other, 1), CONSM_EINVAL,
          "lacks 1 of the model's 3 feature columns: b");
    assert_null(q);
    consm_dataset_free(other);
    OK(consm_dataset_from_arrays(&other, &nameless.arrays));
    FAILS(consm_predict(&q, m, other, 1), CONSM_EINVAL,
          "has 4 features, but the model was trained on 3");
    consm_dataset_free(other);
    nameless.arrays.features = 0;
    nameless.arrays.feature = NULL;
    OK(consm_dataset_from_arrays(&other, &nameless.arrays));
    FAILS(consm_predict(&q, m, other, 1), CONSM_EINVAL, "has no features");
    consm_dataset_free(other);
    consm_model_free(m);
    consm_options_free(o);
    consm_dataset_free(d);
}

/* New nodes, new edges and no labels are accepted. */
/* Standardised columns: the scale of a column does not matter, and a model keeps its training
 * scale. */
static void keeps_its_measure(const char *way)
{
    struct toy plain, scaled;
    struct consm_dataset *d, *e;
    struct consm_options *o;
    struct consm_model *m, *n, *loaded;
    struct consm_prediction *p, *q;
    toy_make(&plain, 12, 3, NULL);
    toy_make(&scaled, 12, 3, NULL);
    for (int i = 0; i < 12; i++)
        scaled.feature[i * 3 + 1] = 1024 * scaled.feature[i * 3 + 1];
    OK(consm_dataset_from_arrays(&d, &plain.arrays));
    OK(consm_dataset_from_arrays(&e, &scaled.arrays));
    OK(consm_options_new(&o, "gcn"));
    OK(consm_options_set(o, "epochs", "5"));
    OK(consm_options_set(o, "normalize_features", way));
    OK(consm_train(&m, d, o));
    OK(consm_train(&n, e, o));
    OK(consm_predict(&p, m, d, 1));
    OK(consm_predict(&q, n, e, 1));
    for (int i = 0; i < 12; i++)
        assert_near(p->confidence[i], q->confidence[i], 1e-4);
    consm_prediction_free(q);
    /* With the plain graph's scale the scaled graph looks different, also from a file. */
    OK(consm_model_save(m, scratch("s.safetensors")));
    OK(consm_model_load(&loaded, scratch("s.safetensors")));
    OK(consm_predict(&q, loaded, d, 1));
    assert_same_prediction(p, q);
    consm_prediction_free(q);
    OK(consm_predict(&q, loaded, e, 1));
    assert_memory_not_equal(p->confidence, q->confidence, 12 * sizeof(float));
    consm_prediction_free(p);
    consm_prediction_free(q);
    consm_model_free(m);
    consm_model_free(n);
    consm_model_free(loaded);
    consm_dataset_free(d);
    consm_dataset_free(e);
    consm_options_free(o);
    scratch_remove("s.safetensors");
}

static void scaled_features_keep_their_measure(void **state)
{
    (void)state;
    keeps_its_measure("standard");
    keeps_its_measure("scale");
}

/* Sparse features are scaled, not standardised. The file holds the scale, so a part of the graph
 * gives the same answers. */
static void sparse_features_can_be_scaled(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_options *o;
    struct consm_model *m, *loaded;
    struct consm_prediction *p, *q;
    OK(consm_dataset_open(&d, "csbm:nodes=60,classes=2,features=60,words=3", NULL));
    OK(consm_options_new(&o, "grand"));
    OK(consm_options_set(o, "epochs", "5"));
    OK(consm_options_set(o, "normalize_features", "standard"));
    FAILS(consm_train(&m, d, o), CONSM_EINVAL, "would become dense; use scale or row");
    OK(consm_options_set(o, "normalize_features", "scale"));
    OK(consm_options_set(o, "feature_gate", "yes"));
    OK(consm_train(&m, d, o));
    OK(consm_model_save(m, scratch("s.safetensors")));
    OK(consm_model_load(&loaded, scratch("s.safetensors")));
    OK(consm_predict(&p, m, d, 1));
    OK(consm_predict(&q, loaded, d, 1));
    assert_same_prediction(p, q);
    consm_prediction_free(q);
    const int64_t nodes[] = {7, 31};
    OK(consm_predict_nodes(&q, loaded, d, nodes, 2, 1));
    for (int i = 0; i < 2; i++)
        assert_near(q->confidence[i], p->confidence[nodes[i]], 1e-6);
    consm_prediction_free(p);
    consm_prediction_free(q);
    consm_model_free(m);
    consm_model_free(loaded);
    consm_dataset_free(d);
    consm_options_free(o);
    scratch_remove("s.safetensors");
}

static void unseen_nodes_are_welcome(void **state)
{
    (void)state;
    struct toy train, grown;
    struct consm_dataset *d, *other;
    struct consm_options *o;
    struct consm_model *m;
    struct consm_prediction *p;
    for (int structural = 0; structural < 2; structural++) {
        toy_make(&train, 12, 3, NULL);
        toy_make(&grown, 13, 3, NULL);
        if (structural)
            train.arrays.features = grown.arrays.features = 0;
        grown.arrays.label = NULL;
        grown.arrays.classes = 0;
        OK(consm_dataset_from_arrays(&d, &train.arrays));
        OK(consm_options_new(&o, "gcn"));
        OK(consm_options_set(o, "epochs", "5"));
        OK(consm_train(&m, d, o));
        OK(consm_dataset_from_arrays(&other, &grown.arrays));
        OK(consm_predict(&p, m, other, 1));
        assert_int_equal(p->nodes, 13);
        for (int64_t i = 0; i < 13; i++) {
            assert_in_range(p->label[i], 0, 1);
            assert_true(p->confidence[i] >= 0.5f && p->confidence[i] <= 1);
        }
        consm_model_free(m);
        FAILS(consm_train(&m, other, o), CONSM_EINVAL, "no labels");
        assert_null(m);
        consm_prediction_free(p);
        consm_dataset_free(other);
        consm_dataset_free(d);
        consm_options_free(o);
    }
}

/* ---- broken files -------------------------------------------------------- */

static char *read_all(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    return bytes;
}

static void write_all(const char *path, const char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void broken_files_are_refused(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_model *m, *loaded;
    size_t size;
    OK(consm_dataset_open(&d, small, NULL));
    m = trained(d, "gcn");
    char path[128];
    snprintf(path, sizeof path, "%s", scratch("m.safetensors"));
    FAILS(consm_model_load(&loaded, path), CONSM_EIO, "m.safetensors");
    OK(consm_model_save(m, path));
    char *bytes = read_all(path, &size);
    for (size_t cut = 0; cut < size; cut += cut < 64 ? 1 : 97) {
        write_all(path, bytes, cut);
        assert_true(consm_model_load(&loaded, path) < 0);
        assert_null(loaded);
        assert_non_null(strstr(consm_errmsg(), "m.safetensors"));
    }
    for (size_t at = 0; at < size; at += 61) { /* any flipped bit is detected */
        bytes[at] ^= 0x10;
        write_all(path, bytes, size);
        if (consm_model_load(&loaded, path) >= 0)
            fail_msg("a flipped bit at byte %zu of %zu went unnoticed", at, size);
        bytes[at] ^= 0x10;
    }
    free(bytes);
    consm_model_free(m);
    consm_dataset_free(d);
    scratch_remove("m.safetensors");
}

/* A model whose parts do not fit each other, written and sealed as valid. */
static void unfitting_models_are_refused(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_model *loaded;
    OK(consm_dataset_open(&d, small, NULL));
    struct consm_model *m = trained(d, "gcn");
    char path[128];
    snprintf(path, sizeof path, "%s", scratch("m.safetensors"));
    m->tensor[0].rows--;
    OK(consm_model_save(m, path));
    FAILS(consm_model_load(&loaded, path), CONSM_EFORMAT, "expected 12 x 64");
    m->tensor[0].rows++;
    m->tensors--;
    OK(consm_model_save(m, path));
    FAILS(consm_model_load(&loaded, path), CONSM_EFORMAT, "b2");
    m->tensors++;
    m->features = 2000000000;
    OK(consm_model_save(m, path));
    FAILS(consm_model_load(&loaded, path), CONSM_EFORMAT, "too few for 2000000000 features");
    m->features = 12;
    float kept = m->tensor[0].value[3];
    m->tensor[0].value[3] = NAN;
    OK(consm_model_save(m, path));
    FAILS(consm_model_load(&loaded, path), CONSM_EFORMAT, "nan");
    m->tensor[0].value[3] = kept;
    m->config.hidden = 32;
    OK(consm_model_save(m, path));
    FAILS(consm_model_load(&loaded, path), CONSM_EFORMAT, "expected 12 x 32");
    consm_model_free(m);
    consm_dataset_free(d);
    scratch_remove("m.safetensors");
}

/* Features so large that sums overflow: an error, not a file of nans. */
static void predictions_are_numbers(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_prediction *p;
    struct consm_edge_scores *scores;
    OK(consm_dataset_open(&d, small, NULL));
    struct consm_model *m = trained(d, "gcn");
    for (int i = 0; i < m->tensors; i++)
        for (int64_t k = 0; k < m->tensor[i].rows * m->tensor[i].cols; k++)
            m->tensor[i].value[k] = 1e38f;
    FAILS(consm_predict(&p, m, d, 1), CONSM_ENUMERIC, "are not numbers");
    assert_null(p);
    consm_model_free(m);
    /* The matching module's parameters: no plan, no assignment, and no access outside an array. */
    m = trained(d, "consm");
    for (int i = 0; i < m->tensors; i++)
        for (int64_t k = 0; k < m->tensor[i].rows * m->tensor[i].cols; k++)
            m->tensor[i].value[k] = k % 2 ? 1e38f : -1e38f;
    FAILS(consm_score_edges(&scores, m, d, 1), CONSM_ENUMERIC, "edge 0: its score is not a number");
    assert_null(scores);
    consm_model_free(m);
    consm_dataset_free(d);
}

/* ---- a model of one's own ------------------------------------------------ */

static int64_t lines;

static void count_line(void *ctx, const char *line)
{
    (void)ctx;
    assert_true(strlen(line) > 0);
    lines++;
}

/* A two-layer GCN with a residual of the features, written with the public builders. */
static consm_node residual(struct consm_program *p, const struct consm_inputs *in, void *ctx)
{
    const struct consm_matrix *adj = consm_inputs_view(p, in, CONSM_VIEW_GCN);
    int64_t hidden = (int64_t)consm_inputs_option(in, "hidden");
    assert_true(isnan(consm_inputs_option(in, "no such option")));
    consm_node h = consm_relu(p, consm_graph_conv(p, "1", adj, in->x, hidden));
    h = consm_dropout(p, h, 0.5f);
    consm_node z = consm_graph_conv(p, "2", adj, h, in->classes);
    *(int *)ctx += 1;
    return consm_add(p, z, consm_linear(p, "skip", in->x, in->classes));
}

static consm_node faulty(struct consm_program *p, const struct consm_inputs *in, void *ctx)
{
    (void)ctx;
    return consm_matmul(p, in->x, consm_param(p, "wrong", 5, in->classes, CONSM_INIT_ONE));
}

static void own_models_train_and_load(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_model *m, *loaded;
    struct consm_prediction *p, *q;
    struct consm_model_info info = {.size = sizeof info};
    int built = 0;
    OK(consm_dataset_open(&d, small, NULL));
    struct consm_options *o = quick("gcn");
    OK(consm_options_set(o, "epochs", "60"));
    OK(consm_options_build(o, "residual", residual, &built));
    OK(consm_train(&m, d, o));
    assert_int_equal(built, 2);
    consm_model_info(&info, m);
    assert_string_equal(info.model, "residual");
    assert_true(consm_model_metrics(m, CONSM_TEST)->accuracy > 0.6);
    OK(consm_predict(&p, m, d, 1));
    OK(consm_model_save(m, scratch("own.safetensors")));
    OK(consm_model_load(&loaded, scratch("own.safetensors")));
    FAILS(consm_predict(&q, loaded, d, 1), CONSM_EINVAL, "consm_model_build");
    consm_model_build(loaded, residual, &built);
    OK(consm_predict(&q, loaded, d, 1));
    assert_same_prediction(p, q);
    OK(consm_model_dump(loaded, d, count_line, NULL));
    assert_true(lines > 8);
    consm_prediction_free(p);
    consm_prediction_free(q);
    consm_model_free(m);
    consm_model_free(loaded);
    OK(consm_options_build(o, "faulty", faulty, NULL));
    FAILS(consm_train(&m, d, o), CONSM_EPROGRAM, "wrong");
    consm_options_free(o);
    consm_dataset_free(d);
    scratch_remove("own.safetensors");
}

/* ---- threads ------------------------------------------------------------- */

struct shared {
    const struct consm_dataset *dataset;
    const struct consm_model *model;
    struct consm_prediction *prediction;
    struct consm_model *trained;
};

static void *use_shared(void *arg)
{
    struct shared *s = arg;
    struct consm_options *o = quick("gcn");
    OK(consm_predict(&s->prediction, s->model, s->dataset, 1));
    OK(consm_train(&s->trained, s->dataset, o));
    consm_options_free(o);
    return NULL;
}

static void one_dataset_serves_many_threads(void **state)
{
    (void)state;
    struct consm_dataset *d, *first;
    OK(consm_dataset_open(&first, "csbm:nodes=120,features=60,words=6,classes=3", NULL));
    struct consm_model *m = trained(first, "gcn");
    OK(consm_dataset_open(&d, "csbm:nodes=120,features=60,words=6,classes=3", NULL));
    struct shared shared[3];
    pthread_t thread[3];
    for (int i = 0; i < 3; i++) {
        shared[i] = (struct shared){.dataset = d, .model = m};
        assert_int_equal(pthread_create(&thread[i], NULL, use_shared, &shared[i]), 0);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 3; i++) {
        assert_same_prediction(shared[0].prediction, shared[i].prediction);
        assert_memory_equal(shared[0].trained->tensor[0].value, shared[i].trained->tensor[0].value,
                            16);
    }
    for (int i = 0; i < 3; i++) {
        consm_prediction_free(shared[i].prediction);
        consm_model_free(shared[i].trained);
    }
    consm_model_free(m);
    consm_dataset_free(d);
    consm_dataset_free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(datasets_open_and_answer),
        cmocka_unit_test(training_reports_and_stops),
        cmocka_unit_test(validation_is_held_out),
        cmocka_unit_test(predictions_come_back_bit_for_bit),
        cmocka_unit_test(predictions_are_measured),
        cmocka_unit_test(thresholds_can_be_set),
        cmocka_unit_test(features_can_be_chosen),
        cmocka_unit_test(messages_travel),
        cmocka_unit_test(files_remember_everything),
        cmocka_unit_test(features_are_matched_by_name),
        cmocka_unit_test(scaled_features_keep_their_measure),
        cmocka_unit_test(sparse_features_can_be_scaled),
        cmocka_unit_test(unseen_nodes_are_welcome),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(unfitting_models_are_refused),
        cmocka_unit_test(predictions_are_numbers),
        cmocka_unit_test(own_models_train_and_load),
        cmocka_unit_test(one_dataset_serves_many_threads),
    };
    if (UNDER_TSAN) /* hundreds of files, on one thread */
        cmocka_set_skip_filter("broken_files_*");
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
