/* Training that continues from a model: it starts where the model ended, with its network and
 * feature scale, and refuses models that do not fit. */
#include "check.h"

#include "app/objects.h"
#include <math.h>

static const char data_name[] =
    "csbm:nodes=150,classes=3,degree=4,features=9,signal=1.5,homophily=0.8,seed=2";

static struct consm_dataset *open_named(const char *name)
{
    struct consm_dataset *d;
    OK(consm_dataset_open(&d, name, NULL));
    return d;
}

/* settings: "name=value …" */
static struct consm_options *options_for(const char *method, const char *settings)
{
    struct consm_options *o;
    char text[200], *rest = text;
    OK(consm_options_new(&o, method));
    OK(consm_options_set(o, "threads", "1"));
    OK(consm_options_set(o, "refit", "no"));
    snprintf(text, sizeof text, "%s", settings);
    for (char *one = strtok_r(text, " ", &rest); one; one = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(one, '=');
        *value = 0;
        OK(consm_options_set(o, one, value + 1));
    }
    return o;
}

static struct consm_model *train(const struct consm_dataset *d, const char *method,
                                 const char *settings, const struct consm_model *from)
{
    struct consm_options *o = options_for(method, settings);
    struct consm_model *m;
    if (from)
        OK(consm_options_from(o, from));
    OK(consm_train(&m, d, o));
    consm_options_free(o);
    return m;
}

/* Whether the weights of two models are equal up to rounding. */
static bool same_weights(const struct consm_model *a, const struct consm_model *b)
{
    int64_t compared = 0;
    for (int64_t i = 0; i < a->tensors; i++) {
        const struct model_tensor *x = &a->tensor[i];
        for (int64_t k = 0; x->name[0] == 'w' && k < b->tensors; k++) {
            const struct model_tensor *y = &b->tensor[k];
            if (strcmp(x->name, y->name) != 0)
                continue;
            for (int64_t j = 0; j < x->rows * x->cols; j++, compared++)
                if (fabs((double)x->value[j] - (double)y->value[j]) > 1e-6)
                    return false;
        }
    }
    return compared > 0;
}

/* One step that is too small to change anything shows where training started. */
static void begins_where_the_model_ended(void **state)
{
    static const char *const tried[][2] = {
        {"gcn", "epochs=25 hidden=7 normalize_features=standard"},
        {"grand", "epochs=25 hidden=7 normalize_features=scale feature_gate=yes"},
        {"gat", "epochs=25 hidden=8 heads=2"},
        {"gcnii", "epochs=25 layers=3 hidden=6"}};
    struct consm_dataset *d = open_named(data_name);
    (void)state;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        struct consm_model *m = train(d, tried[i][0], tried[i][1], NULL);
        struct consm_model *cold = train(d, tried[i][0], "epochs=1 lr=1e-8 seed=5", NULL);
        struct consm_model *warm = train(d, tried[i][0], "epochs=1 lr=1e-8 seed=5", m);
        assert_true(same_weights(warm, m));
        assert_int_equal(warm->config.hidden, m->config.hidden);
        assert_int_equal(warm->config.normalize_features, m->config.normalize_features);
        assert_int_not_equal(cold->config.hidden, m->config.hidden);
        consm_model_free(m);
        consm_model_free(cold);
        consm_model_free(warm);
    }
    consm_dataset_free(d);
}

static void consm_goes_on(void **state)
{
    struct consm_dataset *d = open_named(data_name);
    struct consm_model *m = train(d, "consm", "backbone=gat epochs=12 hidden=8", NULL);
    struct consm_model *next = train(d, "consm", "epochs=6", m);
    (void)state;
    assert_string_equal(next->backbone, "gat");
    assert_int_equal(next->config.hidden, 8);
    consm_model_free(next);
    consm_model_free(m);
    consm_dataset_free(d);
}

static void refused(const struct consm_dataset *d, const char *method, const char *settings,
                    const struct consm_model *from, const char *message)
{
    struct consm_options *o = options_for(method, settings);
    struct consm_model *m = NULL;
    consm_status st = consm_options_from(o, from);
    if (st == CONSM_OK)
        st = consm_train(&m, d, o);
    if (st != CONSM_EINVAL || !strstr(consm_errmsg(), message))
        fail_msg("got %d \"%s\": expected \"%s\"", st, consm_errmsg(), message);
    consm_model_free(m);
    consm_options_free(o);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct consm_dataset *d = open_named(data_name);
    struct consm_dataset *classes = open_named("csbm:nodes=150,classes=4,features=9"),
                         *wider = open_named("csbm:nodes=150,classes=3,features=10");
    struct consm_model *m = train(d, "gcn", "epochs=2", NULL);
    struct consm_model *several = train(d, "gcn", "epochs=2 ensemble=2", NULL);
    (void)state;
    refused(d, "gat", "", m, "the start model is gcn: expected gat");
    refused(d, "gcn", "hidden=5", m, "parameter w1 of the start model is 9 x 64");
    refused(classes, "gcn", "", m, "has 4 classes, but the start model has 3");
    refused(wider, "gcn", "", m, "has 10 features, but the start model has 9");
    if (several->members)
        refused(d, "gcn", "", several, "is an ensemble");
    consm_model_free(several);
    consm_model_free(m);
    consm_dataset_free(d);
    consm_dataset_free(classes);
    consm_dataset_free(wider);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_where_the_model_ended),
        cmocka_unit_test(consm_goes_on),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
