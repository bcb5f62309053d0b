/* Philox against the known answers of its paper's reference package, and the distributions. */
#include "check.h"

#include "base/rng.h"

static void known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t out[4];
        philox4x32(out, known[i].counter, known[i].key);
        assert_memory_equal(out, known[i].answer, sizeof out);
    }
}

static void streams_differ_and_repeat(void **state)
{
    (void)state;
    struct rng a, b, c;
    rng_init(&a, 7, 1);
    rng_init(&b, 7, 1);
    rng_init(&c, 7, 2);
    int same = 0;
    for (int i = 0; i < 100; i++) {
        uint32_t x = rng_u32(&a);
        assert_int_equal(x, rng_u32(&b));
        same += x == rng_u32(&c);
    }
    assert_true(same < 3);
}

static void moments(void **state)
{
    (void)state;
    struct rng r;
    double sum = 0, squares = 0, uniform = 0;
    int count = 200000, below[7] = {0};
    rng_init(&r, 1, 0);
    for (int i = 0; i < count; i++) {
        double x = rng_normal(&r);
        sum += x;
        squares += x * x;
        uniform += rng_uniform(&r);
        below[rng_below(&r, 7)]++;
    }
    assert_near(sum / count, 0, 0.01);
    assert_near(squares / count, 1, 0.02);
    assert_near(uniform / count, 0.5, 0.005);
    for (int i = 0; i < 7; i++)
        assert_near(below[i] * 7.0 / count, 1, 0.03);
}

static void shuffle_is_a_permutation(void **state)
{
    (void)state;
    struct rng r;
    int32_t items[100], seen[100] = {0};
    int moved = 0;
    rng_init(&r, 3, 0);
    for (int i = 0; i < 100; i++)
        items[i] = i;
    rng_shuffle(&r, items, 100);
    for (int i = 0; i < 100; i++) {
        seen[items[i]]++;
        moved += items[i] != i;
    }
    for (int i = 0; i < 100; i++)
        assert_int_equal(seen[i], 1);
    assert_true(moved > 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(streams_differ_and_repeat),
        cmocka_unit_test(moments),
        cmocka_unit_test(shuffle_is_a_permutation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
