/* SVM-light features: both index bases, any order, and what is refused. */
#include "datasets.h"

#include "data/readers/svmlight.h"

static consm_status read_text(struct csr **out, const char *text)
{
    return svmlight_read(out, &(struct text_file){"f.svm", text, strlen(text), false});
}

static void reads_rows(void **state)
{
    (void)state;
    struct csr *a;
    OK(read_text(&a, "# comment\n1 1:0.5 3:2 # tail\n-1 qid:7 2:1\r\n\n0\n2:-4e1"));
    assert_int_equal(a->rows, 4);
    assert_int_equal(a->cols, 3);
    assert_int_equal(a->nnz, 4);
    assert_int_equal(a->col[0], 0);
    assert_int_equal(a->col[1], 2);
    assert_int_equal(a->start[3], 3);
    assert_true(a->val[3] == -40);
    csr_free(a);
}

/* An index 0 shifts them all; a declaration decides before that. */
static void index_base(void **state)
{
    (void)state;
    struct csr *a;
    OK(read_text(&a, "1 5:1 0:2\n1 2:1\n"));
    assert_int_equal(a->cols, 6);
    assert_int_equal(a->col[0], 0); /* sorted */
    assert_true(a->val[0] == 2);
    csr_free(a);
    OK(read_text(&a, "# features: 9, first index: 0\n1 3:1\n"));
    assert_int_equal(a->cols, 9);
    assert_int_equal(a->col[0], 3);
    csr_free(a);
    FAILS(read_text(&a, "# features: 2, first index: 1\n1 3:1\n"), CONSM_EFORMAT,
          "f.svm: found index 3: expected at most 2");
    FAILS(read_text(&a, "# features: 2, first index: 1\n1 0:1\n"), CONSM_EFORMAT,
          "found index 0: expected indices from 1");
}

static void bad_input(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } faults[] = {
        {"", "f.svm: is empty"},
        {"# only\n", "f.svm: is empty"},
        {"x 1:1\n", "line 1, character 1: found \"x\", expected a number as target"},
        {"1 1:1\n1 2\n", "line 2, character 3: found \"2\", expected index:value"},
        {"1 1:1\n1 2:nan\n",
         "line 2, character 3: found \"2:nan\", expected index:value with a fin"},
        {"1 -1:1\n", "found \"-1:1\", expected index:value with a whole"},
        {"1 a:1\n", "found \"a:1\""},
        {"1 1:\n", "found \"1:\""},
        {"1 :1\n", "found \":1\""},
        {"1 99999999999:1\n", "found \"99999999999:1\""},
        {"1 3:1 3:2\n", "line 1: found index 3 twice"},
    };
    struct csr *a;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        FAILS(read_text(&a, faults[i].text), CONSM_EFORMAT, faults[i].message);
        assert_null(a);
    }
    FAILS(read_text(&a, "1 2000000000:1\n"), CONSM_ELIMIT,
          "2000000000 features are too many for a file of 15");
    FAILS(read_text(&a, "# features: 999999999999999999, first index: 1\n1 1:1\n"), CONSM_ELIMIT,
          "999999999999999999 features");
}

static void cut_anywhere(void **state)
{
    (void)state;
    static const char text[] = "# features: 4, first index: 1\n1 1:0.5 4:2e1\n-1 qid:3 2:7 #x\r\n";
    for (size_t cut = 0; cut < sizeof text; cut++) {
        char *copy = malloc(cut ? cut : 1);
        struct csr *a;
        memcpy(copy, text, cut);
        svmlight_read(&a, &(struct text_file){"cut", copy, cut, false});
        csr_free(a);
        free(copy);
    }
}

static void written_and_read(void **state)
{
    (void)state;
    struct csr *a, *back;
    struct file_writer *w;
    struct file_map map;
    OK(read_text(&a, "# features: 7, first index: 0\n0 0:0.1 5:-3e-30\n0\n0 1:16777216 2:0\n"));
    OK(file_create(&w, in_scratch("out.svm")));
    OK(svmlight_write(w, a, (int32_t[]){2, -1, 0}));
    OK(file_commit(w));
    file_close(w);
    OK(file_map(&map, in_scratch("out.svm")));
    OK(svmlight_read(&back, &(struct text_file){"out.svm", map.data, map.size, false}));
    same_sparse(a, back);
    file_unmap(&map);
    csr_free(a);
    csr_free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_rows),       cmocka_unit_test(index_base),
        cmocka_unit_test(bad_input),        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(written_and_read),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
