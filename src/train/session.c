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
    TRY(program_compile(s->eval, s->backend));
done:
    return st;
}

/* A training program with or without the procedure's extra loss. */
static consm_status record_train(struct session *s, struct program **out, node *loss, bool extra)
{
    consm_status st = CONSM_OK;
    const struct config *c = &s->options.config;
    node logits;
    TRY(record(s, out, &logits, true));
    *loss =
        supervised_loss(*out, logits, s->problem->classes, s->labelled, s->target, s->row_weight);
    if (extra) {
        node mean = mean_prediction(*out, logits, s->problem->classes);
        *loss = add(*out, *loss, s->procedure->extra_loss(s, *out, mean));
    }
    *loss = program_minimize(*out, *loss);
    program_optimize(*out, &(struct adam_options){c->lr, 0.9, 0.999, 1e-8, c->weight_decay});
    TRY(program_compile(*out, s->backend));
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
                         const struct train_options *options, struct backend *backend)
{
    consm_status st = CONSM_OK;
    struct session *s;
    *out = NULL;
    TRY(ZNEW(s, 1));
    s->problem = problem;
    s->options = *options;
    s->backend = backend;
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
    TRY(params_init(s->params, options->seed));
    if (options->eval_only) {
        *out = s;
        return CONSM_OK;
    }
    TRY(params_allocate(s->params, backend, PLACE_BEST));
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
    mem_free(s->train_time);
    mem_free(s->eval_time);
    mem_free(s);
}

/* What the operations of a program remember. */
static consm_status see_program(struct program *p, const char *prefix, memory_fn see, void *ctx)
{
    consm_status st = CONSM_OK;
    char name[32];
    for (int i = 0;; i++) {
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
    TRY(params_memory(s->params, PLACE_VALUE, "parameters", see, ctx));
    TRY(params_memory(s->params, PLACE_MOMENT1, "moment1", see, ctx));
    TRY(params_memory(s->params, PLACE_MOMENT2, "moment2", see, ctx));
    TRY(params_memory(s->params, PLACE_BEST, "best", see, ctx));
    TRY(see_program(s->train, "train", see, ctx));
    TRY(see_program(s->eval, "eval", see, ctx));
    if (s->procedure && s->procedure->memory)
        TRY(s->procedure->memory(s, see, ctx));
done:
    return st;
}

void session_touch(struct session *s, const void *data)
{
    program_touch(s->train, data);
    program_touch(s->plain, data);
    program_touch(s->eval, data);
}

consm_status session_loaded(struct session *s)
{
    return s->procedure && s->procedure->loaded ? s->procedure->loaded(s) : CONSM_OK;
}

struct params *session_params(struct session *s)
{
    return s->params;
}

consm_status session_logits(const float **out, struct session *s)
{
    consm_status st = CONSM_OK;
    struct step step = {s->options.seed, (uint64_t)s->steps};
    TRY(program_run(s->eval, &step));
    TRY(program_read(out, s->eval, s->logits));
done:
    return st;
}

consm_status session_step(struct session *s, double *loss)
{
    consm_status st = CONSM_OK;
    const struct config *c = &s->options.config;
    struct step step = {s->options.seed, (uint64_t)s->steps};
    struct program *program = s->without_extra ? s->plain : s->train;
    const float *value;
    TRY(program_run(program, &step));
    TRY(program_read(&value, program, s->without_extra ? s->plain_loss : s->loss));
    *loss = (double)value[0];
    s->steps++;
    if (!isfinite(*loss))
        TRY(status_fail(CONSM_ENUMERIC,
                        "%s: the loss is %g at epoch %lld with learning rate %g; "
                        "a smaller learning rate may help",
                        s->options.model->name, *loss, (long long)s->steps, c->lr));
done:
    return st;
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

consm_status session_validate(double *found, struct session *s, int64_t epoch)
{
    consm_status st = CONSM_OK;
    const float *logits;
    TRY(session_logits(&logits, s));
    double val = accuracy(logits, s->problem, SPLIT_VAL), loss = tie_loss(s, logits);
    *found = val;
    if (val > s->best_val || (val == s->best_val && loss < s->best_loss) || s->validation == 0) {
        s->best_val = val;
        s->best_loss = loss;
        s->best_epoch = epoch;
        TRY(block_copy(&s->params->block[PLACE_BEST], &s->params->block[PLACE_VALUE]));
    }
done:
    return st;
}

consm_status session_restore(struct session *s)
{
    return block_copy(&s->params->block[PLACE_VALUE], &s->params->block[PLACE_BEST]);
}
