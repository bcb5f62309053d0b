/* Trains an ensemble: independent runs with their own seeds, side by side. Each keeps its
 * parameters and its validation predictions. Then validation chooses (train/ensemble.h), the others
 * are freed, and the chosen members predict the test nodes once. */
#include "app/objects.h"
#include "base/clock.h"
#include "train/forest.h"
#include "train/session.h"

#include <string.h>

/* A trained member, until it is chosen or freed. */
struct entry {
    struct consm_model *model;
    float *probability; /* (rows, c) of the validation nodes, calibrated */
};

struct gathering;

/* The results of one run. */
struct run {
    struct gathering *of;
    int64_t number;
    struct train_result result;
    struct entry own, *candidate;
    size_t candidates, capacity;
};

struct gathering {
    const struct training_request *request;
    struct problem problem;
    struct judge judge; /* with the validation nodes and their classes */
    struct run *run;    /* (request->ensemble) */
};

static void entry_free(struct entry *e)
{
    consm_model_free(e->model);
    mem_free(e->probability);
}

static void gathering_free(struct gathering *g)
{
    for (int64_t k = 0; g->run && k < g->request->ensemble; k++) {
        entry_free(&g->run[k].own);
        for (size_t i = 0; i < g->run[k].candidates; i++)
            entry_free(&g->run[k].candidate[i]);
        mem_free(g->run[k].candidate);
    }
    mem_free(g->run);
    judge_close(&g->judge);
}

static consm_status gathering_open(struct gathering *g, const struct training_request *request)
{
    consm_status st = CONSM_OK;
    g->request = request;
    g->problem = prepare_problem(request->prepared, request->roles->role);
    TRY(judge_open(&g->judge, &g->problem, request->options.config.metric,
                   request->options.positive - 1));
    TRY(ZNEW(g->run, request->ensemble));
    for (int64_t k = 0; k < request->ensemble; k++) {
        g->run[k].of = g;
        g->run[k].number = k;
    }
done:
    return st;
}

/* ---- the runs ------------------------------------------------------------ */

/* Each member is calibrated separately, so that over- or underconfident members do not get too much
 * weight. */
static consm_status enter(struct entry *to, const struct gathering *g, struct session *s,
                          struct custom custom)
{
    consm_status st = CONSM_OK;
    const struct problem *p = &g->problem;
    const float *logits;
    TRY(model_of_session(&to->model, s, custom));
    TRY(session_answers(&logits, s));
    struct predicted val = {logits, p->label, p->role, SPLIT_VAL, p->nodes, p->classes, NULL};
    to->model->temperature = metrics_temperature(&val);
    TRY(NEW(to->probability, g->judge.rows * p->classes));
    for (int64_t i = 0; i < g->judge.rows; i++)
        metrics_softmax(to->probability + i * p->classes, logits + g->judge.node[i] * p->classes,
                        to->model->temperature, 1, p->classes);
done:
    return st;
}

static consm_status finished(void *ctx, struct session *s, const struct train_result *result)
{
    struct run *run = ctx;
    run->result = *result;
    return enter(&run->own, run->of, s, run->of->request->custom);
}

/* A candidate that the run tried is also a member. */
static consm_status take_candidate(void *ctx, struct session *trained)
{
    consm_status st = CONSM_OK;
    struct run *run = ctx;
    TRY(GROW(run->candidate, run->candidates, run->capacity, 1));
    struct entry *to = &run->candidate[run->candidates++];
    *to = (struct entry){0};
    TRY(enter(to, run->of, trained, (struct custom){0}));
done:
    return st;
}

static bool tell_member(void *ctx, const struct progress *progress)
{
    const struct run *run = ctx;
    const struct train_options *o = &run->of->request->options;
    struct progress told = *progress;
    told.seed = o->seed; /* of the whole ensemble */
    told.member = run->number + 1;
    told.members = run->of->request->ensemble;
    return o->progress(o->progress_ctx, &told);
}

static consm_status take_trees(void *ctx, struct session *s, const struct train_result *result)
{
    (void)result;
    return take_candidate(ctx, s);
}

/* Trains boosted trees with the same seed as one more candidate. They come first, so that a missing
 * plug-in is reported at once. */
static consm_status train_trees(struct run *run, const struct training_request *member)
{
    consm_status st = CONSM_OK;
    struct training_request request = *member;
    const struct config *from = &member->options.config;
    TRY(trees_beside(&request.options.model, &request.options.config, from));
    request.options.config.time_budget = from->time_budget;
    request.custom = (struct custom){0};
    request.options.progress = NULL; /* it counts the epochs of the run itself */
    TRY(model_run(&request, take_trees, run));
done:
    return st;
}

static consm_status train_member(void *ctx, int64_t number, int threads)
{
    consm_status st = CONSM_OK;
    struct gathering *g = ctx;
    struct run *run = &g->run[number];
    struct training_request request = *g->request;
    const struct train_options *o = &g->request->options;
    request.options.seed = ensemble_seed(g->request->options.seed, number);
    request.options.offer = take_candidate;
    request.options.offer_ctx = run;
    request.threads = threads;
    request.checkpoint = NULL;
    request.resume = false;
    if (request.options.progress) {
        request.options.progress = tell_member;
        request.options.progress_ctx = run;
    }
    if (o->config.with_trees == WITH_TREES_YES && !options_race_trees(o->model, &o->config))
        TRY(train_trees(run, &request));
    TRY(model_run(&request, finished, run));
done:
    return st;
}

/* ---- the choice ---------------------------------------------------------- */

static bool same_configuration(const struct consm_model *a, const struct consm_model *b)
{
    char x[32], y[32];
    if (strcmp(a->def->name, b->def->name) != 0)
        return false;
    for (const struct config_row *row = config_rows(); row->name; row++)
        if (strcmp(config_text(&a->config, row, x), config_text(&b->config, row, y)) != 0)
            return false;
    return true;
}

/* All members: the finished runs, then every run's candidates. */
struct lineup {
    struct ensemble_pool pool;
    struct entry **entry; /* (members) */
    const float **probability;
    int32_t *group;
    int64_t *picks;
};

static void lineup_free(struct lineup *l)
{
    mem_free(l->entry);
    mem_free(l->probability);
    mem_free(l->group);
    mem_free(l->picks);
}

/* Finished runs belong to one group, whatever each chose. Candidates belong to one group if all
 * their parameters are equal. */
static void group_members(struct lineup *l)
{
    int32_t groups = 1;
    for (int64_t m = 0; m < l->pool.members; m++) {
        l->group[m] = 0;
        if (m < l->pool.runs)
            continue;
        l->group[m] = groups;
        for (int64_t other = l->pool.runs; other < m && l->group[m] == groups; other++)
            if (same_configuration(l->entry[m]->model, l->entry[other]->model))
                l->group[m] = l->group[other];
        groups += l->group[m] == groups;
    }
}

static consm_status line_up(struct lineup *l, struct gathering *g)
{
    consm_status st = CONSM_OK;
    int64_t runs = g->request->ensemble, members = runs;
    for (int64_t k = 0; k < runs; k++)
        members += (int64_t)g->run[k].candidates;
    TRY(NEW(l->entry, members));
    TRY(NEW(l->probability, members));
    TRY(NEW(l->group, members));
    TRY(NEW(l->picks, members));
    members = runs;
    for (int64_t k = 0; k < runs; k++) {
        l->entry[k] = &g->run[k].own;
        for (size_t i = 0; i < g->run[k].candidates; i++)
            l->entry[members++] = &g->run[k].candidate[i];
    }
    for (int64_t m = 0; m < members; m++)
        l->probability[m] = l->entry[m]->probability;
    l->pool = (struct ensemble_pool){.members = members,
                                     .runs = runs,
                                     .rows = g->judge.rows,
                                     .classes = g->problem.classes,
                                     .probability = l->probability,
                                     .label = g->judge.label,
                                     .judge = &g->judge,
                                     .group = l->group};
    group_members(l);
done:
    return st;
}

/* ---- the model ----------------------------------------------------------- */

/* Takes the winner's members out of the lineup; a single finished run becomes a plain model. */
static consm_status assemble(struct consm_model **out, struct lineup *l,
                             const struct ensemble_choice *choice,
                             const struct training_request *request)
{
    consm_status st = CONSM_OK;
    struct consm_model *m;
    int64_t picked = 0, last = 0;
    for (int64_t i = 0; i < l->pool.members; i++)
        if (l->picks[i]) {
            picked++;
            last = i;
        }
    if (picked == 1 && last < l->pool.runs) {
        *out = l->entry[last]->model;
        l->entry[last]->model = NULL;
    } else {
        TRY(ZNEW(*out, 1));
        m = *out;
        model_define(m, request->options.model, request->custom);
        m->config = request->options.config;
        TRY(ZNEW(m->member, picked));
        for (int64_t i = 0; i < l->pool.members; i++)
            if (l->picks[i]) {
                l->entry[i]->model->picks = l->picks[i];
                m->member[m->members++] = l->entry[i]->model;
                l->entry[i]->model = NULL;
            }
        m->result.seed = request->options.seed;
    }
    (*out)->ensemble =
        (struct ensemble_facts){request->ensemble, l->pool.members, picked, choice->rule};
done:
    return st;
}

static bool has_trees(const struct consm_model *m)
{
    bool trees = false;
    for (int64_t i = 0; i < m->members; i++)
        trees = trees || !model_predicts(m->member[i])->def->build;
    return trees;
}

/* Figures of the whole ensemble: all its epochs, the mean of its runs' medians, the parameters of
 * the chosen members. */
static void sum_up(struct consm_model *m, const struct gathering *g, int64_t best, double seconds,
                   const float *logits)
{
    int64_t runs = g->request->ensemble;
    struct train_result sum = {
        .seed = m->result.seed, .seconds = seconds, .lengths = m->result.lengths};
    for (int64_t k = 0; k < runs; k++) {
        const struct train_result *r = &g->run[k].result;
        sum.epochs += r->epochs;
        sum.train_ms += r->train_ms / (double)runs;
        sum.eval_ms += r->eval_ms / (double)runs;
    }
    sum.best_epoch = g->run[best].result.best_epoch;
    sum.loss = g->run[best].result.loss;
    sum.match = g->run[best].result.match;
    memcpy(sum.device, g->run[best].result.device, sizeof sum.device);
    sum.val_acc = accuracy(logits, &g->problem, SPLIT_VAL);
    sum.val_score = judge_score(&g->judge, logits, false);
    m->config.metric = g->judge.metric;
    if (m->config.with_trees == WITH_TREES_AUTO)
        m->config.with_trees = has_trees(m) ? WITH_TREES_YES : WITH_TREES_NO;
    m->positive = g->judge.positive + 1;
    sum.test_acc = accuracy(logits, &g->problem, SPLIT_TEST);
    sum.params = m->trained;
    for (int64_t i = 0; i < m->members; i++)
        sum.params += m->member[i]->trained;
    m->result = sum;
}

static consm_status choose(struct consm_model **out, struct consm_prediction **prediction,
                           struct gathering *g, double begin)
{
    consm_status st = CONSM_OK;
    const struct training_request *request = g->request;
    struct lineup lineup = {0};
    struct ensemble_choice choice;
    struct backend *backend = NULL;
    float *logits = NULL;
    TRY(line_up(&lineup, g));
    TRY(ensemble_choose(&choice, lineup.picks, &lineup.pool));
    TRY(assemble(out, &lineup, &choice, request));
    TRY(prepare_backend(&backend, request->prepared, request->options.device, request->threads));
    TRY(model_logits(&logits, *out, &g->problem, backend));
    sum_up(*out, g, choice.best, clock_seconds() - begin, logits);
    TRY(model_complete(*out, request, &g->problem, logits, backend));
    if (prediction)
        TRY(model_prediction(prediction, *out, &g->problem, logits));
done:
    mem_free(logits);
    backend_close(backend);
    lineup_free(&lineup);
    return st;
}

consm_status model_train_ensemble(struct consm_model **out, struct consm_prediction **prediction,
                                  const struct training_request *request)
{
    consm_status st = CONSM_OK;
    struct gathering g = {0};
    double begin = clock_seconds();
    /* Ranks train each run together, in one order. */
    int jobs = request->prepared->ranks->size > 1 ? 1 : request->jobs;
    TRY(gathering_open(&g, request));
    TRY(train_batch(&(struct batch){request->ensemble, jobs, request->threads, train_member, &g}));
    TRY(choose(out, prediction, &g, begin));
done:
    gathering_free(&g);
    return st;
}
