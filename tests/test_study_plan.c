/* Plans, options and searches: the identity of a run, what is refused, what is drawn. */
#include "golden.h"

#include <math.h>
#include <unistd.h>

#include "study/options.h"
#include "study/paper.h"
#include "study/published.h"
#include "study/runs.h"
#include "study/search.h"

static const struct model_def *model(const char *name)
{
    const struct model_def *found;
    OK(model_find(&found, name));
    return found;
}

static void key_of(char key[65], const struct study_run *run, const json_t *hashes)
{
    json_t *identity;
    OK(plan_identity(&identity, run, hashes));
    OK(runs_key(key, identity));
    json_decref(identity);
}

static void identity_holds_all_that_matters(void **state)
{
    (void)state;
    struct study_run run = plan_run(TASK_TRAIN, "csbm:nodes=50", model("gcn"), "random"), other;
    char key[65], another[65];
    key_of(key, &run, NULL);
    other = run;
    other.keep_graph = true; /* an extra file changes nothing about the result */
    key_of(another, &other, NULL);
    assert_string_equal(key, another);
    struct study_run changed[14];
    for (int i = 0; i < 14; i++)
        changed[i] = run;
    changed[0].seed = 1;
    changed[1].split = "paper";
    changed[2].split_options.per_class = 5;
    changed[3].config.lr *= 1.0000001;
    changed[4].model = model("mlp");
    changed[5].dataset = "csbm:nodes=51";
    changed[6].task = TASK_CURVE;
    changed[7].config.normalize_features = FEATURES_ROW;
    changed[8].ensemble = 5;
    changed[9].split_options.train = 0.5;
    changed[10].split_options.train = 0.25;
    changed[11].split_options.val = 0.5;
    changed[12].split_options.pooled = true;
    changed[13].device = "cuda";
    for (int i = 0; i < 14; i++) {
        key_of(another, &changed[i], NULL);
        for (int j = -1; j < i; j++) {
            if (j >= 0)
                key_of(key, &changed[j], NULL);
            else
                key_of(key, &run, NULL);
            if (strcmp(key, another) == 0)
                fail_msg("changes %d and %d have one identity", j, i);
        }
    }
}

/* What does not apply is left out, so that runs of earlier versions are found again. */
static void identity_leaves_out_what_does_not_apply(void **state)
{
    (void)state;
    static const char *const only[] = {"train_ratio", "val_ratio", "pooled",  "same_kept",
                                       "other_kept",  "device",    "ensemble"};
    struct study_run run = plan_run(TASK_TRAIN, "csbm:nodes=50", model("gcn"), "random");
    json_t *id;
    OK(plan_identity(&id, &run, NULL));
    for (size_t i = 0; i < sizeof only / sizeof *only; i++)
        assert_null(json_object_get(id, only[i]));
    json_decref(id);
    run.task = TASK_PRUNE;
    run.same_kept = 0.25;
    run.other_kept = 0.5;
    run.split_options.val = 0.125;
    OK(plan_identity(&id, &run, NULL));
    assert_near(json_number_value(json_object_get(id, "same_kept")), 0.25, 0);
    assert_near(json_number_value(json_object_get(id, "other_kept")), 0.5, 0);
    assert_near(json_number_value(json_object_get(id, "train_ratio")), 0, 0);
    assert_near(json_number_value(json_object_get(id, "val_ratio")), 0.125, 0);
    json_decref(id);
}

static void identity_follows_the_bytes_of_files(void **state)
{
    (void)state;
    struct study_run run = plan_run(TASK_TRAIN, "cora", model("gcn"), "paper");
    json_t *one = json_pack("{s:s}", "cora", "aa"), *two = json_pack("{s:s}", "cora", "bb");
    json_t *identity;
    char key[65], other[65];
    key_of(key, &run, one);
    key_of(other, &run, two);
    assert_string_not_equal(key, other);
    FAILS(plan_identity(&identity, &run, NULL), CONSM_ENOTFOUND, "cora: its data was never opened");
    assert_null(identity);
    json_decref(one);
    json_decref(two);
}

static void a_plan_owns_its_names(void **state)
{
    (void)state;
    struct plan plan = {0};
    char name[32] = "csbm:nodes=60";
    struct study_run run = plan_run(TASK_PRUNE, name, model("gcn"), "random");
    run.keep_graph = true;
    OK(plan_add_seeds(&plan, &run, 3));
    memset(name, 'x', sizeof name - 1);
    assert_int_equal(plan.count, 3);
    assert_int_equal(plan.names, 2);
    assert_string_equal(plan.run[2].dataset, "csbm:nodes=60");
    assert_int_equal(plan.run[2].seed, 2);
    assert_true(plan.run[0].keep_graph && !plan.run[1].keep_graph);
    plan_free(&plan);
}

static void options_are_read_and_checked(void **state)
{
    (void)state;
    struct study_options o;
    struct study_run run;
    json_t *json = json_pack("{s:[s,s], s:[s,s], s:i, s:s, s:{s:s, s:s}}", "datasets", "karate",
                             "csbm", "models", "gcn", "consm", "seeds", 4, "split", "random", "set",
                             "lambda", "2", "profile", "paper");
    OK(options_read(&o, json));
    assert_int_equal(o.datasets, 2);
    assert_int_equal(o.models, 2);
    OK(options_run(&run, &o, TASK_TRAIN, "csbm", o.model[1]));
    assert_near(run.config.lambda, 2, 0); /* what is set by name overrides the profile … */
    assert_int_equal(run.config.match_join, MATCH_JOIN_CONCAT); /* … whatever their order */
    assert_int_equal(run.split_options.per_class, 20);
    OK(options_run(&run, &o, TASK_TRAIN, "karate", o.model[0]));
    assert_int_equal(run.split_options.per_class, 4);
    options_free(&o);
    json_object_set_new(json, "seeds", json_integer(100000));
    FAILS(options_read(&o, json), CONSM_EINVAL, "1 to 200 seeds");
    json_object_set_new(json, "seeds", json_integer(1));
    json_object_set_new(json, "models", json_pack("[s]", "gnc"));
    FAILS(options_read(&o, json), CONSM_ENOTFOUND, "unknown model gnc");
    json_object_set_new(json, "datasets", json_array());
    FAILS(options_read(&o, json), CONSM_EINVAL, "datasets");
    json_decref(json);
}

static void preferred_sets_give_way_to_chosen_ones(void **state)
{
    (void)state;
    static const char *const preferred[] = {"cora", "chameleon", NULL};
    const char *set[STUDY_MOST];
    struct study_options o = {.dataset = {"chameleon", "actor", "cora"}, .datasets = 3};
    assert_int_equal(options_datasets(set, &o, preferred), 2);
    assert_string_equal(set[0], "cora");
    o.chosen = true;
    assert_int_equal(options_datasets(set, &o, preferred), 3);
    o = (struct study_options){.dataset = {"karate"}, .datasets = 1};
    assert_int_equal(options_datasets(set, &o, preferred), 1);
    assert_string_equal(set[0], "karate");
}

static void the_built_in_space_draws_valid_configurations(void **state)
{
    (void)state;
    json_t *space;
    OK(search_read(&space, NULL));
    for (int m = 0; model_list()[m]; m++) {
        int different = 0;
        for (int64_t k = 0; k < 12; k++) {
            struct config a, b, plain;
            model_defaults(model_list()[m], &a);
            b = plain = a;
            OK(search_draw(&a, space, model_list()[m], k));
            OK(search_draw(&b, space, model_list()[m], k));
            assert_near(a.weight_decay, b.weight_decay, 0);
            assert_in_range(a.hidden, 32, 256);
            assert_true(k == 0 || (a.weight_decay >= 5e-5 && a.weight_decay <= 5e-2));
            different += a.weight_decay != plain.weight_decay;
        }
        assert_int_equal(different, 11); /* number 0 is the defaults */
    }
    json_decref(space);
}

static bool offers(const json_t *space, const char *section, const char *name, const char *value)
{
    const json_t *list = json_object_get(json_object_get(space, section), name);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), value) == 0)
            return true;
    return false;
}

/* A search can find the settings of ConSM's own candidates. */
static void the_space_reaches_consms_candidates(void **state)
{
    (void)state;
    static const char *const needed[][3] = {{"common", "lr", "0.005"},
                                            {"common", "lr", "0.01"},
                                            {"common", "dropout", "0.3"},
                                            {"common", "dropout", "0.6"},
                                            {"common", "dropout", "0.8"},
                                            {"common", "dropout", "0.9"},
                                            {"common", "input_dropout", "0"},
                                            {"common", "input_dropout", "0.5"},
                                            {"common", "input_dropout", "0.8"},
                                            {"common", "normalize_features", "row"},
                                            {"gcn", "hidden", "256"},
                                            {"gcn", "norm", "layer"},
                                            {"h2gcn", "reach", "1"},
                                            {"h2gcn", "layers", "1"},
                                            {"gat", "attention_dropout", "0.6"}};
    json_t *space;
    OK(search_read(&space, NULL));
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!offers(space, needed[i][0], needed[i][1], needed[i][2]))
            fail_msg("%s: no %s %s", needed[i][0], needed[i][1], needed[i][2]);
    json_decref(space);
}

static void bad_spaces_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *message;
    } bad[] = {
        {"common: [1, 2]\n", "common: expected parameters"},
        {"gnc:\n  lr: [0.1]\n", "unknown model gnc"},
        {"common:\n  learning: [0.1]\n", "unknown parameter learning"},
        {"common:\n  lr: [0.1, fast]\n", "lr fast"},
        {"common:\n  lr: {low: 0.1, high: 0.01}\n", "low <= high"},
        {"common:\n  lr: {low: 0, high: 0.01, log: yes}\n",
         "lr: low is 0: with log: yes, expected more than 0"},
        {"common:\n  lr: []\n", "expected a list"},
        {"common:\n  lr: [0.1]\n  lr: [0.2]\n", "line 3, column 3"},
        {"common:\n  lr: [0.1\n", "line"},
        {"common: {lr: [[[[0.1]]]]}\n", "nested too deeply"},
        {"", "expected sections"},
        {"common: &a\n  lr: [*a]\n", "nested too deeply"},
    };
    char path[64];
    json_t *space;
    snprintf(path, sizeof path, "/tmp/consm-space-%ld.yaml", (long)getpid());
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FILE *file = fopen(path, "w");
        fputs(bad[i].yaml, file);
        fclose(file);
        if (search_read(&space, path) >= 0)
            fail_msg("accepted: %s", bad[i].yaml);
        assert_null(space);
        if (!strstr(consm_errmsg(), bad[i].message))
            fail_msg("%s: message \"%s\" lacks \"%s\"", bad[i].yaml, consm_errmsg(),
                     bad[i].message);
    }
    unlink(path);
}

static void the_paper_is_quoted_rightly(void **state)
{
    (void)state;
    assert_near(paper_accuracy("cora", "consm"), 83.6, 0);
    assert_near(paper_accuracy("actor", "mlp"), 27.9, 0);
    assert_near(paper_accuracy("squirrel", "gin"), 23.0, 0);
    assert_near(paper_accuracy_std("chameleon", "gin"), 3.7, 0);
    assert_true(isnan(paper_accuracy("karate", "gcn")));
    assert_int_equal(paper_set("squirrel")->edges, 211872);
    assert_null(paper_set("texas"));
    /* 20 training nodes a class; the roles add up, except for Actor's. */
    static const char *const names[] = {"cora",  "citeseer",  "pubmed",
                                        "actor", "chameleon", "squirrel"};
    for (int i = 0; i < 6; i++) {
        const struct paper_set *set = paper_set(names[i]);
        assert_int_equal(set->train, 20 * set->classes);
        if (strcmp(names[i], "actor") != 0)
            assert_int_equal(set->train + set->val + set->test, set->nodes);
    }
}

/* All quoted numbers are recorded, so that none changes unseen. */
static void all_quotations_are_recorded(void **state)
{
    (void)state;
    static const char *const names[] = {"cora",  "citeseer",  "pubmed",
                                        "actor", "chameleon", "squirrel"};
    static const double rate[] = {0, 0.05, 0.1, 0.15, 0.2, 0.25};
    static char text[1 << 14];
    size_t used = 0;
#define SAY(...) used += (size_t)snprintf(text + used, sizeof text - used, __VA_ARGS__)
    for (int i = 0; i < 6; i++) {
        const struct paper_set *s = paper_set(names[i]);
        SAY("%s: %d %d %d %d %d %d %d %.2f %.1f\n", s->name, (int)s->nodes, (int)s->edges,
            (int)s->features, (int)s->classes, (int)s->train, (int)s->val, (int)s->test,
            s->homophily, s->zeta);
    }
    for (int m = 0; model_list()[m]; m++) {
        SAY("%s:", model_list()[m]->name);
        for (int i = 0; i < 6; i++)
            SAY(" %.1f ± %.1f", paper_accuracy(names[i], model_list()[m]->name),
                paper_accuracy_std(names[i], model_list()[m]->name));
        SAY("\n");
    }
    SAY("pruning: %.1f %.1f %.1f\n", paper_pruning_whole, paper_pruning_no_other,
        paper_pruning_no_same);
    for (int set = 0; set < 3; set++)
        for (int k = 0; published_method(k); k++) {
            SAY("%s under Metattack, %s:", names[set], published_method(k));
            for (int i = 0; i < 6; i++)
                SAY(" %.2f", published_accuracy(published_set(names[set], false), k, rate[i]));
            SAY("\n");
        }
#undef SAY
    assert_true(used < sizeof text);
    golden("papers.txt", text);
}

/* Work by hand: a step is 20,000 and one for each edge and feature entry. */
static void work_by_hand(void **state)
{
    (void)state;
    const double step = 2e4 + 300 + 700;
    struct study_run run = plan_run(TASK_TRAIN, "csbm:nodes=50", model("gcn"), "random");
    run.config.epochs = 10;
    assert_true(plan_cost(&run, 300, 700) == step * 10);
    run.ensemble = 3;
    assert_true(plan_cost(&run, 300, 700) == 3 * step * 10);
    run.ensemble = 0;
    run.task = TASK_FACTS;
    assert_true(plan_cost(&run, 300, 700) == step);
    run.task = TASK_ROBUST;
    run.again.epochs = 7;
    assert_true(plan_cost(&run, 300, 700) == step * 10 + step * 4 * 7);
    run = plan_run(TASK_TRAIN, "csbm:nodes=50", model("consm"), "random");
    run.config.warmup = 30;
    run.config.rounds = 2;
    run.config.gnn_steps = 5;
    OK(config_set(&run.config, "backbone", "gcn"));
    assert_true(plan_cost(&run, 300, 700) == step * (30 + 2 * 5 + 200 * 2));
    OK(config_set(&run.config, "backbone", "auto"));
    assert_true(plan_cost(&run, 300, 700) == step * (4 * 30 + 2 * 5 + 200 * 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity_holds_all_that_matters),
        cmocka_unit_test(identity_leaves_out_what_does_not_apply),
        cmocka_unit_test(identity_follows_the_bytes_of_files),
        cmocka_unit_test(a_plan_owns_its_names),
        cmocka_unit_test(options_are_read_and_checked),
        cmocka_unit_test(preferred_sets_give_way_to_chosen_ones),
        cmocka_unit_test(the_built_in_space_draws_valid_configurations),
        cmocka_unit_test(the_space_reaches_consms_candidates),
        cmocka_unit_test(bad_spaces_are_named),
        cmocka_unit_test(the_paper_is_quoted_rightly),
        cmocka_unit_test(all_quotations_are_recorded),
        cmocka_unit_test(work_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
