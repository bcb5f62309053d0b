/* The interface between programs and backends (src/program/backend.h), apart from the operations:
 * memory, versions, failures, missing operations, several backends side by side.
 * test_backend_training.c tests all of training. THREADED */
#include "far_backend.h"
#include "training.h"

#include "app/checkpoint.h"
#include "app/limits.h"
#include "program/internal.h"
#include <math.h>
#include <pthread.h>
#include <unistd.h>

/* ---- memory ---- */

static void memory_holds_what_is_sent(struct backend *b)
{
    enum { COUNT = 1000, AT = 7 };
    const struct backend_kind *kind = b->kind;
    struct memory *a, *c;
    float sent[COUNT], back[COUNT];
    for (int i = 0; i < COUNT; i++)
        sent[i] = (float)i;
    OK(kind->allocate(b, &a, sizeof sent));
    OK(kind->allocate(b, &c, sizeof sent));
    assert_int_equal(a->bytes, sizeof sent);
    OK(kind->download(b, back, a, 0, sizeof back));
    for (int i = 0; i < COUNT; i++)
        assert_true(back[i] == 0);
    OK(kind->upload(b, a, AT * sizeof(float), sent, 3 * sizeof(float)));
    OK(kind->copy(b, c, a));
    OK(kind->upload(b, a, 0, sent, sizeof sent));
    OK(kind->download(b, back, a, 0, sizeof back));
    assert_memory_equal(back, sent, sizeof sent);
    OK(kind->download(b, back, c, (AT - 1) * sizeof(float), 5 * sizeof(float)));
    const float expected[5] = {0, 0, 1, 2, 0};
    assert_memory_equal(back, expected, sizeof expected);
    kind->release(b, a);
    kind->release(b, c);
}

static void every_backend_has_memory(void **state)
{
    (void)state;
    for (int i = 0; backend_name(i); i++) {
        struct backend *b;
        OK(backend_open(&b, backend_name(i), 1));
        assert_string_equal(b->kind->name, backend_name(i));
        assert_non_null(b->host);
        memory_holds_what_is_sent(b);
        backend_close(b);
    }
    struct far *far = far_open(1);
    memory_holds_what_is_sent(&far->base);
    backend_close(&far->base);
    struct backend *none;
    FAILS(backend_open(&none, "abacus", 1), CONSM_EINVAL, "unknown device abacus");
    assert_null(none);
}

/* Names of cards are accepted with or without a card; a missing one gives a one-line message. */
static void devices_have_names(void **state)
{
    (void)state;
    static const char *const good[] = {"cpu", "reference", "cuda", "cuda:0", "cuda:63", "auto"};
    static const char *const bad[] = {"",        "gpu",     "cuda:",     "cuda:x",
                                      "cuda:-1", "cuda:1 ", "cuda:99999"};
    struct backend *b;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(backend_possible(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(backend_possible(bad[i]));
        FAILS(backend_open(&b, bad[i], 1), CONSM_EINVAL, "unknown device");
    }
    OK(backend_open(&b, "auto", 1));
    assert_string_equal(b->kind->name, strcmp(b->device, "cpu") == 0 ? "cpu" : "cuda");
    backend_close(b);
    FAILS(backend_open(&b, "cuda:63", 1), CONSM_ENOTFOUND, "device cuda");
    assert_null(strchr(consm_errmsg(), '\n'));
    assert_null(b);
}

/* The next run sees what the host wrote, the next read what a run wrote; nothing is copied twice.
 */
static void blocks_move_only_what_is_new(void **state)
{
    (void)state;
    struct far *far = far_open(1);
    struct block block, other;
    const void *seen;
    void *mine;
    OK(block_new(&block, &far->base, 4 * sizeof(float)));
    OK(block_new(&other, &far->base, 4 * sizeof(float)));
    OK(block_read(&seen, &block));
    assert_true(((const float *)seen)[3] == 0);
    OK(block_send(&block));
    assert_int_equal(far->uploads, 0);
    assert_int_equal(far->downloads, 0); /* new memory is zero on both sides */
    OK(block_write(&mine, &block));
    ((float *)mine)[3] = 5;
    OK(block_send(&block));
    OK(block_send(&block));
    assert_int_equal(far->uploads, 1);
    OK(block_write(&mine, &block));
    ((float *)mine)[3] = 6;
    OK(block_copy(&other, &block)); /* sends first */
    OK(block_read(&seen, &other));
    assert_true(((const float *)seen)[3] == 6);
    assert_int_equal(far->uploads, 2);
    float nine[4] = {0, 0, 0, 9};
    OK(far->base.kind->upload(&far->base, block.memory, 0, nine, sizeof nine)); /* a run */
    OK(block_read(&seen, &block));
    assert_true(((const float *)seen)[3] == 6);
    block_ran(&block);
    OK(block_read(&seen, &block));
    assert_true(((const float *)seen)[3] == 9);
    assert_int_equal(far->downloads, 2);
    block_ran(&block);
    OK(block_overwrite(&mine, &block)); /* nothing is fetched that is overwritten */
    memset(mine, 0, 4 * sizeof(float));
    OK(block_send(&block));
    assert_int_equal(far->downloads, 2);
    OK(far->base.kind->download(&far->base, nine, block.memory, 0, sizeof nine));
    assert_true(nine[3] == 0);
    block_free(&block);
    block_free(&other);
    backend_close(&far->base);
}

/* What is put into new memory is there when it is read. */
static void blocks_show_what_was_put(void **state)
{
    (void)state;
    struct far *far = far_open(1);
    struct block block;
    const void *seen;
    const float two = 2;
    OK(block_new(&block, &far->base, 4 * sizeof(float)));
    OK(block_put(&block, sizeof two, &two, sizeof two));
    OK(block_read(&seen, &block));
    assert_true(((const float *)seen)[0] == 0 && ((const float *)seen)[1] == 2);
    block_free(&block);
    backend_close(&far->base);
}

/* ---- versions ---- */

enum { N = 4 };

/* Everything that a program may read: floats, an index, a matrix, labels and weights. */
struct reading_options {
    float x[N], other[N], weight[2];
    int32_t label[N];
    struct index *index, *labelled;
    struct csr *matrix;
    struct params *params;
    struct program *p;
    node input, total;
};

static void reading_open(struct reading_options *r, struct backend *b)
{
    const int32_t rows[2] = {0, 1}, from[3] = {0, 1, 2}, to[3] = {1, 2, 3};
    const float one[3] = {1, 1, 1};
    *r = (struct reading_options){.x = {1, 2, 3, 4}, .other = {5, 6, 7, 8}, .weight = {1, 1}};
    OK(index_new(&r->index, 2, N));
    OK(index_set(r->index, rows));
    OK(index_new(&r->labelled, 2, N));
    OK(index_set(r->labelled, rows));
    OK(csr_from_edges(&r->matrix, N, N, 3, from, to, one, CSR_DIRECTED, NULL));
    r->matrix->changes = true;
    OK(params_new(&r->params));
    OK(program_new(&r->p, r->params, false));
    struct program *p = r->p;
    r->input = input(p, r->x, N, 1);
    node picked = sum(p, gather(p, r->input, r->index)),
         moved = sum(p, spmm(p, r->matrix, r->input));
    node logits = concat(p, r->input, scale(p, -1, r->input));
    node loss = nll(p, logits, r->labelled, r->label, r->weight);
    r->total = concat(p, concat(p, picked, moved), loss);
    program_keep(p, r->total);
    OK(program_compile(p, b));
}

static void reading_close(struct reading_options *r)
{
    program_free(r->p);
    params_free(r->params);
    index_free(r->index);
    index_free(r->labelled);
    csr_free(r->matrix);
}

/* Runs and compares the sums of what was picked and moved, and the loss. */
static void reads(struct reading_options *r, double picked, double moved, double loss)
{
    OK(program_run(r->p, &(struct step){0, 0}));
    const float *v = value_of(r->p, r->total);
    assert_near(v[0], picked, 1e-6);
    assert_near(v[1], moved, 1e-6);
    assert_near(v[2], loss, 1e-5);
}

/* -log softmax of (x, -x) at its first entry */
static double first_of_two(double x)
{
    return log(1 + exp(-2 * x));
}

static void what_changed_is_sent_and_nothing_else(void **state)
{
    (void)state;
    struct far *far = far_open(1);
    struct reading_options r;
    const int32_t last[2] = {2, 3};
    reading_open(&r, &far->base);
    double loss = (first_of_two(1) + first_of_two(2)) / 2;
    reads(&r, 3, 9, loss);
    far->sent = 0;
    reads(&r, 3, 9, loss);
    assert_int_equal(far->sent, 0);
    r.x[0] = 10; /* without a new version: not seen until it is reported */
    reads(&r, 3, 9, loss);
    program_touch(r.p, r.x);
    loss = (first_of_two(10) + first_of_two(2)) / 2;
    reads(&r, 12, 9, loss);
    assert_int_equal(far->sent, 1);
    OK(index_set(r.index, last));
    reads(&r, 7, 9, loss);
    assert_int_equal(far->sent, 2);
    r.matrix->val[0] = 2;
    csr_touch(r.matrix);
    reads(&r, 7, 11, loss);
    assert_int_equal(far->sent, 3);
    r.label[0] = 1;
    r.weight[1] = 0;
    program_touch(r.p, r.label);
    program_touch(r.p, r.weight);
    reads(&r, 7, 11, first_of_two(-10));
    assert_int_equal(far->sent, 5);
    program_bind(r.p, r.input, r.other);
    reads(&r, 15, 2 * 6 + 7 + 8, first_of_two(-5));
    assert_int_equal(far->sent, 6);
    program_touch(r.p, NULL);
    reads(&r, 15, 2 * 6 + 7 + 8, first_of_two(-5));
    assert_true(far->sent >= 6 + 3);
    reading_close(&r);
    backend_close(&far->base);
}

/* ---- failures ---- */

static void a_failing_run_is_reported(void **state)
{
    (void)state;
    struct far *far = far_open(1);
    struct reading_options r;
    reading_open(&r, &far->base);
    far->failure = CONSM_ELIMIT;
    FAILS(program_run(r.p, &(struct step){0, 0}), CONSM_ELIMIT, "the far backend is gone");
    OK(program_run(r.p, &(struct step){0, 0}));
    reading_close(&r);
    struct scene s;
    scene_small(&s);
    for (const struct model_def *const *m = model_list(); *m; m++) {
        struct train_options o = options_for(*m, EPOCHS);
        struct session *session;
        struct train_result result;
        o.config.backbone = BACKBONE_GCN;
        OK(session_new(&session, &s.problem, &o, &far->base));
        far->failure = CONSM_ELIMIT;
        FAILS(session_train(session, &result), CONSM_ELIMIT, "the far backend is gone");
        session_free(session);
    }
    scene_close(&s);
    backend_close(&far->base);
}

/* ---- operations a backend lacks ---- */

static int count_op(const struct program *p, enum op op)
{
    int count = 0;
    for (int32_t i = 0; i < p->plan.instrs; i++)
        count += p->plan.instr[i].op == op;
    return count;
}

static int count_leaky(const struct program *p)
{
    int count = 0;
    for (int32_t i = 0; i < p->plan.instrs; i++)
        count += p->plan.instr[i].op == OP_EDGE_ADD && p->plan.instr[i].attr.a != 1;
    return count;
}

/* The gradients of a program whose parts fuse into every fused operation. */
static consm_status fusible(float *grad, int *fused, enum op op, struct far *far)
{
    static const int32_t from[3] = {0, 1, 2}, to[3] = {1, 2, 3};
    static const int32_t rows[2] = {1, 3}, label[N] = {0, 1, 0, 1};
    struct params *params;
    struct program *p;
    struct csr *a;
    struct index *labelled;
    OK(csr_from_edges(&a, N, N, 3, from, to, NULL, CSR_UNDIRECTED, NULL));
    OK(index_new(&labelled, 2, N));
    OK(index_set(labelled, rows));
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    node x = param(p, "x", N, 2, INIT_NORMAL), b = param(p, "b", 1, 2, INIT_NORMAL);
    node h = dropout(p, relu(p, add_bias(p, spmm(p, a, x), b)), 0.5f);
    h = axpby(p, 0.5f, spmm(p, a, h), 0.5f, relu(p, add_bias(p, x, b)));
    node e = edge_softmax(
        p, a, leaky_relu(p, edge_add(p, a, slice(p, h, 0, 1), slice(p, h, 1, 1)), 0.2f));
    program_minimize(p, nll(p, spmm_values(p, a, e, h), labelled, label, NULL));
    consm_status st = program_compile(p, &far->base);
    if (st == CONSM_OK) {
        OK(params_init(params, 5));
        OK(program_run(p, &(struct step){1, 2}));
        memcpy(grad, param_grads(params), (size_t)params->size * sizeof *grad);
        *fused = count_op(p, op);
        bool attends = far->refused != OP_ATTEND && far->refused != OP_ATTEND_ROWS &&
                       far->refused != OP_ATTEND_COLUMNS;
        assert_int_equal(count_op(p, OP_ATTEND), attends);
        assert_int_equal(count_leaky(p), !attends); /* a part of what is one operation */
    }
    program_free(p);
    params_free(params);
    index_free(labelled);
    csr_free(a);
    return st;
}

static void what_a_backend_lacks_is_not_fused(void **state)
{
    (void)state;
    static const enum op ops[] = {
        OP_SPMM_FUSED, OP_BIAS_RELU_DROPOUT, OP_SPMM_ADD,      OP_BIAS_RELU_DROPOUT_GRAD,
        OP_ATTEND,     OP_ATTEND_ROWS,       OP_ATTEND_COLUMNS};
    struct far *far = far_open(1);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        float with[64] = {0}, without[64] = {0};
        int fused = 0;
        far->refused = OP_COUNT;
        OK(fusible(with, &fused, ops[i], far));
        assert_true(fused > 0);
        far->refused = ops[i];
        OK(fusible(without, &fused, ops[i], far));
        assert_int_equal(fused, 0);
        for (int k = 0; k < 64; k++)
            assert_near(with[k], without[k], 1e-6);
    }
    far->refused = OP_NLL; /* nothing can replace it */
    float grad[64];
    int fused;
    FAILS(fusible(grad, &fused, OP_NLL, far), CONSM_EPROGRAM, "the far backend has no nll");
    backend_close(&far->base);
}

/* What could not be compiled says so at every run, not only at the first. */
static void a_late_failure_keeps_its_reason(void **state)
{
    (void)state;
    static const int32_t rows[2] = {1, 3}, label[4] = {0, 1, 0, 1};
    struct far *far = far_open(1);
    struct params *params;
    struct program *p;
    struct index *labelled;
    far->refused = OP_NLL;
    OK(index_new(&labelled, 2, 4));
    OK(index_set(labelled, rows));
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    program_minimize(p, nll(p, param(p, "x", 4, 2, INIT_NORMAL), labelled, label, NULL));
    OK(program_compile_later(p, &far->base));
    OK(params_init(params, 5));
    for (int run = 0; run < 2; run++)
        FAILS(program_run(p, &(struct step){1, 2}), CONSM_EPROGRAM, "the far backend has no nll");
    program_free(p);
    params_free(params);
    index_free(labelled);
    backend_close(&far->base);
}

/* ---- steps ---- */

/* Many steps in one call equal many calls of one step. */
static void steps_can_be_taken_together(void **state)
{
    (void)state;
    struct scene s;
    struct backend *b;
    const struct model_def *gcn;
    float *found[2];
    int64_t size = 0;
    scene_small(&s);
    OK(backend_open(&b, NULL, 2));
    OK(model_find(&gcn, "gcn"));
    struct train_options o = options_for(gcn, EPOCHS);
    for (int together = 0; together < 2; together++) {
        struct session *session;
        OK(session_new(&session, &s.problem, &o, b));
        struct program *p = session->learner.train.program;
        if (together)
            OK(b->kind->run(p->ready, &(struct step){3, 0}, 5));
        for (uint64_t k = 0; !together && k < 5; k++)
            OK(program_run(p, &(struct step){3, k}));
        size = session_params(session)->size;
        found[together] = mem_alloc((size_t)size, sizeof(float));
        memcpy(found[together], param_values(session_params(session)),
               (size_t)size * sizeof(float));
        session_free(session);
    }
    assert_memory_equal(found[0], found[1], (size_t)size * sizeof(float));
    mem_free(found[0]);
    mem_free(found[1]);
    backend_close(b);
    scene_close(&s);
}

/* ---- side by side ---- */

struct side {
    const struct scene *s;
    int threads;
    struct outcome out;
};

static void *train_aside(void *arg)
{
    struct side *side = arg;
    const struct model_def *gat;
    OK(model_find(&gat, "gat"));
    struct train_options o = options_for(gat, EPOCHS);
    train_on(&side->out, &side->s->problem, &o, side->threads);
    return NULL;
}

/* Two backends of one process, each with its own threads, at the same time. */
static void backends_do_not_disturb_each_other(void **state)
{
    (void)state;
    struct scene s;
    pthread_t thread[2];
    scene_small(&s);
    for (int v = 0; v < VIEW_COUNT; v++) /* shared and made on first use */
        assert_non_null(views_get(s.problem.views, (enum view)v));
    struct side side[3] = {
        {.s = &s, .threads = 1}, {.s = &s, .threads = 2}, {.s = &s, .threads = 3}};
    train_aside(&side[2]);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, train_aside, &side[i]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < 2; i++)
        assert_same(&side[i].out, &side[2].out, "side by side");
    for (int i = 0; i < 3; i++)
        outcome_free(&side[i].out);
    scene_close(&s);
}

/* ---- checkpoints ---- */

enum { STOP = 6 };

static bool stop_within_a_round(void *ctx, const struct progress *progress)
{
    (void)ctx;
    return progress->epoch == STOP;
}

/* Stops in the first round (if there are rounds), saves the session, and resumes in a new one,
 * possibly on another backend. */
static void interrupt(struct session **s, const struct scene *scene, struct train_options o,
                      struct backend *b, struct backend *then)
{
    struct checkpoint_run run = {
        .dataset = "a graph", .data_sha256 = "its hash", .split = "a split"};
    struct train_result result;
    char path[] = "/tmp/consm_backend_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    o.progress = stop_within_a_round;
    OK(session_new(s, &scene->problem, &o, b));
    /* Epochs that ran together end together. */
    FAILS(session_train(*s, &result), CONSM_ECANCEL, "stopped at epoch ");
    long epoch = strtol(strstr(consm_errmsg(), "epoch ") + 6, NULL, 10);
    assert_in_range(epoch, STOP, STOP + KEEP_ROOM - 1);
    assert_false(session_ahead(*s));
    OK(checkpoint_save(*s, &run, path));
    session_free(*s);
    o.progress = NULL;
    OK(session_new(s, &scene->problem, &o, then));
    OK(checkpoint_load(*s, &run, path));
    checkpoint_run_free(&run);
    unlink(path);
}

/* Parameters, moments, the best so far and operations' state are read from a backend's memory and
 * written back: the same bits as without an interruption. */
static void a_break_behind_the_wall_changes_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"gin", "ptdnet", "gam", "consm"};
    struct scene scene;
    scene_small(&scene);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct far *far = far_open(1);
        struct outcome whole, part;
        struct session *s;
        const struct model_def *model;
        OK(model_find(&model, names[i]));
        struct train_options o = options_for(model, 2 * EPOCHS);
        o.config.backbone = BACKBONE_GCN;
        o.config.match_steps = 3;
        o.config.grow = 3;
        train_on(&whole, &scene.problem, &o, 1);
        interrupt(&s, &scene, o, &far->base, i % 2 ? far->near : &far->base);
        finish_training(&part, s, &scene.problem);
        assert_same(&whole, &part, names[i]);
        outcome_free(&whole);
        outcome_free(&part);
        session_free(s);
        backend_close(&far->base);
    }
    scene_close(&scene);
}

static consm_status note_steps(void *ctx, struct session *s)
{
    int64_t *steps = ctx;
    assert_false(session_ahead(s));
    assert_int_equal(s->learner.steps, steps[0] + 3);
    steps[0] = s->learner.steps;
    return CONSM_OK;
}

/* Epochs that run together end where a checkpoint is due. */
static void checkpoints_behind_the_wall_are_regular(void **state)
{
    (void)state;
    struct scene scene;
    struct far *far = far_open(1);
    const struct model_def *model;
    int64_t steps = 0;
    struct outcome out;
    scene_small(&scene);
    OK(model_find(&model, "gcn"));
    struct train_options o = options_for(model, 20);
    o.checkpoint_every = 3;
    o.checkpoint = note_steps;
    o.checkpoint_ctx = &steps;
    train_with(&out, &scene.problem, &o, &far->base);
    assert_int_equal(steps, 18);
    outcome_free(&out);
    backend_close(&far->base);
    scene_close(&scene);
}

/* ---- memory of a device ---- */

static size_t a_gigabyte(struct backend *b)
{
    (void)b;
    return 1000000000;
}

static void what_cannot_fit_a_device_is_refused(void **state)
{
    (void)state;
    const struct model_def *model;
    struct config c;
    struct dataset d = {
        .name = "big", .nodes = 1000000, .edges = 10000000, .classes = 8, .features = 64};
    struct backend_kind kind = {.name = "small"};
    struct backend device = {.kind = &kind, .device = "small:0"};
    OK(model_find(&model, "gcn"));
    model_defaults(model, &c);
    c.hidden = 3000;
    OK(limits_check_device(&d, &c, &device)); /* it shares the host's memory */
    kind.room = a_gigabyte;
    assert_int_equal(limits_check_device(&d, &c, &device), CONSM_ELIMIT);
    assert_non_null(strstr(consm_errmsg(), "needs at least 12.6 GB on small:0"));
    assert_non_null(strstr(consm_errmsg(), "1 GB are free; use --hidden 15"));
    c.hidden = 85;
    OK(limits_check_device(&d, &c, &device));
    c.hidden = 64;
    d.edges = 100000000; /* the graph alone is larger */
    assert_int_equal(limits_check_device(&d, &c, &device), CONSM_ELIMIT);
    assert_null(strstr(consm_errmsg(), "--hidden"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_backend_has_memory),
        cmocka_unit_test(devices_have_names),
        cmocka_unit_test(blocks_move_only_what_is_new),
        cmocka_unit_test(blocks_show_what_was_put),
        cmocka_unit_test(what_changed_is_sent_and_nothing_else),
        cmocka_unit_test(a_failing_run_is_reported),
        cmocka_unit_test(what_a_backend_lacks_is_not_fused),
        cmocka_unit_test(a_late_failure_keeps_its_reason),
        cmocka_unit_test(steps_can_be_taken_together),
        cmocka_unit_test(backends_do_not_disturb_each_other),
        cmocka_unit_test(a_break_behind_the_wall_changes_nothing),
        cmocka_unit_test(checkpoints_behind_the_wall_are_regular),
        cmocka_unit_test(what_cannot_fit_a_device_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
