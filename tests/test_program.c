/* The program machinery apart from the operations: places in the arena, dropout's draws, rebinding
 * inputs, and faults of indices and parameter stores. */
#include "programs.h"

#include "app/prepare.h"
#include "data/generate/generate.h"
#include "data/split.h"
#include "program/internal.h"
#include "train/session.h"
#include <math.h>

/* ---- the arena ----------------------------------------------------------- */

/* The last operation that reads x; after all of them if x is kept. Computed independently of the
 * planner. */
static node last_reader(const struct program *p, node x)
{
    node last = x;
    if (p->node[x].keep || p->node[x].lasts)
        return p->count;
    for (node y = x + 1; y < p->count; y++)
        for (int i = 0; p->node[y].live && i < NODE_SOURCES; i++)
            if (p->node[y].src[i] == x)
                last = y;
    return last;
}

static size_t floats(const struct program *p, node x)
{
    return (size_t)(p->node[x].rows * p->node[x].cols);
}

/* No two values with overlapping lifetimes share a float, unless the second overwrites the first
 * element by element. */
static void check_arena(const struct program *p, const char *what)
{
    size_t sum = 0;
    for (node x = 0; x < p->count; x++) {
        const struct node_info *a = &p->node[x];
        if (!a->live || a->place != PLACE_ARENA)
            continue;
        node dies = last_reader(p, x);
        sum += floats(p, x);
        assert_true(a->offset % 16 == 0);
        assert_true(a->offset + floats(p, x) <= p->arena_floats);
        for (node y = x + 1; y < p->count && y <= dies; y++) {
            const struct node_info *b = &p->node[y];
            if (!b->live || b->place != PLACE_ARENA)
                continue;
            bool over = y == dies && a->offset == b->offset && program_in_place(p, y, x);
            if (!over && a->offset < b->offset + floats(p, y) &&
                b->offset < a->offset + floats(p, x))
                fail_msg("%s: %s (node %d) and %s (node %d) overlap", what, op_table[a->op].name, x,
                         op_table[b->op].name, y);
        }
    }
    if (sum > 0)
        assert_true(p->arena_floats <= sum + 16 * (size_t)p->count);
}

static void living_values_never_overlap(void **state)
{
    (void)state;
    struct dataset *d;
    struct prepared prepared;
    struct backend *backend;
    OK(generate_named(&d, "csbm:nodes=90,classes=3,degree=4,features=10"));
    OK(prepare(&prepared, d));
    OK(backend_open(&backend, NULL, 1));
    uint8_t *role = mem_alloc((size_t)d->nodes, 1);
    OK(split_make(role, d, "random", 0, NULL));
    struct problem problem = prepare_problem(&prepared, role);
    for (const struct model_def *const *m = model_list(); *m; m++)
        for (int64_t layers = 1; layers <= 5; layers += 2) {
            struct train_options o = {.model = *m};
            struct session *s;
            model_defaults(*m, &o.config);
            o.config.epochs = 2;
            o.config.layers = layers;
            OK(session_new(&s, &problem, &o, backend));
            check_arena(s->learner.train.program, (*m)->name);
            check_arena(s->learner.eval, (*m)->name);
            session_free(s);
        }
    mem_free(role);
    backend_close(backend);
    prepare_free(&prepared);
    dataset_free(d);
}

/* A long chain needs room for one value if each step may overwrite the last, otherwise for two. */
static void a_chain_reuses_its_memory(void **state)
{
    (void)state;
    struct backend *backend;
    struct params *params;
    struct program *p;
    float values[64 * 32] = {0};
    OK(backend_open(&backend, NULL, 1));
    OK(params_new(&params));
    OK(program_new(&p, params, false));
    node x = input(p, values, 64, 32);
    for (int i = 0; i < 50; i++)
        x = tanh_(p, x);
    program_keep(p, x);
    OK(program_compile(p, backend));
    check_arena(p, "chain");
    assert_int_equal(program_arena_bytes(p), sizeof values);
    program_free(p);
    OK(program_new(&p, params, false));
    x = input(p, values, 64, 32);
    for (int i = 0; i < 50; i++)
        x = row_normalize(p, x);
    program_keep(p, x);
    OK(program_compile(p, backend));
    check_arena(p, "chain");
    assert_int_equal(program_arena_bytes(p), 2 * sizeof values);
    program_free(p);
    params_free(params);
    backend_close(backend);
}

/* Unread values are neither planned nor computed. */
static void unread_values_are_dropped(void **state)
{
    (void)state;
    struct backend *backend;
    struct params *params;
    struct program *p;
    float values[12] = {0};
    OK(backend_open(&backend, NULL, 1));
    OK(params_new(&params));
    OK(program_new(&p, params, false));
    node x = input(p, values, 4, 3), kept = square(p, x);
    exp_(p, x);
    program_keep(p, kept);
    OK(program_compile(p, backend));
    assert_int_equal(p->plan.instrs, 1);
    program_free(p);
    params_free(params);
    backend_close(backend);
}

/* Losses that read the same columns of the predictions share them. */
static void the_same_columns_are_one_node(void **state)
{
    (void)state;
    struct params *params;
    struct program *p;
    float values[12] = {0};
    OK(params_new(&params));
    OK(program_new(&p, params, false));
    node x = input(p, values, 3, 4), y = input(p, values, 3, 4), columns = slice(p, x, 1, 2);
    assert_int_equal(slice(p, x, 1, 2), columns);
    assert_int_not_equal(slice(p, x, 0, 2), columns);
    assert_int_not_equal(slice(p, x, 1, 3), columns);
    assert_int_not_equal(slice(p, y, 1, 2), columns);
    program_free(p);
    params_free(params);
}

/* ---- dropout ------------------------------------------------------------- */

enum { ROWS_DROPPED = 500, COLS_DROPPED = 37, DROPPED = ROWS_DROPPED * COLS_DROPPED };

/* Counts zeros among the values; all others must be 1/(1-rate). */
static int64_t zeros(const float *y, float rate)
{
    int64_t count = 0;
    for (int64_t k = 0; k < DROPPED; k++)
        if (y[k] == 0)
            count++;
        else
            assert_near(y[k], 1 / (1 - (double)rate), 1e-6);
    return count;
}

static void dropout_draws_what_it_should(void **state)
{
    (void)state;
    struct params *params;
    struct program *p;
    struct backend *backend;
    float rate = 0.3f, *first = mem_alloc(DROPPED, sizeof(float));
    OK(backend_open(&backend, NULL, 1));
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    node one = fill(p, 1, ROWS_DROPPED, COLS_DROPPED);
    node a = dropout(p, one, rate), b = dropout(p, one, rate);
    program_keep(p, a);
    program_keep(p, b);
    OK(program_compile(p, backend));
    OK(program_run(p, &(struct step){7, 1}));
    memcpy(first, value_of(p, a), DROPPED * sizeof(float));

    /* 18,500 draws: five standard deviations are 312 */
    double expected = DROPPED * (double)rate, five = 5 * sqrt(expected * (1 - (double)rate));
    assert_true(fabs((double)zeros(first, rate) - expected) < five);

    /* The same step draws the same; another step, seed or dropout draws independently. */
    OK(program_run(p, &(struct step){7, 1}));
    assert_memory_equal(first, value_of(p, a), DROPPED * sizeof(float));
    const float *others[3];
    float *step = mem_alloc(DROPPED, sizeof(float)), *seed = mem_alloc(DROPPED, sizeof(float));
    others[0] = value_of(p, b);
    for (int which = 0; which < 3; which++) {
        int64_t both = 0;
        if (which == 1) {
            OK(program_run(p, &(struct step){7, 2}));
            others[1] = memcpy(step, value_of(p, a), DROPPED * sizeof(float));
        } else if (which == 2) {
            OK(program_run(p, &(struct step){8, 1}));
            others[2] = memcpy(seed, value_of(p, a), DROPPED * sizeof(float));
        }
        for (int64_t k = 0; k < DROPPED; k++)
            both += first[k] == 0 && others[which][k] == 0;
        double joint = expected * (double)rate;
        assert_true(fabs((double)both - joint) < 5 * sqrt(joint));
    }
    mem_free(first);
    mem_free(step);
    mem_free(seed);
    program_free(p);
    params_free(params);
    backend_close(backend);
}

static void dropout_vanishes_in_evaluation(void **state)
{
    (void)state;
    struct params *params;
    struct program *p;
    float values[6] = {1, 2, 3, 4, 5, 6};
    OK(params_new(&params));
    OK(program_new(&p, params, false));
    node x = input(p, values, 2, 3);
    assert_int_equal(dropout(p, x, 0.5f), x);
    assert_false(program_training(p));
    program_free(p);
    params_free(params);
}

/* ---- inputs that move ---------------------------------------------------- */

static void inputs_can_be_pointed_elsewhere(void **state)
{
    (void)state;
    struct params *params;
    struct program *p;
    struct backend *backend;
    float a[3] = {1, 2, 3}, b[3] = {4, 5, 6}, c[3] = {-1, 0, 2};
    OK(backend_open(&backend, NULL, 1));
    OK(params_new(&params));
    OK(program_new(&p, params, false));
    node x = input(p, a, 1, 3), twice = mul(p, x, x), total = sum(p, add(p, twice, x));
    program_keep(p, total);
    program_bind(p, x, b);
    OK(program_compile(p, backend));
    OK(program_run(p, &(struct step){0, 0}));
    assert_near(value_of(p, total)[0], 77 + 15, 1e-6);
    program_bind(p, x, c);
    OK(program_run(p, &(struct step){0, 0}));
    assert_near(value_of(p, total)[0], 5 + 1, 1e-6);
    c[0] = 3; /* floats behind the pointer may change as well */
    program_touch(p, c);
    OK(program_run(p, &(struct step){0, 0}));
    assert_near(value_of(p, total)[0], 13 + 5, 1e-6);
    program_free(p);
    params_free(params);
    backend_close(backend);
}

/* ---- indices ------------------------------------------------------------- */

static void indices_check_their_rows(void **state)
{
    (void)state;
    struct index *index, *larger;
    int32_t good[5] = {2, 0, 2, 1, 2}, high[5] = {0, 1, 2, 3, 0}, low[5] = {0, -1, 0, 0, 0};
    OK(index_new(&index, 5, 3));
    OK(index_set(index, good));
    static const int32_t item[5] = {1, 3, 0, 2, 4};
    static const int64_t start[4] = {0, 1, 2, 5};
    assert_memory_equal(index->item, item, sizeof item);
    assert_memory_equal(index->start, start, sizeof start);
    FAILS(index_set(index, high), CONSM_EINVAL, "index entry 3 is row 3: expected 0 to 2");
    FAILS(index_set(index, low), CONSM_EINVAL, "index entry 1 is row -1");
    FAILS(index_new(&larger, (int64_t)INT32_MAX + 1, 3), CONSM_ELIMIT, "an index of 2147483648");
    assert_null(larger);
    assert_memory_equal(index->row, good, sizeof good); /* as it was */
    assert_memory_equal(index->start, start, sizeof start);
    uint64_t before = consm_alloc_count();
    OK(index_set(index, good));
    assert_int_equal(consm_alloc_count(), before);
    index_free(index);
    OK(index_of(&index, good, 5, 3)); /* these rows, and no others */
    assert_ptr_equal(index->row, good);
    assert_memory_equal(index->item, item, sizeof item);
    assert_memory_equal(index->start, start, sizeof start);
    FAILS(index_set(index, low), CONSM_EPROGRAM, "belong to someone else");
    assert_int_equal(good[1], 0);
    index_free(index);
    FAILS(index_of(&index, high, 5, 3), CONSM_EINVAL, "index entry 3 is row 3");
    assert_null(index);
    OK(index_new(&index, 0, 3));
    OK(index_set(index, good));
    index_free(index);
}

/* ---- parameters ---------------------------------------------------------- */

static void parameter_conflicts_are_named(void **state)
{
    (void)state;
    struct backend *backend;
    struct params *params;
    int index;
    char name[80];
    OK(backend_open(&backend, NULL, 1));
    OK(params_new(&params));
    OK(params_add(params, &index, "w1", 3, 4, INIT_ONE, true));
    OK(params_add(params, &index, "b1", 1, 4, INIT_ZERO, true));
    assert_int_equal(index, 1);
    OK(params_add(params, &index, "w1", 3, 4, INIT_ONE, true));
    assert_int_equal(index, 0);
    FAILS(params_add(params, &index, "w1", 4, 3, INIT_ONE, true), CONSM_EPROGRAM,
          "parameter w1 is 3 x 4: expected 4 x 3");
    memset(name, 'w', sizeof name);
    name[sizeof name - 1] = 0;
    FAILS(params_add(params, &index, name, 1, 1, INIT_ONE, true), CONSM_EPROGRAM, "too long");
    OK(params_allocate(params, backend, PLACE_VALUE));
    FAILS(params_add(params, &index, "w2", 4, 3, INIT_ONE, true), CONSM_EPROGRAM,
          "w2 was added after the values were allocated");
    assert_int_equal(params_find(params, "w2"), -1);
    assert_int_equal(params->trained, 16);
    params_free(params);
    backend_close(backend);
}

/* A parameter's initial value depends on seed and name, not on other parameters. */
static void parameters_start_by_name(void **state)
{
    (void)state;
    struct backend *backend;
    struct params *few, *many;
    int index;
    OK(backend_open(&backend, NULL, 1));
    OK(params_new(&few));
    OK(params_new(&many));
    OK(params_add(many, &index, "extra", 5, 5, INIT_NORMAL, true));
    OK(params_add(many, &index, "w", 6, 3, INIT_GLOROT, true));
    OK(params_add(few, &index, "w", 6, 3, INIT_GLOROT, true));
    OK(params_allocate(few, backend, PLACE_VALUE));
    OK(params_allocate(many, backend, PLACE_VALUE));
    OK(params_init(few, 9));
    OK(params_init(many, 9));
    const float *a = param_values(few), *b = param_values(many) + many->item[1].offset;
    assert_memory_equal(a, b, 18 * sizeof(float));
    OK(params_init(few, 10));
    assert_memory_not_equal(a, b, 18 * sizeof(float));
    params_free(few);
    params_free(many);
    backend_close(backend);
}

/* ---- faults and dumps ---- */

/* Faults poison silently and are reported once, with the name of the node. */
static void faults_are_reported(void **state)
{
    (void)state;
    struct backend *backend;
    struct params *params;
    struct program *p;
    OK(backend_open(&backend, NULL, 1));
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    node x = param(p, "x", 4, 3, INIT_ZERO), y = param(p, "weights", 5, 3, INIT_ZERO);
    node bad = relu(p, matmul(p, x, y));
    assert_int_equal(bad, POISON);
    assert_int_equal(add(p, bad, x), POISON);
    program_minimize(p, sum(p, bad));
    FAILS(program_compile(p, backend), CONSM_EPROGRAM, "matmul of x (4 x 3) and weights");
    program_free(p);
    params_free(params);
    backend_close(backend);
}

static void count_lines(void *ctx, const char *text)
{
    int *lines = ctx;
    assert_true(strlen(text) > 0);
    ++*lines;
}

static void dump_lists_every_node(void **state)
{
    (void)state;
    struct backend *backend;
    struct params *params;
    struct program *p;
    int lines = 0;
    OK(backend_open(&backend, NULL, 1));
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    node x = param(p, "x", 4, 3, INIT_ONE);
    program_minimize(p, sum(p, square(p, x)));
    OK(program_compile(p, backend));
    program_dump(p, count_lines, &lines);
    assert_true(lines > 5);
    program_free(p);
    params_free(params);
    backend_close(backend);
}

static void note_line(void *ctx, const char *text)
{
    char(*lines)[256] = ctx;
    int i = 0;
    while (lines[i][0])
        i++;
    snprintf(lines[i], sizeof lines[i], "%s", text);
}

/* Every column of a dump, before and after the program is compiled. */
static void dump_by_hand(void **state)
{
    (void)state;
    struct backend *backend;
    struct params *params;
    struct program *p;
    char line[8][256] = {{0}};
    OK(backend_open(&backend, NULL, 1));
    OK(params_new(&params));
    OK(program_new(&p, params, false));
    node x = param(p, "x", 4, 3, INIT_ONE), y = param(p, "y", 4, 3, INIT_ONE);
    node both = add(p, x, y);
    assert_int_equal(both, 2);
    program_dump(p, note_line, line);
    assert_string_equal(line[0],
                        " node  op                     name               shape            "
                        "sources                       bytes  where");
    assert_string_equal(line[1],
                        "    0  param                  x                  4 x 3            "
                        "                                 48  parameter");
    assert_string_equal(line[3],
                        "    2  axpby                                     4 x 3            "
                        "0 1                              48  unplanned");
    assert_string_equal(line[4], "arena 0 bytes, 24 parameters");
    assert_string_equal(line[5], "");
    program_keep(p, both);
    OK(program_compile(p, backend));
    memset(line, 0, sizeof line);
    program_dump(p, note_line, line);
    assert_string_equal(line[3],
                        "    2  axpby                                     4 x 3            "
                        "0 1                              48  arena+0");
    assert_string_equal(line[4], "arena 64 bytes, 24 parameters"); /* a whole cache line */
    program_free(p);
    params_free(params);
    backend_close(backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(living_values_never_overlap),
        cmocka_unit_test(a_chain_reuses_its_memory),
        cmocka_unit_test(unread_values_are_dropped),
        cmocka_unit_test(the_same_columns_are_one_node),
        cmocka_unit_test(dropout_draws_what_it_should),
        cmocka_unit_test(dropout_vanishes_in_evaluation),
        cmocka_unit_test(inputs_can_be_pointed_elsewhere),
        cmocka_unit_test(indices_check_their_rows),
        cmocka_unit_test(parameter_conflicts_are_named),
        cmocka_unit_test(parameters_start_by_name),
        cmocka_unit_test(faults_are_reported),
        cmocka_unit_test(dump_lists_every_node),
        cmocka_unit_test(dump_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
