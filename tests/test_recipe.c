/* Messy columns as features: kinds by their cells, missing, too many and wrong values; one table's
 * recipe applied to another, through JSON, and through a trained model. */
#include "datasets.h"
#include "failing_memory.h"

#include "app/objects.h"
#include "data/readers/plain.h"
#include "data/table/recipe.h"

#include <math.h>
#include <unistd.h>

static consm_status read_nodes(struct dataset **out, const char *nodes, struct wanted *wanted)
{
    static const char edges[] = "a,b\nb,c\nc,d\n";
    consm_status st = dataset_new(out, "set");
    if (st >= 0)
        st = plain_read(
            *out, &(struct plain_files){.edges = {"edges.csv", edges, sizeof edges - 1, false},
                                        .nodes = {"nodes.csv", nodes, strlen(nodes), false},
                                        .wanted = wanted});
    if (st < 0) {
        dataset_free(*out);
        *out = NULL;
    }
    return st;
}

static void assert_features(const struct dataset *d, const char *const *name, const float *value,
                            int64_t count)
{
    assert_int_equal(d->features, count);
    for (int64_t k = 0; k < count; k++)
        assert_string_equal(d->feature_name[k], name[k]);
    for (int64_t i = 0; i < d->nodes * count; i++)
        if (d->dense[i] != value[i])
            fail_msg("node %d, %s: %g, expected %g", (int)(i / count), name[i % count],
                     (double)d->dense[i], (double)value[i]);
}

static const char messy[] = "id,label,age,vip,joined,country\n"
                            "a,x,30,yes,1970-01-02,DE\n"
                            "b,y,,no,1970-01-04,FR\n"
                            "c,x,50,N/A,,DE\n"
                            "d,y,NaN,TRUE,1970-01-03 12:00,\n";

static void kinds_by_cells(void **state)
{
    (void)state;
    struct dataset *d;
    static const char *const name[] = {"age",
                                       "age is missing",
                                       "vip",
                                       "vip is missing",
                                       "joined",
                                       "joined is missing",
                                       "country=DE",
                                       "country=FR",
                                       "country is missing"};
    /* Means: 40; 2/3; (1 + 3 + 2.5)/3. */
    static const float mean_day = (float)(6.5 / 3), mean_vip = (float)(2.0 / 3);
    const float value[] = {30, 0, 1,        0, 1,        0, 1, 0, 0, /* a */
                           40, 1, 0,        0, 3,        0, 0, 1, 0, /* b */
                           50, 0, mean_vip, 1, mean_day, 1, 1, 0, 0, /* c */
                           40, 1, 1,        0, 2.5f,     0, 0, 0, 1};
    OK(read_nodes(&d, messy, NULL));
    assert_features(d, name, value, 9);
    assert_string_equal(d->taken[TAKEN_LABEL], "column label");
    dataset_free(d);
    /* Tables of numbers are unchanged by recipes: one feature per column. */
    OK(read_nodes(&d, "id,x,z\na,1,2\nb,3,4\nc,5,6\nd,7,8\n", NULL));
    assert_null(d->cells);
    assert_int_equal(d->features, 2);
    assert_string_equal(d->feature_name[1], "z");
    dataset_free(d);
    /* Semicolons allow decimal commas; 0 and 1 beside yes and no mean the same. */
    OK(read_nodes(&d, "id;x;ok\na;0,5;yes\nb;-1,25;0\nc;3;1\nd;4;no\n", NULL));
    static const char *const two[] = {"x", "ok"};
    static const float commas[] = {0.5f, 1, -1.25f, 0, 3, 1, 4, 0};
    assert_features(d, two, commas, 2);
    dataset_free(d);
}

static void columns_by_wish(void **state)
{
    (void)state;
    struct dataset *d;
    static const char table[] = "user,is_fraud,amount,label\na,1,5,q\nb,0,6,r\nc,0,7,s\nd,1,8,t\n";
    struct wanted w = {.id = "user", .label = "is_fraud", .ignore = "label"};
    OK(read_nodes(&d, table, &w));
    assert_int_equal(d->classes, 2);
    assert_int_equal(d->features, 1);
    assert_string_equal(d->feature_name[0], "amount");
    assert_string_equal(d->taken[TAKEN_ID], "column user");
    dataset_free(d);
    FAILS(read_nodes(&d, table, &(struct wanted){.id = "user", .label = "fraud"}), CONSM_EINVAL,
          "--label-column fraud: no table has this column; columns: user, is_fraud, amount");
    FAILS(read_nodes(&d, table, &(struct wanted){.id = "user", .label = "is_frued"}), CONSM_EINVAL,
          "no table has this column; did you mean is_fraud? Columns: user, is_fraud, amount, "
          "label");
    FAILS(read_nodes(&d, table, &(struct wanted){.id = "user", .ignore = "label, note"}),
          CONSM_EINVAL, "--ignore note: no table has this column");
    FAILS(read_nodes(&d, table, &(struct wanted){.id = "user", .weight = "w"}), CONSM_EINVAL,
          "--weight-column w: no table has this column; columns: user");
    FAILS(read_nodes(&d, table, NULL), CONSM_EFORMAT, "or use --id-column");
}

/* A table of one column of n cells, each printed from its row. */
static char *table_of(int rows, const char *format, int modulo)
{
    char *text = malloc((size_t)rows * 40 + 10), *at = text + sprintf(text, "id,c\n");
    for (int i = 0; i < rows; i++) {
        at += sprintf(at, "%c%d,", 'a' + i % 4, i / 4);
        at += sprintf(at, format, i % modulo);
        at += sprintf(at, "\n");
    }
    return text;
}

static consm_status read_column(struct dataset **out, const char *nodes)
{
    static const char edges[] = "a0,b0\n";
    consm_status st = dataset_new(out, "set");
    if (st >= 0)
        st = plain_read(
            *out, &(struct plain_files){.edges = {"edges.csv", edges, sizeof edges - 1, false},
                                        .nodes = {"nodes.csv", nodes, strlen(nodes), false}});
    if (st < 0)
        dataset_free(*out);
    return st;
}

static void limits(void **state)
{
    (void)state;
    struct dataset *d;
    char *text = table_of(400, "city %d", 80);
    OK(read_column(&d, text));
    assert_int_equal(d->features, RECIPE_VALUES);
    dataset_free(d);
    free(text);
    text = table_of(400, "someone %d", 399);
    OK(read_column(&d, text));
    assert_int_equal(d->features, 0);
    assert_int_equal(d->recipe->column[0].kind, RECIPE_LEFT_OUT);
    dataset_free(d);
    free(text);
    text = table_of(400, "x%d", 1);
    text[5 + 3] = '7'; /* one number among words is a value like the others */
    text[5 + 4] = '7';
    OK(read_column(&d, text));
    assert_int_equal(d->features, 2);
    assert_string_equal(d->feature_name[0], "c=77");
    dataset_free(d);
    free(text);
    /* Sixty wrong cells: the first twenty are reported at once. */
    text = table_of(400, "%d", 400);
    for (int i = 0, row = 0; text[i]; i++)
        if (text[i] == '\n' && row++ > 0 && row % 7 == 0)
            text[i - 1] = 'x';
    FAILS(read_column(&d, text), CONSM_EFORMAT, "errors, the first ones:\n  line 7, column c: ");
    int lines = 0;
    for (const char *c = consm_errmsg(); *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 20);
    free(text);
    FAILS(read_column(&d, "id,c,c=u\na0,u,1\nb0,v,2\n"), CONSM_EFORMAT,
          "two features would have the name \"c=u\": rename a column");
}

static void days(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double day;
    } good[] = {{"1970-01-01", 0},
                {"2000-03-01", 11017},
                {"2026/11/16", 20773},
                {"16.11.2026", 20773},
                {"1969-12-31", -1},
                {"2024-02-29", 19782},
                {"1970-01-01T06:00:00Z", 0.25},
                {"1970-01-01 12:00", 0.5},
                {"1970-01-02T00:00:00.125+02:00", 1 - 2.0 / 24}};
    static const char *const bad[] = {"",         "2023-02-29", "2023-13-01",       "03/04/2021",
                                      "20-1-1",   "2020-01",    "2020-01-01T",      "2020-01-01x",
                                      "31.04.20", "2020-1-1 5", "2020-01-01 12:60", "2020/01-01"};
    double day;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(recipe_day(&day, good[i].text, strlen(good[i].text)));
        assert_near(day, good[i].day, 1e-9);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (recipe_day(&day, bad[i], strlen(bad[i])))
            fail_msg("\"%s\" is not a date", bad[i]);
}

static void through_json(void **state)
{
    (void)state;
    struct dataset *d;
    struct recipe *back;
    OK(read_nodes(&d, messy, NULL));
    json_t *list = recipe_to_json(d->recipe);
    OK(recipe_from_json(&back, list));
    assert_int_equal(recipe_features(back), 9);
    assert_int_equal(back->column[3].values, 2);
    assert_true(back->column[0].fill == 40 && back->column[0].blanks);
    recipe_free(back);
    json_decref(list);
    dataset_free(d);
    static const char *const bad[] = {
        "{}",
        "[]",
        "[1]",
        "[{\"name\": \"a\"}]",
        "[{\"name\": \"a\", \"kind\": \"colour\"}]",
        "[{\"name\": \"a\", \"kind\": \"category\"}]",
        "[{\"name\": \"a\", \"kind\": \"category\", \"values\": [\"b\", \"a\"]}]",
        "[{\"name\": \"a\", \"kind\": \"category\", \"values\": [3]}]",
        "[{\"name\": \"a\", \"kind\": \"number\", \"fill\": 1e300}]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        list = json_loads(bad[i], 0, NULL);
        assert_int_equal(recipe_from_json(&back, list), CONSM_EFORMAT);
        json_decref(list);
    }
}

/* Arrays of columns train a model; its file holds the recipe; another table is read by it. */
static void columns_through_a_model(void **state)
{
    (void)state;
    enum { NODES = 40 };
    static char path[] = "/tmp/consm-recipe-XXXXXX";
    static const char *country[NODES], *other[NODES], *zip[NODES];
    static double age[NODES], when[NODES];
    static int32_t from[NODES], to[NODES], label[NODES];
    for (int i = 0; i < NODES; i++) {
        label[i] = i % 2;
        country[i] = i % 2 ? "DE" : "FR";
        other[i] = i % 2 ? "DE" : i == 0 ? "XX" : "FR";
        zip[i] = i % 3 ? "01234" : "99999";
        age[i] = i % 5 ? i : NAN;
        when[i] = 20000 + i;
        from[i] = i;
        to[i] = (i + 1) % NODES;
    }
    struct consm_column c = {sizeof c, "country", NULL, country, false, false};
    struct consm_column a = {sizeof a, "age", age, NULL, false, false};
    struct consm_column z = {sizeof z, "zip", NULL, zip, true, false};
    struct consm_column w = {sizeof w, "when", when, NULL, false, true};
    const struct consm_column *order[] = {&c, &a, &z, &w}, *turned[] = {&w, &z, &a, &c};
    struct consm_arrays arrays = {.size = sizeof arrays,
                                  .nodes = NODES,
                                  .edges = NODES,
                                  .classes = 2,
                                  .from = from,
                                  .to = to,
                                  .label = label,
                                  .columns = 4,
                                  .column = order};
    struct consm_dataset *train, *next;
    struct consm_options *o;
    struct consm_model *model, *loaded;
    struct consm_prediction *p, *q;
    close(mkstemp(path));
    OK(consm_dataset_from_arrays(&train, &arrays));
    assert_string_equal(train->data->feature_name[4], "zip=01234");
    OK(consm_options_new(&o, "mlp"));
    OK(consm_options_set(o, "epochs", "20"));
    OK(consm_train(&model, train, o));
    OK(consm_model_save(model, path));
    OK(consm_model_load(&loaded, path));
    arrays.column = turned;
    c.text = other;
    OK(consm_dataset_from_arrays(&next, &arrays));
    OK(consm_predict(&p, model, train, 1));
    OK(consm_predict(&q, loaded, next, 1));
    /* Node 0 has a country that training did not have; the others are the same, column by column.
     */
    assert_memory_equal(p->probability + 2, q->probability + 2,
                        (NODES - 1) * 2 * sizeof *p->probability);
    assert_true(p->probability[0] != q->probability[0]);
    consm_prediction_free(q);
    consm_dataset_free(next);
    arrays.columns = 3;
    OK(consm_dataset_from_arrays(&next, &arrays));
    FAILS(consm_predict(&q, loaded, next, 1), CONSM_EINVAL,
          "lacks 1 of the model's 4 feature columns: country");
    consm_dataset_free(next);
    arrays.column = order;
    a = (struct consm_column){sizeof a, "age", NULL, country, false, false};
    arrays.columns = 4;
    OK(consm_dataset_from_arrays(&next, &arrays));
    FAILS(consm_predict(&q, loaded, next, 1), CONSM_EFORMAT,
          "row 1, column age: found \"FR\", expected a finite number as in training");
    consm_dataset_free(next);
    c.name = "age";
    FAILS(consm_dataset_from_arrays(&next, &arrays), CONSM_EINVAL,
          "two columns have the name \"age\"");
    consm_prediction_free(p);
    consm_model_free(model);
    consm_model_free(loaded);
    consm_options_free(o);
    consm_dataset_free(train);
    unlink(path);
}

static consm_status read_messy(void)
{
    struct dataset *d;
    consm_status st = read_nodes(&d, messy, NULL);
    dataset_free(d);
    return st;
}

static consm_status copy_messy(void)
{
    static struct recipe_column column = {.kind = RECIPE_CATEGORY, .values = 2};
    char *value[] = {(char[]){"a"}, (char[]){"b"}};
    struct recipe r = {1, &column}, *copy;
    float *dense = NULL;
    struct cells cells = {.columns = 1};
    struct faults faults = {0};
    int64_t index;
    column.value = value;
    column.name = (char[]){"c"};
    consm_status st = recipe_copy(&copy, &r);
    if (st >= 0)
        st = names_add(&index, &cells.name, "c", 1);
    for (int i = 0; st >= 0 && i < 3; i++, cells.rows++)
        st = cells_add(&cells, 0, i ? "a" : "z", 1, 0);
    if (st >= 0)
        st = recipe_apply(&dense, copy, &cells, &faults, "file");
    if (st >= 0)
        assert_true(dense[0] == 0 && dense[1] == 0 && dense[2] == 1 && dense[4] == 1);
    recipe_free(copy);
    cells_free(&cells);
    mem_free(dense);
    return st;
}

static void memory(void **state)
{
    (void)state;
    consm_status (*const calls[])(void) = {read_messy, copy_messy};
    memory_runs_out(calls, 2, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_by_cells), cmocka_unit_test(columns_by_wish),
        cmocka_unit_test(limits),         cmocka_unit_test(days),
        cmocka_unit_test(through_json),   cmocka_unit_test(columns_through_a_model),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
