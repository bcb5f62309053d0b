/* Runs on attacked graphs: how many edges each attack changes and which, what attackers who know
 * our trust add, and the graphs that a GCN is trained on after cleaning. */
#include "check.h"

#include <math.h>

#include "attack/attack.h"
#include "backends/open.h"
#include "data/generate/generate.h"
#include "study/plant.h"
#include "study/robust.h"
#include "train/consm/consm.h"
#include "train/edge_trust.h"

#define SET "csbm:nodes=60,features=6,homophily=0.8,degree=6"
enum { OWN = 180 }; /* 60 nodes of degree 6: 180 edges, 144 of them inside classes */

static struct dataset *data;
static struct prepared whole;

static int open_set(void **state)
{
    (void)state;
    OK(generate_named(&data, SET));
    OK(prepare(&whole, data));
    return 0;
}

static int close_set(void **state)
{
    (void)state;
    prepare_free(&whole);
    dataset_free(data);
    return 0;
}

static struct study_run attack_run(enum study_plant plant, double rate, const char *name)
{
    const struct model_def *model;
    OK(model_find(&model, name));
    struct study_run run = plan_run(TASK_ROBUST, SET, model, "random");
    run.split_options.per_class = 5;
    run.plant = plant;
    run.rate = rate;
    run.config.epochs = 20;
    run.config.warmup = 20;
    run.config.rounds = 1;
    run.config.gnn_steps = run.config.match_steps = 4;
    OK(config_set(&run.config, "backbone", "gcn"));
    run.attacker = run.config;
    OK(model_find(&model, "gcn"));
    model_defaults(model, &run.again);
    run.again.epochs = 20;
    return run;
}

static json_t *attacked(enum study_plant plant, double rate, const char *name)
{
    struct study_run run = attack_run(plant, rate, name);
    struct task_input in = {.run = &run, .prepared = &whole, .threads = 1};
    json_t *result;
    OK(task_run(&result, &in));
    return result;
}

static double part(const json_t *result, const char *name, const char *figure)
{
    return task_value(json_object_get(result, name), figure);
}

static void every_attack_keeps_its_budget(void **state)
{
    (void)state;
    static const struct {
        enum study_plant plant;
        int least, most, removed; /* of 36 changes; removed -1: any */
    } known[] = {
        {PLANT_NOTHING, 0, 0, 0}, {PLANT_RANDOM, 36, 36, 0},     {PLANT_DICE, 36, 36, 18},
        {PLANT_PGD, 1, 36, -1},   {PLANT_TRUSTED_GCN, 0, 36, 0}, {PLANT_TRUSTED_CONSM, 1, 36, 0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        json_t *result = attacked(known[i].plant, 0.2, "mlp");
        double added = task_value(result, "injected"), removed = task_value(result, "removed");
        if (added + removed < known[i].least || added + removed > known[i].most)
            fail_msg("%s: %g added, %g removed", robust_attack(known[i].plant), added, removed);
        if (known[i].removed >= 0)
            assert_near(removed, known[i].removed, 0);
        assert_near(task_value(result, "edges"), OWN + added - removed, 0);
        json_decref(result);
    }
}

static void a_gcn_is_cleaned_three_ways(void **state)
{
    (void)state;
    json_t *result = attacked(PLANT_RANDOM, 0.2, "gcn");
    assert_near(part(result, "jaccard", "kept"), 1, 0); /* dense features overlap entirely: */
    assert_near(part(result, "jaccard", "acc"), task_value(result, "test_acc"), 0.2);
    assert_true(part(result, "gnnguard", "kept") > 0.3 && part(result, "gnnguard", "kept") < 1);
    assert_true(part(result, "svd", "kept") > 1); /* more pairs than edges, but ten times at most */
    assert_true(part(result, "svd", "kept") <= 10);
    assert_true(isfinite(part(result, "svd", "acc")) && isfinite(part(result, "gnnguard", "acc")));
    assert_null(json_object_get(result, "clean"));
    json_decref(result);
    result = attacked(PLANT_RANDOM, 0.2, "consm");
    assert_null(json_object_get(result, "jaccard"));
    assert_true(part(result, "clean", "kept") > 0.3 && part(result, "clean", "kept") <= 1);
    assert_true(part(result, "trust", "auc") > 0.5);
    assert_true(part(result, "trust", "passed") >= 0 && part(result, "trust", "passed") <= 1);
    json_decref(result);
}

/* The trust of the attacker's ConSM in the edges that it added. */
static void ask_the_attackers_consm(const struct planted *p, const struct task_input *in)
{
    struct train_options options = task_options(in);
    struct train_result trained;
    struct edge_trust own, asked = {0};
    struct backend *backend;
    struct session *s;
    uint8_t *role;
    int64_t n = 0;
    options.config = in->run->attacker;
    OK(model_find(&options.model, "consm"));
    OK(task_roles(&role, in));
    struct problem problem = prepare_problem(&whole, role);
    OK(backend_open(&backend, NULL, 1));
    OK(session_new(&s, &problem, &options, backend));
    OK(session_train(s, &trained));
    OK(session_trust(&own, s));
    OK(ZNEW(asked.edges, 1));
    OK(NEW(asked.edges->left, p->count));
    OK(NEW(asked.edges->right, p->count));
    OK(NEW(asked.score, p->count));
    OK(NEW(asked.low, p->count));
    OK(NEW(asked.high, p->count));
    for (int64_t e = 0; e < p->edges->count; e++)
        if (p->injected[e]) {
            asked.edges->left[n] = p->edges->left[e];
            asked.edges->right[n++] = p->edges->right[e];
        }
    asked.edges->count = n;
    OK(consm_score_pairs(&asked, s));
    for (int64_t e = 0; e < n; e++)
        assert_true((double)asked.score[e] >= own.threshold);
    edge_trust_free(&own);
    edge_trust_free(&asked);
    session_free(s);
    backend_close(backend);
    mem_free(role);
}

/* Every added edge joins two classes, and the attacker's ConSM would keep it. */
static void who_knows_trust_adds_trusted_edges_only(void **state)
{
    (void)state;
    for (enum study_plant plant = PLANT_TRUSTED_GCN; plant <= PLANT_TRUSTED_CONSM; plant++) {
        struct study_run run = attack_run(plant, 0.2, "gcn");
        struct task_input in = {.run = &run, .prepared = &whole, .threads = 1};
        struct planted p;
        OK(planted_new(&p, &in));
        assert_int_equal(p.removed, 0);
        for (int64_t e = 0; e < p.edges->count; e++)
            if (p.injected[e])
                assert_int_not_equal(data->label[p.edges->left[e]], data->label[p.edges->right[e]]);
        if (plant == PLANT_TRUSTED_CONSM) {
            assert_in_range(p.count, 1, 36);
            ask_the_attackers_consm(&p, &in);
        }
        planted_free(&p);
    }
}

/* GCN-SVD uses the one of three ranks that validates best. */
static void validation_chooses_the_rank(void **state)
{
    (void)state;
    static const int rank[] = {5, 15, 50};
    struct study_run run = attack_run(PLANT_RANDOM, 0.2, "gcn");
    struct task_input in = {.run = &run, .prepared = &whole, .threads = 1};
    json_t *result = attacked(PLANT_RANDOM, 0.2, "gcn");
    struct planted p;
    uint8_t *role;
    double best = -1, accuracy = 0, edges = 0;
    OK(planted_new(&p, &in));
    OK(task_roles(&role, &in));
    for (int k = 0; k < 3; k++) {
        struct prepared on;
        struct train_result trained;
        struct csr *low;
        OK(attack_low_rank(&low, p.prepared.graph, rank[k], 10 * p.edges->count, 0));
        OK(planted_on(&on, &p, low));
        OK(planted_again(&trained, &on, &in, role));
        if (trained.val_acc > best) {
            best = trained.val_acc;
            accuracy = trained.test_acc;
            edges = (double)low->nnz / 2;
        }
        prepare_free(&on);
    }
    assert_near(part(result, "svd", "val_acc"), best, 0);
    assert_near(part(result, "svd", "acc"), accuracy, 0);
    assert_near(part(result, "svd", "kept"), edges / (double)p.edges->count, 1e-12);
    planted_free(&p);
    mem_free(role);
    json_decref(result);
}

/* A backend whose memory the host does not see: the attacker's numbers must be fetched. */
static void attackers_train_on_any_device(void **state)
{
    (void)state;
    for (enum study_plant plant = PLANT_PGD; plant <= PLANT_TRUSTED_CONSM; plant++) {
        struct study_run run = attack_run(plant, 0.2, "gcn");
        struct task_input in = {.run = &run, .prepared = &whole, .threads = 1};
        struct planted here, there;
        int64_t same = 0;
        OK(planted_new(&here, &in));
        run.device = "reference";
        OK(planted_new(&there, &in));
        for (int64_t e = 0; e < here.edges->count; e++)
            same += csr_find(there.prepared.graph, here.edges->left[e], here.edges->right[e]) >= 0;
        assert_in_range(there.count + there.removed, 0, 36);
        assert_true(same > here.edges->count * 8 / 10); /* rounding differs */
        planted_free(&here);
        planted_free(&there);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_attack_keeps_its_budget),
        cmocka_unit_test(a_gcn_is_cleaned_three_ways),
        cmocka_unit_test(who_knows_trust_adds_trusted_edges_only),
        cmocka_unit_test(validation_chooses_the_rank),
        cmocka_unit_test(attackers_train_on_any_device),
    };
    return cmocka_run_group_tests(tests, open_set, close_set);
}
