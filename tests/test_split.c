/* Splits: the definitions on small hand-made data, the file format, the faults. */
#include "check.h"

#include "data/generate/generate.h"
#include "data/open.h"
#include "data/split.h"
#include <unistd.h>

static char folder[] = "/tmp/consm-split-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* sizes[k] nodes of class k in turn; then `unknown` nodes without label. */
static struct dataset *labelled(const int *sizes, int classes, int unknown)
{
    struct dataset *d;
    int left[16], total = unknown;
    OK(dataset_new(&d, "small"));
    for (int k = 0; k < classes; k++)
        total += left[k] = sizes[k];
    d->nodes = total;
    d->classes = classes;
    OK(NEW(d->label, total));
    for (int i = 0, k = 0; i < total - unknown; k = (k + 1) % classes)
        if (left[k]-- > 0)
            d->label[i++] = k;
    for (int i = total - unknown; i < total; i++)
        d->label[i] = -1;
    return d;
}

static void paper_takes_the_first_of_each_class(void **state)
{
    (void)state;
    const int sizes[] = {31, 25, 20};
    struct dataset *d = labelled(sizes, 3, 2);
    uint8_t role[78];
    int64_t seen[3] = {0};
    OK(split_make(role, d, "paper", 7, NULL));
    for (int i = 0; i < 76; i++) {
        int k = d->label[i];
        int64_t at = seen[k]++, val = (sizes[k] - 20) / 2;
        assert_int_equal(role[i], at < 20 ? SPLIT_TRAIN : at < 20 + val ? SPLIT_VAL : SPLIT_TEST);
    }
    assert_int_equal(role[76], SPLIT_NONE);
    assert_int_equal(role[77], SPLIT_NONE);
    dataset_free(d);
}

/* A set with Planetoid's public split: 20 per class, some validate, 1000 test, others free. */
static struct dataset *planetoid_like(void)
{
    const int sizes[] = {800, 800};
    struct dataset *d = labelled(sizes, 2, 0);
    d->splits = 1;
    OK(ZNEW(d->role, d->nodes));
    for (int i = 0; i < 40; i++)
        d->role[i] = SPLIT_TRAIN;
    for (int i = 40; i < 100; i++)
        d->role[i] = SPLIT_VAL;
    for (int i = 600; i < 1600; i++)
        d->role[i] = SPLIT_TEST;
    return d;
}

static void paper_keeps_the_public_test_nodes(void **state)
{
    (void)state;
    struct dataset *d = planetoid_like();
    uint8_t role[1600];
    int64_t count[4];
    assert_true(split_is_planetoid(d));
    OK(split_make(role, d, "paper", 0, NULL));
    split_count(count, role, 1600);
    assert_int_equal(count[SPLIT_NONE], 0);
    assert_int_equal(count[SPLIT_TRAIN], 40);
    assert_int_equal(count[SPLIT_VAL], 560);
    assert_int_equal(count[SPLIT_TEST], 1000);
    OK(split_make(role, d, "public", 3, NULL));
    assert_memory_equal(role, d->role, 1600);
    d->role[1599] = SPLIT_NONE; /* 999 test nodes: not Planetoid's split */
    assert_false(split_is_planetoid(d));
    OK(split_make(role, d, "paper", 0, NULL));
    split_count(count, role, 1600);
    assert_int_equal(count[SPLIT_TEST], 780);
    dataset_free(d);
}

static void random_draws_by_seed(void **state)
{
    (void)state;
    const int sizes[] = {101, 60};
    struct dataset *d = labelled(sizes, 2, 3);
    uint8_t a[164], b[164], c[164];
    struct split_options o = split_defaults();
    OK(split_make(a, d, "random", 1, NULL));
    OK(split_make(b, d, "random", 1, NULL));
    OK(split_make(c, d, "random", 2, NULL));
    assert_memory_equal(a, b, 164);
    assert_memory_not_equal(a, c, 164);
    int64_t of_class[2][4] = {{0}}, count[4];
    for (int i = 0; i < 161; i++)
        of_class[d->label[i]][a[i]]++;
    assert_int_equal(of_class[0][SPLIT_TRAIN], 20);
    assert_int_equal(of_class[0][SPLIT_VAL], 40);
    assert_int_equal(of_class[0][SPLIT_TEST], 41);
    assert_int_equal(of_class[1][SPLIT_VAL], 20);
    assert_int_equal(a[162], SPLIT_NONE);
    o.train = 0.6;
    o.val = 0.2;
    OK(split_make(a, d, "random", 1, &o));
    split_count(count, a, 164);
    assert_int_equal(count[SPLIT_TRAIN], 61 + 36);
    assert_int_equal(count[SPLIT_VAL], 20 + 12);
    o.pooled = true;
    OK(split_make(a, d, "random", 1, &o));
    split_count(count, a, 164);
    assert_int_equal(count[SPLIT_TRAIN], 97);
    assert_int_equal(count[SPLIT_VAL], 32);
    o.train = o.val = 0;
    OK(split_make(a, d, "random", 1, &o));
    split_count(count, a, 164);
    assert_int_equal(count[SPLIT_TRAIN], 40);
    assert_int_equal(count[SPLIT_VAL], 60);
    dataset_free(d);
}

/* labels:N is like a user's labels: a fifth validates, no class is used up. */
static void labels_as_people_have_them(void **state)
{
    (void)state;
    const int sizes[] = {101, 60, 9, 1};
    static const struct {
        const char *spec;
        int train[4], val[4];
    } known[] = {{"labels:20", {16, 16, 3, 1}, {4, 4, 1, 0}}, /* half of nine are four: … */
                 {"labels:5", {4, 4, 3, 1}, {1, 1, 1, 0}},    /* … one of them validates */
                 {"labels:2", {1, 1, 1, 1}, {1, 1, 1, 0}},
                 {"labels:500", {40, 24, 3, 1}, {10, 6, 1, 0}}};
    struct dataset *d = labelled(sizes, 4, 3);
    uint8_t a[174], b[174];
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        int64_t of_class[4][4] = {{0}};
        OK(split_make(a, d, known[k].spec, 1, NULL));
        OK(split_make(b, d, known[k].spec, 2, NULL));
        assert_memory_not_equal(a, b, 174);
        for (int i = 0; i < 171; i++)
            of_class[d->label[i]][a[i]]++;
        for (int c = 0; c < 4; c++) {
            assert_int_equal(of_class[c][SPLIT_TRAIN], known[k].train[c]);
            assert_int_equal(of_class[c][SPLIT_VAL], known[k].val[c]);
            assert_int_equal(of_class[c][SPLIT_TEST],
                             sizes[c] - known[k].train[c] - known[k].val[c]);
        }
        assert_int_equal(a[172], SPLIT_NONE);
    }
    FAILS(split_make(a, d, "labels:0", 1, NULL), CONSM_EINVAL, "as in labels:20");
    FAILS(split_make(a, d, "labels:", 1, NULL), CONSM_EINVAL, "as in labels:20");
    FAILS(split_make(a, d, "labels:5x", 1, NULL), CONSM_EINVAL, "as in labels:20");
    dataset_free(d);
}

static void percentages_of_each_class(void **state)
{
    (void)state;
    const int sizes[] = {100, 50};
    struct dataset *d = labelled(sizes, 2, 0);
    uint8_t a[150], b[150];
    int64_t count[4];
    struct split_options o = split_defaults();
    OK(split_make(a, d, "48/32/20", 1, NULL));
    split_count(count, a, 150);
    assert_int_equal(count[SPLIT_TRAIN], 48 + 24);
    assert_int_equal(count[SPLIT_VAL], 32 + 16);
    assert_int_equal(count[SPLIT_TEST], 20 + 10);
    o.train = 0.48;
    o.val = 0.32;
    OK(split_make(b, d, "random", 1, &o)); /* the same draw */
    assert_memory_equal(a, b, 150);
    FAILS(split_make(a, d, "48/32/21", 1, NULL), CONSM_EINVAL, "unknown split 48/32/21");
    FAILS(split_make(a, d, "48/32", 1, NULL), CONSM_EINVAL, "unknown split 48/32");
    FAILS(split_make(a, d, "80/20/0", 1, NULL), CONSM_EINVAL, "so that test nodes remain");
    dataset_free(d);
}

static void impossible_requests_say_what_would_work(void **state)
{
    (void)state;
    const int sizes[] = {30, 5};
    struct dataset *d = labelled(sizes, 2, 0), *karate;
    struct split_options o = split_defaults();
    uint8_t role[35];
    FAILS(split_make(role, d, "paper", 0, NULL), CONSM_EINVAL,
          "class 1 of small has 5 labelled nodes, too few for 20 training nodes; --per-class 1");
    OK(split_make(role, d, "random", 0, NULL)); /* the class of 5 gives what it has */
    int64_t count[4], of_small[4] = {0};
    split_count(count, role, 35);
    for (int i = 0; i < 35; i++)
        of_small[role[i]] += d->label[i] == 1;
    assert_int_equal(count[SPLIT_TRAIN], 23);
    assert_int_equal(of_small[SPLIT_TRAIN], 3);
    assert_int_equal(of_small[SPLIT_VAL], 1);
    assert_int_equal(of_small[SPLIT_TEST], 1);
    FAILS(split_make(role, d, "public", 0, NULL), CONSM_EINVAL, "has no stored split");
    FAILS(split_make(role, d, "file:0", 0, NULL), CONSM_EINVAL, "has no stored split");
    FAILS(split_make(role, d, "file:x", 0, NULL), CONSM_EINVAL, "expected a number");
    FAILS(split_make(role, d, "randum", 0, NULL), CONSM_EINVAL, "did you mean random?");
    o.train = 0.8;
    o.val = 0.3;
    FAILS(split_make(role, d, "random", 0, &o), CONSM_EINVAL, "a sum below 1");
    o = split_defaults();
    o.per_class = 0;
    FAILS(split_make(role, d, "paper", 0, &o), CONSM_EINVAL, "expected 1 or more");
    for (int i = 0; i < 35; i++)
        d->label[i] = -1;
    FAILS(split_make(role, d, "paper", 0, NULL), CONSM_EINVAL, "no labels");
    dataset_free(d);
    OK(generate_karate(&karate));
    FAILS(split_make(role, karate, "paper", 0, NULL), CONSM_EINVAL,
          "class Mr. Hi of karate has 17 labelled nodes, too few for 20 training nodes; "
          "--per-class 4 would work");
    OK(split_make(role, karate, "random", 0, NULL));
    o.per_class = 4;
    OK(split_make(role, karate, "random", 0, &o));
    o.per_class = 17;
    OK(split_make(role, karate, "random", 0, &o));
    dataset_free(karate);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void a_file_comes_back_the_same(void **state)
{
    (void)state;
    static const char *const names[] = {"plain",      "with,comma", "with \"quotes\"",
                                        "two\nlines", "#5",         "42"};
    const int sizes[] = {3, 3};
    struct dataset *d = labelled(sizes, 2, 0);
    const uint8_t role[] = {1, 2, 3, 0, 1, 2};
    uint8_t back[6];
    char path[64];
    snprintf(path, sizeof path, "%s/s.csv", folder);
    OK(split_write(path, d, role));
    OK(split_make(back, d, path, 0, NULL));
    assert_memory_equal(role, back, 6);
    OK(NEW(d->node_id, 6));
    for (int i = 0; i < 6; i++)
        d->node_id[i] = mem_strdup(names[i]);
    OK(split_write(path, d, role));
    OK(split_read(back, d, path));
    assert_memory_equal(role, back, 6);
    put(path, "\xEF\xBB\xBFid,role\r\n# a note\r\n\r\n42,test\r\nplain,train");
    OK(split_read(back, d, path));
    assert_int_equal(back[5], SPLIT_TEST);
    assert_int_equal(back[0], SPLIT_TRAIN);
    assert_int_equal(back[1], SPLIT_NONE);
    unlink(path);
    dataset_free(d);
}

static void file_faults_name_the_line(void **state)
{
    (void)state;
    const int sizes[] = {3, 3};
    struct dataset *d = labelled(sizes, 2, 0);
    uint8_t role[6];
    char path[64];
    static const char *const faulty[][2] = {
        {"", "is empty: expected the header id,role"},
        {"node,role\n", "line 1: expected the header id,role"},
        {"id,role\n0,train\n9,val\n", "line 3: small has no node \"9\""},
        {"id,role\n-1,train\n", "line 2: small has no node \"-1\""},
        {"id,role\n0,train\n0,val\n", "line 3: node \"0\" occurs twice"},
        {"id,role\n0,trian\n", "line 2: found the role \"trian\""},
        {"id,role\n0\n", "line 2: found one column"},
        {"id,role\n0,val,1\n", "line 2: found \",\" after the role"},
        {"id,role\n\"0,val\n", "line 2: a quote is not closed"},
    };
    snprintf(path, sizeof path, "%s/bad.csv", folder);
    for (size_t i = 0; i < sizeof faulty / sizeof *faulty; i++) {
        put(path, faulty[i][0]);
        FAILS(split_read(role, d, path), CONSM_EFORMAT, faulty[i][1]);
    }
    unlink(path);
    dataset_free(d);
}

/* The sizes the protocol gives: training, validation, test. */
static void real_sets_split_as_the_paper_does(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t train, val, test;
    } sets[] = {{"cora", 140, 1568, 1000},
                {"citeseer", 120, 2207, 1000},
                {"actor", 100, 3748, 3752},
                {"chameleon", 100, 1087, 1090},
                {"squirrel", 100, 2550, 2551}};
    if (!real_data("the paper's splits"))
        return;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct dataset *d;
        uint8_t *role;
        int64_t count[4];
        OK(data_open(&d, sets[i].name, NULL));
        OK(NEW(role, d->nodes));
        OK(split_make(role, d, "paper", 0, NULL));
        split_count(count, role, d->nodes);
        assert_int_equal(count[SPLIT_TRAIN], sets[i].train);
        assert_int_equal(count[SPLIT_VAL], sets[i].val);
        assert_int_equal(count[SPLIT_TEST], sets[i].test);
        mem_free(role);
        dataset_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_as_people_have_them),
        cmocka_unit_test(percentages_of_each_class),
        cmocka_unit_test(paper_takes_the_first_of_each_class),
        cmocka_unit_test(paper_keeps_the_public_test_nodes),
        cmocka_unit_test(random_draws_by_seed),
        cmocka_unit_test(impossible_requests_say_what_would_work),
        cmocka_unit_test(a_file_comes_back_the_same),
        cmocka_unit_test(file_faults_name_the_line),
        cmocka_unit_test(real_sets_split_as_the_paper_does),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
