/* The run record survives kill -9 in the middle of a line, a second writer, damage, and many
 * threads at once (THREADED). */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "study/runs.h"

static char path[256];

static int fresh(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/consm-runs-%ld.jsonl", (long)getpid());
    unlink(path);
    return 0;
}

static int clean(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void put(const char *text)
{
    FILE *file = fopen(path, "ab");
    fputs(text, file);
    fclose(file);
}

static consm_status add(struct runs *r, int seed, double accuracy)
{
    json_t *config = json_pack("{s:s, s:i}", "model", "gcn", "seed", seed);
    json_t *result = json_pack("{s:f}", "test_acc", accuracy);
    consm_status st = runs_append(r, config, result);
    json_decref(config);
    json_decref(result);
    return st;
}

static double look(struct runs *r, int seed)
{
    char key[65];
    json_t *config = json_pack("{s:i, s:s}", "seed", seed, "model", "gcn"); /* other order */
    OK(runs_key(key, config));
    json_decref(config);
    const json_t *found = runs_find(r, key);
    return found ? json_number_value(json_object_get(found, "test_acc")) : -1;
}

static void appended_runs_come_back(void **state)
{
    struct runs *r;
    (void)state;
    OK(runs_open(&r, path, RUNS_READ));
    assert_int_equal(runs_count(r), 0);
    assert_null(runs_find(r, "nothing"));
    FAILS(add(r, 0, 0.5), CONSM_EINVAL, "reading only");
    runs_close(r);
    OK(runs_open(&r, path, RUNS_APPEND));
    for (int seed = 0; seed < 200; seed++)
        OK(add(r, seed, 1.0 / (seed + 3)));
    assert_true(look(r, 199) == 1.0 / 202);
    runs_close(r);
    OK(runs_open(&r, path, RUNS_APPEND));
    assert_int_equal(runs_count(r), 200);
    for (int seed = 0; seed < 200; seed++)
        assert_true(look(r, seed) == 1.0 / (seed + 3)); /* to the bit */
    assert_true(look(r, 200) < 0);
    assert_non_null(runs_get(r, 199));
    assert_null(runs_get(r, 200));
    runs_close(r);
}

static void a_torn_line_is_cut_off(void **state)
{
    struct runs *r;
    (void)state;
    OK(runs_open(&r, path, RUNS_APPEND));
    OK(add(r, 1, 0.25));
    runs_close(r);
    put("{\"key\":\"ab");
    OK(runs_open(&r, path, RUNS_READ));
    assert_int_equal(runs_count(r), 1);
    assert_int_equal(runs_torn(r), 10);
    runs_close(r);
    OK(runs_open(&r, path, RUNS_APPEND));
    OK(add(r, 2, 0.5));
    runs_close(r);
    OK(runs_open(&r, path, RUNS_READ));
    assert_int_equal(runs_count(r), 2);
    assert_int_equal(runs_torn(r), 0);
    assert_true(look(r, 1) == 0.25 && look(r, 2) == 0.5);
    runs_close(r);
}

static void damage_is_named(void **state)
{
    struct runs *r;
    (void)state;
    put("{\"key\":\"a\"}\n\n{\"key\":oops}\n{\"key\":\"b\"}\n");
    FAILS(runs_open(&r, path, RUNS_READ), CONSM_EFORMAT, "line 3, column");
    assert_null(r);
    unlink(path);
    put("[1]\n");
    FAILS(runs_open(&r, path, RUNS_APPEND), CONSM_EFORMAT, "line 1: the JSON has no");
    unlink(path);
    FAILS(runs_open(&r, "/tmp", RUNS_APPEND), CONSM_EIO, "/tmp");
    FAILS(runs_open(&r, "/nowhere/runs.jsonl", RUNS_APPEND), CONSM_EIO, "/nowhere");
}

static void a_second_writer_waits_outside(void **state)
{
    struct runs *one, *two;
    (void)state;
    OK(runs_open(&one, path, RUNS_APPEND));
    FAILS(runs_open(&two, path, RUNS_APPEND), CONSM_EIO, "another process");
    OK(add(one, 0, 0.5));
    OK(runs_open(&two, path, RUNS_READ));
    assert_int_equal(runs_count(two), 1);
    runs_close(two);
    runs_close(one);
}

static void reserved_fields_are_refused(void **state)
{
    struct runs *r;
    json_t *config = json_pack("{s:i}", "seed", 1), *result = json_pack("{s:i}", "key", 1);
    (void)state;
    OK(runs_open(&r, path, RUNS_APPEND));
    FAILS(runs_append(r, config, result), CONSM_EINVAL, "\"key\"");
    assert_int_equal(runs_count(r), 0);
    runs_close(r);
    json_decref(config);
    json_decref(result);
}

/* A child that only appends is killed at a random moment; every run that it had finished (reported
 * through a pipe) must be there. */
static void kill_nine_loses_nothing(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        int ends[2], last = -1;
        struct runs *r;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            OK(runs_open(&r, path, RUNS_APPEND));
            for (int seed = 0;; seed++)
                if (add(r, 1000 * round + seed, 0.5) < 0 ||
                    write(ends[1], &seed, sizeof seed) != sizeof seed)
                    _exit(1);
        }
        close(ends[1]);
        for (int i = 0; i < 5 + round; i++)
            assert_int_equal(read(ends[0], &last, sizeof last), sizeof last);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(ends[0]);
        OK(runs_open(&r, path, RUNS_APPEND));
        for (int seed = 0; seed <= last; seed++)
            assert_true(look(r, 1000 * round + seed) == 0.5);
        runs_close(r);
    }
}

struct worker {
    struct runs *r;
    int first;
};

static void *append_many(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < 20; i++)
        if (add(w->r, w->first + i, 0.5) < 0 || look(w->r, w->first + i) != 0.5)
            return arg;
    return NULL;
}

static void threads_append_together(void **state)
{
    struct runs *r;
    pthread_t thread[4];
    struct worker worker[4];
    void *failed;
    (void)state;
    OK(runs_open(&r, path, RUNS_APPEND));
    for (int i = 0; i < 4; i++) {
        worker[i] = (struct worker){r, 100 * i};
        pthread_create(&thread[i], NULL, append_many, &worker[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(runs_count(r), 80);
    runs_close(r);
    OK(runs_open(&r, path, RUNS_READ));
    assert_int_equal(runs_count(r), 80);
    runs_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(appended_runs_come_back, fresh, clean),
        cmocka_unit_test_setup_teardown(a_torn_line_is_cut_off, fresh, clean),
        cmocka_unit_test_setup_teardown(damage_is_named, fresh, clean),
        cmocka_unit_test_setup_teardown(a_second_writer_waits_outside, fresh, clean),
        cmocka_unit_test_setup_teardown(reserved_fields_are_refused, fresh, clean),
        cmocka_unit_test_setup_teardown(kill_nine_loses_nothing, fresh, clean),
        cmocka_unit_test_setup_teardown(threads_append_together, fresh, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
