/* Which matrices are their own transpose, and what is kept of the others. */
#include "check.h"

#include "graph/csr.h"

enum { SIDE = 3 };

static struct csr *matrix(const float *dense, int64_t cols)
{
    struct csr *a;
    OK(csr_from_dense(&a, dense, SIDE, cols));
    return a;
}

/* A matrix with a transpose of its own, entry by entry. */
static void has_another(const float *dense, int64_t cols)
{
    struct csr *a = matrix(dense, cols);
    OK(csr_transpose(a));
    assert_ptr_not_equal(a->t, a);
    assert_int_equal(a->t->rows, cols);
    assert_non_null(a->t_entry);
    for (int64_t r = 0; r < a->t->rows; r++)
        for (int64_t k = a->t->start[r]; k < a->t->start[r + 1]; k++) {
            assert_true(a->t->val[k] == dense[(int64_t)a->t->col[k] * cols + r]);
            assert_true(a->val[a->t_entry[k]] == a->t->val[k]);
        }
    csr_free(a);
}

static void other_matrices_get_one(void **state)
{
    (void)state;
    static const float cycle[] = {0, 1, 0, 0, 0,
                                  1, 1, 0, 0};               /* one entry in every row and column */
    static const float more[] = {1, 1, 1, 1, 0, 0, 0, 0, 0}; /* its first row has more */
    static const float last[] = {0, 0, 1, 0, 0, 1, 1, 0, 0}; /* only its last row differs */
    static const float value[] = {0, 2, 0, 3, 0, 1, 0, 1, 0}; /* the pattern is symmetric */
    static const float wide[] = {1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1};
    has_another(cycle, SIDE);
    has_another(more, SIDE);
    has_another(last, SIDE);
    has_another(value, SIDE);
    has_another(wide, SIDE + 1);
}

/* The positions of the transposed entries are made only when values of the program's own need
 * them. */
static void a_symmetric_matrix_is_its_own(void **state)
{
    (void)state;
    static const float dense[] = {5, 2, 0, 2, 0, 7, 0, 7, 0};
    struct csr *a = matrix(dense, SIDE);
    OK(csr_transpose(a));
    assert_ptr_equal(a->t, a);
    assert_null(a->t_entry);
    OK(csr_transpose_entries(a));
    assert_ptr_equal(a->t, a);
    static const int64_t entry[] = {0, 2, 1, 4, 3}; /* (0,0) (0,1) (1,0) (1,2) (2,1) */
    assert_memory_equal(a->t_entry, entry, sizeof entry);
    csr_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_matrices_get_one),
        cmocka_unit_test(a_symmetric_matrix_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
