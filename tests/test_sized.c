/* Programs and libraries of different versions: a caller's shorter struct is not written past its
 * end, a longer one keeps unknown members, one without a size is refused; and the version macros
 * agree with the library. */
#include "check.h"

#include "base/sized.h"
#include "consm_ot.h"

/* One struct in three versions. */
struct first {
    size_t size;
    int32_t a;
};
struct second {
    size_t size;
    int32_t a, b;
};
struct third {
    size_t size;
    int32_t a, b, c, d;
};
enum { LEAST = SIZED_UP_TO(struct second, a) };

static void an_older_caller_is_not_overrun(void **state)
{
    struct second whole = {.size = sizeof whole, .a = 1, .b = 2};
    struct {
        struct first info;
        int32_t guard;
    } caller = {{.size = SIZED_UP_TO(struct first, a), .a = 7}, 9};
    (void)state;
    OK(sized_give(&caller.info, &whole, sizeof whole, LEAST));
    assert_int_equal(caller.info.a, 1);
    assert_int_equal(caller.info.size, SIZED_UP_TO(struct first, a));
    assert_int_equal(caller.guard, 9);
    struct second ours = {.size = sizeof ours, .a = 5, .b = 6};
    OK(sized_take(&ours, sizeof ours, &caller.info, LEAST));
    assert_int_equal(ours.a, 1);
    assert_int_equal(ours.b, 6); /* the default: the caller knows of no b */
    assert_int_equal(ours.size, sizeof ours);
}

static void a_newer_caller_keeps_what_we_do_not_know(void **state)
{
    struct second whole = {.size = sizeof whole, .a = 1, .b = 2};
    struct third caller = {.size = sizeof caller, .a = 7, .b = 8, .c = 9, .d = 10};
    (void)state;
    OK(sized_give(&caller, &whole, sizeof whole, LEAST));
    assert_int_equal(caller.a, 1);
    assert_int_equal(caller.b, 2);
    assert_int_equal(caller.c, 9);
    assert_int_equal(caller.size, sizeof caller);
    caller.b = 3;
    OK(sized_take(&whole, sizeof whole, &caller, LEAST));
    assert_int_equal(whole.b, 3);
    assert_int_equal(whole.size, sizeof whole);
}

static void a_size_that_was_not_set_is_refused(void **state)
{
    struct consm_ot_options options = {0};
    double cost[4] = {0, 1, 1, 0}, plan[4], other[4];
    struct consm_ot_result result;
    (void)state;
    FAILS(consm_ot_defaults(&options), CONSM_EINVAL, "the size member of a struct");
    FAILS(consm_ot_sinkhorn(plan, &result, cost, NULL, NULL, 2, 2, &options), CONSM_EINVAL,
          "the size member of a struct");
    options.size = sizeof options;
    OK(consm_ot_defaults(&options));
    OK(consm_ot_sinkhorn(plan, &result, cost, NULL, NULL, 2, 2, &options));
    OK(consm_ot_sinkhorn(other, &result, cost, NULL, NULL, 2, 2, NULL)); /* the same defaults */
    assert_memory_equal(plan, other, sizeof plan);
}

static void versions_agree(void **state)
{
    char text[32];
    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", CONSM_VERSION_MAJOR, CONSM_VERSION_MINOR,
             CONSM_VERSION_PATCH);
    assert_string_equal(consm_version(), text);
    assert_int_equal(consm_version_number(), CONSM_VERSION_NUMBER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_caller_is_not_overrun),
        cmocka_unit_test(a_newer_caller_keeps_what_we_do_not_know),
        cmocka_unit_test(a_size_that_was_not_set_is_refused),
        cmocka_unit_test(versions_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
