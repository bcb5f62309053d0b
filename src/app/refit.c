/* The refit on all labels, and what stays from the first run. */
#include "app/refit.h"

#include "base/log.h"
#include "io/file.h"
#include "train/consm/consm.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool refit_wanted(const struct training_request *r)
{
    const struct config *c = &r->options.config;
    bool open = c->refit == REFIT_AUTO && r->roles->count[SPLIT_TEST] == 0 && c->time_budget == 0;
    return (c->refit == REFIT_YES || open) && r->roles->count[SPLIT_VAL] > 0;
}

/* ---- progress ------------------------------------------------------------ */

/* The refit takes about this share of both runs' time: one of several candidates, or training up to
 * the best epoch. */
static double fraction_of_refit(const struct training_request *r)
{
    return strcmp(r->options.model->name, "consm") == 0 ? 0.1 : 0.4;
}

static bool tell(void *ctx, const struct progress *progress)
{
    const struct refit_listener *l = ctx;
    struct progress told = *progress;
    told.fraction = l->from + l->width * told.fraction;
    told.refit = l->refit;
    return l->fn(l->ctx, &told);
}

static void listen(struct training_request *r, struct refit_listener *l)
{
    if (!r->options.progress)
        return;
    l->fn = r->options.progress;
    l->ctx = r->options.progress_ctx;
    r->options.progress = tell;
    r->options.progress_ctx = l;
}

void refit_prepare(struct training_request *r, struct refit_listener *l)
{
    *l = (struct refit_listener){.width = 1 - fraction_of_refit(r)};
    listen(r, l);
}

/* ---- one model ----------------------------------------------------------- */

static const float *trust_of(const struct consm_model *m)
{
    for (int64_t i = 0; i < m->tensors; i++)
        if (strcmp(m->tensor[i].name, CONSM_TRUST) == 0 &&
            m->tensor[i].rows * m->tensor[i].cols == TRUST_NUMBERS)
            return m->tensor[i].value;
    return NULL;
}

/* A model and its first run's accuracy on all labels; 0: the refit was requested and always stays.
 */
struct second {
    struct consm_model *model;
    double right;
    bool taken;
};

/* A refit has no labels left to learn trust from: the weights for the answers stay. */
static consm_status keep_answers_trust(struct consm_model *m, const struct consm_model *before)
{
    consm_status st = CONSM_OK;
    const float *weights = model_answers_weights(before);
    struct model_tensor *to;
    if (!weights || model_answers_weights(m))
        return CONSM_OK;
    TRY(GROW(m->tensor, m->tensors, m->tensor_room, 1));
    to = &m->tensor[m->tensors];
    *to = (struct model_tensor){.name = MODEL_ANSWERS_TRUST, .rows = 1, .cols = TRUST_NUMBERS};
    TRY(NEW(to->value, TRUST_NUMBERS));
    m->tensors++;
    memcpy(to->value, weights, TRUST_NUMBERS * sizeof *weights);
done:
    return st;
}

/* Replaces the model's parameters by those of the new session, unless they fit the labels worse
 * than those of the first run, which had seen only some of them. In that case the first run was too
 * short to repeat (a few validation nodes were all right after some updates). */
static consm_status take_parameters(void *ctx, struct session *s, const struct train_result *result)
{
    consm_status st = CONSM_OK;
    struct second *to = ctx;
    struct consm_model *m = to->model, *again = NULL;
    const float *logits;
    m->result.seconds += result->seconds;
    TRY(session_logits(&logits, s));
    to->taken = accuracy(logits, s->problem, SPLIT_TRAIN) >= to->right;
    if (!to->taken)
        goto done;
    TRY(model_of_session(&again, s, m->custom));
    TRY(keep_answers_trust(again, m));
    int64_t tensors = m->tensors;
    struct model_tensor *tensor = m->tensor;
    m->tensors = again->tensors;
    m->tensor = again->tensor;
    again->tensors = tensors;
    again->tensor = tensor;
done:
    consm_model_free(again);
    return st;
}

static consm_status judge_first(double *right, const struct consm_model *m,
                                const struct training_request *request, const struct roles *all)
{
    consm_status st = CONSM_OK;
    struct backend *backend = NULL;
    float *logits = NULL;
    const struct problem problem = prepare_problem(request->prepared, all->role);
    TRY(prepare_backend(&backend, request->prepared, request->options.device, request->threads));
    TRY(model_logits(&logits, m, &problem, backend));
    *right = accuracy(logits, &problem, SPLIT_TRAIN);
done:
    mem_free(logits);
    backend_close(backend);
    return st;
}

/* Its checkpoints are beside those of the first run, whose last one it needs to start. *out is NULL
 * if there are none. */
static consm_status checkpoint_path(char **out, const struct training_request *request)
{
    *out = NULL;
    if (!request->checkpoint)
        return CONSM_OK;
    size_t room = strlen(request->checkpoint) + sizeof ".refit";
    *out = mem_alloc(room, 1);
    if (!*out)
        return CONSM_ENOMEM;
    snprintf(*out, room, "%s.refit", request->checkpoint);
    return CONSM_OK;
}

void refit_forget(const struct training_request *request)
{
    char *path;
    if (checkpoint_path(&path, request) == CONSM_OK && path && file_writes())
        unlink(path);
    mem_free(path);
}

static bool is_trees(const struct consm_model *m)
{
    return m->def != &m->own && !m->def->build;
}

/* taken: the model has its new parameters. */
static consm_status refit_part(bool *taken, struct consm_model *m,
                               const struct training_request *request, const struct roles *all)
{
    consm_status st = CONSM_OK;
    struct training_request again = *request;
    struct second second = {.model = m};
    const struct train_lengths lengths = m->result.lengths;
    char *path = NULL;
    struct refit_listener listener = {
        .from = 1 - fraction_of_refit(request), .width = fraction_of_refit(request), .refit = true};
    again.roles = all;
    again.options.model = m->def;
    again.options.config = m->config;
    again.options.seed = m->result.seed;
    again.options.given = NULL;
    again.options.positive = m->positive;
    again.options.offer = NULL;
    again.options.trust = trust_of(m);
    again.options.vote = m->vote;
    again.options.checkpoint_end = false;
    if (!is_trees(m)) /* which cannot be interrupted */
        TRY(checkpoint_path(&path, request));
    again.checkpoint = path;
    again.resume = request->resume && path && file_kind(path) != FILE_MISSING;
    train_repeat(&again.options, &lengths);
    listen(&again, &listener);
    if (request->options.config.refit == REFIT_AUTO)
        TRY(judge_first(&second.right, m, request, all));
    TRY(model_run(&again, take_parameters, &second));
    *taken = second.taken;
done:
    mem_free(path);
    return st;
}

/* ---- the whole ----------------------------------------------------------- */

/* The roles with the validation nodes added to the training nodes. */
static consm_status roles_of_all(struct roles *out, const struct roles *roles, int64_t nodes)
{
    consm_status st = CONSM_OK;
    *out = *roles;
    out->role = NULL;
    TRY(NEW(out->role, nodes));
    for (int64_t i = 0; i < nodes; i++)
        out->role[i] = roles->role[i] == SPLIT_VAL ? (uint8_t)SPLIT_TRAIN : roles->role[i];
    split_count(out->count, out->role, nodes);
done:
    return st;
}

static void note_refit(struct consm_model *m, const struct consm_model *part,
                       const struct roles *all)
{
    m->refit.labels = all->count[SPLIT_TRAIN];
    m->refit.updates += train_updates(&part->result.lengths);
}

/* A part of the model m; the trees that predict instead; and its companions, except those that
 * leave out edges: their edges come from ConSM, which is not there while they train. */
static consm_status refit_all(struct consm_model *m, struct consm_model *part,
                              const struct training_request *request, const struct roles *all)
{
    consm_status st = CONSM_OK;
    struct training_request unsaved = *request;
    struct consm_model *trees = part->trees;
    int64_t companions = part->companions;
    bool taken;
    part->trees = NULL; /* it is judged by its own predictions */
    part->companions = 0;
    st = refit_part(&taken, part, request, all);
    part->trees = trees;
    part->companions = companions;
    TRY(st);
    if (trees)
        TRY(refit_part(&taken, trees, request, all));
    if (taken)
        note_refit(m, model_predicts(part), all);
    unsaved.checkpoint = NULL; /* the part's own refit has the file */
    unsaved.resume = false;
    for (int64_t i = 0; i < companions; i++) {
        if (model_part_below(part, part->companion[i]) > 0)
            continue;
        TRY(refit_part(&taken, part->companion[i], &unsaved, all));
        if (taken)
            note_refit(m, part->companion[i], all);
    }
done:
    return st;
}

consm_status refit_model(struct consm_model *m, struct consm_prediction **prediction,
                         const struct training_request *request)
{
    consm_status st = CONSM_OK;
    struct roles all = {0};
    struct backend *backend = NULL;
    float *logits = NULL;
    const struct problem problem = prepare_problem(request->prepared, request->roles->role);
    TRY(roles_of_all(&all, request->roles, problem.nodes));
    for (int64_t i = 0; i < (m->members ? m->members : 1); i++) {
        struct consm_model *part = m->members ? m->member[i] : m;
        TRY(refit_all(m, part, request, &all));
    }
    m->config.refit = m->refit.labels ? REFIT_YES : REFIT_NO;
    if (m->refit.labels == 0)
        log_info("skipped the refit: training on all labels lowered the accuracy on these labels");
    TRY(prepare_backend(&backend, request->prepared, request->options.device, request->threads));
    TRY(model_logits(&logits, m, &problem, backend));
    TRY(model_measure_again(m, &problem, logits));
    TRY(model_fit_sets(m, &problem, request->roles, logits));
    if (prediction)
        TRY(model_prediction(prediction, m, &problem, logits));
done:
    mem_free(logits);
    mem_free(all.role);
    backend_close(backend);
    return st;
}
