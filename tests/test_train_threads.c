/* Training on several threads: the same bits on any number of them and side by side, and no
 * allocation after the start. THREADED */
#include "training.h"

/* A round's matching refreshes twice; a hundred updates would test no more. */
static struct train_options short_options(const struct model_def *model)
{
    struct train_options o = options_for(model, EPOCHS);
    o.config.match_steps = 2 * o.config.match_refresh + 1;
    return o;
}

/* Teams of 2, 3 and 7 threads; under ThreadSanitizer only of `raced`. */
static void check_threads(struct scene *scene, int raced)
{
    static const int team[] = {2, 3, 7};
    for (const struct model_def *const *m = model_list(); *m; m++) {
        struct train_options options = short_options(*m);
        struct outcome alone, many;
        char what[96];
        train_on(&alone, &scene->problem, &options, 1);
        for (int i = 0; i < 3; i++) {
            if (UNDER_TSAN && team[i] != raced)
                continue;
            snprintf(what, sizeof what, "%s on %s, 1 and %d threads", (*m)->name, scene->data->name,
                     team[i]);
            train_on(&many, &scene->problem, &options, team[i]);
            assert_same(&alone, &many, what);
            outcome_free(&many);
        }
        outcome_free(&alone);
    }
}

static void same_bits_on_any_threads(void **state)
{
    (void)state;
    struct scene scene;
    scene_small(&scene);
    check_threads(&scene, 3);
    scene_close(&scene);
    scene_open(&scene, "karate", 4);
    check_threads(&scene, 7);
    scene_close(&scene);
}

/* ---- side by side -------------------------------------------------------- */

struct side {
    struct scene *scene;
    struct outcome outcome[8];
};

static consm_status side_run(void *ctx, int64_t number, int threads)
{
    struct side *side = ctx;
    struct train_options options = short_options(model_list()[number % 3]);
    options.seed = (uint64_t)number / 3;
    train_on(&side->outcome[number], &side->scene->problem, &options, threads);
    return CONSM_OK;
}

static void jobs_change_nothing(void **state)
{
    (void)state;
    struct scene scene;
    scene_small(&scene);
    struct side turns = {.scene = &scene}, together = {.scene = &scene};
    struct batch one = {8, 1, 1, side_run, &turns}, four = {8, 4, 2, side_run, &together};
    OK(train_batch(&one));
    OK(train_batch(&four));
    for (int i = 0; i < 8; i++) {
        assert_same(&turns.outcome[i], &together.outcome[i], "side by side");
        outcome_free(&turns.outcome[i]);
        outcome_free(&together.outcome[i]);
    }
    scene_close(&scene);
}

static consm_status fail_on_two(void *ctx, int64_t number, int threads)
{
    (void)ctx;
    (void)threads;
    return number == 2 ? status_fail(CONSM_EINVAL, "run %lld is faulty", (long long)number)
                       : CONSM_OK;
}

static void a_failed_job_is_reported(void **state)
{
    (void)state;
    struct batch batch = {5, 2, 1, fail_on_two, NULL};
    FAILS(train_batch(&batch), CONSM_EINVAL, "run 2 is faulty");
}

static void no_allocation_after_the_first_epoch(void **state)
{
    (void)state;
    struct scene scene;
    scene_small(&scene);
    for (const struct model_def *const *m = model_list(); *m; m++) {
        struct train_options options = short_options(*m);
        struct seen seen = {0};
        struct outcome outcome;
        options.progress = watch;
        options.progress_ctx = &seen;
        train_on(&outcome, &scene.problem, &options, 2);
        assert_int_equal(seen.first + seen.epochs - 1, EPOCHS);
        outcome_free(&outcome);
    }
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_on_any_threads),
        cmocka_unit_test(jobs_change_nothing),
        cmocka_unit_test(a_failed_job_is_reported),
        cmocka_unit_test(no_allocation_after_the_first_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
