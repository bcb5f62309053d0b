/* Epochs that run at once (program/course.h): on every backend each epoch's score equals that of
 * stats/score.c, for every metric, with many equal logits, an absent class and more rows than one
 * block sorts; and the parameters of the best epoch are kept. */
#include "programs.h"

#include "base/rng.h"
#include "program/course.h"
#include <math.h>

/* In test_course_card, which simulates the kernels for cards, only that backend is tested. */
extern consm_status card_open(struct backend **out, int threads) __attribute__((weak));

enum { EPOCHS = 2, FEW = 40, MANY = 8300 };

static const char *const metric_name[] = {"accuracy",          "macro-F1", "balanced accuracy",
                                          "average precision", "ROC-AUC",  "log-likelihood"};
enum { METRICS = sizeof metric_name / sizeof *metric_name };

/* Logits that are parameters, and half of whose rows are trained. */
struct world {
    int64_t n;
    int32_t c;
    struct index *train_rows, *rows;
    int32_t label[MANY];
    struct params *params;
    struct program *train, *eval;
    node loss, logits;
};

static struct index *rows_from(int64_t n, int64_t from, int64_t step)
{
    struct index *out;
    int64_t count = (n - from + step - 1) / step;
    OK(index_new(&out, count, n));
    for (int64_t k = 0; k < count; k++)
        out->row[k] = (int32_t)(from + k * step);
    OK(index_set(out, out->row));
    out->fixed = true;
    return out;
}

static node logits_of(struct program *p, const struct world *w)
{
    return scale(p, 1.5f, param(p, "x", w->n, w->c, INIT_ZERO));
}

/* Few different logits, so many are equal. No row has the last of more than two classes. */
static void draw(struct world *w, bool blank)
{
    struct rng r;
    rng_init(&r, 3, 0);
    float *value = param_values(w->params);
    for (int64_t i = 0; i < w->n; i++)
        w->label[i] = (int32_t)(rng_uniform(&r) * (double)(w->c > 2 ? w->c - 1 : w->c));
    for (int64_t k = 0; k < w->n * w->c; k++)
        value[k] = (float)((int)(rng_uniform(&r) * 7) - 3) / 4;
    if (blank)
        value[2 * w->c] = NAN;
}

/* blank: a row without a score */
static void world_open(struct world *w, struct backend *backend, int64_t n, int32_t c, bool blank)
{
    *w = (struct world){.n = n, .c = c};
    w->train_rows = rows_from(n, 1, 2);
    w->rows = rows_from(n, 0, n == FEW ? 2 : 1);
    OK(params_new(&w->params));
    OK(program_new(&w->train, w->params, true));
    w->loss = nll(w->train, logits_of(w->train, w), w->train_rows, w->label, NULL);
    program_minimize(w->train, w->loss);
    program_optimize(w->train, &(struct adam_options){0.2, 0.9, 0.999, 1e-8, 0});
    OK(program_compile(w->train, backend));
    OK(program_new(&w->eval, w->params, false));
    w->logits = logits_of(w->eval, w);
    program_keep(w->eval, w->logits);
    OK(program_compile(w->eval, backend));
    OK(params_init(w->params, 5));
    OK(params_allocate(w->params, backend, PLACE_BEST));
    draw(w, blank);
}

static void world_close(struct world *w)
{
    program_free(w->train);
    program_free(w->eval);
    params_free(w->params);
    index_free(w->train_rows);
    index_free(w->rows);
}

/* The score and the mean of -log p of logits on the host. */
static double score_here(double *tie, const struct world *w, enum score_metric metric,
                         const float *logits)
{
    static _Alignas(64) char memory[1 << 20];
    struct score_room room = {0};
    const struct scored_rows x = {.logits = logits,
                                  .label = w->label,
                                  .logit_row = w->rows->row,
                                  .label_row = w->rows->row,
                                  .rows = w->rows->count,
                                  .classes = w->c,
                                  .positive = 1};
    assert_true(score_room_lay(&room, memory, metric, x.rows, x.classes, 1) <=
                (int64_t)sizeof memory);
    *tie = 0;
    for (int64_t k = 0; k < x.rows; k++)
        *tie += score_surprise(logits + x.logit_row[k] * w->c, w->c, w->label[x.logit_row[k]]) /
                (double)x.rows;
    return score_rows(metric, &x, &room);
}

/* One epoch after the other, so that each one's logits can be read. */
static void check_epochs(struct world *w, struct backend *backend, enum score_metric metric,
                         bool ties)
{
    struct keep_record record = {.score = -1, .tie = INFINITY};
    struct course *course;
    double best = -1, best_tie = INFINITY, tie;
    struct course_parts parts = {.train = w->train,
                                 .eval = w->eval,
                                 .loss = w->loss,
                                 .logits = w->logits,
                                 .rows = w->rows,
                                 .label = w->label,
                                 .metric = metric,
                                 .positive = 1,
                                 .ties = ties};
    OK(course_new(&course, &parts));
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        OK(course_run(course, &(struct step){1, epoch}, 1, &record));
        const struct kept_epoch *now = &record.epoch[0];
        double expected = score_here(&tie, w, metric, value_of(w->eval, w->logits));
        const float *value = param_values(w->params), *kept;
        bool better = expected > best || (ties && expected == best && tie < best_tie);
        if (!(fabs(now->score - expected) <= 1e-12))
            fail_msg("%s of %lld rows, %d classes on %s: %.17g, expected %.17g",
                     metric_name[metric], (long long)w->rows->count, w->c, backend->kind->name,
                     now->score, expected);
        assert_true(!ties || fabs(now->tie - tie) <= 1e-9);
        assert_int_equal(now->kept, better);
        OK(params_read(&kept, w->params, PLACE_BEST));
        if (better) {
            assert_memory_equal(kept, value, (size_t)w->params->size * sizeof *kept);
            best = expected;
            best_tie = tie;
        }
        assert_true(record.score == now->score || !better);
    }
    course_free(course);
}

static void check_backend(struct backend *backend)
{
    static const struct {
        int64_t n;
        int32_t c;
    } size[] = {{FEW, 2}, {FEW, 4}, {MANY, 2}, {MANY, 3}};
    bool slow = strcmp(backend->kind->name, "reference") == 0; /* it compares all pairs */
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        for (int metric = 0; metric < METRICS; metric++) {
            struct world w;
            bool ranks = metric == SCORE_ROC_AUC || metric == SCORE_AVERAGE_PRECISION;
            if (size[i].n == MANY && (slow || !ranks))
                continue;
            world_open(&w, backend, size[i].n, size[i].c, ranks && !slow);
            check_epochs(&w, backend, (enum score_metric)metric, !ranks && i % 2 == 0);
            world_close(&w);
        }
}

static void every_metric_is_that_of_the_host(void **state)
{
    struct backend *backend;
    (void)state;
    if (card_open) {
        OK(card_open(&backend, 1));
        check_backend(backend);
        backend_close(backend);
        return;
    }
    for (int b = 0; backend_name(b); b++) {
        OK(backend_open(&backend, backend_name(b), 2));
        check_backend(backend);
        backend_close(backend);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_metric_is_that_of_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
