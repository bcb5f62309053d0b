/* Chooses the probability from which a class is predicted. Validation chooses it. If fewer than ten
 * nodes of the class validate, cross-validation over all labels does (train/folds.h), which also
 * uses the class's training labels. */
#include "app/objects.h"
#include "app/rare.h"
#include "train/folds.h"

#include <string.h>

/* Blocks of a session's trail: the logits of the folds, so that a resumed run does not train them
 * again, and the state of folds that are not finished. */
#define LOGITS "fold.threshold.logits"
#define COURSE "fold.course"

/* The plain network of a model, which cross-validation can train; NULL: there is none. */
static const struct model_def *network_of(const struct consm_model *m)
{
    const struct procedure *procedure = NULL;
    struct train_options options = {.config = m->config};
    if (m->trees)
        return NULL;
    options.model = model_equations(m);
    if (procedure_find(&procedure, &options) < 0 || procedure)
        return NULL;
    return options.model;
}

/* Whether cross-validation can train all parts of the model. */
static bool can_fold(const struct consm_model *m)
{
    bool can = true;
    for (int64_t i = 0; i < model_parts(m); i++)
        can = can && network_of(model_part(m, i));
    return can;
}

static int64_t positives_of(const struct judge *j, int32_t class_index)
{
    int64_t count = 0;
    for (int64_t k = 0; k < j->rows; k++)
        count += j->label[k] == class_index;
    return count;
}

/* Folds that are trained after a session, and where they are. */
struct folding {
    struct session *s; /* NULL: of several parts, which cannot be resumed */
    const struct train_options *o;
    struct folds *f;
    struct folds_course course;
    int64_t unsaved; /* updates since the last checkpoint */
};

/* Resumes the folds from a checkpoint. */
static consm_status take_course(struct folding *g)
{
    consm_status st = CONSM_OK;
    const struct trail *t = &g->s->trail;
    struct folds *f = g->f;
    size_t bytes = (size_t)(f->judge.rows * f->judge.classes) * sizeof *f->logits;
    const float *once = trail_find(t, COURSE ".once", bytes);
    const float *logits = trail_find(t, COURSE ".logits", bytes);
    int64_t place = 0;
    bool found;
    TRY(trail_take_snapshot(&found, &g->course.at, t, COURSE, &place));
    if (!found)
        return CONSM_OK;
    if (!once || !logits || place < 0 || place >= f->repeats * FOLDS)
        TRY(status_fail(CONSM_EFORMAT, "the checkpoint contains invalid folds"));
    memcpy(f->once, once, bytes);
    memcpy(f->logits, logits, bytes);
    g->course.repeat = place / FOLDS;
    g->course.fold = place % FOLDS;
done:
    return st;
}

static consm_status note_course(struct folding *g, struct session *network)
{
    consm_status st = CONSM_OK;
    struct trail *t = &g->s->trail;
    struct folds *f = g->f;
    size_t bytes = (size_t)(f->judge.rows * f->judge.classes) * sizeof *f->logits;
    TRY(trail_put_learner(t, COURSE, &network->learner, g->course.repeat * FOLDS + g->course.fold));
    TRY(trail_put(t, COURSE ".once", f->once, bytes));
    TRY(trail_put(t, COURSE ".logits", f->logits, bytes));
done:
    return st;
}

/* After every update: progress, and a checkpoint when one is due or the run is to stop. */
static consm_status hear(void *ctx, struct session *network)
{
    consm_status st = CONSM_OK;
    struct folding *g = ctx;
    const struct train_options *o = g->o;
    struct progress heard = {.seed = o->seed, .best_val = -1, .fraction = 1};
    bool stop = network->ranks->total(o->progress && o->progress(o->progress_ctx, &heard)) != 0;
    bool due = o->checkpoint_every > 0 && ++g->unsaved >= o->checkpoint_every;
    if (o->checkpoint && g->s && g->s->trail.based && (stop || due)) {
        g->unsaved = 0;
        TRY(note_course(g, network));
        TRY(o->checkpoint(o->checkpoint_ctx, g->s));
    }
    if (stop)
        TRY(status_fail(CONSM_ECANCEL, "stopped during the choice of the threshold"));
done:
    return st;
}

/* Fills the folds' logits: by training, or from the session's trail. */
static consm_status fill_folds(struct folds *f, const struct consm_model *m,
                               const struct training_request *r, struct backend *backend)
{
    consm_status st = CONSM_OK;
    struct session *s = r->session;
    struct folding g = {.s = s, .o = s ? &s->options : &r->options, .f = f};
    struct train_options options = {.model = network_of(m),
                                    .config = m->config,
                                    .seed = m->result.seed,
                                    .positive = m->positive,
                                    .context = &r->custom};
    size_t bytes = (size_t)(f->judge.rows * f->judge.classes) * sizeof *f->logits;
    const float *known = s ? trail_find(&s->trail, LOGITS, bytes) : NULL;
    double score;
    if (known) {
        memcpy(f->logits, known, bytes);
        return CONSM_OK;
    }
    if (s)
        TRY(take_course(&g));
    TRY(folds_run(&score, f, &options, m->result.lengths.updates[0], backend, &g.course, hear, &g));
    if (s)
        TRY(trail_put(&s->trail, LOGITS, f->logits, bytes));
done:
    snapshot_free(&g.course.at);
    return st;
}

/* The same of several parts: their folds, mixed as their predictions are. */
static consm_status fill_parts(struct folds *f, const struct consm_model *m,
                               const struct training_request *r, struct backend *backend)
{
    consm_status st = CONSM_OK;
    struct training_request request = *r;
    int32_t c = f->judge.classes;
    int64_t rows = f->judge.rows;
    double *mean = NULL;
    float *probability = NULL;
    request.session = NULL; /* its trail has room for one part's folds */
    TRY(ZNEW(mean, rows * c));
    TRY(NEW(probability, c));
    for (int64_t i = 0; i < model_parts(m); i++) {
        const struct consm_model *part = model_part(m, i);
        TRY(fill_folds(f, part, &request, backend));
        for (int64_t k = 0; k < rows; k++)
            model_mix(mean + k * c, probability, m, part, f->logits + k * c, c);
    }
    model_mixed(f->logits, mean, rows * c);
done:
    mem_free(mean);
    mem_free(probability);
    return st;
}

static consm_status by_folds(struct consm_model *m, const struct training_request *r,
                             const struct problem *problem, struct backend *backend)
{
    consm_status st = CONSM_OK;
    const struct judge judge = {.metric = m->config.metric, .positive = m->positive - 1};
    struct folds f = {0};
    uint8_t *role = NULL;
    TRY(folds_open(&f, problem, &judge, m->result.seed, model_mixes(m)));
    TRY(model_mixes(m) ? fill_parts(&f, m, r, backend) : fill_folds(&f, m, r, backend));
    TRY(ZNEW(role, f.judge.rows));
    model_probabilities(f.once, m, f.logits, f.judge.rows);
    struct predicted p = {.probability = f.once,
                          .label = f.judge.label,
                          .role = role,
                          .nodes = f.judge.rows,
                          .classes = problem->classes};
    TRY(metrics_threshold(&m->decision, &p, r->threshold_for - 1, r->at_precision, r->at_recall));
    m->decision.folds = FOLDS;
    m->decision.positives = positives_of(&f.judge, r->threshold_for - 1);
done:
    mem_free(role);
    folds_close(&f);
    return st;
}

consm_status model_threshold(struct consm_model *m, const struct training_request *r,
                             const struct problem *problem, const struct predicted *validation,
                             struct backend *backend)
{
    int64_t positives = 0, labels = 0;
    for (int64_t i = 0; i < problem->nodes; i++)
        if (problem->label[i] == r->threshold_for - 1) {
            positives += problem->role[i] == SPLIT_VAL;
            labels += problem->role[i] == SPLIT_VAL || problem->role[i] == SPLIT_TRAIN;
        }
    /* With one or two labels a fold would train without any. */
    if (can_fold(m) && m->config.folds != FOLDS_NO && positives < RARE_FEW && labels >= 3 &&
        folds_apply(problem, -1, true))
        return by_folds(m, r, problem, backend);
    return metrics_threshold(&m->decision, validation, r->threshold_for - 1, r->at_precision,
                             r->at_recall);
}
