/* Candidates that predict together with ConSM: the prediction is the mean that votes and
 * temperatures say, ConSM keeps half of the votes, its network and its own score stay those of a
 * run without companions, and trust is that of the mean. The file, a resumed run and a few nodes
 * give the same bits. Trees among them are in test_with_trees.c. THREADED */
#include "companions.h"

#include "backends/open.h"
#include "reseal.h"
#include "train/consm/candidates.h"

static const char graph[] =
    "csbm:nodes=240,classes=3,degree=4,homophily=0.7,features=8,signal=0.6,seed=5";

static void set(struct consm_options *o, const char *name, const char *value)
{
    OK(consm_options_set(o, name, value));
}

static struct consm_options *options(int threads)
{
    struct consm_options *o = companion_options(threads);
    set(o, "drop_share", "0");
    set(o, "per_class", "12");
    return o;
}

static struct consm_model *trained(const struct consm_dataset *d, int threads, const char *name,
                                   const char *value)
{
    return companion_train(d, options(threads), name, value);
}

static struct consm_dataset *opened(void)
{
    struct consm_dataset *d;
    OK(consm_dataset_open(&d, graph, NULL));
    return d;
}

/* The run on one thread without further options, trained once for the tests that look at it. */
static struct consm_model *usual;

static int train_usual(void **state)
{
    (void)state;
    struct consm_dataset *d = opened();
    usual = trained(d, 1, NULL, NULL);
    consm_dataset_free(d);
    return 0;
}

static int free_usual(void **state)
{
    (void)state;
    consm_model_free(usual);
    return 0;
}

/* ---- what they are --------------------------------------------------------------- */

static consm_status add_up(void *ctx, const struct consm_model *m, const struct problem *p,
                           struct backend *backend)
{
    struct mean *to = ctx;
    mean_open(to, m, p);
    mean_add(to, m, p, backend, (double)m->own_votes, m->own_temperature);
    for (int64_t i = 0; i < m->companions; i++) {
        const struct consm_model *one = m->companion[i];
        mean_add(to, one, p, backend, (double)one->picks, one->temperature);
    }
    return CONSM_OK;
}

static void the_prediction_is_their_mean(void **state)
{
    (void)state;
    struct consm_dataset *d = opened();
    struct consm_model *m = usual;
    struct consm_prediction *p;
    struct mean mean;
    int64_t right = 0, votes = 0;
    assert_true(m->companions > 0);
    assert_string_equal(consm_model_parameter(m, "companions", (char[32]){0}), "yes");
    OK(model_on_dataset(m, d, 1, add_up, &mean));
    mean_predicts(&mean, m, d);
    OK(consm_predict(&p, m, d, 1));
    for (int64_t i = 0; i < p->nodes; i++)
        right += p->label[i] == d->data->label[i];
    assert_true(right > p->nodes / 2);
    for (int64_t k = 0; k < m->companions; k++)
        votes += m->companion[k]->picks;
    assert_in_range(m->own_votes, 10, 20);
    assert_in_range(votes, 1, 20 - m->own_votes);
    const struct train_companions *told = &m->result.companions;
    assert_int_equal(told->count, m->companions);
    assert_int_equal(told->votes, m->own_votes + votes);
    assert_true(told->of[0].number >= 1 && told->of[0].votes == m->companion[0]->picks);
    int64_t all = m->trained;
    for (int64_t k = 0; k < m->companions; k++)
        all += m->companion[k]->trained;
    assert_int_equal(m->result.params, all);
    consm_prediction_free(p);
    consm_dataset_free(d);
}

static void consm_stays_as_it_is_alone(void **state)
{
    (void)state;
    struct consm_dataset *d = opened();
    struct consm_model *m = usual, *two = trained(d, 2, NULL, NULL);
    struct consm_model *alone = trained(d, 1, "companions", "no");
    assert_true(m->companions > 0 && alone->companions == 0);
    assert_true(alone->result.companions.count == 0);
    assert_true(m->result.companions.alone == alone->result.val_score);
    assert_int_equal(m->result.epochs, alone->result.epochs);
    assert_string_equal(consm_model_parameter(alone, "companions", (char[32]){0}), "no");
    same_network_other_answers(m, alone);
    same_edges(m, two, d);
    same_predictions(m, two, d);
    consm_model_free(two);
    consm_model_free(alone);
    consm_dataset_free(d);
}

/* The log-odds of Σ_k q_ik q_jk, with q the mean of all, calibrated. */
static double agreement_of(const struct mean *mean, int64_t i, int64_t j, int64_t c,
                           double temperature)
{
    double both = 0, all[2] = {0};
    for (int64_t k = 0; k < c; k++) {
        double p = pow(mean->of[i * c + k], 1 / temperature);
        double q = pow(mean->of[j * c + k], 1 / temperature);
        both += p * q;
        all[0] += p;
        all[1] += q;
    }
    both = fmin(fmax(both / (all[0] * all[1]), 1e-3), 1 - 1e-3);
    return log(both / (1 - both));
}

static void trust_is_of_their_mean(void **state)
{
    (void)state;
    struct consm_dataset *d = opened();
    struct consm_edge_scores *s;
    struct mean mean;
    int64_t looked = 0;
    OK(model_on_dataset(usual, d, 1, add_up, &mean));
    OK(consm_score_edges(&s, usual, d, 1));
    assert_int_equal(s->witnesses, WITNESSES);
    double temperature = (double)model_answers_weights(usual)[0];
    for (int64_t e = 0; e < s->edges; e++) {
        const float *x = s->witness + e * WITNESSES;
        if (x[WITNESS_TAUGHT] != 0) /* an end counts as predicted with its label */
            continue;
        assert_near((double)x[WITNESS_AGREEMENT],
                    agreement_of(&mean, s->from[e], s->to[e], usual->classes, temperature), 1e-3);
        looked++;
    }
    assert_true(looked > s->edges / 4);
    consm_edge_scores_free(s);
    free(mean.of);
    consm_dataset_free(d);
}

/* Of 100 nodes three more are wrong: -0.03 ± 0.017; six: -0.06 ± 0.024. */
static void a_clearly_worse_mean_does_not_predict(void **state)
{
    (void)state;
    enum { ROWS = 100 };
    double mean[ROWS], alone[ROWS];
    for (int wrong = 0; wrong <= 10; wrong++) {
        for (int i = 0; i < ROWS; i++) {
            alone[i] = i < 80;
            mean[i] = i < 80 && i >= wrong;
        }
        assert_int_equal(companions_hold(mean, alone, ROWS), wrong <= 3);
        assert_true(companions_hold(alone, mean, ROWS));
    }
}

/* ---- the file -------------------------------------------------------------------- */

/* The file with one text of its header replaced by another of the same length is refused. */
static void refuse(const char *path, const char *from, const char *to, const char *message)
{
    struct consm_model *m;
    size_t size = 0;
    uint8_t *data = file_bytes(path, &size), *kept = malloc(size);
    assert_non_null(kept);
    memcpy(kept, data, size);
    uint8_t *at = memmem(data, size, from, strlen(from));
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    reseal(data, size);
    file_put(path, data, size);
    FAILS(consm_model_load(&m, path), CONSM_EFORMAT, message);
    file_put(path, kept, size);
    free(kept);
    free(data);
}

static void the_file_holds_them(void **state)
{
    (void)state;
    char path[] = "/tmp/consm-companions-XXXXXX";
    struct consm_dataset *d = opened();
    struct consm_model *m = usual, *loaded;
    loaded = companions_from_file(path, m, d);
    assert_string_equal(consm_model_parameter(loaded, "companions", (char[32]){0}), "yes");
    char now[32];
    snprintf(now, sizeof now, "{\\\"votes\\\": %lld", (long long)m->own_votes);
    refuse(path, now, "{\\\"votes\\\": -1", "\"picks\" is -1");
    refuse(path, "\\\"members\\\": [{\\\"model\\\"", "\\\"membres\\\": [{\\\"model\\\"",
           "0 companions: expected a list of 1 to 9");
    refuse(path, "\"companions\":", "\"companionz\":", "companions");
    refuse(path, "\"companion.0.", "\"companion.7.", "has no parameter");
    refuse(path, "\"answers.trust\"", "\"answers.truce\"", "has no tensor answers.trust");
    consm_model_free(loaded);
    unlink(path);
    consm_dataset_free(d);
}

/* ---- runs that are interrupted, and those on all labels ---------------------------- */

/* Stops in the rounds, when the candidates' programs are gone. */
static bool stop_in_rounds(void *ctx, const struct consm_progress *p)
{
    int *left = ctx;
    return p->epoch > 0 && --*left == 0;
}

static void a_resumed_run_has_them(void **state)
{
    (void)state;
    struct consm_dataset *d = opened();
    struct consm_options *o = options(1);
    int left = 2;
    companions_resume(usual, d, o, stop_in_rounds, &left);
    consm_options_free(o);
    consm_dataset_free(d);
}

static void a_refit_trains_them_too(void **state)
{
    (void)state;
    struct consm_dataset *d = opened();
    struct consm_model *m = usual, *again = trained(d, 1, "refit", "yes");
    assert_true(m->companions > 0);
    assert_int_equal(again->companions, m->companions);
    assert_int_equal(again->own_votes, m->own_votes);
    assert_memory_equal(model_answers_weights(again), model_answers_weights(m),
                        TRUST_NUMBERS * sizeof(float)); /* no labels are left to learn it from */
    assert_int_equal(again->refit.labels, again->count[SPLIT_TRAIN] + again->count[SPLIT_VAL]);
    for (int64_t k = 0; k < m->companions; k++)
        assert_false(same_first_tensor(m->companion[k], again->companion[k]));
    consm_model_free(again);
    consm_dataset_free(d);
}

/* ---- who has none ------------------------------------------------------------------ */

static void who_predicts_alone(void **state)
{
    (void)state;
    static const char *const off[][2] = {{"candidates", "few"},
                                         {"backbone", "gcn"},
                                         {"ensemble", "2"},
                                         {"companions", "no"},
                                         {"profile", "paper"}};
    struct consm_dataset *d = opened();
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        struct consm_model *m = trained(d, 1, off[i][0], off[i][1]);
        assert_int_equal(m->companions, 0);
        for (int64_t k = 0; k < m->members; k++)
            assert_int_equal(m->member[k]->companions, 0);
        consm_model_free(m);
    }
    consm_dataset_free(d);
}

/* By any metric but accuracy the mean must be as good as ConSM alone. */
static void other_metrics_never_fall(void **state)
{
    (void)state;
    static const char *const metrics[] = {"macro-f1", "roc-auc", "log-likelihood"};
    struct consm_dataset *d = opened();
    int some = 0;
    for (int k = 0; k < 9; k += UNDER_ASAN ? 4 : 1) { /* each metric once, or thrice */
        struct consm_options *o = options(1);
        struct consm_model *m;
        set(o, "metric", metrics[k / 3]);
        o->seed = (uint64_t)(k % 3);
        OK(consm_train(&m, d, o));
        if (m->companions > 0)
            assert_true(m->result.val_score >= m->result.companions.alone);
        some += m->companions > 0;
        consm_model_free(m);
        consm_options_free(o);
    }
    assert_true(UNDER_ASAN || some > 3);
    consm_dataset_free(d);
}

/* Average precision of a class of which fewer than ten nodes validate would be chance. */
static void no_vote_on_few_positives(void **state)
{
    (void)state;
    struct consm_dataset *d = opened();
    int few = 0, enough = 0;
    for (int k = 0; k < (UNDER_ASAN ? 2 : 9); k++) {
        struct consm_options *o = options(1);
        struct consm_model *m;
        set(o, "metric", "average-precision");
        set(o, "positive", "1");
        set(o, "train_ratio", "0.2");
        set(o, "val_ratio", k % 2 ? "0.3" : "0.1"); /* of 80 nodes */
        o->seed = (uint64_t)k;
        OK(consm_train(&m, d, o));
        *(k % 2 ? &enough : &few) += m->companions > 0;
        consm_model_free(m);
        consm_options_free(o);
    }
    assert_int_equal(few, 0);
    assert_true(UNDER_ASAN || enough > 0);
    consm_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_prediction_is_their_mean),
        cmocka_unit_test(consm_stays_as_it_is_alone),
        cmocka_unit_test(trust_is_of_their_mean),
        cmocka_unit_test(a_clearly_worse_mean_does_not_predict),
        cmocka_unit_test(the_file_holds_them),
        cmocka_unit_test(a_resumed_run_has_them),
        cmocka_unit_test(a_refit_trains_them_too),
        cmocka_unit_test(who_predicts_alone),
        cmocka_unit_test(other_metrics_never_fall),
        cmocka_unit_test(no_vote_on_few_positives),
    };
    if (UNDER_TSAN) /* what trains on two threads; the rest takes minutes */
        cmocka_set_test_filter("consm_stays_*");
    return cmocka_run_group_tests(tests, train_usual, free_usual);
}
