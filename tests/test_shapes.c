/* Operations refuse arguments of wrong shapes. Nothing is run. */
#include "check.h"

#include "program/index.h"
#include "program/program.h"

/* Every shape that an operation checks, one wrong at a time. The path 0-1-2 has 4 entries. */
static void shapes_are_checked(void **state)
{
    (void)state;
    static const int32_t from[] = {0, 1}, to[] = {1, 2}, label[] = {0, 1, 2};
    struct params *params;
    struct program *p = NULL;
    struct csr *s;
    struct index *index, *shorter;
    OK(params_new(&params));
    OK(csr_from_edges(&s, 3, 3, 2, from, to, NULL, CSR_UNDIRECTED, NULL));
    OK(index_new(&index, 2, 3));
    OK(index_new(&shorter, 2, 2));
    OK(index_set(index, (int32_t[]){0, 2}));
    OK(index_set(shorter, (int32_t[]){0, 1}));
#define MAKE                                                                                \
    program_free(p);                                                                        \
    OK(program_new(&p, params, true));                                                      \
    node x = fill(p, 1, 3, 4), y = fill(p, 1, 3, 4), tall = fill(p, 1, 4, 4),               \
         wide = fill(p, 1, 3, 5), one = fill(p, 1, 1, 1), row = fill(p, 1, 1, 4),           \
         col = fill(p, 1, 3, 1), entry = fill(p, 1, 4, 1), longer = fill(p, 1, 5, 1),       \
         cost = fill(p, 1, 3, 3), none = fill(p, 1, 0, 4);                                  \
    struct transport t = {.cost = cost, .epsilon = one, .iterations = 1, .take = TAKE_SUM}; \
    (void)x, (void)y, (void)tall, (void)wide, (void)row, (void)col, (void)entry;            \
    (void)longer, (void)none, (void)t;
#define GOOD(op)                               \
    do {                                       \
        MAKE assert_int_not_equal(op, POISON); \
    } while (0)
#define BAD(op)                            \
    do {                                   \
        MAKE assert_int_equal(op, POISON); \
    } while (0)
    GOOD(mul(p, x, y));
    BAD(mul(p, x, tall));
    BAD(mul(p, x, wide));
    GOOD(scale_by(p, x, one));
    BAD(scale_by(p, x, row));
    BAD(scale_by(p, x, col));
    GOOD(scale_rows(p, x, col));
    BAD(scale_rows(p, x, entry));
    BAD(scale_rows(p, x, y));
    GOOD(add_bias(p, x, row));
    BAD(add_bias(p, wide, row));
    BAD(add_bias(p, tall, tall));
    GOOD(concat(p, x, wide));
    BAD(concat(p, x, tall));
    GOOD(slice(p, x, 3, 1));
    GOOD(slice(p, x, 4, 0));
    BAD(slice(p, x, 4, 1));
    BAD(slice(p, x, -1, 1));
    BAD(slice(p, x, 0, -1));
    BAD(slice(p, x, 0, 5));
    GOOD(reshape(p, x, 6, 2));
    BAD(reshape(p, x, 6, 3));
    GOOD(expand(p, row, 7, 4));
    GOOD(expand(p, col, 3, 7));
    BAD(expand(p, col, 4, 1));
    BAD(expand(p, row, 1, 5));
    GOOD(spmm(p, s, x));
    BAD(spmm(p, s, tall));
    BAD(spmm(p, NULL, x));
    GOOD(spmm_values(p, s, entry, x));
    GOOD(spmm_values(p, s, tall, x));
    BAD(spmm_values(p, s, col, x));
    BAD(spmm_values(p, s, entry, tall));
    BAD(spmm_values(p, s, tall, wide)); /* 4 heads, 5 columns */
    GOOD(sddmm(p, s, x, y, 2));
    BAD(sddmm(p, s, x, y, 3));
    BAD(sddmm(p, s, x, y, 0));
    BAD(sddmm(p, s, x, wide, 1));
    BAD(sddmm(p, s, x, tall, 1));
    BAD(sddmm(p, s, tall, x, 1));
    GOOD(edge_add(p, s, x, y));
    BAD(edge_add(p, s, x, wide));
    BAD(edge_add(p, s, tall, x));
    GOOD(edge_sum(p, s, entry));
    BAD(edge_sum(p, s, longer));
    GOOD(edge_softmax(p, s, entry));
    BAD(edge_softmax(p, s, col));
    GOOD(edge_drop(p, s, 0));
    BAD(edge_drop(p, s, 1));
    BAD(edge_drop(p, s, -0.5f));
    BAD(edge_drop(p, NULL, 0.5f));
    GOOD(dropout(p, x, 0.5f));
    BAD(dropout(p, x, 1));
    BAD(dropout(p, x, -0.5f));
    GOOD(gather(p, x, index));
    BAD(gather(p, x, shorter));
    GOOD(nll(p, x, index, label, NULL));
    BAD(nll(p, tall, index, label, NULL));
    BAD(nll(p, col, index, label, NULL)); /* label 2 of one class */
    GOOD(nearest(p, x, tall));
    BAD(nearest(p, x, wide));
    BAD(nearest(p, x, none));
    GOOD(nearest_share(p, s, col, entry, 1, true));
    BAD(nearest_share(p, s, col, entry, 0, true));
    BAD(nearest_share(p, s, entry, entry, 1, true));
    BAD(nearest_share(p, s, col, col, 1, true));
    BAD(nearest_share(p, s, x, entry, 1, true));
    BAD(nearest_share(p, s, col, tall, 1, true));
    BAD(nearest_share(p, NULL, col, entry, 1, true));
    GOOD(distances(p, x, tall));
    BAD(distances(p, x, wide));
    BAD(distances(p, x, none));
    GOOD(transport(p, s, &t, entry));
    GOOD(transport(p, s, &t, longer));
    BAD(transport(p, s, &t, col));
    BAD(transport(p, s, &t, tall));
    BAD((t.take = TAKE_MAX, transport(p, s, &t, entry)));
    BAD((t.cost = entry, transport(p, s, &t, entry)));
    BAD((t.epsilon = row, transport(p, s, &t, entry)));
    BAD((t.epsilon = col, transport(p, s, &t, entry)));
    BAD((t.iterations = -1, transport(p, s, &t, entry)));
    BAD((t.cost = x, transport(p, s, &t, entry))); /* 3 rows are no runs of 4 */
    GOOD(pool_hops(p, s, &t, x, entry, col, 4, 1));
    BAD(pool_hops(p, s, &t, tall, entry, col, 4, 1));
    BAD(pool_hops(p, s, &t, x, longer, col, 4, 1));
    BAD(pool_hops(p, s, &t, x, tall, col, 4, 1));
    BAD(pool_hops(p, s, &t, x, entry, entry, 4, 1));
    BAD(pool_hops(p, s, &t, x, entry, x, 4, 1));
    GOOD(nuclear(p, s, entry, 1, 1));
    BAD(nuclear(p, s, longer, 1, 1));
    BAD(nuclear(p, s, tall, 1, 1));
    BAD(nuclear(p, s, entry, 0, 1));
    BAD(nuclear(p, s, entry, 1, 0));
#undef MAKE
#undef GOOD
#undef BAD
    program_free(p);
    index_free(index);
    index_free(shorter);
    csr_free(s);
    params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
