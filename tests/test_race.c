/* The race of ConSM's candidates: side by side they give the same bits as one after the other, also
 * after a break; a card keeps their programs. THREADED */
#include "app/checkpoint.h"
#include "app/objects.h"
#include "backends/open.h"
#include "narrow.h"
#include "train/consm/race.h"
#include "training.h"
#include <stdatomic.h>
#include <unistd.h>

/* Half of the candidates, for 14 updates, and one short round. */
static struct train_options short_run(void)
{
    struct train_options options = {.seed = 1};
    OK(model_find(&options.model, "consm"));
    model_defaults(options.model, &options.config);
    options.config.warmup = 14;
    options.config.candidates = CANDIDATES_FEW;
    options.config.drop_share = 0;
    options.config.rounds = 1;
    options.config.gnn_steps = 5;
    narrow(&options);
    options.config.match_steps = 2;
    return options;
}

static void assert_same_race(const struct train_result *a, const struct train_result *b)
{
    assert_int_equal(a->candidates, b->candidates);
    for (int i = 0; i < a->candidates; i++) {
        assert_string_equal(a->candidate[i].settings, b->candidate[i].settings);
        assert_int_equal(a->candidate[i].updates, b->candidate[i].updates);
        assert_true(a->candidate[i].val == b->candidate[i].val);
    }
    assert_true(a->student.val == b->student.val);
    assert_true(a->loss == b->loss && a->val_acc == b->val_acc);
    assert_int_equal(a->best_epoch, b->best_epoch);
}

/* ---- a card -------------------------------------------------------------- */

/* A backend that counts the programs it compiles, and how often it was opened again. The first look
 * at its memory finds `before` bytes free, every later one `then`; 0 before: it shares the host's
 * memory. */
static struct {
    const struct backend_kind *plain;
    struct backend_kind kind;
    atomic_int looks, programs, others;
    size_t before, then;
} card;

static size_t card_room(struct backend *b)
{
    (void)b;
    return atomic_fetch_add(&card.looks, 1) == 0 ? card.before : card.then;
}

static consm_status card_compile(struct backend *b, struct compiled **out,
                                 const struct planned *plan)
{
    atomic_fetch_add(&card.programs, 1);
    return card.plain->compile(b, out, plan);
}

static consm_status card_another(struct backend **out, const struct backend *b, int threads)
{
    consm_status st = card.plain->another(out, b, threads);
    assert_int_equal(threads, 1);
    atomic_fetch_add(&card.others, 1);
    if (st == CONSM_OK)
        (*out)->kind = &card.kind;
    return st;
}

/* Trains on such a backend with two threads; returns the number of programs. */
static int train_with_room(struct train_result *result, const struct scene *scene, size_t before,
                           size_t then)
{
    struct backend *backend;
    struct session *s;
    struct train_options options = short_run();
    OK(backend_open(&backend, NULL, 2));
    card.plain = backend->kind;
    card.kind = *backend->kind;
    card.looks = card.programs = card.others = 0;
    card.before = before;
    card.then = then;
    card.kind.compile = card_compile;
    card.kind.another = card_another;
    card.kind.room = before > 0 ? card_room : NULL;
    backend->kind = &card.kind;
    OK(session_new(&s, &scene->problem, &options, backend));
    OK(session_train(s, result));
    session_free(s);
    backend_close(backend);
    return card.programs;
}

/* A card keeps the candidates' programs between rungs, unless they take more than a tenth of its
 * memory. They go on where they were. Its host's two threads train two candidates at a time, and
 * one more examines the matching module. */
static void kept_programs_change_nothing(void **state)
{
    (void)state;
    const size_t room = (size_t)1 << 32;
    struct scene scene;
    struct train_result kept, made;
    scene_small(&scene);
    int few = train_with_room(&kept, &scene, room, room - room / 10);
    assert_int_equal(card.others, 3);
    int many = train_with_room(&made, &scene, room, room - room / 10 - 1);
    assert_int_equal(card.others, 3);
    assert_same_race(&kept, &made);
    /* How many depends on time: an idle track makes those of a candidate that waits for another. */
    assert_true(many > few);
    /* The host's two threads as well, without keeping programs. */
    train_with_room(&made, &scene, 0, 0);
    assert_int_equal(card.others, 2);
    assert_same_race(&kept, &made);
    /* With little memory they train one after the other. */
    train_with_room(&made, &scene, 1 << 20, 1 << 20);
    assert_int_equal(card.others, 0);
    assert_same_race(&kept, &made);
    scene_close(&scene);
}

/* ---- the host ------------------------------------------------------------ */

/* Eight threads train four candidates at a time, one thread one. */
static void threads_change_nothing(void **state)
{
    (void)state;
    struct scene scene;
    struct train_result one, eight;
    struct train_options options = short_run();
    scene_small(&scene);
    OK(train_once(&one, &scene.problem, &options, 1));
    OK(train_once(&eight, &scene.problem, &options, 8));
    assert_same_race(&one, &eight);
    scene_close(&scene);
}

/* A candidate of 32,768 nodes takes half a gigabyte, so that four fit into two; one node more, and
 * three do. On a card half of its room counts. */
static void tracks_fit_into_memory(void **state)
{
    (void)state;
    static const struct {
        int64_t nodes, nnz, candidates;
        int threads, tracks;
    } of[] = {{32768, 0, 9, 16, 4}, {32769, 0, 9, 16, 3}, {32767, 1024, 9, 16, 4},
              {32768, 1, 9, 16, 3}, {10, 20, 9, 12, 4},   {10, 20, 2, 16, 2},
              {10, 20, 9, 7, 3},    {10, 20, 9, 3, 2},    {10, 20, 9, 2, 2},
              {10, 20, 9, 1, 0},    {10, 20, 1, 2, 0},    {100000, 0, 9, 16, 0}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct backend *backend;
        struct race r;
        struct csr graph = {.nnz = of[i].nnz};
        struct problem problem = {.nodes = of[i].nodes, .graph = &graph};
        struct candidate_choice choice = {.count = of[i].candidates};
        struct consm own = {0};
        OK(backend_open(&backend, NULL, of[i].threads));
        struct session s = {
            .problem = &problem, .backend = backend, .choice = &choice, .own = &own};
        OK(race_open(&r, &s));
        assert_int_equal(own.tracks.count, of[i].tracks);
        race_close(&r);
        consm_close_tracks(&own.tracks);
        backend_close(backend);
    }
}

/* Receives the updates of candidates and stops after `stop` of them. */
struct ear {
    int64_t stop, heard, twice;
    bool known[TRAIN_MOST_CANDIDATES + 1][80]; /* candidate, update */
};

static bool hear(void *ctx, const struct progress *p)
{
    struct ear *e = ctx;
    if (p->epoch > 0 || p->update == 0)
        return false;
    e->twice += e->known[p->candidate][p->update];
    e->known[p->candidate][p->update] = true;
    return ++e->heard == e->stop;
}

/* A break while several candidates train: all of them continue where they were. */
static void a_break_keeps_all(void **state)
{
    (void)state;
    static const int64_t breaks[] = {1, 20, 21, 30};
    char path[] = "/tmp/consm-race-XXXXXX";
    struct consm_dataset *data;
    struct consm_model *whole, *part;
    struct roles roles;
    struct ear all = {0}, e = {0};
    close(mkstemp(path));
    unlink(path);
    OK(consm_dataset_open(&data, "csbm:nodes=90,classes=3,degree=4,features=10", NULL));
    OK(roles_make(&roles, data->data, "random", 0, &(struct split_options){.per_class = 10}));
    struct training_request request = {
        .roles = &roles, .threads = 8, .checkpoint = path, .options = short_run()};
    OK(dataset_prepared(&request.prepared, data));
    request.options.progress = hear;
    request.options.progress_ctx = &all;
    OK(model_train(&whole, NULL, &request));
    request.options.progress_ctx = &e;
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        e.stop = e.heard + breaks[i];
        request.resume = i > 0;
        FAILS(model_train(&part, NULL, &request), CONSM_ECANCEL, "choice of the backbone");
    }
    e.stop = 0;
    OK(model_train(&part, NULL, &request));
    assert_int_equal(e.twice, 0);
    assert_int_equal(e.heard, all.heard);
    assert_same_race(&whole->result, &part->result);
    consm_model_free(whole);
    consm_model_free(part);
    roles_free(&roles);
    consm_dataset_free(data);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_programs_change_nothing),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(tracks_fit_into_memory),
        cmocka_unit_test(a_break_keeps_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
