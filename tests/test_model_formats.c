/* Model files that earlier versions wrote (tests/data/models): every later version reads them and
 * predicts what was recorded. A newer format is rejected, and the message says that it is newer.
 * `test_model_formats --record NAME` records the predictions of a new file. */
#include "check.h"

#include "reseal.h"
#include <math.h>
#include <unistd.h>

#define MODELS TESTS_DIR "/data/models/"

/* The digit is the format. make_models.sh says how each one was trained. */
static const char *const recorded[] = {"1_network", "1_forest",     "1_consm", "2_ensemble",
                                       "3_trees",   "4_companions", "5_clean", "6_answers"};
enum { RECORDED = sizeof recorded / sizeof *recorded };

static const char *path_of(const char *name, const char *ending)
{
    static char path[512];
    snprintf(path, sizeof path, MODELS "%s%s", name, ending);
    return path;
}

/* ---- what a model computes ------------------------------------------------------ */

/* Figures of one model: written to a file, or compared with it. */
struct figures {
    FILE *file;
    bool record;
    const char *name;
    int64_t count;
};

/* tolerance: machines differ in the last digits, and the file has six. */
static void figure(struct figures *f, double value, double tolerance)
{
    double expected;
    f->count++;
    if (f->record) {
        fprintf(f->file, "%.6f\n", value);
        return;
    }
    if (fscanf(f->file, "%lf", &expected) != 1)
        fail_msg("%s: figure %lld is not recorded", f->name, (long long)f->count);
    if (isnan(value) != isnan(expected) || fabs(value - expected) > tolerance)
        fail_msg("%s: figure %lld is %.6f, was %.6f", f->name, (long long)f->count, value,
                 expected);
}

static void figures_of(struct figures *f, const struct consm_model *m,
                       const struct consm_dataset *d)
{
    struct consm_prediction *p;
    struct consm_edge_scores *s;
    OK(consm_predict(&p, m, d, 1));
    for (int64_t i = 0; i < p->nodes; i++) {
        figure(f, p->label[i], 0);
        figure(f, p->seen ? p->seen[i] : -1, 0);
        for (int32_t k = 0; k < p->classes; k++) {
            figure(f, (double)p->probability[i * p->classes + k], 1e-4);
            figure(f, p->in_set ? p->in_set[i * p->classes + k] : -1, 0);
        }
    }
    OK(consm_score_edges(&s, m, d, 1));
    for (int64_t e = 0; e < s->edges; e++) {
        figure(f, (double)s->score[e], 1e-3);
        figure(f, (double)s->low[e], 1e-3);
        figure(f, (double)s->high[e], 1e-3);
    }
    consm_edge_scores_free(s);
    consm_prediction_free(p);
}

static void open_both(struct consm_model **m, struct consm_dataset **d, const char *name)
{
    OK(consm_model_load(m, path_of(name, ".safetensors")));
    OK(consm_dataset_open(d, MODELS "graph", NULL));
}

static void visit(const char *name, bool record)
{
    struct consm_model *m;
    struct consm_dataset *d;
    struct figures f = {.record = record, .name = name};
    double more;
    open_both(&m, &d, name);
    f.file = fopen(path_of(name, ".txt"), record ? "w" : "r");
    assert_non_null(f.file);
    figures_of(&f, m, d);
    if (!record)
        assert_true(fscanf(f.file, "%lf", &more) == EOF);
    fclose(f.file);
    consm_dataset_free(d);
    consm_model_free(m);
}

static void old_files_predict_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < RECORDED; i++)
        visit(recorded[i], false);
}

/* What an old file holds also survives being saved by this version. */
static void saved_again_they_stay_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < RECORDED; i++) {
        struct consm_model *m;
        struct consm_dataset *d;
        struct figures f = {.name = recorded[i]};
        char path[] = "/tmp/consm-test-XXXXXX";
        close(mkstemp(path));
        open_both(&m, &d, recorded[i]);
        OK(consm_model_save(m, path));
        consm_model_free(m);
        OK(consm_model_load(&m, path));
        f.file = fopen(path_of(recorded[i], ".txt"), "r");
        assert_non_null(f.file);
        figures_of(&f, m, d);
        fclose(f.file);
        consm_dataset_free(d);
        consm_model_free(m);
        unlink(path);
    }
}

/* ---- other formats -------------------------------------------------------------- */

static void every_format_is_recorded(void **state)
{
    (void)state;
    for (int i = 0; i < RECORDED; i++) {
        size_t size = 0;
        char format[] = "\"format\":\"consm model 0\"";
        uint8_t *data = file_bytes(path_of(recorded[i], ".safetensors"), &size);
        assert_non_null(data);
        format[sizeof format - 3] = recorded[i][0];
        if (!memmem(data, size, format, sizeof format - 1))
            fail_msg("%s: does not hold %s", recorded[i], format);
        free(data);
    }
}

/* The file with another text in its header, as long as the first one, and a valid checksum. */
static void load_changed(const char *from, const char *to, const char *message)
{
    struct consm_model *m = NULL;
    char path[] = "/tmp/consm-test-XXXXXX";
    size_t size = 0;
    uint8_t *data = file_bytes(path_of(recorded[0], ".safetensors"), &size);
    assert_non_null(data);
    uint8_t *at = memmem(data, size, from, strlen(from));
    assert_non_null(at);
    memcpy(at, to, strlen(from));
    reseal(data, size);
    close(mkstemp(path));
    file_put(path, data, size);
    FAILS(consm_model_load(&m, path), CONSM_EFORMAT, message);
    FAILS(consm_model_load(&m, path), CONSM_EFORMAT, path);
    assert_null(m);
    unlink(path);
    free(data);
}

static void other_formats_are_rejected(void **state)
{
    (void)state;
    load_changed("consm model 1", "consm model 7",
                 "the format consm model 7 is newer than this consm");
    load_changed("consm model 1", "other model 1", "not a consm model");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_files_predict_the_same),
        cmocka_unit_test(saved_again_they_stay_the_same),
        cmocka_unit_test(every_format_is_recorded),
        cmocka_unit_test(other_formats_are_rejected),
    };
    if (argc == 3 && strcmp(argv[1], "--record") == 0) {
        visit(argv[2], true);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
