/* A trained model as an object, made from a session. model_session.c makes a session of it again.
 */
#include "app/checkpoint.h"
#include "app/learned.h"
#include "app/limits.h"
#include "app/objects.h"
#include "data/table/recipe.h"
#include "train/forest.h"
#include "train/session.h"

#include <stdio.h>
#include <string.h>

void consm_model_free(struct consm_model *model)
{
    if (!model)
        return;
    for (int64_t i = 0; model->tensor && i < model->tensors; i++)
        mem_free(model->tensor[i].value);
    mem_free(model->tensor);
    mem_free_texts(model->class_name, model->classes);
    mem_free_texts(model->feature_name, model->features);
    recipe_free(model->recipe);
    choices_free(&model->choices);
    for (int role = 0; role < 4; role++)
        metrics_free(&model->metrics[role]);
    for (int64_t i = 0; model->member && i < model->members; i++)
        consm_model_free(model->member[i]);
    mem_free(model->member);
    for (int64_t i = 0; model->companion && i < model->companions; i++)
        consm_model_free(model->companion[i]);
    mem_free(model->companion);
    consm_model_free(model->trees);
    mem_free(model->learned);
    mem_free(model->vote);
    curve_free(&model->curve);
    mem_free(model->class_threshold);
    mem_free(model->dataset);
    mem_free(model->split);
    mem_free(model->version);
    mem_free(model);
}

const char *consm_model_class(const struct consm_model *model, int32_t class_index, char buffer[24])
{
    if (!model || !buffer)
        return "";
    if (model->class_name && class_index >= 0 && class_index < model->classes)
        return model->class_name[class_index];
    snprintf(buffer, 24, "%d", class_index);
    return buffer;
}

const struct consm_metrics *consm_model_metrics(const struct consm_model *model,
                                                enum consm_role role)
{
    return model && role >= CONSM_TRAIN && role <= CONSM_TEST ? &model->metrics[role].all : NULL;
}

const struct consm_class_metrics *consm_metrics_class(const struct consm_metrics *metrics,
                                                      int32_t class_index)
{
    const struct metrics *m = (const struct metrics *)metrics;
    return metrics && class_index >= 0 && class_index < metrics->classes ? &m->of[class_index]
                                                                         : NULL;
}

void consm_metrics_confusion(int64_t *counts, const struct consm_metrics *metrics)
{
    const struct metrics *m = (const struct metrics *)metrics;
    if (!counts || !metrics)
        return;
    size_t count = (size_t)metrics->classes * (size_t)metrics->classes;
    memset(counts, 0, count * sizeof *counts);
    for (int64_t i = 0; i < m->cells; i++)
        counts[(int64_t)m->cell[i].truth * metrics->classes + m->cell[i].said] = m->cell[i].count;
}

int64_t consm_metrics_curve(const struct consm_curve_point **points,
                            const struct consm_metrics *metrics, int32_t class_index)
{
    const struct metrics *m = (const struct metrics *)metrics;
    if (!points || !metrics)
        return 0;
    bool there = m->curve && class_index >= 0 && class_index < metrics->classes;
    *points = there ? m->curve[class_index].point : NULL;
    return there ? m->curve[class_index].points : 0;
}

int64_t consm_metrics_top(const struct consm_top **tops, const struct consm_metrics *metrics,
                          int32_t class_index)
{
    const struct metrics *m = (const struct metrics *)metrics;
    if (!tops || !metrics)
        return 0;
    bool there = m->curve && class_index >= 0 && class_index < metrics->classes;
    *tops = there ? m->curve[class_index].top : NULL;
    return there ? m->curve[class_index].tops : 0;
}

/* ---- from a session ------------------------------------------------------ */

static consm_status copy_text(char **out, const char *text)
{
    return (*out = mem_strdup(text)) ? CONSM_OK : CONSM_ENOMEM;
}

static consm_status copy_tensor(struct consm_model *m, const char *name, int64_t rows, int64_t cols,
                                const float *value)
{
    consm_status st = CONSM_OK;
    struct model_tensor *to = &m->tensor[m->tensors++];
    snprintf(to->name, sizeof to->name, "%s", name);
    to->rows = rows;
    to->cols = cols;
    TRY(NEW(to->value, rows * cols));
    memcpy(to->value, value, (size_t)(rows * cols) * sizeof *value);
done:
    return st;
}

/* Copies the parameters, the scale of standardised columns, trees, the training labels of trust,
 * and the weights of trust in the answers. */
static consm_status copy_tensors(struct consm_model *m, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct params *params = s->learner.params;
    const float *value;
    const float *forest;
    float *taught = NULL, trust[TRUST_NUMBERS];
    int64_t taughts, nodes;
    TRY(params_read(&value, s->learner.params, PLACE_VALUE));
    TRY(ZNEW(m->tensor, params->count + 5));
    for (int i = 0; i < params->count; i++) {
        const struct parameter *item = &params->item[i];
        TRY(copy_tensor(m, item->name, item->rows, item->cols, value + item->offset));
    }
    if (s->shift) {
        TRY(copy_tensor(m, "feature_shift", 1, m->features, s->shift));
        TRY(copy_tensor(m, "feature_scale", 1, m->features, s->scale));
    }
    session_forest(&forest, &nodes, s);
    if (nodes > 0)
        TRY(copy_tensor(m, "forest", nodes, FOREST_COLUMNS, forest));
    TRY(session_taught(&taught, &taughts, s));
    if (taughts > 0)
        TRY(copy_tensor(m, "taught", taughts, TAUGHT_COLUMNS, taught));
    if (session_answers_weights(trust, s))
        TRY(copy_tensor(m, MODEL_ANSWERS_TRUST, 1, TRUST_NUMBERS, trust));
done:
    mem_free(taught);
    return st;
}

static consm_status copy_data_facts(struct consm_model *m, const struct training_request *r)
{
    consm_status st = CONSM_OK;
    const struct dataset *d = r->prepared->data;
    m->structural = d->features == 0;
    m->classes = d->classes;
    m->class_kind = d->class_kind;
    m->features = prepare_problem(r->prepared, NULL).features;
    memcpy(m->data_sha256, d->sha256, sizeof m->data_sha256);
    memcpy(m->count, r->roles->count, sizeof m->count);
    m->held_out = r->roles->held_out;
    TRY(copy_text(&m->dataset, d->name));
    TRY(copy_text(&m->split, r->roles->split));
    TRY(copy_text(&m->version, consm_version()));
    TRY(mem_copy_texts(&m->class_name, d->class_name, d->classes));
    TRY(mem_copy_texts(&m->feature_name, d->feature_name, d->features));
    if (d->recipe && d->features > 0)
        TRY(recipe_copy(&m->recipe, d->recipe));
    TRY(choices_copy(&m->choices, (const char *const *)d->choices.text));
done:
    return st;
}

void model_define(struct consm_model *m, const struct model_def *def, struct custom custom)
{
    m->custom = custom;
    m->def = def;
    if (!m->custom.build)
        return;
    snprintf(m->own_name, sizeof m->own_name, "%s", def->name);
    m->own = *def;
    m->own.name = m->own_name;
    m->def = &m->own;
}

static consm_status take_trees(struct consm_model *m, struct session *s)
{
    consm_status st = CONSM_OK;
    int64_t rounds = 0;
    struct session *trees = session_trees(s, &rounds);
    if (!trees)
        return CONSM_OK;
    TRY(model_of_session(&m->trees, trees, (struct custom){0}));
    m->trees->result.lengths = (struct train_lengths){.count = 1, .updates = {rounds}};
    m->trees->picks = 1;
    m->trees->temperature = 1; /* the model itself is calibrated */
done:
    return st;
}

static consm_status take_companions(struct consm_model *m, const struct session *s)
{
    consm_status st = CONSM_OK;
    const struct train_company *company = session_company(s);
    if (!company)
        return CONSM_OK;
    TRY(ZNEW(m->companion, company->count));
    m->own_votes = company->votes[0];
    m->own_temperature = company->temperature[0];
    for (int i = 0; i < company->count; i++) {
        struct consm_model *one;
        TRY(model_of_session(&one, company->member[i], (struct custom){0}));
        m->companion[m->companions++] = one;
        one->picks = company->votes[i + 1];
        one->temperature = company->temperature[i + 1];
    }
done:
    return st;
}

consm_status model_of_session(struct consm_model **out, struct session *s, struct custom custom)
{
    consm_status st = CONSM_OK;
    struct consm_model *m;
    *out = NULL;
    TRY(ZNEW(m, 1));
    model_define(m, s->options.model, custom);
    m->config = s->options.config;
    m->positive = s->options.positive;
    m->result.seed = s->options.seed;
    m->classes = s->problem->classes;
    m->features = s->problem->features;
    m->trained = s->learner.params->trained;
    m->result.lengths = s->lengths;
    if (s->lengths.count == 0) /* a candidate, which had one phase */
        m->result.lengths = (struct train_lengths){.count = 1, .updates = {s->learner.best_step}};
    TRY(copy_tensors(m, s));
    if (session_votes(s)) {
        TRY(NEW(m->vote, s->problem->nodes));
        memcpy(m->vote, session_votes(s), (size_t)s->problem->nodes * sizeof *m->vote);
    }
    TRY(take_trees(m, s));
    TRY(take_companions(m, s));
    *out = m;
    return CONSM_OK;
done:
    consm_model_free(m);
    return st;
}

void model_name_backbone(struct consm_model *m)
{
    m->backbone[0] = 0;
    if (m->members == 0 && strcmp(m->def->name, "consm") == 0)
        snprintf(m->backbone, sizeof m->backbone, "%s", model_equations(m)->name);
    for (int64_t i = 0; i < m->members; i++) {
        const char *name = model_equations(m->member[i])->name;
        bool named = false;
        for (int64_t k = 0; k < i; k++)
            named = named || strcmp(model_equations(m->member[k])->name, name) == 0;
        size_t used = strlen(m->backbone);
        if (!named)
            snprintf(m->backbone + used, sizeof m->backbone - used, "%s%s", used ? ", " : "", name);
    }
}

bool model_weighs(const struct consm_model *m)
{
    bool weighs = false;
    for (int64_t i = 0; i < model_parts(m); i++)
        weighs = weighs || !model_equations(model_predicts(model_part(m, i)))->unweighted;
    return weighs;
}

consm_status model_complete(struct consm_model *m, const struct training_request *request,
                            const struct problem *problem, const float *logits,
                            struct backend *backend)
{
    consm_status st = CONSM_OK;
    TRY(copy_data_facts(m, request));
    TRY(learned_note(m, request->prepared->data, request->roles));
    model_name_backbone(m);
    TRY(model_measure(m, request, problem, logits, backend));
    TRY(model_fit_sets(m, problem, request->roles, logits));
done:
    return st;
}

/* The context of a session's checkpoint function. */
struct checkpointed {
    const char *path;
    const struct problem *problem;
    struct checkpoint_run run; /* identified on first use */
};

static struct checkpoint_run *identified(struct checkpointed *c)
{
    if (!c->run.roles[0])
        checkpoint_identify(&c->run, c->problem);
    return &c->run;
}

static consm_status write_checkpoint(void *ctx, struct session *s)
{
    struct checkpointed *c = ctx;
    return checkpoint_save(s, identified(c), c->path);
}

static consm_status read_choice(void *ctx, struct session *s)
{
    struct checkpointed *c = ctx;
    return checkpoint_load_choice(s, identified(c), c->path);
}

consm_status model_run(const struct training_request *request, model_trained_fn use, void *ctx)
{
    consm_status st = CONSM_OK;
    struct backend *backend = NULL;
    struct session *s = NULL;
    struct train_result result;
    struct problem problem = prepare_problem(request->prepared, request->roles->role);
    struct train_options options = request->options;
    const struct dataset *data = request->prepared->data;
    struct checkpointed checkpoint = {
        request->checkpoint,
        &problem,
        {data->name, data->sha256, request->roles->split, "", "", {NULL}, request->curve}};
    options.context = &request->custom;
    if (request->checkpoint) {
        TRY(checkpoint_possible(&options));
        options.checkpoint = write_checkpoint;
        options.checkpoint_ctx = &checkpoint;
        options.take_up = request->resume ? read_choice : NULL;
    }
    TRY(prepare_backend(&backend, request->prepared, request->options.device, request->threads));
    TRY(limits_check_device(data, &options.config, backend));
    TRY(session_new(&s, &problem, &options, backend));
    if (request->resume)
        TRY(checkpoint_load(s, identified(&checkpoint), request->checkpoint));
    TRY(session_train(s, &result));
    TRY(use(ctx, s, &result));
done:
    checkpoint_run_free(&checkpoint.run);
    session_free(s);
    backend_close(backend);
    return st;
}
