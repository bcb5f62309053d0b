/* The whole public interface in a program with a decimal comma: options, files, models. The locale
 * is compiled for the test, because hardly any machine has one. */
#include "check.h"
#include "narrow.h"

#include <locale.h>
#include <unistd.h>

static char folder[64];

static bool comma_locale(void)
{
    char command[200], text[16];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 > %s/log 2>&1",
             folder, folder);
    if (system(command) < 0 || setenv("LOCPATH", folder, 1) != 0 ||
        !setlocale(LC_ALL, "de_DE.UTF-8"))
        return false;
    snprintf(text, sizeof text, "%.1f", 0.5);
    return strcmp(text, "0,5") == 0;
}

static const char *at(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(at(name), "w");
    fputs(text, f);
    fclose(f);
}

static void options_take_points(void **state)
{
    (void)state;
    struct consm_options *o;
    char buffer[32];
    OK(consm_options_new(&o, "gcn"));
    OK(consm_options_set(o, "lr", "0.01"));
    assert_string_equal(consm_options_get(o, "lr", buffer), "0.01");
    OK(consm_options_set(o, "train_ratio", "0.25"));
    assert_string_equal(consm_options_get(o, "train_ratio", buffer), "0.25");
    FAILS(consm_options_set(o, "lr", "0,01"), CONSM_EINVAL, "0,01");
    struct consm_parameter p = {.size = sizeof p};
    for (int i = 0; consm_parameter_get(&p, "consm", i) == CONSM_OK; i++)
        assert_null(strchr(p.value, ','));
    consm_options_free(o);
}

static void files_have_points(void **state)
{
    (void)state;
    struct consm_dataset *d;
    put("edges.csv", "source,target,weight\na,b,0.5\nb,c,1.25\nc,d,2.5e-1\nd,a,1\n");
    put("nodes.csv", "id,label\na,x\nb,y\nc,x\nd,y\n");
    put("features.csv", "id,f\na,0.5\nb,1.5\nc,-0.25\nd,1e-3\n");
    OK(consm_dataset_open(&d, folder, NULL));
    consm_dataset_free(d);
    OK(consm_dataset_open(&d, "csbm:nodes=60,homophily=0.75,signal=0.5", NULL));
    consm_dataset_free(d);
}

/* Trained, saved, loaded and used again, with every kind of number in a model file. */
static void models_travel(void **state)
{
    (void)state;
    static const char *const method[] = {"gcn", "consm", "gam"}, *const small[][2] = {NARROW};
    struct consm_dataset *d;
    OK(consm_dataset_open(&d, "csbm:nodes=60,homophily=0.75", NULL));
    for (int i = 0; i < 3; i++) {
        struct consm_options *o;
        struct consm_model *m, *back;
        struct consm_prediction *a, *b;
        struct consm_edge_scores *scores;
        OK(consm_options_new(&o, method[i]));
        OK(consm_options_set(o, "epochs", "10"));
        OK(consm_options_set(o, "warmup", "5"));
        OK(consm_options_set(o, "per_class", "4"));
        OK(consm_options_set(o, "coverage", "0.75"));
        for (size_t k = 0; k < sizeof small / sizeof *small; k++)
            OK(consm_options_set(o, small[k][0], small[k][1]));
        OK(consm_options_checkpoint(o, at("checkpoint"), 3, false));
        OK(consm_train(&m, d, o));
        OK(consm_options_checkpoint(o, at("checkpoint"), 3, true));
        consm_model_free(m);
        OK(consm_train(&m, d, o));
        OK(consm_model_save(m, at("model")));
        OK(consm_model_load(&back, at("model")));
        OK(consm_predict(&a, m, d, 1));
        OK(consm_predict(&b, back, d, 1));
        assert_memory_equal(a->confidence, b->confidence, (size_t)a->nodes * sizeof(float));
        OK(consm_score_edges(&scores, back, d, 1));
        struct consm_model_info info = {.size = sizeof info}, loaded = info;
        OK(consm_model_info(&info, m));
        OK(consm_model_info(&loaded, back));
        assert_true(info.temperature == loaded.temperature);
        consm_edge_scores_free(scores);
        consm_prediction_free(a);
        consm_prediction_free(b);
        consm_model_free(back);
        consm_model_free(m);
        consm_options_free(o);
        unlink(at("checkpoint"));
    }
    consm_dataset_free(d);
}

static void messages_have_points(void **state)
{
    (void)state;
    struct consm_options *o;
    OK(consm_options_new(&o, "gcn"));
    FAILS(consm_options_set(o, "dropout", "1.5"), CONSM_EINVAL, "1.5");
    assert_null(strstr(consm_errmsg(), "0,"));
    consm_options_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_take_points),
        cmocka_unit_test(files_have_points),
        cmocka_unit_test(models_travel),
        cmocka_unit_test(messages_have_points),
    };
    char command[100];
    snprintf(folder, sizeof folder, "/tmp/consm-locale-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(command, sizeof command, "rm -r %s", folder);
    int failed = 0;
    if (comma_locale())
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    else
        printf("SKIPPED: no locale with a decimal comma; the package locales has the sources\n");
    return system(command) < 0 ? 1 : failed;
}
