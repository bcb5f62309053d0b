/* Building a session: two programs over one parameter store, the optimiser's memory. */
#include "train/session.h"
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
        TRY(status_fail(CONSM_EINVAL, "no labelled node to train on"));
    TRY(index_new(&s->labelled, count, problem->nodes));
    TRY(index_set(s->labelled, rows));
done:
    mem_free(rows);
    return st;
}

/* A class's rows together weigh as much as any other's: weight_k = rows / (classes · rows of k). */
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
                           .views = problem->views};
}

/* Records one of the two programs; the logits come back. */
static consm_status record(struct session *s, struct program **out, node *logits, bool training)
{
    consm_status st = CONSM_OK;
    TRY(program_new(out, s->params, training));
    struct inputs in = session_inputs(s, *out);
    *logits = program_name(*out, s->options.model->build(*out, &in, &s->options.config), "logits");
done:
    return st;
}

consm_status session_record_eval(struct session *s)
{
    consm_status st = CONSM_OK;
    program_free(s->eval);
    s->eval = NULL;
    TRY(record(s, &s->eval, &s->logits, false));
    program_keep(s->eval, s->logits);
    TRY(program_compile(s->eval, cpu_backend()));
done:
    return st;
}

/* A training program with or without the procedure's extra loss. */
static consm_status record_train(struct session *s, struct program **out, node *loss, bool extra)
{
    consm_status st = CONSM_OK;
    node logits;
    TRY(record(s, out, &logits, true));
    *loss =
        supervised_loss(*out, logits, s->problem->classes, s->labelled, s->target, s->row_weight);
    if (extra) {
        node mean = mean_prediction(*out, logits, s->problem->classes);
        *loss = add(*out, *loss, s->procedure->extra_loss(s, *out, mean));
    }
    *loss = program_minimize(*out, *loss);
    TRY(program_compile(*out, cpu_backend()));
done:
    return st;
}

static consm_status build_programs(struct session *s)
{
    consm_status st = CONSM_OK;
    bool extra = s->procedure && s->procedure->extra_loss;
    s->params->limit = s->options.most_params;
    if (s->options.eval_only)
        return session_record_eval(s);
    TRY(record_train(s, &s->train, &s->loss, extra));
    if (extra && s->procedure->plain_phase)
        TRY(record_train(s, &s->plain, &s->plain_loss, false));
    TRY(session_record_eval(s));
done:
    return st;
}

consm_status session_new(struct session **out, const struct problem *problem,
                         const struct train_options *options, struct team *team)
{
    consm_status st = CONSM_OK;
    struct session *s;
    *out = NULL;
    TRY(ZNEW(s, 1));
    s->problem = problem;
    s->options = *options;
    s->team = team;
    s->best_val = -1;
    if (!options->eval_only) {
        TRY(collect_labelled(s));
        TRY(balance_classes(s));
    }
    s->target = problem->label;
    TRY(params_new(&s->params));
    TRY(procedure_find(&s->procedure, options));
    if (s->procedure && s->procedure->open)
        TRY(s->procedure->open(s));
    TRY(session_prepare_features(s));
    if (s->labelled)
        s->labelled->fixed = s->target == problem->label;
    TRY(build_programs(s));
    params_init(s->params, options->seed);
    if (options->eval_only) {
        *out = s;
        return CONSM_OK;
    }
    TRY(ZNEW(s->moment1, s->params->size));
    TRY(ZNEW(s->moment2, s->params->size));
    TRY(NEW(s->best, s->params->size));
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
    program_free(s->train);
    program_free(s->plain);
    program_free(s->eval);
    params_free(s->params);
    index_free(s->labelled);
    mem_free(s->row_weight);
    csr_free(s->row_normalized);
    mem_free(s->dense_normalized);
    mem_free(s->shift);
    mem_free(s->scale);
    mem_free(s->moment1);
    mem_free(s->moment2);
    mem_free(s->best);
    mem_free(s->train_time);
    mem_free(s->eval_time);
    mem_free(s);
}

void session_memory(struct session *s, memory_fn see, void *ctx)
{
    size_t floats = (size_t)s->params->size * sizeof(float), bytes;
    char name[32];
    void *block;
    see(ctx, "parameters", s->params->value, floats);
    see(ctx, "moment1", s->moment1, floats);
    see(ctx, "moment2", s->moment2, floats);
    see(ctx, "best", s->best, floats);
    for (int i = 0; (block = program_memory(s->train, i, &bytes)); i++) {
        snprintf(name, sizeof name, "train.%d", i);
        see(ctx, name, block, bytes);
    }
    for (int i = 0; (block = program_memory(s->eval, i, &bytes)); i++) {
        snprintf(name, sizeof name, "eval.%d", i);
        see(ctx, name, block, bytes);
    }
    if (s->procedure && s->procedure->memory)
        s->procedure->memory(s, see, ctx);
}

consm_status session_loaded(struct session *s)
{
    return s->procedure && s->procedure->loaded ? s->procedure->loaded(s) : CONSM_OK;
}

struct params *session_params(struct session *s)
{
    return s->params;
}

const float *session_logits(struct session *s)
{
    struct step step = {s->options.seed, (uint64_t)s->steps};
    program_run(s->eval, s->team, &step);
    return program_value(s->eval, s->logits);
}

consm_status session_step(struct session *s, double *loss)
{
    const struct config *c = &s->options.config;
    struct adam_options adam = {c->lr, 0.9, 0.999, 1e-8, c->weight_decay};
    struct step step = {s->options.seed, (uint64_t)s->steps};
    struct program *program = s->without_extra ? s->plain : s->train;
    program_run(program, s->team, &step);
    *loss = (double)program_value(program, s->without_extra ? s->plain_loss : s->loss)[0];
    s->steps++;
    if (!isfinite(*loss))
        return status_fail(CONSM_ENUMERIC,
                           "%s: the loss is %g at epoch %lld with learning rate %g; "
                           "a smaller learning rate may help",
                           s->options.model->name, *loss, (long long)s->steps, c->lr);
    cpu_adam(s->params, s->moment1, s->moment2, &adam, s->steps, s->team);
    return CONSM_OK;
}

/* Mean of -log p on validation when it decides between equal epochs, else 0. */
static double tie_loss(const struct session *s, const float *logits)
{
    const struct problem *p = s->problem;
    struct predicted val = {logits, p->label, p->role, SPLIT_VAL, p->nodes, p->classes};
    if (s->options.config.ties != TIES_LOSS)
        return 0;
    return metrics_nll(&val, 1);
}

double session_validate(struct session *s, int64_t epoch)
{
    const float *logits = session_logits(s);
    double val = accuracy(logits, s->problem, SPLIT_VAL), loss = tie_loss(s, logits);
    if (val > s->best_val || (val == s->best_val && loss < s->best_loss) || s->validation == 0) {
        s->best_val = val;
        s->best_loss = loss;
        s->best_epoch = epoch;
        memcpy(s->best, s->params->value, (size_t)s->params->size * sizeof *s->best);
    }
    return val;
}

void session_restore(struct session *s)
{
    memcpy(s->params->value, s->best, (size_t)s->params->size * sizeof *s->best);
}
