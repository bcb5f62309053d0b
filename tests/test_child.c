/* A function in a process of its own: its result and its error come back, its memory is its own,
 * and a child that dies, or that is stopped, is an error and leaves no zombie. */
#include "check.h"

#include "base/alloc.h"
#include "base/child.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* More than a pipe holds at once. */
struct numbers {
    int n[100000];
};

static consm_status count_up(void *out, void *arg)
{
    struct numbers *to = out;
    for (int i = 0; i < 100000; i++)
        to->n[i] = i * *(int *)arg;
    *(int *)arg = 0; /* a copy of the caller's */
    return CONSM_OK;
}

static void nobody_is_left(void)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void a_result_comes_back(void **state)
{
    (void)state;
    struct numbers *got;
    int factor = 3;
    OK(NEW(got, 1));
    OK(child_run(got, sizeof *got, NULL, &(struct child){.work = count_up, .arg = &factor}));
    assert_int_equal(factor, 3);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(got->n[i], 3 * i);
    mem_free(got);
    nobody_is_left();
    assert_false(child_is_orphan());
}

static consm_status fill(void *out, void *arg)
{
    consm_status st = CONSM_OK;
    size_t bytes = *(size_t *)arg;
    char *block = NULL;
    TRY(NEW(block, bytes));
    memset(block, 1, bytes);
    *(char *)out = block[bytes / 2];
done:
    mem_free(block);
    return st;
}

/* The second child does not count what the first held, nor does the caller. */
static void each_has_its_own_peak(void **state)
{
    (void)state;
    double before = clock_peak_rss_mb(), large, small;
    size_t bytes = 100000000, few = 1000;
    char out;
    OK(child_run(&out, 1, &large, &(struct child){.work = fill, .arg = &bytes}));
    OK(child_run(&out, 1, &small, &(struct child){.work = fill, .arg = &few}));
    assert_true(large > small + 99 && large < small + 150);
    assert_true(clock_peak_rss_mb() < before + 50);
}

static consm_status refuse(void *out, void *arg)
{
    (void)out;
    return status_fail(CONSM_EFORMAT, "%s: line 7", (const char *)arg);
}

static void an_error_comes_back(void **state)
{
    (void)state;
    int out = 5;
    double peak = 5;
    FAILS(child_run(&out, sizeof out, &peak, &(struct child){.work = refuse, .arg = "a.csv"}),
          CONSM_EFORMAT, "a.csv: line 7");
    assert_true(peak == 5);
    nobody_is_left();
}

static consm_status die(void *out, void *arg)
{
    (void)out;
    int number = *(int *)arg;
    if (number == 0)
        _exit(3);
    raise(number);
    return CONSM_OK;
}

static void a_death_is_an_error(void **state)
{
    (void)state;
    int out, none = 0, killed = SIGKILL, ended = SIGTERM;
    FAILS(child_run(&out, sizeof out, NULL, &(struct child){.work = die, .arg = &none}), CONSM_EIO,
          "ended without a result");
    FAILS(child_run(&out, sizeof out, NULL, &(struct child){.work = die, .arg = &killed}),
          CONSM_EIO, "perhaps memory ran out");
    FAILS(child_run(&out, sizeof out, NULL, &(struct child){.work = die, .arg = &ended}), CONSM_EIO,
          "ended by signal 15");
    nobody_is_left();
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static consm_status go_on(void *out, void *arg)
{
    (void)out;
    (void)arg;
    while (!child_is_orphan())
        rest();
    return CONSM_OK;
}

static bool third_time(void *ctx)
{
    return ++*(int *)ctx == 3;
}

static void a_stop_ends_the_child(void **state)
{
    (void)state;
    int out, asked = 0;
    FAILS(child_run(&out, sizeof out, NULL,
                    &(struct child){.work = go_on, .stop = third_time, .ctx = &asked}),
          CONSM_ECANCEL, "stopped");
    assert_int_equal(asked, 3);
    nobody_is_left();
}

/* Tells the test that it began, and that its caller is gone. */
static consm_status tell(void *out, void *arg)
{
    (void)out;
    int to = *(int *)arg;
    if (write(to, "b", 1) != 1)
        return status_fail(CONSM_EIO, "nobody listens");
    while (!child_is_orphan())
        rest();
    return write(to, "o", 1) == 1 ? CONSM_OK : CONSM_EIO;
}

static char hear(int from)
{
    char letter = 0;
    struct pollfd ready = {.fd = from, .events = POLLIN};
    if (poll(&ready, 1, 20000) == 1 && read(from, &letter, 1) != 1)
        letter = 0;
    return letter;
}

static void a_child_sees_that_its_caller_died(void **state)
{
    (void)state;
    int ends[2], out;
    assert_int_equal(pipe(ends), 0);
    pid_t caller = fork();
    if (caller == 0) {
        (void)child_run(&out, sizeof out, NULL, &(struct child){.work = tell, .arg = &ends[1]});
        _exit(0);
    }
    assert_int_equal(hear(ends[0]), 'b');
    kill(caller, SIGKILL);
    waitpid(caller, NULL, 0);
    assert_int_equal(hear(ends[0]), 'o');
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_comes_back),
        cmocka_unit_test(each_has_its_own_peak),
        cmocka_unit_test(an_error_comes_back),
        cmocka_unit_test(a_death_is_an_error),
        cmocka_unit_test(a_stop_ends_the_child),
        cmocka_unit_test(a_child_sees_that_its_caller_died),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
