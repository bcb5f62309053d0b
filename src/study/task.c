/* The steps that tasks share, plain training, and training with a curve. */
#include "study/task.h"

#include "app/objects.h"
#include "backends/open.h"
#include "base/alloc.h"
#include "stats/stats.h"
#include "train/session.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

consm_status task_number(json_t *object, const char *name, double value)
{
    json_t *number = isfinite(value) ? json_real(value) : json_null();
    return json_object_set_new(object, name, number) == 0
               ? CONSM_OK
               : status_fail(CONSM_ENOMEM, "out of memory for a result");
}

double task_value(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

consm_status task_roles(uint8_t **role, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    const struct dataset *d = in->prepared->data;
    TRY(NEW(*role, d->nodes));
    TRY(split_make(*role, d, in->run->split, in->run->seed, &in->run->split_options));
done:
    return st;
}

struct train_options task_options(const struct task_input *in)
{
    return (struct train_options){.model = in->run->model,
                                  .config = in->run->config,
                                  .device = in->run->device,
                                  .seed = in->run->seed,
                                  .progress = in->progress,
                                  .progress_ctx = in->progress_ctx};
}

consm_status task_record(json_t *result, const struct train_result *r)
{
    consm_status st = CONSM_OK;
    TRY(task_number(result, "val_acc", r->val_acc));
    TRY(task_number(result, "test_acc", r->test_acc));
    TRY(task_number(result, "val_score", r->val_score));
    TRY(task_number(result, "train_ms", r->train_ms));
    TRY(task_number(result, "eval_ms", r->eval_ms));
    TRY(task_number(result, "seconds", r->seconds));
    if (json_object_set_new(result, "device", json_string(r->device)) != 0 ||
        json_object_set_new(result, "best_epoch", json_integer(r->best_epoch)) != 0 ||
        json_object_set_new(result, "epochs", json_integer(r->epochs)) != 0 ||
        json_object_set_new(result, "params", json_integer(r->params)) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
done:
    return st;
}

/* ---- training ------------------------------------------------------------ */

/* The final choices of a run, so that controls can use the same. */
static consm_status record_choice(json_t *result, const struct session *s)
{
    consm_status st = CONSM_OK;
    json_t *chosen = NULL;
    if (strcmp(s->options.model->name, "consm") != 0)
        return CONSM_OK;
    TRY(plan_parameters(&chosen, &s->options.config));
    if (json_object_set_new(result, "chosen", chosen) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
done:
    return st;
}

/* ROC-AUC on the test nodes of a set with two classes; otherwise nothing. */
static consm_status record_auc(json_t *result, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *p = s->problem;
    const float *logits;
    float *score = NULL;
    uint8_t *positive = NULL;
    int64_t count = 0;
    double auc;
    if (p->classes != 2)
        return CONSM_OK;
    TRY(session_answers(&logits, s));
    TRY(NEW(score, p->nodes));
    TRY(NEW(positive, p->nodes));
    for (int64_t i = 0; i < p->nodes; i++)
        if (p->role[i] == SPLIT_TEST && p->label[i] >= 0) {
            score[count] = logits[2 * i + 1] - logits[2 * i];
            positive[count++] = p->label[i] == 1;
        }
    TRY(stats_auc(&auc, score, positive, count));
    TRY(task_number(result, "test_auc", auc));
done:
    mem_free(score);
    mem_free(positive);
    return st;
}

/* The number of training and validation labels. */
static consm_status record_labels(json_t *result, const uint8_t *role, int64_t nodes)
{
    consm_status st = CONSM_OK;
    int64_t count[4];
    split_count(count, role, nodes);
    TRY(task_number(result, "labels_train", (double)count[SPLIT_TRAIN]));
    TRY(task_number(result, "labels_val", (double)count[SPLIT_VAL]));
done:
    return st;
}

/* The ensemble as `consm train --ensemble` makes it, and validation's choice. */
static consm_status train_ensemble(json_t *result, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    struct roles roles = {0};
    struct consm_model *model = NULL;
    struct training_request request = {.prepared = in->prepared,
                                       .roles = &roles,
                                       .options = task_options(in),
                                       .ensemble = in->run->ensemble,
                                       .jobs = 1,
                                       .threads = in->threads};
    TRY(task_roles(&roles.role, in));
    split_count(roles.count, roles.role, in->prepared->data->nodes);
    snprintf(roles.split, sizeof roles.split, "%s", in->run->split);
    TRY(model_train(&model, NULL, &request));
    TRY(task_record(result, &model->result));
    TRY(task_number(result, "ece", model->metrics[SPLIT_TEST].all.ece));
    if (json_object_set_new(result, "rule",
                            json_string(ensemble_rule_name[model->ensemble.rule])) != 0 ||
        json_object_set_new(result, "picked", json_integer(model->ensemble.picked)) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
done:
    consm_model_free(model);
    roles_free(&roles);
    return st;
}

static consm_status task_train(json_t *result, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    uint8_t *role = NULL;
    struct backend *backend = NULL;
    struct session *s = NULL;
    struct train_result trained;
    struct train_options options = task_options(in);
    if (in->run->ensemble)
        return train_ensemble(result, in);
    TRY(task_roles(&role, in));
    struct problem problem = prepare_problem(in->prepared, role);
    TRY(backend_open(&backend, in->run->device, in->threads));
    TRY(session_new(&s, &problem, &options, backend));
    TRY(session_train(s, &trained));
    TRY(task_record(result, &trained));
    TRY(record_choice(result, s));
    TRY(record_auc(result, s));
    TRY(record_labels(result, role, problem.nodes));
    TRY(task_edges(result, s, in));
done:
    session_free(s);
    backend_close(backend);
    mem_free(role);
    return st;
}

/* ---- training with a curve ----------------------------------------------- */

/* Test accuracy during the run is only for drawing: the run does not depend on it. */
struct curve {
    const struct task_input *in;
    struct session *s;
    int64_t every, offset; /* epochs between two points, epochs before the first */
    json_t *epoch, *val, *test, *best;
    bool fault;
};

static bool on_curve_epoch(void *ctx, const struct progress *p)
{
    struct curve *c = ctx;
    if (p->epoch >= c->offset && (p->epoch - c->offset) % c->every == 0) {
        const float *logits;
        if (session_logits(&logits, c->s) < 0) {
            c->fault = true;
            return true;
        }
        double test = accuracy(logits, c->s->problem, SPLIT_TEST);
        c->fault |= json_array_append_new(c->epoch, json_integer(p->epoch)) |
                    json_array_append_new(c->val, json_real(p->val_acc)) |
                    json_array_append_new(c->test, json_real(test)) |
                    json_array_append_new(c->best, json_real(p->best_val));
    }
    return c->in->progress && c->in->progress(c->in->progress_ctx, p);
}

/* ConSM has a point at the end of each round; the others one every ten epochs. */
static void choose_points(struct curve *c, const struct config *config, const char *model)
{
    bool rounds = strcmp(model, "consm") == 0;
    c->every = rounds ? config->gnn_steps : 10;
    c->offset = rounds ? config->warmup : 0;
}

static consm_status task_curve(json_t *result, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    uint8_t *role = NULL;
    struct backend *backend = NULL;
    struct train_result trained;
    struct train_options options = task_options(in);
    struct curve curve = {.in = in,
                          .epoch = json_array(),
                          .val = json_array(),
                          .test = json_array(),
                          .best = json_array()};
    choose_points(&curve, &in->run->config, in->run->model->name);
    options.progress = on_curve_epoch;
    options.progress_ctx = &curve;
    TRY(task_roles(&role, in));
    struct problem problem = prepare_problem(in->prepared, role);
    TRY(backend_open(&backend, in->run->device, in->threads));
    TRY(session_new(&curve.s, &problem, &options, backend));
    TRY(session_train(curve.s, &trained));
    TRY(task_record(result, &trained));
    if (curve.fault || json_object_set(result, "curve_epoch", curve.epoch) != 0 ||
        json_object_set(result, "curve_val", curve.val) != 0 ||
        json_object_set(result, "curve_test", curve.test) != 0 ||
        json_object_set(result, "curve_best_val", curve.best) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for a curve"));
done:
    json_decref(curve.epoch);
    json_decref(curve.val);
    json_decref(curve.test);
    json_decref(curve.best);
    session_free(curve.s);
    backend_close(backend);
    mem_free(role);
    return st;
}

/* ---- which task ---------------------------------------------------------- */

consm_status task_run(json_t **result, const struct task_input *in)
{
    static consm_status (*const task[])(json_t *, const struct task_input *) = {
        [TASK_TRAIN] = task_train, [TASK_CURVE] = task_curve,   [TASK_PRUNE] = task_prune,
        [TASK_COST] = task_cost,   [TASK_FACTS] = task_facts,   [TASK_PLANT] = task_plant,
        [TASK_COVER] = task_cover, [TASK_ROBUST] = task_robust,
    };
    *result = json_object();
    if (!*result)
        return status_fail(CONSM_ENOMEM, "out of memory for a result");
    consm_status st = task[in->run->task](*result, in);
    if (st < 0) {
        json_decref(*result);
        *result = NULL;
    }
    return st;
}
