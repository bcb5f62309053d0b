/* What a training step takes from the evaluation before it: the same bits as computing it again,
 * nothing after the parameters have changed, and nothing that differs. */
#include "far_backend.h"
#include "programs.h"

#include "base/rng.h"
#include "nn/layers.h"
#include "program/internal.h"

enum { NODES = 37, WORDS = 29, HIDDEN = 12, CLASSES = 5, STEPS = 6 };

/* Two layers over a graph and bags of words, trained on the first nodes and evaluated on all. */
struct world {
    struct backend *backend;
    struct csr *graph, *words;
    bool dense;  /* dense numbers instead, and no graph in the first layer */
    bool sliced; /* the first layer is two halves of equal width */
    float numbers[NODES * WORDS];
    struct index *rows;
    int32_t label[NODES];
    struct params *params;
    struct program *train, *eval;
    node logits;
};

static struct csr *random_csr(int64_t cols, int64_t entries, uint64_t seed)
{
    struct csr *s;
    int32_t row[256], col[256];
    float weight[256];
    struct rng r;
    rng_init(&r, seed, 0);
    assert_true(entries <= 256);
    for (int64_t k = 0; k < entries; k++) {
        row[k] = (int32_t)(rng_uniform(&r) * NODES);
        col[k] = (int32_t)(rng_uniform(&r) * (double)cols);
        weight[k] = (float)rng_uniform(&r);
    }
    OK(csr_from_edges(&s, NODES, cols, entries, row, col, weight, CSR_DIRECTED, NULL));
    return s;
}

static node network(struct program *p, const struct world *w, float input_dropout, float rate)
{
    node x = w->dense ? constant(p, w->numbers, NODES, WORDS) : sparse(p, w->words);
    x = dropout(p, x, input_dropout);
    const int64_t width = w->sliced ? 2 * HIDDEN : HIDDEN;
    node h = w->dense ? linear(p, "1", x, width) : graph_conv(p, "1", w->graph, x, width);
    if (w->sliced)
        h = sub(p, relu(p, slice(p, h, 0, HIDDEN)), slice(p, h, HIDDEN, HIDDEN));
    h = dropout(p, relu(p, h), rate);
    return graph_conv(p, "2", w->graph, h, CLASSES);
}

static void record_eval(struct world *w)
{
    OK(program_new(&w->eval, w->params, false));
    w->logits = network(w->eval, w, 0, 0);
    program_keep(w->eval, w->logits);
    OK(program_compile(w->eval, w->backend));
}

static void open_sliced(struct world *w, struct backend *backend, bool dense, bool sliced,
                        int64_t labelled, float input_dropout, float rate)
{
    *w = (struct world){.backend = backend, .dense = dense, .sliced = sliced};
    for (int i = 0; i < NODES * WORDS; i++)
        w->numbers[i] = (float)(i % 7) - (float)(i % 5);
    w->graph = random_csr(NODES, 200, 1);
    w->words = random_csr(WORDS, 250, 2);
    OK(index_new(&w->rows, labelled, NODES));
    for (int32_t i = 0; i < NODES; i++)
        w->label[i] = i % CLASSES;
    for (int32_t i = 0; i < labelled; i++)
        w->rows->row[i] = i;
    OK(index_set(w->rows, w->rows->row));
    w->rows->fixed = true;
    OK(params_new(&w->params));
    OK(program_new(&w->train, w->params, true));
    node logits = network(w->train, w, input_dropout, rate);
    program_minimize(w->train, nll(w->train, logits, w->rows, w->label, NULL));
    program_optimize(w->train, &(struct adam_options){0.01, 0.9, 0.999, 1e-8, 5e-4});
    OK(program_compile(w->train, backend));
    record_eval(w);
    OK(params_init(w->params, 5));
    OK(params_allocate(w->params, backend, PLACE_BEST));
}

static void open_world(struct world *w, struct backend *backend, bool dense, int64_t labelled,
                       float input_dropout, float rate)
{
    open_sliced(w, backend, dense, false, labelled, input_dropout, rate);
}

static void close_world(struct world *w)
{
    program_free(w->train);
    program_free(w->eval);
    params_free(w->params);
    index_free(w->rows);
    csr_free(w->graph);
    csr_free(w->words);
}

static void run(struct program *p, uint64_t step)
{
    OK(program_run(p, &(struct step){7, step}));
}

/* Trains with an evaluation after most steps; returns the parameters. */
static void train(float *out, struct world *w)
{
    for (uint64_t k = 0; k < STEPS; k++) {
        run(w->train, k);
        if (k != 3)
            run(w->eval, k);
        if (k == 2) /* as when a round begins with the best so far */
            OK(block_copy(&w->params->block[PLACE_VALUE], &w->params->block[PLACE_BEST]));
        if (k == 1)
            OK(block_copy(&w->params->block[PLACE_BEST], &w->params->block[PLACE_VALUE]));
    }
    const float *values;
    OK(params_read(&values, w->params, PLACE_VALUE));
    memcpy(out, values, (size_t)w->params->size * sizeof *out);
}

/* How many of the training program's instructions are reused or need not run. */
static int count(const struct program *p, enum reuse how)
{
    int found = 0;
    for (int32_t i = 0; i < p->plan.instrs; i++)
        found += p->plan.instr[i].reuse == how;
    return found;
}

static void the_same_bits_as_computed_again(void **state)
{
    (void)state;
    static const float rate[][2] = {{0, 0.5f}, {0, 0}, {0.3f, 0.5f}};
    static float found[2][4096];
    for (int i = 0; i < 24; i++)
        for (int threads = 1; threads <= 3; threads += 2) {
            const int64_t labelled = i % 6 < 3 ? NODES : 2;
            struct far *far = far_open(threads);
            struct backend *near;
            struct world w;
            OK(backend_open(&near, NULL, threads));
            open_sliced(&w, &far->base, i % 12 >= 6, i >= 12, labelled, rate[i % 3][0],
                        rate[i % 3][1]);
            assert_true((size_t)w.params->size <= 4096);
            assert_null(w.train->source); /* such a backend takes nothing over */
            train(found[0], &w);
            close_world(&w);
            open_sliced(&w, near, i % 12 >= 6, i >= 12, labelled, rate[i % 3][0], rate[i % 3][1]);
            train(found[1], &w);
            assert_memory_equal(found[0], found[1], (size_t)w.params->size * sizeof(float));
            close_world(&w);
            backend_close(near);
            backend_close(&far->base);
        }
}

/* Only Â·X·W reads X·W; the step starts from it, with or without dropout. Without dropout the
 * logits come from the evaluation, too. With dropout of the features nothing can be reused. */
static void what_is_taken_over(void **state)
{
    (void)state;
    struct backend *backend;
    struct world w;
    OK(backend_open(&backend, NULL, 1));
    open_world(&w, backend, false, NODES, 0, 0.5f);
    assert_ptr_equal(w.train->source, w.eval);
    assert_int_equal(count(w.train, REUSE_DROPPED), 1);
    assert_int_equal(count(w.train, REUSE_NEEDLESS), 1);
    assert_int_equal(count(w.train, REUSE_VALUE), 0);
    close_world(&w);
    open_world(&w, backend, false, NODES, 0, 0);
    assert_int_equal(count(w.train, REUSE_DROPPED), 0);
    assert_int_equal(count(w.train, REUSE_VALUE), 2);
    close_world(&w);
    open_world(&w, backend, false, NODES, 0.3f, 0.5f);
    assert_null(w.train->source);
    close_world(&w);
    open_world(&w, backend, false, 2, 0, 0.5f); /* some rows of it */
    assert_int_equal(count(w.train, REUSE_DROPPED), 1);
    assert_int_equal(count(w.train, REUSE_NEEDLESS), 1);
    for (int32_t i = 0; i < w.train->plan.instrs; i++) {
        const struct instr *in = &w.train->plan.instr[i];
        if (in->reuse == REUSE_DROPPED) {
            assert_non_null(in->reuse_rows);
            assert_true(in->rows < NODES);
        }
    }
    close_world(&w);
    backend_close(backend);
}

static double loss_after(struct world *w, uint64_t step)
{
    run(w->train, step);
    return (double)value_of(w->train, w->train->loss)[0];
}

/* Spoils the evaluation's values: reused values show it, computed ones do not. */
static void spoil(struct world *w)
{
    for (int32_t i = 0; i < w->train->plan.instrs; i++)
        if (w->train->plan.instr[i].reuse >= REUSE_VALUE) {
            char *at = (char *)w->eval->arena.memory->host + w->train->plan.instr[i].reuse_at;
            memset(at, 0, NODES * CLASSES * sizeof(float));
        }
}

/* The loss of the second step, with something done between evaluation and step. */
static double second_loss(struct backend *backend, int64_t labelled,
                          void (*between)(struct world *w), bool spoils)
{
    struct world w;
    open_world(&w, backend, false, labelled, 0, 0);
    run(w.train, 0);
    run(w.eval, 0);
    if (spoils)
        spoil(&w);
    if (between)
        between(&w);
    double loss = loss_after(&w, 1);
    close_world(&w);
    return loss;
}

static void write_values(struct world *w)
{
    float *values;
    OK(params_write(&values, w->params, PLACE_VALUE));
}

static void put_values(struct world *w)
{
    const float *values;
    OK(params_read(&values, w->params, PLACE_VALUE));
    OK(block_put(&w->params->block[PLACE_VALUE], 0, values, sizeof *values));
}

static void copy_values(struct world *w)
{
    OK(block_copy(&w->params->block[PLACE_BEST], &w->params->block[PLACE_VALUE]));
    OK(block_copy(&w->params->block[PLACE_VALUE], &w->params->block[PLACE_BEST]));
}

static void evaluate_again(struct world *w)
{
    run(w->eval, 0);
}

static void another_evaluation(struct world *w)
{
    program_free(w->eval);
    record_eval(w);
}

static void only_while_the_parameters_stay(void **state)
{
    (void)state;
    static void (*const changes[])(struct world *) = {write_values, put_values, copy_values,
                                                      evaluate_again, another_evaluation};
    struct backend *backend;
    OK(backend_open(&backend, NULL, 2));
    for (int64_t labelled = 2; labelled <= NODES; labelled += NODES - 2) {
        double plain = second_loss(backend, labelled, NULL, false);
        assert_true(second_loss(backend, labelled, NULL, true) != plain);
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
            assert_true(second_loss(backend, labelled, changes[i], true) == plain);
    }
    backend_close(backend);
}

/* Another matrix, or one marked as changed, is not the same. */
static void matrices_that_change(void **state)
{
    (void)state;
    struct backend *backend;
    struct world w;
    OK(backend_open(&backend, NULL, 1));
    open_world(&w, backend, false, NODES, 0, 0);
    program_free(w.eval);
    struct csr *own = w.words, *other = random_csr(WORDS, 250, 2);
    w.words = other;
    record_eval(&w);
    assert_null(w.train->source);
    program_free(w.eval);
    w.words = own;
    own->changes = true;
    record_eval(&w);
    assert_null(w.train->source);
    csr_free(other);
    close_world(&w);
    backend_close(backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits_as_computed_again),
        cmocka_unit_test(what_is_taken_over),
        cmocka_unit_test(only_while_the_parameters_stay),
        cmocka_unit_test(matrices_that_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
