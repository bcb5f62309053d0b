/* A sparse product that processes x in blocks gives the right sums, bit-identical to those without
 * blocks and on one thread, also if a row has no entry in a block. THREADED */
#include "check.h"

#include "base/rng.h"
#include "cpu/kernels.h"
#include <math.h>

enum { ROWS = 37, NODES = 700, WIDTH = 1024, THREADS = 3 };

struct product {
    struct instr in;
    struct step step;
};

static void run(void *arg, struct worker who)
{
    const struct product *p = arg;
    run_spmm(&p->in, &p->step, who);
}

/* Most entries of every row but the second, which has its last few alone; the third has none. */
static struct csr *make_matrix(struct rng *r)
{
    static int32_t row[ROWS * NODES], col[ROWS * NODES];
    struct csr *a;
    int64_t count = 0;
    for (int32_t i = 0; i < ROWS; i++)
        for (int32_t j = 0; j < NODES; j++)
            if (i == 1 ? j > NODES - 5 : i != 2 && rng_uniform(r) < 0.9) {
                row[count] = i;
                col[count++] = j;
            }
    OK(csr_from_edges(&a, ROWS, NODES, count, row, col, NULL, CSR_DIRECTED, NULL));
    OK(NEW(a->val, count));
    for (int64_t k = 0; k < count; k++)
        a->val[k] = (float)rng_uniform(r) - 0.5f;
    return a;
}

static void check_sums(const struct csr *a, const float *x, const float *y)
{
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t c = 0; c < WIDTH; c++) {
            double sum = 0;
            for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
                sum += (double)a->val[k] * (double)x[a->col[k] * WIDTH + c];
            if (fabs(sum - (double)y[i * WIDTH + c]) > 1e-4)
                fail_msg("row %d, column %d: %g, expected %g", (int)i, (int)c,
                         (double)y[i * WIDTH + c], sum);
        }
}

static void blocks_give_the_sums(void **state)
{
    (void)state;
    struct rng r;
    float *x, *y[2], *scratch;
    rng_init(&r, 1, 2);
    struct csr *a = make_matrix(&r);
    OK(NEW(x, NODES * WIDTH));
    for (int64_t i = 0; i < NODES * WIDTH; i++)
        x[i] = (float)rng_uniform(&r);
    struct product p = {.in = {.op = OP_SPMM,
                               .rows = ROWS,
                               .cols = WIDTH,
                               .src_rows = {NODES},
                               .src_cols = {WIDTH},
                               .src = {x},
                               .attr = {.csr = a}}};
    size_t bytes = scratch_sparse(&p.in);
    assert_true(bytes > 0); /* it does go in blocks */
    OK(NEW(scratch, bytes / sizeof *scratch));
    p.in.scratch = scratch;
    for (int t = 0; t < 2; t++) {
        struct team *team;
        OK(team_new(&team, t ? THREADS : 1));
        OK(NEW(y[t], ROWS * WIDTH));
        for (int64_t i = 0; i < ROWS * WIDTH; i++)
            y[t][i] = NAN;
        p.in.out = y[t];
        team_run(team, run, &p);
        team_free(team);
        check_sums(a, x, y[t]);
    }
    assert_memory_equal(y[0], y[1], ROWS * WIDTH * sizeof *y[0]);
    struct sparse rows = {a->start, a->col, a->val, NULL};
    simd_best()->spmm(y[1], &rows, x, WIDTH, NULL, 0, ROWS); /* all at once */
    assert_memory_equal(y[0], y[1], ROWS * WIDTH * sizeof *y[0]);
    csr_free(a);
    mem_free(x);
    mem_free(y[0]);
    mem_free(y[1]);
    mem_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_give_the_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
