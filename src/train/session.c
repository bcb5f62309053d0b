/* Builds a session: programs over one parameter store, to train and to evaluate, and the
 * optimiser's state. */
#include "train/session.h"
#include "base/clock.h"
#include "train/metrics.h"
#include "train/supervised.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static consm_status collect_labelled(struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *problem = s->problem;
    int32_t *rows = NULL;
    int64_t count = 0;
    TRY(NEW(rows, problem->nodes));
    for (int64_t i = 0; i < problem->nodes; i++) {
        if (problem->role[i] == SPLIT_TRAIN && problem->label[i] >= 0)
            rows[count++] = (int32_t)i;
        s->validation += problem->role[i] == SPLIT_VAL && problem->label[i] >= 0;
    }
    if (count == 0)
        TRY(status_fail(CONSM_EINVAL, "there is no labelled node for training"));
    TRY(index_new(&s->labelled, count, problem->nodes));
    TRY(index_set(s->labelled, rows));
done:
    mem_free(rows);
    return st;
}

/* In a graph in parts a rank reads the logits of its own nodes and of those that validate or are
 * measured. */
static consm_status collect_known(struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *problem = s->problem;
    if (!problem->graph->partition)
        return CONSM_OK;
    for (int64_t i = 0; i < problem->nodes; i++)
        s->knowns += problem_known(problem, i);
    TRY(NEW(s->known, s->knowns + 1));
    for (int64_t i = 0, k = 0; i < problem->nodes; i++)
        if (problem_known(problem, i))
            s->known[k++] = (int32_t)i;
done:
    return st;
}

/* All classes have equal total weight: weight_k = rows / (classes · rows of k). */
static consm_status balance_classes(struct session *s)
{
    consm_status st = CONSM_OK;
    const struct index *rows = s->labelled;
    const int32_t *label = s->problem->label;
    int64_t *count = NULL, present = 0;
    if (s->options.config.class_weights != CLASS_WEIGHTS_BALANCED)
        return CONSM_OK;
    TRY(ZNEW(count, s->problem->classes));
    TRY(NEW(s->row_weight, rows->count));
    for (int64_t k = 0; k < rows->count; k++)
        present += count[label[rows->row[k]]]++ == 0;
    for (int64_t k = 0; k < rows->count; k++)
        s->row_weight[k] =
            (float)((double)rows->count / ((double)present * (double)count[label[rows->row[k]]]));
done:
    mem_free(count);
    return st;
}

struct inputs session_inputs(struct session *s, struct program *p)
{
    const struct problem *problem = s->problem;
    return (struct inputs){.x = session_features(s, p),
                           .nodes = problem->nodes,
                           .features = problem->features,
                           .classes = problem->classes,
                           .views = problem->views,
                           .context = s->options.context};
}

consm_status session_record(struct session *s, struct program **out, node *logits, bool training)
{
    consm_status st = CONSM_OK;
    TRY(program_new(out, s->learner.params, training));
    if (s->options.model->build) {
        struct inputs in = session_inputs(s, *out);
        *logits = s->options.model->build(*out, &in, &s->options.config);
    } else {
        *logits = s->procedure->logits(s, *out);
    }
    *logits = program_name(*out, *logits, "logits");
done:
    return st;
}

consm_status session_record_eval(struct session *s)
{
    consm_status st = CONSM_OK;
    struct learner *l = &s->learner;
    ahead_close(s);
    validator_close(s);
    program_free(l->eval);
    l->eval = NULL;
    TRY(session_record(s, &l->eval, &s->logits, false));
    program_keep(l->eval, s->logits);
    TRY(program_check(l->eval));
    TRY(s->options.parts_only ? params_allocate(l->params, s->backend, PLACE_VALUE)
                              : program_compile(l->eval, s->backend));
done:
    return st;
}

consm_status session_embedding(float **out, int64_t *width, struct session *s)
{
    consm_status st = CONSM_OK;
    struct program *p = NULL;
    const float *value;
    node logits;
    *out = NULL;
    ahead_close(s);
    TRY(session_record(s, &p, &logits, false));
    node x = program_before(p, logits);
    program_keep(p, x);
    TRY(program_compile(p, s->backend));
    TRY(learner_run(&s->learner, p));
    TRY(learner_read(&value, &s->learner, p, x));
    *width = program_cols(p, x);
    size_t count = (size_t)(s->problem->nodes * *width);
    TRY(NEW(*out, count));
    memcpy(*out, value, count * sizeof *value);
done:
    program_free(p);
    return st;
}

/* A training program with or without the procedure's extra loss. */
static consm_status record_train(struct session *s, struct lesson *out, bool extra)
{
    consm_status st = CONSM_OK;
    const struct config *c = &s->options.config;
    struct program *p = NULL;
    node logits;
    TRY(session_record(s, &p, &logits, true));
    node loss =
        supervised_loss(p, logits, s->problem->classes, s->labelled, s->target, s->row_weight);
    if (extra)
        loss = s->procedure->loss(s, p, loss, logits);
    TRY(learner_lesson(&s->learner, out, p, loss, c->lr, c->weight_decay));
done:
    return st;
}

static consm_status build_programs(struct session *s)
{
    consm_status st = CONSM_OK;
    bool extra = s->procedure && s->procedure->loss;
    s->learner.params->limit = s->options.most_params;
    if (s->options.eval_only || !s->options.model->build)
        return session_record_eval(s);
    TRY(record_train(s, &s->learner.train, extra));
    if (extra && s->procedure->plain_phase)
        TRY(record_train(s, &s->plain, false));
    TRY(session_record_eval(s));
done:
    return st;
}

void session_drop_programs(struct session *s)
{
    ahead_close(s);
    validator_close(s);
    lesson_free(&s->plain);
    lesson_free(&s->learner.train);
    program_free(s->learner.eval);
    s->learner.eval = NULL;
}

consm_status session_need_programs(struct session *s)
{
    return s->learner.eval ? CONSM_OK : build_programs(s);
}

/* Programs, their names for messages, drawn parameters. */
static consm_status start(struct session *s)
{
    consm_status st = CONSM_OK;
    TRY(build_programs(s));
    snprintf(s->what, sizeof s->what, "%s: the loss", s->options.model->name);
    s->learner.what = s->what;
    s->learner.unit = "epoch";
    s->learner.advice = "try a smaller learning rate";
    if (!s->options.eval_only) /* else all parameters are set next */
        TRY(learner_start(&s->learner, s->options.seed, true));
    if (s->options.begin)
        TRY(s->options.begin(s->options.begin_ctx, s->learner.params));
done:
    return st;
}

consm_status session_rebuild(struct session *s, bool features,
                             consm_status (*declare)(struct session *s))
{
    consm_status st = CONSM_OK;
    ahead_close(s);
    validator_close(s);
    lesson_free(&s->plain);
    learner_close(&s->learner);
    TRY(learner_open(&s->learner, s->backend, s->options.seed));
    s->learner.best = -1;
    TRY(declare(s));
    if (features) {
        session_free_features(s);
        TRY(session_prepare_features(s));
    }
    TRY(start(s));
done:
    return st;
}

/* Share of a run's time for training; the rest is for metrics and scoring edges. */
static const double TRAINING_SHARE = 0.8;

bool session_late(const struct session *s)
{
    return s->deadline > 0 && !session_ahead(s) &&
           s->ranks->first(clock_seconds() >= s->deadline) != 0;
}

consm_status session_new(struct session **out, const struct problem *problem,
                         const struct train_options *options, struct backend *backend)
{
    consm_status st = CONSM_OK;
    struct session *s = NULL;
    *out = NULL;
    TRY(session_agree(problem, options, backend_ranks(backend)));
    TRY(ZNEW(s, 1));
    s->problem = problem;
    s->options = *options;
    s->backend = backend;
    s->ranks = backend_ranks(backend);
    if (options->config.time_budget > 0)
        s->deadline = clock_seconds() + TRAINING_SHARE * options->config.time_budget;
    if (!options->eval_only) {
        TRY(collect_labelled(s));
        TRY(balance_classes(s));
        TRY(judge_open(&s->judge, problem, options->config.metric, options->positive - 1));
        TRY(judge_with_team(&s->judge, backend->host));
        s->options.config.metric = s->judge.metric;
        s->options.positive = s->judge.positive + 1;
    }
    TRY(collect_known(s));
    s->target = problem->label;
    TRY(learner_open(&s->learner, backend, options->seed));
    s->learner.best = -1;
    TRY(procedure_find(&s->procedure, options));
    if (s->procedure && problem->graph->partition && !s->procedure->parts)
        TRY(status_fail(CONSM_EINVAL,
                        "%s needs the whole graph, but this one is in parts: omit --in-parts, or "
                        "train on graph.safetensors from its folder",
                        s->procedure->model));
    if (s->procedure && s->procedure->open)
        TRY(s->procedure->open(s));
    if (!options->parts_only)
        TRY(session_prepare_features(s));
    if (s->labelled)
        s->labelled->fixed = s->target == problem->label;
    TRY(start(s));
    if (options->eval_only) {
        *out = s;
        return CONSM_OK;
    }
    s->time_room = options->config.epochs;
    TRY(NEW(s->train_time, s->time_room));
    TRY(NEW(s->eval_time, s->time_room));
    *out = s;
    return CONSM_OK;
done:
    session_free(s);
    return st;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    if (s->procedure && s->procedure->close)
        s->procedure->close(s);
    choice_free(s->choice);
    trail_free(&s->trail);
    ahead_close(s);
    validator_close(s);
    lesson_free(&s->plain);
    learner_close(&s->learner);
    judge_close(&s->judge);
    index_free(s->labelled);
    mem_free(s->row_weight);
    mem_free(s->known);
    session_free_features(s);
    mem_free(s->train_time);
    mem_free(s->eval_time);
    mem_free(s);
}

/* The state of a program's operations; none if there is no program. */
static consm_status see_program(struct program *p, const char *prefix, memory_fn see, void *ctx)
{
    consm_status st = CONSM_OK;
    char name[32];
    for (int i = 0; p; i++) {
        size_t bytes;
        void *block;
        TRY(program_memory(&block, p, i, &bytes));
        if (!block)
            break;
        snprintf(name, sizeof name, "%s.%d", prefix, i);
        see(ctx, name, block, bytes);
    }
done:
    return st;
}

consm_status session_memory(struct session *s, memory_fn see, void *ctx)
{
    consm_status st = CONSM_OK;
    TRY(learner_memory(&s->learner, "", see, ctx));
    see(ctx, "lengths", &s->lengths, sizeof s->lengths);
    TRY(see_program(s->learner.train.program, "train", see, ctx));
    TRY(see_program(s->learner.eval, "eval", see, ctx));
    if (s->procedure && s->procedure->place)
        TRY(s->procedure->place(s, see, ctx));
    if (s->procedure && s->procedure->memory)
        TRY(s->procedure->memory(s, see, ctx));
done:
    return st;
}

void session_touch(struct session *s, const void *data)
{
    program_touch(s->learner.train.program, data);
    program_touch(s->plain.program, data);
    program_touch(s->learner.eval, data);
    program_touch(s->validator.program, data);
}

consm_status session_loaded(struct session *s)
{
    return s->procedure && s->procedure->loaded ? s->procedure->loaded(s) : CONSM_OK;
}

struct params *session_params(struct session *s)
{
    return s->learner.params;
}

consm_status session_logits(const float **out, struct session *s)
{
    return learner_read_rows(out, &s->learner, s->learner.eval, s->logits, s->known, s->knowns);
}

struct session *session_trees(struct session *s, int64_t *rounds)
{
    bool asks = s->procedure && s->procedure->predicts;
    return asks ? s->procedure->predicts(s, rounds) : NULL;
}

const struct train_company *session_company(const struct session *s)
{
    bool asks = s->procedure && s->procedure->company;
    return asks ? s->procedure->company(s) : NULL;
}

consm_status session_answers(const float **out, struct session *s)
{
    int64_t rounds;
    struct session *trees = session_trees(s, &rounds);
    const struct train_company *company = session_company(s);
    if (!company)
        return session_logits(out, trees ? trees : s);
    *out = company->logits;
    return CONSM_OK;
}

bool problem_known(const struct problem *p, int64_t i)
{
    return p->role ? p->role[i] != SPLIT_NONE : p->label && p->label[i] >= 0;
}

bool problem_here(const struct problem *p, int64_t i)
{
    return partition_here(p->graph->partition, i) || problem_known(p, i);
}

consm_status session_step(struct session *s, double *loss)
{
    if (s->procedure && s->procedure->step)
        return s->procedure->step(s, loss);
    return learner_step(&s->learner, s->without_extra ? &s->plain : &s->learner.train, loss);
}
