/* Where the CPU puts barriers: before operations that touch what another thread may still write or
 * read, and nowhere else. */
#include "check.h"

#include "cpu/kernels.h"

enum { N = 8, F = 4 };
static float memory[8][N * F], more[N];

static struct instr op(enum op op, float *out, const float *x, const float *y)
{
    return (struct instr){.op = op,
                          .rows = N,
                          .cols = F,
                          .src_rows = {N, y ? N : 0},
                          .src_cols = {F, y ? F : 0},
                          .out = out,
                          .src = {x, y}};
}

/* Whether the second of two waits for the first. */
static bool second_waits(struct instr first, struct instr second)
{
    struct instr both[2] = {first, second};
    bool waits[2];
    mark_barriers(waits, both, 2);
    assert_false(waits[0]);
    return waits[1];
}

static void elements_follow_elements(void **state)
{
    (void)state;
    struct instr sum = op(OP_AXPBY, memory[2], memory[0], memory[1]);
    assert_false(second_waits(sum, op(OP_RELU, memory[3], memory[2], NULL)));
    assert_false(second_waits(sum, op(OP_RELU, memory[2], memory[2], NULL))); /* in place */
    assert_false(second_waits(sum, op(OP_RELU, memory[0], memory[2], NULL))); /* over a source */
    assert_true(second_waits(sum, op(OP_RELU, memory[2] + 16, memory[3], NULL))); /* other shares */
    assert_true(second_waits(sum, op(OP_RELU, memory[4], memory[2] + 16, NULL)));
    assert_true(second_waits(sum, op(OP_RELU, memory[0] + 16, memory[3], NULL)));
    struct instr half = op(OP_RELU, memory[3], memory[2], NULL);
    half.rows = half.src_rows[0] = N / 2;
    assert_true(second_waits(sum, half));
    struct instr numbered = op(OP_DROPOUT, memory[3], memory[2], NULL);
    assert_false(second_waits(sum, numbered));
    numbered.attr.number = (const int64_t[N]){0}; /* goes by rows */
    assert_true(second_waits(sum, numbered));
}

static void others_wait_for_what_they_touch(void **state)
{
    (void)state;
    struct instr product = op(OP_MATMUL, memory[2], memory[0], memory[1]);
    assert_true(second_waits(product, op(OP_RELU, memory[3], memory[2], NULL)));
    assert_true(second_waits(product, op(OP_RELU, memory[2], memory[3], NULL)));
    assert_true(second_waits(product, op(OP_RELU, memory[0], memory[3], NULL)));
    assert_false(second_waits(product, op(OP_RELU, memory[4], memory[3], NULL)));
    assert_false(second_waits(product, op(OP_RELU, memory[4], memory[0], NULL)));
    struct instr beside = op(OP_RELU, memory[4], memory[3], NULL);
    beside.update[0] = more;
    assert_true(second_waits(product, beside));
    assert_true(second_waits(beside, product));
    struct instr column = op(OP_COL_SUM, memory[4], memory[3], NULL), other = column;
    other.out = memory[5];
    column.cols = other.cols = F;
    assert_true(second_waits(column, other)); /* they share their scratch */
}

/* A barrier for one operation also serves those after it. */
static void a_barrier_serves_all(void **state)
{
    (void)state;
    struct instr list[3] = {op(OP_MATMUL, memory[2], memory[0], memory[1]),
                            op(OP_MATMUL, memory[3], memory[2], memory[1]),
                            op(OP_MATMUL, memory[4], memory[2], memory[0])};
    bool waits[3];
    mark_barriers(waits, list, 3);
    assert_false(waits[0]);
    assert_true(waits[1]);
    assert_false(waits[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(elements_follow_elements),
                                       cmocka_unit_test(others_wait_for_what_they_touch),
                                       cmocka_unit_test(a_barrier_serves_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
