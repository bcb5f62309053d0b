/* Default roles: labels only, a split without validation, and the half of the validation nodes that
 * calibrates. */
#include "check.h"

#include "app/roles.h"
#include "data/generate/generate.h"

/* 12 nodes of class 0, 5 of class 1, 1 of class 2, 2 without label; unlabelled ones stand first. */
static struct dataset *some(void)
{
    struct dataset *d;
    OK(generate_named(&d, "csbm:nodes=20,classes=3,features=2"));
    for (int i = 0; i < 20; i++)
        d->label[i] = i < 2 ? -1 : i < 14 ? 0 : i < 19 ? 1 : 2;
    return d;
}

static int64_t count_of(const struct roles *r, const struct dataset *d, int role, int32_t label)
{
    int64_t count = 0;
    for (int64_t i = 0; i < d->nodes; i++)
        count += r->role[i] == role && d->label[i] == label;
    return count;
}

/* A fifth of each class, at least one, never the last. */
static void a_fifth_of_every_class_validates(void **state)
{
    (void)state;
    struct dataset *d = some();
    struct roles r;
    OK(roles_make(&r, d, "auto", 3, NULL));
    assert_string_equal(r.split, "labels");
    assert_int_equal(count_of(&r, d, SPLIT_VAL, 0), 2); /* 2.4 */
    assert_int_equal(count_of(&r, d, SPLIT_TRAIN, 0), 10);
    assert_int_equal(count_of(&r, d, SPLIT_VAL, 1), 1);
    assert_int_equal(count_of(&r, d, SPLIT_TRAIN, 1), 4);
    assert_int_equal(count_of(&r, d, SPLIT_VAL, 2), 0); /* its last one trains */
    assert_int_equal(count_of(&r, d, SPLIT_TRAIN, 2), 1);
    assert_int_equal(count_of(&r, d, SPLIT_NONE, -1), 2);
    assert_int_equal(r.held_out, 3);
    assert_int_equal(r.count[SPLIT_VAL], 3);
    assert_int_equal(r.count[SPLIT_TRAIN], 15);
    roles_free(&r);
    dataset_free(d);
}

/* A split that came with the data and has no validation: its test nodes keep their role, whatever
 * their labels, and a class that only they have loses no node. */
static void a_split_without_validation(void **state)
{
    (void)state;
    struct dataset *d = some();
    struct roles r;
    d->splits = 1;
    OK(ZNEW(d->role, d->nodes));
    for (int i = 0; i < 20; i++)
        d->role[i] = i < 8 ? SPLIT_TRAIN : SPLIT_TEST; /* six train, all of class 0 */
    OK(roles_make(&r, d, "auto", 3, NULL));
    assert_string_equal(r.split, "public");
    assert_int_equal(r.held_out, 1);
    assert_int_equal(r.count[SPLIT_TRAIN], 5);
    assert_int_equal(r.count[SPLIT_VAL], 1);
    assert_int_equal(r.count[SPLIT_TEST], 12);
    for (int i = 8; i < 20; i++)
        assert_int_equal(r.role[i], SPLIT_TEST);
    roles_free(&r);
    for (int i = 0; i < 20; i++) /* now with validation: no node is moved */
        d->role[i] = i < 8 ? SPLIT_TRAIN : i < 12 ? SPLIT_VAL : SPLIT_TEST;
    OK(roles_make(&r, d, "auto", 3, NULL));
    assert_int_equal(r.held_out, 0);
    assert_int_equal(r.count[SPLIT_TRAIN], 6);
    assert_int_equal(r.count[SPLIT_VAL], 4);
    roles_free(&r);
    dataset_free(d);
}

static void half_of_validation_calibrates(void **state)
{
    (void)state;
    uint8_t role[9] = {SPLIT_VAL,  SPLIT_TRAIN, SPLIT_VAL,  SPLIT_TEST, SPLIT_VAL,
                       SPLIT_NONE, SPLIT_VAL,   SPLIT_TEST, SPLIT_VAL};
    uint8_t was[9], calibrates[9];
    memcpy(was, role, sizeof was);
    assert_int_equal(roles_halve(role, calibrates, 9, 5), 2);
    int none = 0, val = 0;
    for (int i = 0; i < 9; i++) {
        assert_true(!calibrates[i] || (was[i] == SPLIT_VAL && role[i] == SPLIT_NONE));
        assert_true(calibrates[i] || role[i] == was[i]);
        none += calibrates[i];
        val += role[i] == SPLIT_VAL;
    }
    assert_int_equal(none, 2);
    assert_int_equal(val, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fifth_of_every_class_validates),
        cmocka_unit_test(a_split_without_validation),
        cmocka_unit_test(half_of_validation_calibrates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
