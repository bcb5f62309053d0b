/* Counting instructions: a count, or none on a machine that refuses. */
#include "check.h"

#include "base/clock.h"
#include "base/instructions.h"
#include <math.h>

static void a_loop_takes_instructions(void **state)
{
    (void)state;
    volatile double sum = 0;
    int counter = instructions_begin();
    for (int i = 0; i < 100000; i++)
        sum = sum + i;
    double counted = instructions_end(counter);
    if (counter < 0) {
        print_message("SKIPPED: this machine does not count instructions\n");
        assert_true(isnan(counted));
        return;
    }
    assert_true(isnan(counted) || counted > 100000);
    assert_true(isnan(instructions_end(-1)));
}

/* The processor's clock never goes back. */
static void processor_time_grows(void **state)
{
    (void)state;
    double before = clock_processor_seconds();
    assert_true(before >= 0 && clock_processor_seconds() >= before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_takes_instructions),
        cmocka_unit_test(processor_time_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
