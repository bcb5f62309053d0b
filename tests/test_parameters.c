/* The library's table of methods and parameters, as a binding reads it: every default can be set
 * and read back, every range holds. And interrupted and resumed runs. */
#include "check.h"

#include "datasets.h"
#include "golden.h"
#include <math.h>

static bool method_at(struct consm_method *m, int32_t i)
{
    *m = (struct consm_method){.size = sizeof *m};
    return consm_method_get(m, i) == CONSM_OK;
}

static bool parameter_at(struct consm_parameter *p, const char *method, int32_t i)
{
    *p = (struct consm_parameter){.size = sizeof *p};
    return consm_parameter_get(p, method, i) == CONSM_OK;
}

static bool find_parameter(struct consm_parameter *p, const char *method, const char *name)
{
    for (int32_t i = 0; parameter_at(p, method, i); i++)
        if (strcmp(p->name, name) == 0)
            return true;
    return false;
}

static void refuses_what_is_out_of_range(struct consm_options *o, const struct consm_parameter *p)
{
    char text[64];
    if (p->kind == CONSM_WORD) {
        FAILS(consm_options_set(o, p->name, "zzz"), CONSM_EINVAL, "expected one of");
        for (int i = 0; p->choices[i]; i++)
            OK(consm_options_set(o, p->name, p->choices[i]));
    } else if (p->kind != CONSM_TEXT) {
        snprintf(text, sizeof text, "%.17g", p->min - 1);
        FAILS(consm_options_set(o, p->name, text), CONSM_EINVAL, "expected");
        snprintf(text, sizeof text, "%.17g", p->max * 2 + 1);
        FAILS(consm_options_set(o, p->name, text), CONSM_EINVAL, "expected");
        FAILS(consm_options_set(o, p->name, "nonsense"), CONSM_EINVAL, "expected");
        FAILS(consm_options_set(o, p->name, "nan"), CONSM_EINVAL, "expected");
        if (p->kind == CONSM_REAL_OR_AUTO)
            OK(consm_options_set(o, p->name, "auto"));
    }
}

/* A whole number's bounds, and words, are read back as they were set. */
static void remembers_what_is_set(struct consm_options *o, const struct consm_parameter *p)
{
    char text[64], buffer[32];
    for (int i = 0; p->kind == CONSM_WORD && p->choices[i]; i++) {
        OK(consm_options_set(o, p->name, p->choices[i]));
        assert_string_equal(consm_options_get(o, p->name, buffer), p->choices[i]);
    }
    for (int high = 0; p->kind == CONSM_INTEGER && p->max < 0x1p53 && high < 2; high++) {
        snprintf(text, sizeof text, "%.0f", high ? p->max : p->min);
        OK(consm_options_set(o, p->name, text));
        assert_string_equal(consm_options_get(o, p->name, buffer), text);
    }
}

/* The kinds, ranges, words and defaults of ConSM's parameters and of a run's options. */
static void ranges_are_recorded(void **state)
{
    struct consm_parameter p;
    static char text[1 << 16];
    size_t used = 0;
    (void)state;
    for (int32_t i = 0; parameter_at(&p, "consm", i); i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s: kind %d, %.10g to %.10g, %s",
                                 p.name, (int)p.kind, p.min, p.max, p.value);
        for (int k = 0; p.choices && p.choices[k]; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? "|" : ", of ",
                                     p.choices[k]);
        used += (size_t)snprintf(text + used, sizeof text - used, "\n");
        assert_true(used < sizeof text);
    }
    golden("parameters.txt", text);
}

static void every_default_can_be_set_and_read(void **state)
{
    struct consm_method m;
    struct consm_parameter p;
    char buffer[32];
    int32_t methods = 0, parameters = 0;
    (void)state;
    for (; method_at(&m, methods); methods++) {
        struct consm_options *o;
        assert_true(*m.title && *m.paper);
        OK(consm_options_new(&o, m.name));
        for (parameters = 0; parameter_at(&p, m.name, parameters); parameters++) {
            assert_true(*p.help);
            assert_string_equal(consm_options_get(o, p.name, buffer), p.value);
            OK(consm_options_set(o, p.name, p.value));
            assert_string_equal(consm_options_get(o, p.name, buffer), p.value);
        }
        for (int32_t i = 0; parameter_at(&p, m.name, i); i++)
            refuses_what_is_out_of_range(o, &p);
        for (int32_t i = 0; parameter_at(&p, m.name, i); i++)
            remembers_what_is_set(o, &p);
        consm_options_free(o);
    }
    assert_true(methods >= 12 && parameters >= 60);
    FAILS(consm_method_get(&m, methods), CONSM_ENOTFOUND, "there are");
    FAILS(consm_method_get(&m, -1), CONSM_ENOTFOUND, "there are");
    FAILS(consm_parameter_get(&p, "gcn", parameters), CONSM_ENOTFOUND, "there are");
    FAILS(consm_parameter_get(&p, "gnc", 0), CONSM_ENOTFOUND, "did you mean gcn?");
    FAILS(consm_parameter_get(&p, "GCN", 0), CONSM_ENOTFOUND, "did you mean gcn?");
    p.size = 0;
    FAILS(consm_parameter_get(&p, "gcn", 0), CONSM_EINVAL, "the size member of a struct");
}

static void methods_have_their_own(void **state)
{
    struct consm_parameter p;
    struct consm_options *o;
    char buffer[32];
    (void)state;
    assert_true(find_parameter(&p, "gat", "heads") && p.own && p.kind == CONSM_INTEGER);
    assert_true(find_parameter(&p, "gcn", "heads") && !p.own);
    assert_true(find_parameter(&p, "gcn", "lr") && !p.own && p.kind == CONSM_REAL);
    assert_true(find_parameter(&p, "consm", "zeta") && p.own && p.kind == CONSM_REAL_OR_AUTO);
    assert_true(find_parameter(&p, "gam", "propagation"));
    assert_string_equal(p.value, "gam"); /* a method's default, not the table's */
    assert_false(find_parameter(&p, "gcn", "no such"));
    static const char *const shares[] = {"train_ratio", "val_ratio", "at_precision", "at_recall"};
    for (int i = 0; i < 4; i++)
        assert_true(find_parameter(&p, "gcn", shares[i]) && p.min == 0 && p.max == 1);
    OK(consm_options_new(&o, "gcn"));
    assert_null(consm_options_get(o, "hiden", buffer));
    OK(consm_options_set(o, "split", "a/very/long/path/to/a/file/of/roles/that/is/kept/whole.csv"));
    assert_string_equal(consm_options_get(o, "split", buffer),
                        "a/very/long/path/to/a/file/of/roles/that/is/kept/whole.csv");
    consm_options_free(o);
}

/* ---- interrupted runs ---------------------------------------------------- */

static bool stop_at_five(void *ctx, const struct consm_progress *progress)
{
    (void)ctx;
    return progress->epoch == 5;
}

static struct consm_options *ten_epochs(const char *method)
{
    struct consm_options *o;
    OK(consm_options_new(&o, method));
    OK(consm_options_set(o, "epochs", "10"));
    OK(consm_options_set(o, "per_class", "4"));
    return o;
}

static void interrupted_runs_go_on(void **state)
{
    struct consm_dataset *d;
    struct consm_options *o = ten_epochs("gcn");
    struct consm_model *m, *whole;
    struct consm_prediction *p, *q;
    char buffer[32];
    const char *path = in_scratch("run.safetensors");
    (void)state;
    OK(consm_dataset_open(&d, "karate", NULL));
    OK(consm_train(&whole, d, o));
    OK(consm_options_checkpoint(o, path, 2, true)); /* nothing there yet: from the beginning */
    consm_options_on_progress(o, stop_at_five, NULL);
    FAILS(consm_train(&m, d, o), CONSM_ECANCEL, "");
    assert_int_equal(file_kind(path), FILE_REGULAR);
    consm_options_on_progress(o, NULL, NULL);
    OK(consm_train(&m, d, o));
    assert_string_equal(consm_model_parameter(m, "epochs", buffer), "10");
    assert_null(consm_model_parameter(m, "epoch", buffer));
    OK(consm_predict(&p, whole, d, 1));
    OK(consm_predict(&q, m, d, 1));
    assert_memory_equal(p->probability, q->probability, 34 * 2 * sizeof *p->probability);
    consm_prediction_free(p);
    consm_prediction_free(q);
    consm_model_free(m);
    consm_model_free(whole);
    OK(consm_options_set(o, "hidden", "8")); /* not the run that was written down */
    assert_true(consm_train(&m, d, o) < 0);
    assert_null(m);
    OK(consm_options_checkpoint(o, NULL, 0, false)); /* none any more */
    OK(consm_train(&m, d, o));
    consm_model_free(m);
    FAILS(consm_options_checkpoint(o, path, -1, false), CONSM_EINVAL, "expected 0 or more");
    consm_options_free(o);
    consm_dataset_free(d);
}

/* A user sets a learning rate and a profile, in either order; "default" removes the profile. */
static void given_values_win_over_a_profile(void **state)
{
    char buffer[32];
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct consm_options *o;
        OK(consm_options_new(&o, "consm"));
        OK(consm_options_set(o, first ? "lr" : "profile", first ? "0.01" : "paper"));
        OK(consm_options_set(o, first ? "profile" : "lr", first ? "paper" : "0.01"));
        assert_string_equal(consm_options_get(o, "lr", buffer), "0.01");
        assert_string_equal(consm_options_get(o, "rounds", buffer), "20");
        assert_string_equal(consm_options_get(o, "transport", buffer), "exact");
        OK(consm_options_set(o, "profile", "authors"));
        assert_string_equal(consm_options_get(o, "rounds", buffer), "300");
        assert_string_equal(consm_options_get(o, "lambda_per", buffer), "mean"); /* not paper's */
        OK(consm_options_set(o, "profile", "default"));
        assert_string_equal(consm_options_get(o, "lr", buffer), "0.01");
        assert_string_equal(consm_options_get(o, "rounds", buffer), "3");
        assert_string_equal(consm_options_get(o, "backbone", buffer), "auto");
        FAILS(consm_options_set(o, "profile", "papr"), CONSM_EINVAL, "did you mean paper?");
        assert_string_equal(consm_options_get(o, "profile", buffer), "default");
        consm_options_free(o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_recorded),
        cmocka_unit_test(every_default_can_be_set_and_read),
        cmocka_unit_test(methods_have_their_own),
        cmocka_unit_test(given_values_win_over_a_profile),
        cmocka_unit_test_setup_teardown(interrupted_runs_go_on, scratch_make, scratch_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
