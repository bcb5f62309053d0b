/* Interrupts training between two epochs and resumes: the same bits as without interruption, for
 * every resumable model; checkpoints of other runs are refused. */
#include "check.h"
#include "narrow.h"
#include "reseal.h"

#include "app/checkpoint.h"
#include "app/objects.h"
#include "train/consm/consm.h"
#include <math.h>
#include <unistd.h>

static char path[64];

static const char *const small = "csbm:nodes=90,classes=3,degree=4,features=10,homophily=0.7";

static bool stop_at(void *ctx, const struct progress *progress)
{
    return progress->epoch == *(int64_t *)ctx;
}

struct run {
    struct consm_dataset *data;
    struct roles roles;
    struct training_request request;
};

static void run_open(struct run *r, const char *model)
{
    OK(consm_dataset_open(&r->data, small, NULL));
    OK(roles_make(&r->roles, r->data->data, "random", 0, &(struct split_options){.per_class = 10}));
    r->request = (struct training_request){.roles = &r->roles, .threads = 1, .checkpoint = path};
    OK(dataset_prepared(&r->request.prepared, r->data));
    struct train_options *o = &r->request.options;
    OK(model_find(&o->model, model));
    model_defaults(o->model, &o->config);
    o->config.epochs = 12;
    o->config.warmup = 4;
    o->config.rounds = 2;
    o->config.round_patience = 0;
    o->config.gnn_steps = 4;
    narrow(o);
    o->seed = 5;
}

static void run_close(struct run *r)
{
    roles_free(&r->roles);
    consm_dataset_free(r->data);
    unlink(path);
}

static void assert_same_models(const struct consm_model *a, const struct consm_model *b)
{
    assert_int_equal(a->tensors, b->tensors);
    for (int64_t i = 0; i < a->tensors; i++)
        assert_memory_equal(a->tensor[i].value, b->tensor[i].value,
                            (size_t)(a->tensor[i].rows * a->tensor[i].cols) * sizeof(float));
    assert_int_equal(a->result.best_epoch, b->result.best_epoch);
    assert_int_equal(a->result.epochs, b->result.epochs);
    assert_true(a->result.val_acc == b->result.val_acc);
    assert_true(a->result.test_acc == b->result.test_acc);
    assert_true(a->temperature == b->temperature);
}

/* Interrupted at that epoch, then resumed: the same model as the whole run. */
static void goes_on_from(struct run *r, const struct consm_model *whole, int64_t stop)
{
    struct consm_model *part;
    r->request.resume = false;
    r->request.options.progress = stop_at;
    r->request.options.progress_ctx = &stop;
    FAILS(model_train(&part, NULL, &r->request), CONSM_ECANCEL, "stopped");
    r->request.resume = true;
    r->request.options.progress = NULL;
    OK(model_train(&part, NULL, &r->request));
    assert_same_models(whole, part);
    consm_model_free(part);
}

static void a_break_changes_nothing(void **state)
{
    (void)state;
    for (const struct model_def *const *m = model_list(); *m; m++) {
        struct run r;
        struct consm_model *whole, *part;
        run_open(&r, (*m)->name);
        r.request.options.config.ties = TIES_LOSS;
        r.request.options.config.backbone = BACKBONE_GCN; /* ConSM's; the next test chooses */
        if (checkpoint_possible(&r.request.options) < 0) {
            run_close(&r);
            continue;
        }
        OK(model_train(&whole, NULL, &r.request));
        /* Interrupted at one epoch, then again at another, the second time by the regular interval.
         */
        for (int64_t first = 1; first < 10; first += UNDER_ASAN ? 8 : 4) {
            int64_t second = first + 2;
            r.request.resume = false;
            r.request.options.progress = stop_at;
            r.request.options.progress_ctx = &first;
            FAILS(model_train(&part, NULL, &r.request), CONSM_ECANCEL, "stopped");
            r.request.resume = true;
            r.request.options.progress_ctx = &second;
            r.request.options.checkpoint_every = 1;
            FAILS(model_train(&part, NULL, &r.request), CONSM_ECANCEL, "stopped");
            r.request.options.progress = NULL;
            OK(model_train(&part, NULL, &r.request));
            assert_same_models(whole, part);
            consm_model_free(part);
        }
        consm_model_free(whole);
        run_close(&r);
    }
}

/* ConSM resumes after its choice of a backbone: while it compares arms (epochs 5 to 12), and in
 * later rounds. */
static void consm_goes_on_after_its_choices(void **state)
{
    (void)state;
    struct run r;
    struct consm_model *whole;
    run_open(&r, "consm");
    r.request.options.config.epochs = 1000;
    r.request.options.config.drop_share = 0;
    OK(model_train(&whole, NULL, &r.request));
    assert_int_equal(whole->result.epochs,
                     4 + consm_round_updates(&r.request.options.config, 1) + 4);
    for (int64_t stop = 4; stop < whole->result.epochs; stop += UNDER_ASAN ? 9 : 3)
        goes_on_from(&r, whole, stop);
    consm_model_free(whole);
    run_close(&r);
}

/* Receives the updates of candidates, stops after `stop` of them, and counts repeated ones. */
struct ear {
    int64_t stop; /* 0: never */
    int64_t heard, twice, epochs, folded;
    bool known[TRAIN_MOST_CANDIDATES + 1][80]; /* candidate, update */
};

static bool hear(void *ctx, const struct progress *p)
{
    struct ear *e = ctx;
    if (p->epoch > 0) {
        e->epochs++;
        return false;
    }
    assert_true(p->candidate <= TRAIN_MOST_CANDIDATES && p->update < 80);
    if (p->update == 0) { /* of folds */
        return e->heard + ++e->folded == e->stop;
    }
    e->twice += e->known[p->candidate][p->update];
    e->known[p->candidate][p->update] = true;
    return ++e->heard + e->folded == e->stop;
}

static void run_of_candidates(struct run *r, struct ear *e)
{
    run_open(r, "consm");
    r->request.options.config.epochs = 1000;
    r->request.options.config.warmup = 14;
    r->request.options.config.drop_share = 0;
    r->request.options.config.candidates = CANDIDATES_FEW;
    r->request.options.progress = hear;
    r->request.options.progress_ctx = e;
}

/* A run that is interrupted repeatedly while candidates are compared repeats no update of any of
 * them and ends like an uninterrupted one. */
static void the_tournament_is_kept(void **state)
{
    (void)state;
    struct run r;
    struct consm_model *whole, *part = NULL;
    struct ear all = {0};
    run_of_candidates(&r, &all);
    OK(model_train(&whole, NULL, &r.request));
    assert_true(all.heard > 100 && all.twice == 0 && all.folded > 20);
    const int64_t breaks[] = {1, 27, 28, 60, 110, all.heard + all.folded};
    struct ear e = {0};
    r.request.options.progress_ctx = &e;
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        e.stop = breaks[i];
        r.request.resume = i > 0;
        FAILS(model_train(&part, NULL, &r.request), CONSM_ECANCEL, "choice of the backbone");
    }
    e.stop = 0;
    OK(model_train(&part, NULL, &r.request));
    assert_int_equal(e.folded, all.folded); /* nor one of a fold */
    assert_true(whole->result.folds.labels > 0);
    assert_memory_equal(&whole->result.folds, &part->result.folds, sizeof part->result.folds);
    assert_int_equal(e.twice, 0);
    assert_int_equal(e.heard, all.heard);
    assert_same_models(whole, part);
    assert_int_equal(whole->result.candidates, part->result.candidates);
    for (int i = 0; i < whole->result.candidates; i++) {
        const struct train_candidate *a = &whole->result.candidate[i];
        const struct train_candidate *b = &part->result.candidate[i];
        assert_string_equal(a->settings, b->settings);
        assert_int_equal(a->updates, b->updates);
        assert_true(a->val == b->val);
    }
    consm_model_free(part);
    /* Interrupted after the choice: no candidate is trained again. */
    int64_t stop = 20;
    r.request.resume = false;
    r.request.options.progress = stop_at;
    r.request.options.progress_ctx = &stop;
    FAILS(model_train(&part, NULL, &r.request), CONSM_ECANCEL, "stopped at epoch 20");
    r.request.resume = true;
    r.request.options.progress = hear;
    r.request.options.progress_ctx = memset(&e, 0, sizeof e);
    OK(model_train(&part, NULL, &r.request));
    assert_int_equal(e.heard, 0);
    assert_true(e.epochs > 0);
    assert_same_models(whole, part);
    consm_model_free(part);
    consm_model_free(whole);
    run_close(&r);
}

struct count {
    int64_t updates, stop;
};

static bool count_updates(void *ctx, const struct progress *p)
{
    struct count *c = ctx;
    return p->epoch == 0 && ++c->updates == c->stop;
}

/* Interrupted while the student trains, a run resumes there. */
static void the_student_is_kept(void **state)
{
    (void)state;
    struct run r;
    struct ear e = {0};
    struct count all = {0}, parts = {0};
    struct consm_model *whole, *part;
    run_of_candidates(&r, &e);
    r.request.options.config.candidates = CANDIDATES_ALL;
    r.request.options.config.student = STUDENT_YES;
    r.request.options.progress = count_updates;
    r.request.options.progress_ctx = &all;
    OK(model_train(&whole, NULL, &r.request));
    assert_true(whole->result.student.updates > 4);
    r.request.options.progress_ctx = &parts;
    parts.stop = all.updates - 3;
    FAILS(model_train(&part, NULL, &r.request), CONSM_ECANCEL, "choice of the backbone");
    r.request.resume = true;
    OK(model_train(&part, NULL, &r.request));
    assert_int_equal(parts.updates, all.updates);
    assert_same_models(whole, part);
    assert_int_equal(whole->result.student.updates, part->result.student.updates);
    assert_int_equal(whole->result.student.taken, part->result.student.taken);
    consm_model_free(whole);
    consm_model_free(part);
    run_close(&r);
}

/* With --checkpoint-every a killed run loses at most that many updates. The file holds only the
 * remaining candidates, each with four numbers per parameter. */
static void the_tournament_is_written_regularly(void **state)
{
    (void)state;
    struct run r;
    struct consm_model *whole, *part;
    struct ear e = {0};
    size_t early = 0, late = 0;
    run_of_candidates(&r, &e);
    r.request.options.config.warmup = 70; /* the best four after 60 continue */
    r.request.checkpoint = NULL;
    OK(model_train(&whole, NULL, &r.request));
    int64_t last = e.heard + e.folded;
    r.request.checkpoint = path;
    r.request.options.checkpoint_every = 100;
    memset(&e, 0, sizeof e);
    e.stop = 45;
    FAILS(model_train(&part, NULL, &r.request), CONSM_ECANCEL, "choice of the backbone");
    free(file_bytes(path, &early));
    r.request.resume = true;
    e.stop = last - 2;
    FAILS(model_train(&part, NULL, &r.request), CONSM_ECANCEL, "choice of the backbone");
    free(file_bytes(path, &late));
    assert_true(late < early); /* some left the race */
    e.stop = 0;
    OK(model_train(&part, NULL, &r.request));
    assert_same_models(whole, part);
    consm_model_free(whole);
    consm_model_free(part);
    run_close(&r);
}

/* The stages of a run, by its progress. */
enum stage {
    CANDIDATE,
    FOLD,
    ROUND,
    TRIAL,
    COURSE,
    MORE_TRIALS,
    MORE_COURSES,
    THRESHOLD,
    REFIT,
    STAGES
};

/* Counts every reported update by stage, and stops at one of them. */
struct counter {
    int64_t heard[STAGES], all, stop;
    enum stage at;
};

static bool count_stages(void *ctx, const struct progress *p)
{
    struct counter *c = ctx;
    enum stage before = c->at;
    if (p->refit)
        c->at = REFIT;
    else if (p->epoch == 0 && p->candidate == 0)
        c->at = THRESHOLD;
    else if (p->epoch == 0 && p->candidate > 1000 + 19)
        c->at = MORE_TRIALS;
    else if (p->epoch == 0 && p->candidate > TRAIN_MOST_CANDIDATES)
        c->at = TRIAL;
    else if (p->epoch == 0)
        c->at = p->update == 0 ? FOLD : CANDIDATE;
    else
        c->at = before == MORE_TRIALS || before == MORE_COURSES ? MORE_COURSES
                : before == TRIAL || before == COURSE           ? COURSE
                                                                : ROUND;
    c->heard[c->at]++;
    return ++c->all == c->stop;
}

/* A threshold for the first class by cross-validation: six of its nodes validate. */
static void want_threshold(struct run *r)
{
    const struct dataset *d = r->data->data;
    int64_t left = 6;
    for (int64_t i = 0; i < d->nodes; i++)
        if (r->roles.role[i] == SPLIT_VAL && d->label[i] == 0 && left-- <= 0)
            r->roles.role[i] = SPLIT_TEST;
    split_count(r->roles.count, r->roles.role, d->nodes);
    r->request.threshold_for = 1;
}

static void run_through_all_stages(struct run *r, struct counter *c)
{
    struct config *config = &r->request.options.config;
    run_open(r, "consm"); /* with candidates, of which three are tried without edges */
    config->epochs = 1000;
    config->gnn_steps = 20; /* every comparison of arms has updates */
    config->candidates = CANDIDATES_FEW;
    config->drop_share = 0.2;
    config->add_share = 0.1;
    config->refit = REFIT_YES;
    want_threshold(r);
    r->request.options.progress = count_stages;
    r->request.options.progress_ctx = c;
}

/* Opens that run; its model and all that its progress heard, trained for the first test that asks.
 */
static struct consm_model *uninterrupted;
static const struct consm_model *all_stages(struct run *r, struct counter *all)
{
    static struct counter heard;
    run_through_all_stages(r, &heard);
    if (!uninterrupted)
        OK(model_train(&uninterrupted, NULL, &r->request));
    *all = heard;
    r->request.options.progress_ctx = all;
    return uninterrupted;
}

static int free_uninterrupted(void **state)
{
    (void)state;
    consm_model_free(uninterrupted);
    return 0;
}

/* Broken after so many calls of the progress function (stop, ascending, then 0), resumed each time:
 * the same model as the whole run, and no update was trained twice. */
static void check_no_update_twice(struct run *r, const struct consm_model *whole,
                                  const int64_t *stop, int64_t all, const char *said)
{
    struct consm_model *part;
    struct counter c = {0};
    r->request.resume = false;
    r->request.options.progress_ctx = &c;
    for (; *stop > 0; stop++) {
        c.stop = *stop;
        FAILS(model_train(&part, NULL, &r->request), CONSM_ECANCEL, said);
        assert_int_equal(c.all, *stop);
        r->request.resume = true;
    }
    OK(model_train(&part, NULL, &r->request));
    assert_same_models(whole, part);
    assert_int_equal(c.all, all);
    assert_true(whole->decision.threshold == part->decision.threshold);
    consm_model_free(part);
}

/* Interrupted anywhere (in the comparison of candidates, in folds of a finalist, in rounds, in
 * trials of arms and other edges, in a course over them, in folds for a threshold, or in the refit)
 * a run ends like an uninterrupted one, and no update is trained twice. */
static void nothing_is_trained_twice(void **state)
{
    (void)state;
    struct run r;
    struct counter all;
    int64_t first[STAGES] = {0};
    const struct consm_model *whole = all_stages(&r, &all);
    assert_near(whole->config.drop_share, 0.2, 0.1);
    assert_true(whole->config.add_share > 0 && whole->refit.labels > 0);
    for (int i = 0; i < STAGES; i++) {
        assert_true(all.heard[i] > 3);
        first[i] = i > 0 ? first[i - 1] + all.heard[i - 1] : 0;
    }
    /* In every other stage, so that one passes in one piece; under ASan in all stages of one run.
     */
    const int step = UNDER_ASAN ? 1 : 2;
    for (int odd = 0; odd < step; odd++) {
        int64_t stop[STAGES + 1] = {0}, stops = 0;
        for (int i = odd; i < STAGES; i += step)
            stop[stops++] = first[i] + all.heard[i] / 2 + 1;
        check_no_update_twice(&r, whole, stop, all.all, "stopped");
    }
    run_close(&r);
}

/* The same for a plain network, which ends after its threshold. */
static void folds_of_a_threshold_are_kept(void **state)
{
    (void)state;
    struct run r;
    struct consm_model *whole;
    struct counter all = {0};
    run_open(&r, "gcn");
    want_threshold(&r);
    r.request.options.progress = count_stages;
    r.request.options.progress_ctx = &all;
    OK(model_train(&whole, NULL, &r.request));
    assert_true(whole->decision.folds > 0 && whole->refit.labels == 0);
    assert_int_equal(all.heard[ROUND] + all.heard[THRESHOLD], all.all);
    for (int64_t stop = all.heard[ROUND] + 1; stop < all.all; stop += all.heard[THRESHOLD] / 3)
        check_no_update_twice(&r, whole, (int64_t[]){stop, 0}, all.all, "choice of the threshold");
    consm_model_free(whole);
    run_close(&r);
}

/* A run whose student was taken: the checkpoint holds its votes, so that a course over other edges
 * and the refit also learn from them after an interruption. The last two interruptions are in the
 * refit's warm-up, which resumes. */
static void votes_survive_a_break(void **state)
{
    (void)state;
    struct run r;
    struct consm_model *whole;
    struct counter all = {0};
    struct config *config = &r.request.options.config;
    run_through_all_stages(&r, &all);
    config->candidates = CANDIDATES_ALL;
    config->warmup = 40;
    config->folds = FOLDS_NO;
    r.request.threshold_for = 0;
    r.request.options.seed = 6; /* whose student validates as well as the winner */
    OK(model_train(&whole, NULL, &r.request));
    assert_non_null(whole->vote);
    int64_t warmup = whole->result.lengths.updates[0], refit = all.all - all.heard[REFIT];
    assert_true(warmup > 3 && warmup < all.heard[REFIT]);
    const int64_t stops[] = {all.all * 6 / 10,   all.all * 7 / 10, all.all * 8 / 10,
                             refit + warmup / 2, refit + warmup,   0};
    check_no_update_twice(&r, whole, stops, all.all, "stopped");
    consm_model_free(whole);
    run_close(&r);
}

/* Interrupted repeatedly, and killed between two checkpoints. */
static void a_run_in_many_pieces_is_one_run(void **state)
{
    (void)state;
    struct run r;
    struct consm_model *part = NULL;
    struct counter all, c = {0};
    consm_status st = CONSM_ECANCEL;
    const struct consm_model *whole = all_stages(&r, &all);
    r.request.options.progress_ctx = &c;
    r.request.options.checkpoint_every = 7;
    for (r.request.resume = false; st == CONSM_ECANCEL; r.request.resume = true) {
        c.stop = c.all + (UNDER_ASAN ? 149 : 37);
        st = model_train(&part, NULL, &r.request);
    }
    assert_int_equal(st, CONSM_OK);
    assert_int_equal(c.all, all.all);
    assert_same_models(whole, part);
    consm_model_free(part);
    run_close(&r);
}

/* Naming the network, features and pruning that a run chose gives the same model: the winner
 * continues as if it had been alone. */
static void choices_can_be_named(void **state)
{
    (void)state;
    struct run r;
    struct consm_model *chosen, *named;
    run_open(&r, "consm");
    r.request.options.config.epochs = 1000;
    r.request.options.config.warmup = 20;
    r.request.options.config.gnn_steps = 10;
    r.request.options.config.drop_share = 0; /* or other candidates would be tried once more */
    r.request.options.config.student = STUDENT_NO;       /* learns from all candidates */
    r.request.options.config.companions = COMPANIONS_NO; /* are other candidates */
    r.request.checkpoint = NULL;
    OK(model_train(&chosen, NULL, &r.request));
    assert_true(chosen->config.backbone != BACKBONE_AUTO);
    assert_true(chosen->config.prune_by != PRUNE_BY_AUTO);
    assert_true(chosen->config.guesses != GUESSES_AUTO && !isnan(chosen->config.entropy));
    assert_true(chosen->config.attract != ATTRACT_AUTO && !isnan(chosen->config.lambda));
    const struct config asked = r.request.options.config;
    r.request.options.config = chosen->config;
    /* The arm stays open: what the other arms found before is kept, too. */
    r.request.options.config.lambda = asked.lambda;
    r.request.options.config.attract = asked.attract;
    r.request.options.config.guesses = asked.guesses;
    r.request.options.config.entropy = asked.entropy;
    OK(model_train(&named, NULL, &r.request));
    assert_int_equal(chosen->tensors, named->tensors);
    for (int64_t i = 0; i < chosen->tensors; i++)
        assert_memory_equal(chosen->tensor[i].value, named->tensor[i].value,
                            (size_t)(chosen->tensor[i].rows * chosen->tensor[i].cols) *
                                sizeof(float));
    assert_true(chosen->result.test_acc == named->result.test_acc);
    consm_model_free(chosen);
    consm_model_free(named);
    run_close(&r);
}

/* ConSM with weighted messages carries more from epoch to epoch. */
static void consm_goes_on_with_its_messages(void **state)
{
    (void)state;
    struct run r;
    struct consm_model *whole;
    run_open(&r, "consm");
    OK(checkpoint_possible(&r.request.options));
    r.request.options.config.backbone = BACKBONE_GCN;
    r.request.options.config.messages = MESSAGES_SIGNED;
    OK(model_train(&whole, NULL, &r.request));
    for (int64_t stop = 2; stop < 12; stop += 3)
        goes_on_from(&r, whole, stop);
    consm_model_free(whole);
    run_close(&r);
}

static void other_runs_are_refused(void **state)
{
    (void)state;
    struct run r;
    struct consm_model *m;
    int64_t third = 3;
    run_open(&r, "gcn");
    r.request.resume = true;
    FAILS(model_train(&m, NULL, &r.request), CONSM_EIO, path);
    r.request.resume = false;
    r.request.options.progress = stop_at;
    r.request.options.progress_ctx = &third;
    FAILS(model_train(&m, NULL, &r.request), CONSM_ECANCEL, "stopped");
    r.request.resume = true;
    r.request.options.seed = 6;
    FAILS(model_train(&m, NULL, &r.request), CONSM_EINVAL, "had seed 5, this run has 6");
    r.request.options.seed = 5;
    r.request.options.config.lr = 0.25;
    FAILS(model_train(&m, NULL, &r.request), CONSM_EINVAL, "this run has 0.25");
    r.request.options.config.lr = 0.005;
    strcpy(r.roles.split, "paper");
    FAILS(model_train(&m, NULL, &r.request), CONSM_EINVAL, "had split random");
    strcpy(r.roles.split, "random");
    OK(model_find(&r.request.options.model, "mlp"));
    FAILS(model_train(&m, NULL, &r.request), CONSM_EINVAL, "had model gcn");
    run_close(&r);
}

static void broken_checkpoints_are_refused(void **state)
{
    (void)state;
    struct run r;
    struct consm_model *m;
    int64_t third = 3;
    char bytes[1 << 16];
    run_open(&r, "mlp");
    r.request.options.progress = stop_at;
    r.request.options.progress_ctx = &third;
    FAILS(model_train(&m, NULL, &r.request), CONSM_ECANCEL, "stopped");
    r.request.resume = true;
    FILE *f = fopen(path, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_true(size > 1000 && size < sizeof bytes);
    for (size_t cut = 0; cut < size; cut += 173) {
        f = fopen(path, "wb");
        fwrite(bytes, 1, cut, f);
        fclose(f);
        assert_true(model_train(&m, NULL, &r.request) < 0);
        assert_null(m);
        assert_non_null(strstr(consm_errmsg(), path));
    }
    run_close(&r);
}

/* A run of that model, interrupted at that epoch; the bytes of its checkpoint, which the caller
 * frees. */
static uint8_t *broken_run(struct run *r, const char *model, int64_t stop, size_t *size)
{
    struct consm_model *m;
    run_open(r, model);
    r->request.options.config.backbone = BACKBONE_GCN;
    r->request.options.config.grow = 12;
    r->request.options.config.grow_confidence = 0;
    r->request.options.progress = stop_at;
    r->request.options.progress_ctx = &stop;
    FAILS(model_train(&m, NULL, &r->request), CONSM_ECANCEL, "stopped");
    r->request.options.progress = NULL;
    r->request.resume = true;
    return file_bytes(path, size);
}

/* Fills one tensor, or its first bytes, seals the file again and resumes. */
static void resume_filled(struct run *r, const uint8_t *bytes, size_t size, const char *name,
                          int fill, size_t first, bool refused)
{
    struct consm_model *m;
    size_t count = 0;
    uint8_t *copy = malloc(size);
    memcpy(copy, bytes, size);
    uint8_t *tensor = tensor_in(copy, size, name, &count);
    if (!tensor)
        fail_msg("no tensor %s", name);
    memset(tensor, fill, first && first < count ? first : count);
    reseal(copy, size);
    file_put(path, copy, size);
    free(copy);
    consm_status st = model_train(&m, NULL, &r->request);
    if (refused && (st != CONSM_EFORMAT || !strstr(consm_errmsg(), path)))
        fail_msg("%s filled with %d: %d %s", name, fill, st, consm_errmsg());
    consm_model_free(m);
}

/* Checkpoints are hostile files: whoever can write one can seal it. GAM's list of labelled nodes,
 * its marks and its count must agree, otherwise growing it would write past the list's end. */
static void impossible_checkpoints_are_refused(void **state)
{
    (void)state;
    static const char *const gam[] = {
        "gam.place",      "gam.count",   "gam.labelled", "gam.label",       "gam.node",
        "gam.row_weight", "gam.weighed", "gam.w",        "agreement.steps", "agreement.random",
        "parameters",     "moment2",     "best"};
    static const char *const consm[] = {"consm.place",   "consm.w",        "consm.fork",
                                        "match.steps",   "match.sampled",  "match.next_ego",
                                        "match.moment2", "consm.constant", "moment1"};
    struct run r;
    size_t size;
    uint8_t *bytes = broken_run(&r, "gam", 9, &size);
    for (size_t i = 0; i < sizeof gam / sizeof *gam; i++)
        resume_filled(&r, bytes, size, gam[i], 0xff, 0, true);
    resume_filled(&r, bytes, size, "gam.labelled", 0, 0, true);
    resume_filled(&r, bytes, size, "gam.labelled", 1, 0, true);
    resume_filled(&r, bytes, size, "gam.count", 0, 0, true);
    resume_filled(&r, bytes, size, "gam.count", 90, 1, true); /* every node, on a list of fewer */
    resume_filled(&r, bytes, size, "gam.node", 0, 0, true);
    resume_filled(&r, bytes, size, "gam.place", 0x7f, 0, true);
    free(bytes);
    run_close(&r);
    bytes = broken_run(&r, "consm", 9, &size);
    for (size_t i = 0; i < sizeof consm / sizeof *consm; i++)
        resume_filled(&r, bytes, size, consm[i], 0xff, 0, true);
    resume_filled(&r, bytes, size, "consm.place", 0x7f, 0, true);
    resume_filled(&r, bytes, size, "match.sampled", 0x7f, 0, true);
    free(bytes);
    run_close(&r);
}

/* Interrupts a run in a stage; the bytes of its checkpoint, which the caller frees. */
static uint8_t *broken_in(struct run *r, enum stage stage, size_t *size)
{
    struct consm_model *m;
    struct counter c, all;
    all_stages(r, &all);
    int64_t first = 0;
    for (int i = 0; i < (int)stage; i++)
        first += all.heard[i];
    c = (struct counter){.stop = first + 5};
    r->request.options.progress_ctx = &c;
    FAILS(model_train(&m, NULL, &r->request), CONSM_ECANCEL, "stopped");
    r->request.options.progress = NULL;
    r->request.resume = true;
    return file_bytes(path, size);
}

/* The same for what a run stores while it compares arms, in a finalist's folds, and after its
 * rounds. */
static void impossible_stages_are_refused(void **state)
{
    (void)state;
    static const struct {
        enum stage stage;
        const char *name;
        int fill;
    } all[] = {{FOLD, "choice.fold.once", 0xff},
               {FOLD, "choice.fold.parameters", 0xff},
               {ROUND, "consm.tried", 0xff},
               {ROUND, "consm.tried", 0x7f},
               {ROUND, "consm.way0", 0xff},
               {ROUND, "curve", 0xff},
               {COURSE, "trail.leg.0.numbers", 0xff},
               {COURSE, "trail.leg.0.numbers", 0xbf}, /* negative second moments */
               {COURSE, "trail.leg.1", 0x7c},
               {COURSE, "trail.course.1.point", 0x7c},
               {COURSE, "trail.course.1.clean.dropped", 7},
               {COURSE, "trail.course.1.clean.best", 7},
               {COURSE, "trail.course.1.consm.place", 0x7f},
               {COURSE, "trail.course.1.match.steps", 0xff},
               {COURSE, "trail.course.1.consm.w", 0xff}};
    struct run r;
    struct consm_model *m;
    size_t size = 0, bytes = 0, cases = sizeof all / sizeof *all;
    uint8_t *good = NULL, *bad, *at;
    for (size_t i = 0; i < cases; i++) {
        if (i == 0 || all[i].stage != all[i - 1].stage)
            good = broken_in(&r, all[i].stage, &size);
        bad = malloc(size);
        memcpy(bad, good, size);
        at = tensor_in(bad, size, all[i].name, &bytes);
        if (!at)
            fail_msg("no tensor %s", all[i].name);
        if (strcmp(all[i].name, "trail.leg.1") == 0)
            bytes = sizeof(int64_t); /* its steps alone */
        memset(at, all[i].fill, bytes);
        reseal(bad, size);
        file_put(path, bad, size);
        free(bad);
        consm_status st = model_train(&m, NULL, &r.request);
        if (st != CONSM_EFORMAT)
            fail_msg("%s filled with %d: %d %s", all[i].name, all[i].fill, st, consm_errmsg());
        if (i + 1 == cases || all[i].stage != all[i + 1].stage) {
            free(good);
            run_close(&r);
        }
    }
}

/* The stored comparison and its candidates' numbers are checked before use: no list is too long,
 * and no memory is allocated that the file does not fill. */
static void impossible_choices_are_refused(void **state)
{
    (void)state;
    struct run r;
    struct consm_model *m;
    struct ear e = {.stop = 60};
    struct choice_place place;
    size_t size = 0, bytes = 0;
    run_of_candidates(&r, &e);
    FAILS(model_train(&m, NULL, &r.request), CONSM_ECANCEL, "choice of the backbone");
    r.request.resume = true;
    r.request.options.progress = NULL;
    uint8_t *good = file_bytes(path, &size);
    resume_filled(&r, good, size, "choice.place", 0xff, 0, true);
    resume_filled(&r, good, size, "choice.place", 0x7f, 0, true);
    resume_filled(&r, good, size, "choice.place", 0, 0, true);
    resume_filled(&r, good, size, "choice.0.parameters", 0xff, 0, true);
    resume_filled(&r, good, size, "choice.1.moment2", 0xbf, 0, true); /* negative */
    uint8_t *at = tensor_in(good, size, "choice.place", &bytes);
    assert_non_null(at);
    assert_int_equal(bytes, sizeof place);
    for (int kind = 0; kind < 17; kind++) {
        uint8_t *bad = malloc(size);
        memcpy(bad, good, size);
        memcpy(&place, at, sizeof place);
        switch (kind) {
        case 0: place.rung = 99; break;
        case 1: place.next = place.count + 1; break;
        case 2: place.count = TRAIN_MOST_CANDIDATES + 1; break;
        case 3: place.entered++; break;
        case 4: place.trial[0].number = place.trial[1].number; break;
        case 5: place.trial[0].number = 1 << 20; break;
        case 6: place.trial[0].size++; break;
        case 7: place.trial[0].size = INT64_MAX / 4; break;
        case 8: place.trial[0].val = (double)NAN; break;
        case 9: place.trial[0].best_step = place.trial[0].steps + 1; break;
        case 10: place.trial[0].steps = INT64_MAX; break;
        case 11: place.over = 1; break; /* yet candidates still have numbers */
        case 12: place.trees_over = 2; break;
        case 13: place.trees_rounds = 1; break; /* of trees that are not there */
        case 14: place.trees_nodes = place.trees_rounds = INT64_MAX / 64; break;
        case 15: place.trees_val = (double)NAN; break;
        case 16: place.replaced = 2; break;
        }
        memcpy(bad + (at - good), &place, sizeof place);
        reseal(bad, size);
        file_put(path, bad, size);
        consm_status st = model_train(&m, NULL, &r.request);
        if (st != CONSM_EFORMAT || !strstr(consm_errmsg(), path))
            fail_msg("kind %d: %d %s", kind, st, consm_errmsg());
        free(bad);
    }
    /* Another network's numbers: two candidates are swapped. */
    memcpy(&place, at, sizeof place);
    int64_t first = place.trial[0].number;
    for (int64_t i = 1; i < place.count; i++) {
        if (place.trial[i].size == place.trial[0].size || place.trial[i].size == 0)
            continue;
        place.trial[0].number = place.trial[i].number;
        place.trial[i].number = first;
        break;
    }
    assert_true(place.trial[0].number != first);
    memcpy(at, &place, sizeof place);
    reseal(good, size);
    file_put(path, good, size);
    FAILS(model_train(&m, NULL, &r.request), CONSM_EFORMAT, "parameters of a candidate");
    free(good);
    run_close(&r);
}

/* The same options may still draw other roles, and another processor computes other bits. */
static void another_split_or_machine_is_refused(void **state)
{
    (void)state;
    struct run r;
    struct consm_model *m;
    size_t size;
    uint8_t *bytes = broken_run(&r, "gcn", 3, &size);
    roles_free(&r.roles);
    OK(roles_make(&r.roles, r.data->data, "random", 0, &(struct split_options){.per_class = 5}));
    FAILS(model_train(&m, NULL, &r.request), CONSM_EINVAL,
          "different training, validation or test nodes");
    roles_free(&r.roles);
    OK(roles_make(&r.roles, r.data->data, "random", 0, &(struct split_options){.per_class = 10}));
    char *at = memmem(bytes, size, "\"instructions\":\"cpu ", 20);
    assert_non_null(at);
    at[20] ^= 1;
    reseal(bytes, size);
    file_put(path, bytes, size);
    FAILS(model_train(&m, NULL, &r.request), CONSM_EINVAL, "had instructions");
    at[20] ^= 1;
    reseal(bytes, size);
    file_put(path, bytes, size);
    OK(model_train(&m, NULL, &r.request));
    consm_model_free(m);
    file_put(path, bytes, size);
    r.data->data->label[0] ^= 1;
    FAILS(model_train(&m, NULL, &r.request), CONSM_EINVAL, "a different graph");
    free(bytes);
    run_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_break_changes_nothing),
        cmocka_unit_test(consm_goes_on_after_its_choices),
        cmocka_unit_test(the_tournament_is_kept),
        cmocka_unit_test(the_student_is_kept),
        cmocka_unit_test(the_tournament_is_written_regularly),
        cmocka_unit_test(nothing_is_trained_twice),
        cmocka_unit_test(folds_of_a_threshold_are_kept),
        cmocka_unit_test(votes_survive_a_break),
        cmocka_unit_test(a_run_in_many_pieces_is_one_run),
        cmocka_unit_test(choices_can_be_named),
        cmocka_unit_test(consm_goes_on_with_its_messages),
        cmocka_unit_test(other_runs_are_refused),
        cmocka_unit_test(broken_checkpoints_are_refused),
        cmocka_unit_test(impossible_checkpoints_are_refused),
        cmocka_unit_test(impossible_stages_are_refused),
        cmocka_unit_test(impossible_choices_are_refused),
        cmocka_unit_test(another_split_or_machine_is_refused),
    };
    snprintf(path, sizeof path, "%s/consm-checkpoint-%ld.safetensors",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, free_uninterrupted);
}
