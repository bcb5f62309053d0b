/* Ensembles: the greedy selection against one that computes everything anew, the rule that rejects
 * what validation does not prefer, and saved ensembles, valid and broken. THREADED */
#include "check.h"
#include "narrow.h"

#include "app/objects.h"
#include "backends/open.h"
#include "base/rng.h"
#include <math.h>
#include <unistd.h>

/* ---- selecting among arrays ---------------------------------------------- */

enum { MOST = 12, ROWS = 40, CLASSES = 4 };

struct arrays {
    float p[MOST][ROWS * CLASSES];
    const float *probability[MOST];
    int32_t label[ROWS], group[MOST];
    struct ensemble_pool pool;
};

static void arrays_open(struct arrays *a, int64_t members, int64_t rows, int32_t classes)
{
    memset(a, 0, sizeof *a);
    for (int64_t m = 0; m < members; m++)
        a->probability[m] = a->p[m];
    a->pool = (struct ensemble_pool){.members = members,
                                     .runs = members,
                                     .rows = rows,
                                     .classes = classes,
                                     .probability = a->probability,
                                     .label = a->label,
                                     .group = a->group};
}

static void draw(struct arrays *a, uint64_t seed)
{
    struct rng rng;
    int32_t c = a->pool.classes;
    rng_init(&rng, seed, 1);
    for (int64_t i = 0; i < a->pool.rows; i++) {
        a->label[i] = (int32_t)(rng_uniform(&rng) * c);
        for (int64_t m = 0; m < a->pool.members; m++) {
            double sum = 0, x[CLASSES];
            for (int32_t k = 0; k < c; k++)
                sum += x[k] =
                    exp(2 * rng_uniform(&rng) + (k == a->label[i] ? 0.05 * (double)m : 0));
            for (int32_t k = 0; k < c; k++)
                a->p[m][i * c + k] = (float)(x[k] / sum);
        }
    }
}

/* log-likelihood of the mean over a list of votes, from scratch. */
static double likelihood_of(const struct arrays *a, const int *vote, int votes)
{
    double total = 0;
    for (int64_t i = 0; i < a->pool.rows; i++) {
        double mean = 0;
        for (int v = 0; v < votes; v++)
            mean += (double)a->p[vote[v]][i * a->pool.classes + a->label[i]] / votes;
        total += log(mean);
    }
    return total;
}

/* The selection as in its paper: tries every list with one more vote; the best list along the way
 * counts. */
static void select_slowly(int64_t *picks, const struct arrays *a, int first, int most)
{
    int vote[64] = {0}, votes = first, kept = first; /* the first votes are member 0's */
    double best = first > 0 ? likelihood_of(a, vote, votes) : -INFINITY;
    memset(picks, 0, (size_t)a->pool.members * sizeof *picks);
    while (votes < first + most && votes - kept < ENSEMBLE_PATIENCE) {
        int next = 0;
        double most_likely = -INFINITY;
        for (int m = 0; m < a->pool.members; m++) {
            vote[votes] = m;
            double now = likelihood_of(a, vote, votes + 1);
            if (now > most_likely + 1e-9) {
                most_likely = now;
                next = m;
            }
        }
        vote[votes++] = next;
        if (most_likely > best + 1e-9) {
            best = most_likely;
            kept = votes;
        }
    }
    for (int v = 0; v < kept; v++)
        picks[vote[v]]++;
}

static void greedy_is_greedy(void **state)
{
    (void)state;
    static struct arrays a;
    int64_t picks[MOST], slow[MOST], several = 0, uneven = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        arrays_open(&a, 1 + (int64_t)(seed % MOST), 3 + (int64_t)(seed * 11 % (ROWS - 3)),
                    2 + (int32_t)(seed % 3));
        draw(&a, seed);
        int64_t most = seed % 5 == 0 ? 3 : ENSEMBLE_PICKS, sum = 0, taken = 0, top = 0;
        OK(ensemble_greedy(picks, &a.pool, most));
        select_slowly(slow, &a, 0, (int)most);
        for (int64_t m = 0; m < a.pool.members; m++) {
            assert_int_equal(picks[m], slow[m]);
            sum += picks[m];
            taken += picks[m] > 0;
            top = picks[m] > top ? picks[m] : top;
        }
        assert_in_range(sum, 1, most);
        several += taken > 1;
        uneven += taken > 1 && top > 1;
    }
    assert_true(several > 20 && uneven > 5); /* else nothing was selected with anything */
}

static void others_join_the_first(void **state)
{
    (void)state;
    enum { FIRST = 10, MORE = 10 };
    static struct arrays a;
    int64_t picks[MOST], slow[MOST], joined = 0, alone = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        arrays_open(&a, 1 + (int64_t)(seed % MOST), 3 + (int64_t)(seed * 11 % (ROWS - 3)),
                    2 + (int32_t)(seed % 3));
        draw(&a, seed);
        OK(ensemble_join(picks, &a.pool, FIRST, MORE));
        select_slowly(slow, &a, FIRST, MORE);
        int64_t others = 0;
        for (int64_t m = 0; m < a.pool.members; m++) {
            assert_int_equal(picks[m], slow[m]);
            others += m > 0 ? picks[m] : 0;
        }
        assert_true(picks[0] >= FIRST && others <= MORE);
        joined += others > 1;
        alone += others == 0;
    }
    assert_true(joined > 20 && alone > 0);
}

static void equal_members_go_by_their_order(void **state)
{
    (void)state;
    static struct arrays a;
    int64_t picks[MOST];
    arrays_open(&a, 5, 30, 3);
    draw(&a, 7);
    for (int m = 0; m < 4; m++)
        memcpy(a.p[m], a.p[4], sizeof a.p[m]);
    OK(ensemble_greedy(picks, &a.pool, ENSEMBLE_PICKS));
    assert_int_equal(picks[0], 1); /* a copy adds nothing */
    for (int m = 1; m < 5; m++)
        assert_int_equal(picks[m], 0);
}

/* ---- the rule ------------------------------------------------------------ */

/* Two classes; every row's truth is class 0, and opinion (members, pattern) is each member's
 * probability, repeated. */
static void state_opinions(struct arrays *a, int64_t members, int64_t rows, const double *opinion,
                           int64_t pattern)
{
    arrays_open(a, members, rows, 2);
    for (int64_t m = 0; m < members; m++)
        for (int64_t i = 0; i < rows; i++) {
            double p = opinion[m * pattern + i % pattern];
            a->p[m][2 * i] = (float)p;
            a->p[m][2 * i + 1] = (float)(1 - p);
        }
}

/* The second member has a better likelihood, which greedy selection and average follow, but is
 * wrong more often than the first. */
static void accuracy_can_refuse(void **state)
{
    (void)state;
    static struct arrays a;
    struct ensemble_choice choice;
    int64_t picks[2];
    const double opinion[] = {0.51, 0.51, 0.51, 0.51, 0.99, 0.99, 0.99, 0.45};
    state_opinions(&a, 2, 32, opinion, 4);
    OK(ensemble_choose(&choice, picks, &a.pool));
    assert_true(choice.quality[ENSEMBLE_AVERAGE].log_likelihood >
                choice.quality[ENSEMBLE_SINGLE].log_likelihood);
    assert_true(choice.quality[ENSEMBLE_AVERAGE].score == 0.75);
    assert_true(choice.quality[ENSEMBLE_SINGLE].score == 1);
    assert_int_equal(choice.rule, ENSEMBLE_SINGLE);
    assert_int_equal(choice.best, 0);
    assert_int_equal(picks[0], 1);
    assert_int_equal(picks[1], 0);
}

/* The average is right everywhere, each member is wrong once; but the third member makes its
 * likelihood worse than that of the best one. The greedy selection leaves the third out. */
static void likelihood_can_refuse(void **state)
{
    (void)state;
    static struct arrays a;
    struct ensemble_choice choice;
    int64_t picks[3];
    const double opinion[] = {0.9, 0.9, 0.4, 0.9, 0.4, 0.9, 0.3, 0.3, 0.3};
    state_opinions(&a, 3, 30, opinion, 3);
    OK(ensemble_choose(&choice, picks, &a.pool));
    assert_true(choice.quality[ENSEMBLE_AVERAGE].score == 1);
    assert_true(choice.quality[ENSEMBLE_AVERAGE].log_likelihood <
                choice.quality[ENSEMBLE_SINGLE].log_likelihood);
    assert_int_equal(choice.rule, ENSEMBLE_GREEDY);
    assert_true(picks[0] > 0 && picks[1] > 0);
    assert_int_equal(picks[2], 0);
    /* Without the other good one there is nothing to select: the best run stays alone. */
    memcpy(a.p[1], a.p[2], sizeof a.p[1]);
    OK(ensemble_choose(&choice, picks, &a.pool));
    assert_int_equal(choice.rule, ENSEMBLE_SINGLE);
    assert_int_equal(picks[0], 1);
}

/* Two nodes lost and one won of thirty are luck: the average, with a much better likelihood, is
 * taken. */
static void a_node_is_no_preference(void **state)
{
    (void)state;
    static struct arrays a;
    struct ensemble_choice choice;
    int64_t picks[2];
    double opinion[60];
    for (int i = 0; i < 30; i++) {
        opinion[i] = i == 29 ? 0.40 : 0.51;
        opinion[30 + i] = i < 2 ? 0.45 : 0.99;
    }
    state_opinions(&a, 2, 30, opinion, 30);
    OK(ensemble_choose(&choice, picks, &a.pool));
    assert_int_equal(choice.best, 0);
    assert_true(choice.quality[ENSEMBLE_AVERAGE].score < choice.quality[ENSEMBLE_SINGLE].score);
    assert_true(choice.rule != ENSEMBLE_SINGLE);
    assert_true(picks[1] > 0);
}

/* The best of several runs is lucky. A lead of three nodes of thirty is 1.8 standard errors and not
 * enough; five are 2.4. */
static void luck_is_no_preference(void **state)
{
    (void)state;
    static struct arrays a;
    struct ensemble_choice choice;
    int64_t picks[2];
    double opinion[60];
    for (int more = 3; more <= 5; more += 2) {
        for (int i = 0; i < 30; i++) {
            opinion[i] = 0.51;
            opinion[30 + i] = i < more ? 0.45 : 0.99;
        }
        state_opinions(&a, 2, 30, opinion, 30);
        OK(ensemble_choose(&choice, picks, &a.pool));
        assert_int_equal(choice.best, 0);
        assert_true(choice.quality[ENSEMBLE_SINGLE].score == 1);
        assert_true(choice.quality[ENSEMBLE_AVERAGE].score < 1);
        assert_true(choice.quality[ENSEMBLE_GREEDY].score < 1);
        assert_int_equal(choice.rule == ENSEMBLE_SINGLE, more == 5);
    }
}

/* Candidates may join a combination, but are never the single best; the average is over the seeds
 * of one configuration. */
static void candidates_only_join(void **state)
{
    (void)state;
    static struct arrays a;
    struct ensemble_choice choice;
    int64_t picks[4];
    const double opinion[] = {0.6, 0.6, 0.4, /* two runs … */
                              0.6, 0.4, 0.6,
                              0.8, 0.7, 0.6, /* … and two candidates, better than both */
                              0.6, 0.8, 0.7};
    state_opinions(&a, 4, 3, opinion, 3);
    a.pool.runs = 2;
    a.group[2] = a.group[3] = 1;
    OK(ensemble_choose(&choice, picks, &a.pool));
    assert_int_equal(choice.best, 0);
    /* Of the second configuration both; the greedy selection is of the same two. */
    assert_int_equal(picks[0], 0);
    assert_int_equal(picks[1], 0);
    assert_true(picks[2] > 0 && picks[3] > 0);
    assert_true(choice.rule == ENSEMBLE_AVERAGE || choice.rule == ENSEMBLE_GREEDY);
}

static void without_validation_all_are_averaged(void **state)
{
    (void)state;
    static struct arrays a;
    struct ensemble_choice choice;
    int64_t picks[3];
    arrays_open(&a, 3, 0, 2);
    OK(ensemble_choose(&choice, picks, &a.pool));
    assert_int_equal(choice.rule, ENSEMBLE_AVERAGE);
    for (int m = 0; m < 3; m++)
        assert_int_equal(picks[m], 1);
}

static void runs_share_no_seed(void **state)
{
    (void)state;
    assert_true(ensemble_seed(7, 0) == 7);
    for (uint64_t a = 0; a < 12; a++)
        for (uint64_t b = 0; b < 12; b++)
            for (int64_t i = 0; i < 10; i++)
                for (int64_t j = 0; j < 10; j++)
                    assert_true((ensemble_seed(a, i) == ensemble_seed(b, j)) == (a == b && i == j));
}

/* ---- training ------------------------------------------------------------ */

static char folder[64], path[96];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/consm-ensemble-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/m.safetensors", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails when a test, or the library, left a file behind */
}

struct scene {
    struct consm_dataset *data;
    struct roles roles;
    struct training_request request;
};

static void scene_open(struct scene *s, const char *model, int64_t ensemble)
{
    OK(consm_dataset_open(&s->data,
                          "csbm:nodes=150,classes=3,degree=5,features=12,signal=1,homophily=0.8,"
                          "seed=4",
                          NULL));
    OK(roles_make(&s->roles, s->data->data, "random", 1, &(struct split_options){.per_class = 10}));
    s->request = (struct training_request){
        .roles = &s->roles, .threads = 1, .jobs = 1, .ensemble = ensemble};
    OK(dataset_prepared(&s->request.prepared, s->data));
    struct train_options *o = &s->request.options;
    OK(model_find(&o->model, model));
    model_defaults(o->model, &o->config);
    o->config.epochs = 20;
    o->config.warmup = 6;
    o->config.rounds = 2;
    o->config.gnn_steps = 4;
    narrow(o);
    o->config.match_steps = 6;
    o->config.match_refresh = 3;
    o->config.hidden = 8;
    o->seed = 5;
}

static void scene_close(struct scene *s)
{
    roles_free(&s->roles);
    consm_dataset_free(s->data);
}

static void assert_same_prediction(const struct consm_prediction *a,
                                   const struct consm_prediction *b)
{
    assert_int_equal(a->nodes, b->nodes);
    assert_memory_equal(a->label, b->label, (size_t)a->nodes * sizeof *a->label);
    assert_memory_equal(a->confidence, b->confidence, (size_t)a->nodes * sizeof *a->confidence);
    assert_memory_equal(a->probability, b->probability,
                        (size_t)(a->nodes * a->classes) * sizeof *a->probability);
}

static void assert_same_trust(const struct consm_model *a, const struct consm_model *b,
                              const struct consm_dataset *d)
{
    struct consm_edge_scores *x, *y;
    OK(consm_score_edges(&x, a, d, 1));
    OK(consm_score_edges(&y, b, d, 2));
    assert_int_equal(x->edges, y->edges);
    assert_true(x->zeta == y->zeta);
    assert_memory_equal(x->score, y->score, (size_t)x->edges * sizeof *x->score);
    assert_memory_equal(x->kept, y->kept, (size_t)x->edges);
    for (int64_t e = 0; e < x->edges; e++)
        assert_true(x->score[e] >= 0 && x->score[e] <= 1);
    consm_edge_scores_free(x);
    consm_edge_scores_free(y);
}

/* The models of an ensemble: by validation, and ConSM with its matching; test_api.c has custom
 * ones. */
static const char *const kinds[] = {"gcn", "gat", "consm"};

/* An ensemble of all runs, whatever validation prefers, for tests of files. */
static struct consm_model *whole_ensemble(struct scene *s)
{
    struct consm_model *m = NULL;
    for (uint64_t seed = 1; seed < 60; seed++) {
        s->request.options.seed = seed;
        OK(model_train(&m, NULL, &s->request));
        if (m->members > 1)
            return m;
        consm_model_free(m);
    }
    fail_msg("validation never took a combination");
    return NULL;
}

static void saved_is_loaded(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct scene s;
        struct consm_model *m, *loaded;
        struct consm_prediction *first, *later, *read;
        struct consm_model_info info = {.size = sizeof info}, again = {.size = sizeof again};
        scene_open(&s, kinds[k], 4);
        m = whole_ensemble(&s);
        consm_model_free(m);
        OK(model_train(&m, &first, &s.request));
        OK(consm_predict(&later, m, s.data, 3));
        assert_same_prediction(first, later);
        OK(consm_model_save(m, path));
        OK(consm_model_load(&loaded, path));
        OK(consm_predict(&read, loaded, s.data, 1));
        assert_same_prediction(first, read);
        assert_same_trust(m, loaded, s.data);
        OK(consm_model_info(&info, m));
        OK(consm_model_info(&again, loaded));
        assert_string_equal(info.model, kinds[k]);
        assert_string_equal(again.model, kinds[k]);
        assert_string_equal(info.rule, again.rule);
        assert_int_equal(info.ensemble, 4);
        assert_int_equal(again.ensemble, 4);
        assert_true(info.members > 1);
        assert_int_equal(info.members, again.members);
        assert_int_equal(info.parameters, again.parameters);
        assert_int_equal(again.seed, s.request.options.seed);
        consm_prediction_free(first);
        consm_prediction_free(later);
        consm_prediction_free(read);
        consm_model_free(loaded);
        consm_model_free(m);
        scene_close(&s);
    }
}

/* The ensemble's probabilities are the mean of its members', weighed by their picks. */
static void probabilities_are_the_mean(void **state)
{
    (void)state;
    struct scene s;
    struct consm_prediction *p, *of;
    scene_open(&s, "gcn", 4);
    struct consm_model *m = whole_ensemble(&s);
    double *mean = calloc((size_t)(s.data->data->nodes * m->classes), sizeof *mean), votes = 0;
    for (int64_t i = 0; i < m->members; i++)
        votes += (double)m->member[i]->picks;
    for (int64_t i = 0; i < m->members; i++) {
        OK(consm_predict(&of, m->member[i], s.data, 1));
        for (int64_t k = 0; k < of->nodes * of->classes; k++)
            mean[k] += (double)m->member[i]->picks / votes * (double)of->probability[k];
        consm_prediction_free(of);
    }
    m->temperature = 1;
    m->doubt = 0; /* the members have none of their own */
    OK(consm_predict(&p, m, s.data, 1));
    for (int64_t k = 0; k < p->nodes * p->classes; k++)
        assert_near((double)p->probability[k], mean[k], 1e-6);
    free(mean);
    consm_prediction_free(p);
    consm_model_free(m);
    scene_close(&s);
}

/* Every member's own temperature is the best for its own validation nodes. */
static void members_are_calibrated(void **state)
{
    (void)state;
    struct scene s;
    struct backend *backend;
    double least = 1;
    scene_open(&s, "gcn", 4);
    s.request.options.config.epochs = 60; /* sure of itself by then */
    struct consm_model *m = whole_ensemble(&s);
    struct problem problem = prepare_problem(s.request.prepared, s.roles.role);
    OK(backend_open(&backend, NULL, 1));
    for (int64_t i = 0; i < m->members; i++) {
        float *logits;
        OK(model_logits(&logits, m->member[i], &problem, backend));
        struct predicted val = {logits,        problem.label,   problem.role, SPLIT_VAL,
                                problem.nodes, problem.classes, NULL};
        assert_near(m->member[i]->temperature, metrics_temperature(&val), 1e-9);
        double off = fabs(m->member[i]->temperature - 1);
        least = off < least ? off : least;
        mem_free(logits);
    }
    assert_true(least > 0.02); /* none of them is calibrated as it comes */
    backend_close(backend);
    consm_model_free(m);
    scene_close(&s);
}

static void same_bits_for_any_jobs(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct scene s;
        struct consm_model *one, *many;
        struct consm_prediction *a, *b;
        scene_open(&s, kinds[k], 4);
        OK(model_train(&one, &a, &s.request));
        s.request.jobs = 3;
        s.request.threads = 2;
        OK(model_train(&many, &b, &s.request));
        assert_same_prediction(a, b);
        assert_int_equal(one->members, many->members);
        assert_int_equal(one->ensemble.rule, many->ensemble.rule);
        assert_int_equal(one->ensemble.pool, many->ensemble.pool);
        /* ConSM's candidates are members, too; other models have none. */
        if (strcmp(kinds[k], "consm") == 0)
            assert_true(one->ensemble.pool >= 4 * 3);
        else
            assert_int_equal(one->ensemble.pool, 4);
        assert_true(one->temperature == many->temperature);
        assert_true(one->result.val_acc == many->result.val_acc);
        consm_prediction_free(a);
        consm_prediction_free(b);
        consm_model_free(one);
        consm_model_free(many);
        scene_close(&s);
    }
}

static void one_run_is_the_plain_model(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct scene s;
        struct consm_model *plain, *one;
        struct consm_prediction *a, *b;
        scene_open(&s, kinds[k], 0);
        OK(model_train(&plain, &a, &s.request));
        s.request.ensemble = 1;
        OK(model_train(&one, &b, &s.request));
        assert_same_prediction(a, b);
        assert_int_equal(plain->tensors, one->tensors);
        assert_int_equal(one->members, 0);
        assert_int_equal(one->ensemble.runs, 0);
        for (int64_t i = 0; i < plain->tensors; i++) {
            const struct model_tensor *t = &plain->tensor[i];
            assert_memory_equal(t->value, one->tensor[i].value,
                                (size_t)(t->rows * t->cols) * sizeof(float));
        }
        consm_prediction_free(a);
        consm_prediction_free(b);
        consm_model_free(plain);
        consm_model_free(one);
        scene_close(&s);
    }
}

/* If validation keeps the single best run, the file is that run's own. */
static void a_single_best_is_plain(void **state)
{
    (void)state;
    struct scene s;
    struct consm_model *m, *alone;
    struct consm_prediction *a, *b;
    scene_open(&s, "gcn", 3);
    for (uint64_t seed = 1;; seed++) {
        assert_true(seed < 200);
        s.request.options.seed = seed;
        OK(model_train(&m, &a, &s.request));
        if (m->ensemble.rule == ENSEMBLE_SINGLE)
            break;
        consm_prediction_free(a);
        consm_model_free(m);
    }
    assert_int_equal(m->members, 0);
    assert_int_equal(m->ensemble.picked, 1);
    s.request.ensemble = 1;
    s.request.options.seed = m->result.seed;
    OK(model_train(&alone, &b, &s.request));
    assert_same_prediction(a, b);
    consm_prediction_free(a);
    consm_prediction_free(b);
    consm_model_free(m);
    consm_model_free(alone);
    scene_close(&s);
}

/* ---- progress ------------------------------------------------------------ */

struct heard {
    int64_t member[8], stop_in;
};

static bool listen_to(void *ctx, const struct consm_progress *p)
{
    struct heard *h = ctx;
    assert_int_equal(p->members, 3);
    assert_in_range(p->member, 1, 3);
    h->member[p->member]++;
    return p->member == h->stop_in;
}

static void progress_names_the_member(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_options *o;
    struct consm_model *m;
    struct heard heard = {.stop_in = 2};
    OK(consm_dataset_open(&d, "karate", NULL));
    OK(consm_options_new(&o, "mlp"));
    OK(consm_options_set(o, "per_class", "4"));
    OK(consm_options_set(o, "epochs", "5"));
    FAILS(consm_options_set(o, "ensemble", "0"), CONSM_EINVAL, "from 1 to 100");
    FAILS(consm_options_set(o, "ensemble", "101"), CONSM_EINVAL, "from 1 to 100");
    OK(consm_options_set(o, "ensemble", "3"));
    consm_options_on_progress(o, listen_to, &heard);
    FAILS(consm_train(&m, d, o), CONSM_ECANCEL, "stopped");
    assert_null(m);
    assert_int_equal(heard.member[1], 5);
    assert_int_equal(heard.member[2], 1);
    heard = (struct heard){0};
    OK(consm_train(&m, d, o));
    for (int k = 1; k <= 3; k++)
        assert_int_equal(heard.member[k], 5);
    consm_model_free(m);
    consm_options_free(o);
    consm_dataset_free(d);
}

/* ---- broken files -------------------------------------------------------- */

#define REFUSED(m, text)                                              \
    do {                                                              \
        struct consm_model *refused;                                  \
        OK(consm_model_save(m, path));                                \
        FAILS(consm_model_load(&refused, path), CONSM_EFORMAT, text); \
        assert_null(refused);                                         \
    } while (0)

/* Parts that do not fit each other, written and sealed as valid. */
static void unfitting_members_are_refused(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "gcn", 4);
    struct consm_model *m = whole_ensemble(&s), *last = m->member[m->members - 1], *loaded;
    last->tensor[0].rows--;
    REFUSED(m, "expected 12 x 8");
    last->tensor[0].rows++;
    last->tensors--;
    REFUSED(m, "no parameter");
    last->tensors++;
    last->config.hidden = 1 << 16;
    REFUSED(m, "m.safetensors");
    last->config.hidden = 8;
    int64_t picks = last->picks;
    last->picks = 0;
    REFUSED(m, "\"picks\" is 0");
    last->picks = INT64_MAX;
    REFUSED(m, "\"picks\" is");
    last->picks = picks;
    double temperature = last->temperature;
    last->temperature = 0;
    REFUSED(m, "\"temperature\" is 0");
    last->temperature = temperature;
    float kept = last->tensor[0].value[3];
    last->tensor[0].value[3] = NAN;
    REFUSED(m, "nan");
    last->tensor[0].value[3] = kept;
    m->features = 2000000000;
    REFUSED(m, "too few for 2000000000 features");
    m->features = 12;
    m->ensemble.runs = -3;
    REFUSED(m, "\"runs\" above 0");
    m->ensemble.runs = 4;
    /* A tensor of no member. */
    m->tensor = last->tensor;
    m->tensors = 1;
    REFUSED(m, "does not belong to any of the");
    m->tensor = NULL;
    m->tensors = 0;
    OK(consm_model_save(m, path));
    OK(consm_model_load(&loaded, path)); /* all is mended */
    consm_model_free(loaded);
    consm_model_free(m);
    scene_close(&s);
}

static void too_many_members_are_refused(void **state)
{
    (void)state;
    struct scene s;
    enum { MANY = 300 };
    struct consm_model *crowd[MANY];
    scene_open(&s, "mlp", 3);
    struct consm_model *m = whole_ensemble(&s), **members = m->member;
    int64_t count = m->members;
    for (int i = 0; i < MANY; i++)
        crowd[i] = members[0];
    m->member = crowd;
    m->members = MANY;
    REFUSED(m, "300 members: expected a list of 1 to 256");
    m->member = members;
    m->members = count;
    consm_model_free(m);
    scene_close(&s);
}

static void damage_is_noticed(void **state)
{
    (void)state;
    struct scene s;
    struct consm_model *loaded;
    char *bytes = malloc(1 << 20);
    scene_open(&s, "mlp", 3);
    struct consm_model *m = whole_ensemble(&s);
    OK(consm_model_save(m, path));
    FILE *f = fopen(path, "rb");
    size_t size = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    for (size_t at = 0; at < size; at += 151) {
        bytes[at] ^= 0x10;
        assert_true(model_read(&loaded, "damaged", bytes, size) < 0);
        assert_null(loaded);
        bytes[at] ^= 0x10;
        assert_true(model_read(&loaded, "cut", bytes, at) < 0);
        assert_null(loaded);
    }
    OK(model_read(&loaded, "whole", bytes, size));
    consm_model_free(loaded);
    free(bytes);
    consm_model_free(m);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_is_greedy),
        cmocka_unit_test(others_join_the_first),
        cmocka_unit_test(equal_members_go_by_their_order),
        cmocka_unit_test(accuracy_can_refuse),
        cmocka_unit_test(likelihood_can_refuse),
        cmocka_unit_test(a_node_is_no_preference),
        cmocka_unit_test(luck_is_no_preference),
        cmocka_unit_test(candidates_only_join),
        cmocka_unit_test(without_validation_all_are_averaged),
        cmocka_unit_test(runs_share_no_seed),
        cmocka_unit_test(saved_is_loaded),
        cmocka_unit_test(probabilities_are_the_mean),
        cmocka_unit_test(members_are_calibrated),
        cmocka_unit_test(same_bits_for_any_jobs),
        cmocka_unit_test(one_run_is_the_plain_model),
        cmocka_unit_test(a_single_best_is_plain),
        cmocka_unit_test(progress_names_the_member),
        cmocka_unit_test(unfitting_members_are_refused),
        cmocka_unit_test(too_many_members_are_refused),
        cmocka_unit_test(damage_is_noticed),
    };
    if (UNDER_TSAN) /* saved_is_loaded and same_bits_for_any_jobs; the others run on one thread */
        cmocka_set_test_filter("sa*");
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
