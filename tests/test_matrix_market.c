/* Matrix Market adjacency: kinds that are graphs are read, the others refused by name. */
#include "datasets.h"

#include "data/readers/matrix_market.h"
#include "data/readers/plain.h"

static consm_status read_text(struct dataset **out, const char *text, size_t size)
{
    consm_status st = dataset_new(out, "m.mtx");
    if (st >= 0)
        st = matrix_market_read(*out, &(struct text_file){"m.mtx", text, size, false});
    if (st < 0) {
        dataset_free(*out);
        *out = NULL;
    }
    return st;
}

static void reads_kinds(void **state)
{
    (void)state;
    struct dataset *d;
    static const char real[] = "%%MatrixMarket matrix coordinate real general\n% note\n\n"
                               "3 3 3\n1 2 0.5\n3 1 -1\n1 2 7\n";
    OK(read_text(&d, real, sizeof real - 1));
    assert_int_equal(d->nodes, 3);
    assert_int_equal(d->edges, 3); /* repeats stay */
    assert_int_equal(d->from[1], 2);
    assert_int_equal(d->to[1], 0);
    assert_true(d->weight[0] == 0.5f);
    assert_true(d->directed);
    dataset_free(d);
    static const char pattern[] = "%%MatrixMarket MATRIX Coordinate Pattern Symmetric\r\n"
                                  "1000 1000 2\r\n2 1\r\n1000   999\r\n";
    OK(read_text(&d, pattern, sizeof pattern - 1));
    assert_int_equal(d->edges, 2);
    assert_int_equal(d->from[1], 999);
    assert_null(d->weight);
    assert_false(d->directed);
    dataset_free(d);
    static const char integer[] = "%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 2 3";
    OK(read_text(&d, integer, sizeof integer - 1));
    assert_true(d->weight[0] == 3);
    dataset_free(d);
}

#define BANNER "%%MatrixMarket matrix coordinate pattern general\n"

static void bad_input(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } faults[] = {
        {"", "line 1, word 1: found \"\", expected %%matrixmarket"},
        {"%%MatrixMarket vector", "line 1, word 2: found \"vector\", expected matrix"},
        {"%%MatrixMarket matrix array real general\n", "found \"array\", expected coordinate"},
        {"%%MatrixMarket matrix coordinate complex general\n", "found \"complex\", expected real|"},
        {"%%MatrixMarket matrix coordinate real hermitian\n", "word 5: found \"hermitian\""},
        {"%%MatrixMarket matrix coordinate real\n1 1 0\n", "word 5: found \"\""},
        {BANNER, "line 2: expected the numbers of rows, columns and entries"},
        {BANNER "3 3\n", "line 2: expected the numbers of rows, columns and entries"},
        {BANNER "3 x 1\n", "line 2, column 2: found \"x\", expected a whole number"},
        {BANNER "-3 -3 1\n", "line 2, column 1: found \"-3\""},
        {BANNER "3 4 1\n", "line 2, column 2: found \"4\", expected 3 columns, as many as rows"},
        {BANNER "1152921504606846976 1152921504606846976 1\n1 1\n", "line 2, column 1"},
        {BANNER "2000000000 2000000000 1\n1 1\n", "column 1: found \"2000000000\", expected fewer"},
        {BANNER "3 3 999999999999\n1 1\n", "column 3: found \"999999999999\", expected fewer"},
        {BANNER "3 3 2\n1 1\n", "found 1 entries, expected 2"},
        {BANNER "3 3 1\n1 1\n2 2\n", "line 4: found more entries than the 1 announced"},
        {BANNER "3 3 1\n1 4\n", "line 3, column 2: found \"4\", expected a number from 1 to 3"},
        {BANNER "3 3 1\n0 1                              \n", "found \"0\", expected a number"},
        {BANNER "3 3 2\n1 1\n0 1\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
         "line 4: found entry 0 1, expected numbers from 1 to 3"},
        {BANNER "3 3 1\n1 1 5\n", "line 3: found 3 columns, expected 2 (row, column)"},
        {"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1\n", "expected 3 (row"},
        {"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 inf\n",
         "line 3, column 3: found \"inf\", expected a finite number"},
    };
    struct dataset *d;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        FAILS(read_text(&d, faults[i].text, strlen(faults[i].text)), CONSM_EFORMAT,
              faults[i].message);
}

static void cut_anywhere(void **state)
{
    (void)state;
    static const char text[] = "%%MatrixMarket matrix coordinate real symmetric\n%\n"
                               "12 12 3\n2 1 0.5\n12 11 1e2\n3 3 7\n";
    for (size_t cut = 0; cut < sizeof text - 2; cut++) {
        char *copy = malloc(cut ? cut : 1);
        struct dataset *d;
        memcpy(copy, text, cut);
        FAILS(read_text(&d, copy, cut), CONSM_EFORMAT, "m.mtx: ");
        free(copy);
    }
}

static void as_a_dataset(void **state)
{
    (void)state;
    struct dataset *d;
    OK(edge_list_load(&d, write_text("g.mtx", BANNER "3 3 2\n1 2\n2 3\n"),
                      &(struct reading_options){0}));
    assert_int_equal(d->nodes, 3);
    assert_string_equal(d->node_id[2], "3");
    assert_int_equal(d->label[0], -1);
    dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_kinds),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(as_a_dataset),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
