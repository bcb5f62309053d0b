/* Evaluates a model. A plain model runs one session. An ensemble runs its members one after another
 * and averages them, so only one is in memory at a time; so does a model with companions. */
#include "app/objects.h"
#include "train/edge_trust.h"
#include "train/session.h"

#include <math.h>
#include <string.h>

bool model_mixes(const struct consm_model *m)
{
    return m->members > 0 || m->companions > 0;
}

int64_t model_parts(const struct consm_model *m)
{
    return m->members > 0 ? m->members : 1 + m->companions;
}

const struct consm_model *model_part(const struct consm_model *m, int64_t i)
{
    if (m->members > 0)
        return m->member[i];
    return i == 0 ? m : m->companion[i - 1];
}

double model_part_below(const struct consm_model *m, const struct consm_model *part)
{
    return part != m && m->companions > 0 ? part->config.drop_below : 0;
}

double model_companions_below(const struct consm_model *m)
{
    double below = 0;
    for (int64_t i = 0; i < m->companions && below <= 0; i++)
        below = m->companion[i]->config.drop_below;
    return below;
}

/* The votes of a part. */
static int64_t votes_of(const struct consm_model *m, const struct consm_model *part)
{
    return part == m ? m->own_votes : part->picks;
}

static int64_t votes(const struct consm_model *m)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < model_parts(m); i++)
        sum += votes_of(m, model_part(m, i));
    return sum;
}

static consm_status one_session(const struct consm_model *part, const struct consm_model *asked,
                                const struct problem *problem, struct backend *backend,
                                model_part_fn use, void *ctx)
{
    consm_status st = CONSM_OK;
    struct session *s = NULL;
    TRY(model_session(&s, asked, problem, backend));
    TRY(use(ctx, part, s));
done:
    session_free(s);
    return st;
}

consm_status model_each_session(const struct consm_model *model, const struct problem *problem,
                                struct backend *backend, model_part_fn use, void *ctx)
{
    consm_status st = CONSM_OK;
    for (int64_t i = 0; i < (model->members ? model->members : 1); i++) {
        const struct consm_model *part = model_part(model, i);
        TRY(one_session(part, part, problem, backend, use, ctx));
    }
done:
    return st;
}

bool options_race_trees(const struct model_def *model, const struct config *c)
{
    return strcmp(model->name, "consm") == 0 && c->backbone == BACKBONE_AUTO;
}

/* ---- probabilities ------------------------------------------------------- */

struct mixing {
    const struct consm_model *model;
    float *logits;           /* (n, c) of a plain model */
    double *mean;            /* (n, c) so far; NULL: there is one part */
    float *probability;      /* (c) of the current part and node */
    struct consm_kept *kept; /* the edges of companions that leave out some, or NULL */
};

void model_mix(double *mean, float *probability, const struct consm_model *model,
               const struct consm_model *part, const float *logits, int32_t classes)
{
    double weight = (double)votes_of(model, part) / (double)votes(model);
    double temperature = part == model ? model->own_temperature : part->temperature;
    ensemble_mix(mean, probability, weight, temperature, logits, classes);
}

void model_mixed(float *logits, const double *mean, int64_t count)
{
    ensemble_mixed(logits, mean, count);
}

static consm_status mix(void *ctx, const struct consm_model *part, struct session *s)
{
    consm_status st = CONSM_OK;
    struct mixing *to = ctx;
    int64_t c = s->problem->classes;
    const float *logits;
    TRY(session_logits(&logits, s));
    double below = part == to->model ? model_companions_below(part) : 0;
    for (int64_t i = 0; i < s->problem->nodes; i++) {
        if (!problem_here(s->problem, i))
            continue;
        if (!to->mean)
            memcpy(to->logits + i * c, logits + i * c, (size_t)c * sizeof *logits);
        else
            model_mix(to->mean + i * c, to->probability, to->model, part, logits + i * c,
                      s->problem->classes);
    }
    if (below > 0)
        TRY(session_without(&to->kept, s, below));
done:
    return st;
}

consm_status model_logits(float **out, const struct consm_model *model,
                          const struct problem *problem, struct backend *backend)
{
    consm_status st = CONSM_OK;
    struct mixing to = {.model = model};
    int64_t count = problem->nodes * problem->classes;
    *out = NULL;
    TRY(ZNEW(to.logits, count));
    if (model_mixes(model)) {
        TRY(ZNEW(to.mean, count));
        TRY(NEW(to.probability, problem->classes));
    }
    for (int64_t i = 0; i < model_parts(model); i++) {
        const struct consm_model *part = model_part(model, i);
        bool whole = model_part_below(model, part) <= 0;
        TRY(one_session(part, model_predicts(part), whole ? problem : consm_kept_problem(to.kept),
                        backend, mix, &to));
    }
    if (to.mean)
        model_mixed(to.logits, to.mean, count);
    *out = to.logits;
    to.logits = NULL;
done:
    consm_kept_free(to.kept);
    mem_free(to.logits);
    mem_free(to.mean);
    mem_free(to.probability);
    return st;
}

/* ---- trust --------------------------------------------------------------- */

consm_status model_trust_session(struct session **out, float **answers,
                                 const struct consm_model *model, const struct problem *problem,
                                 struct backend *backend)
{
    consm_status st = CONSM_OK;
    const float *weights = model_answers_weights(model);
    *out = NULL;
    *answers = NULL;
    if (weights && (model->trees || model->companions > 0))
        TRY(model_logits(answers, model, problem, backend));
    TRY(model_session(out, model, problem, backend));
    if (weights && session_matches(*out))
        TRY(session_tell_answers(*out, weights, *answers));
done:
    if (st < 0) {
        session_free(*out);
        mem_free(*answers);
        *out = NULL;
        *answers = NULL;
    }
    return st;
}

/* The trust of a plain model or a member. of_consm: only if a matching module gives it. */
static consm_status trust_of(struct edge_trust *out, bool of_consm, const struct consm_model *model,
                             const struct problem *problem, struct backend *backend)
{
    consm_status st = CONSM_OK;
    struct session *s = NULL;
    float *answers = NULL;
    *out = (struct edge_trust){0};
    TRY(model_trust_session(&s, &answers, model, problem, backend));
    if (session_matches(s) || !of_consm)
        TRY(session_trust(out, s));
done:
    session_free(s);
    mem_free(answers);
    return st;
}

/* Sums over an ensemble's members. */
struct trusting {
    double *sum;         /* (3, edges) weighted sums of scores and their bounds */
    double zeta, weight; /* sums of ζ and of the weights */
};

static consm_status add_trust(struct trusting *to, struct edge_trust *out, struct edge_trust *one,
                              double picks)
{
    consm_status st = CONSM_OK;
    int64_t m = one->edges->count;
    if (!to->sum)
        TRY(ZNEW(to->sum, 3 * m));
    for (int64_t e = 0; e < m; e++) {
        to->sum[e] += picks * (double)one->score[e];
        to->sum[m + e] += picks * (double)one->low[e];
        to->sum[2 * m + e] += picks * (double)one->high[e];
    }
    to->zeta += picks * one->zeta;
    to->weight += picks;
    edge_trust_free(out);
    *out = *one;
    *one = (struct edge_trust){0};
done:
    return st;
}

static consm_status trust_of_members(struct trusting *to, struct edge_trust *out,
                                     const struct consm_model *model, const struct problem *problem,
                                     struct backend *backend)
{
    consm_status st = CONSM_OK;
    struct edge_trust one = {0};
    for (int64_t i = 0; i < model->members; i++) {
        TRY(trust_of(&one, true, model->member[i], problem, backend));
        if (one.edges)
            TRY(add_trust(to, out, &one, (double)model->member[i]->picks));
    }
done:
    edge_trust_free(&one);
    return st;
}

consm_status model_trust(struct edge_trust *out, const struct consm_model *model,
                         const struct problem *problem, struct backend *backend)
{
    consm_status st = CONSM_OK;
    struct trusting to = {0};
    float *logits = NULL;
    *out = (struct edge_trust){0};
    if (!model->members)
        return trust_of(out, false, model, problem, backend);
    TRY(trust_of_members(&to, out, model, problem, backend));
    if (to.sum) {
        for (int64_t e = 0, m = out->edges->count; e < m; e++) {
            out->score[e] = (float)(to.sum[e] / to.weight);
            out->low[e] = (float)(to.sum[m + e] / to.weight);
            out->high[e] = (float)(to.sum[2 * m + e] / to.weight);
        }
        mem_free(out->witness); /* it is only of the last member */
        out->witness = NULL;
        TRY(edge_trust_keep(out, to.zeta / to.weight));
    } else {
        TRY(model_logits(&logits, model, problem, backend));
        TRY(edge_trust_agreement(out, problem->graph, logits, problem->classes));
    }
done:
    mem_free(to.sum);
    mem_free(logits);
    if (st < 0)
        edge_trust_free(out);
    return st;
}
