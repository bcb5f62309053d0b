/* Networks that predict together with ConSM (--companions). Not in the paper. */

/*
 * The mean of several models is often right where one of them is wrong by chance. The candidates
 * that were trained to the end exist anyway, and so do boosted trees, the candidates that were
 * tried without distrusted edges, and ConSM's network over all edges if its last one is over fewer.
 * Each is calibrated by a temperature. The leader is ConSM's final model, or the trees where they
 * validate better. It begins with ten votes; up to ten more are given one by one, each to the model
 * that raises the validation likelihood of the mean probability most (Caruana et al., ICML 2004).
 * So the leader keeps at least half. It predicts alone where the mean validates clearly worse: by
 * two standard errors of the paired difference. (The leader's own score is the best of many, so it
 * is too high.) Trust asks for the mean; embeddings are ConSM's alone. Networks that were
 * tried without distrusted edges predict without that share of the edges which ConSM trusts least
 * in the end. They are no companions of trees that lead, because ConSM's network does not run then.
 */
#include "train/consm/clean.h"
#include "train/consm/race.h"
#include "train/ensemble.h"
#include "train/folds.h"
#include "train/metrics.h"

#include <string.h>

enum { OWN_VOTES = 10, MORE_VOTES = 10, MODELS = 1 + TRAIN_COMPANIONS };
_Static_assert((int)TRAIN_COMPANIONS == CHOICE_FINALISTS + 1 + CONSM_SPARES + 1,
               "finalists, trees, spares, and the network over all edges");

bool consm_has_companions(const struct session *s)
{
    const struct config *c = &s->options.config;
    if (c->companions == COMPANIONS_NO || c->backbone != BACKBONE_AUTO || s->options.offer ||
        race_quick(s) || s->problem->graph->partition)
        return false;
    return consm_counts(s) || !folds_rare(s->problem, s->judge.positive);
}

void consm_close_companions(struct consm *own)
{
    for (int i = 0; i < own->company.count; i++)
        session_free(own->company.member[i]);
    mem_free(own->company.logits);
    own->company = (struct train_company){0};
}

const struct train_company *consm_company(const struct session *s)
{
    const struct consm *own = s->own;
    return own->company.count > 0 ? &own->company : NULL;
}

/* The leader; finalists; trees unless they lead; and networks from the trials without distrusted
 * edges. */
struct company {
    int count;
    const float *logits[MODELS];                   /* (n, c) each */
    const struct choice_finalist *network[MODELS]; /* NULL: the leader or the trees */
    bool clean[MODELS];                            /* it predicts without distrusted edges */
    double drop_below;             /* the trust below which edges are distrusted; 0: unknown */
    struct choice_finalist before; /* ConSM over all edges */
    double temperature[MODELS];
    float *probability[MODELS]; /* (validation nodes, c) */
    int64_t votes[MODELS];
    struct session *trees; /* the last of them, or NULL */
};

static void company_free(struct company *all)
{
    session_free(all->trees);
    choice_finalist_free(&all->before);
    for (int m = 0; m < all->count; m++)
        mem_free(all->probability[m]);
}

static consm_status calibrate(struct company *all, int m, const struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *p = s->problem;
    const struct judge *j = &s->judge;
    struct predicted val = {all->logits[m], p->label,   p->role, SPLIT_VAL,
                            p->nodes,       p->classes, NULL};
    double *term = NULL;
    TRY(NEW(term, p->nodes));
    all->temperature[m] = metrics_temperature_by(&val, s->backend->host, term);
    TRY(NEW(all->probability[m], j->rows * p->classes));
    for (int64_t i = 0; i < j->rows; i++)
        metrics_softmax(all->probability[m] + i * p->classes,
                        all->logits[m] + (int64_t)j->node[i] * p->classes, all->temperature[m], 1,
                        p->classes);
done:
    mem_free(term);
    return st;
}

static consm_status divide_votes(struct company *all, const struct session *s)
{
    consm_status st = CONSM_OK;
    for (int m = 0; m < all->count; m++)
        TRY(calibrate(all, m, s));
    struct ensemble_pool pool = {.members = all->count,
                                 .runs = 1,
                                 .rows = s->judge.rows,
                                 .classes = s->problem->classes,
                                 .probability = (const float *const *)all->probability,
                                 .label = s->judge.label,
                                 .judge = &s->judge};
    TRY(ensemble_join(all->votes, &pool, OWN_VOTES, MORE_VOTES));
done:
    return st;
}

/* The mean prediction (n, c) of those that have votes. */
static consm_status mix(float **out, const struct company *all, const struct problem *p)
{
    consm_status st = CONSM_OK;
    int64_t c = p->classes, votes = 0;
    double *mean = NULL;
    float *probability = NULL;
    for (int m = 0; m < all->count; m++)
        votes += all->votes[m];
    TRY(NEW(*out, p->nodes * c));
    TRY(ZNEW(mean, p->nodes * c));
    TRY(NEW(probability, c));
    for (int m = 0; m < all->count; m++)
        for (int64_t i = 0; all->votes[m] > 0 && i < p->nodes; i++)
            ensemble_mix(mean + i * c, probability, (double)all->votes[m] / (double)votes,
                         all->temperature[m], all->logits[m] + i * c, p->classes);
    ensemble_mixed(*out, mean, p->nodes * c);
done:
    mem_free(mean);
    mem_free(probability);
    return st;
}

/* A candidate's options as they were in the race. */
static consm_status options_of(struct train_options *out, const struct session *s, int64_t number)
{
    consm_status st = CONSM_OK;
    *out = (struct train_options){.seed = s->options.seed,
                                  .config = s->choice->asked,
                                  .positive = s->options.positive,
                                  .eval_only = true,
                                  .parts_only = true};
    out->config.metric = s->options.config.metric;
    out->config.epochs = race_length(&s->choice->asked);
    out->config.with_trees = WITH_TREES_NO;
    out->config.companions = COMPANIONS_NO;
    TRY(race_choose(&out->config, number, s->options.given));
    TRY(model_find(&out->model, config_names_backbone[out->config.backbone]));
done:
    return st;
}

/* A session with a network's parameters. parts_only: for the model file; it cannot predict. */
static consm_status open_companion(struct session **out, struct session *s,
                                   const struct choice_finalist *f, const struct problem *problem,
                                   bool parts_only)
{
    consm_status st = CONSM_OK;
    struct session *companion = NULL;
    struct train_options options;
    float *value;
    TRY(options_of(&options, s, f->number));
    options.parts_only = parts_only;
    TRY(session_new(&companion, problem, &options, s->backend));
    if (parts_only && config_scales_columns(&options.config)) /* the file holds the scale */
        TRY(session_prepare_features(companion));
    if (companion->learner.params->size != f->size)
        TRY(status_fail(
            CONSM_EFORMAT, "the checkpoint has %lld parameters of a candidate (%s): expected %lld",
            (long long)f->size, options.model->name, (long long)companion->learner.params->size));
    TRY(params_write(&value, companion->learner.params, PLACE_VALUE));
    memcpy(value, f->value, (size_t)f->size * sizeof *value);
    companion->learner.best_step = f->updates;
    *out = companion;
    companion = NULL;
done:
    session_free(companion);
    return st;
}

/* Model M of the company joins the session. */
static consm_status join(struct session *s, struct company *all, int m, int64_t *number)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct train_company *to = &own->company;
    if (all->network[m]) {
        struct session **member = &to->member[to->count];
        *number = all->network[m] == &all->before ? 0 : all->network[m]->number + 1;
        TRY(open_companion(member, s, all->network[m], own->clean.whole, true));
        (*member)->options.config.drop_below = all->clean[m] ? all->drop_below : 0;
        return CONSM_OK;
    }
    *number = CONSM_CANDIDATES + 1;
    to->member[to->count] = all->trees;
    all->trees->learner.best_step = s->choice->trees.rounds;
    all->trees = NULL;
    s->options.config.with_trees = WITH_TREES_YES;
done:
    return st;
}

/* Those with votes join the session. */
static consm_status found(struct session *s, struct company *all, struct train_result *result)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct train_company *to = &own->company;
    struct train_companions *told = &result->companions;
    to->votes[0] = told->own = told->votes = all->votes[0];
    to->temperature[0] = all->temperature[0];
    for (int m = 1; m < all->count; m++) {
        if (all->votes[m] == 0)
            continue;
        TRY(join(s, all, m, &told->of[to->count].number));
        told->of[to->count].votes = all->votes[m];
        told->of[to->count].clean = all->clean[m];
        to->count++;
        to->votes[to->count] = all->votes[m];
        to->temperature[to->count] = all->temperature[m];
        told->votes += all->votes[m];
    }
    told->count = to->count;
done:
    return st;
}

/* right (validation nodes): 1 where the largest logit is the label, else 0. */
static void mark_right(double *right, const float *logits, const struct session *s)
{
    int32_t classes = s->problem->classes;
    for (int64_t i = 0; i < s->judge.rows; i++) {
        const float *row = logits + (int64_t)s->judge.node[i] * classes;
        int32_t best = 0;
        for (int32_t k = 1; k < classes; k++)
            if (row[k] > row[best])
                best = k;
        right[i] = best == s->judge.label[i];
    }
}

bool companions_hold(const double *mean, const double *alone, int64_t rows)
{
    return ensemble_advantage(mean, alone, rows) >= -2;
}

/* Whether the mean may predict. A metric that counts classes says so directly. */
static consm_status holds(bool *out, const struct session *s, const float *mean, const float *alone)
{
    consm_status st = CONSM_OK;
    int64_t rows = s->judge.rows;
    double *right = NULL;
    *out = judge_score(&s->judge, mean, false) >= judge_score(&s->judge, alone, false);
    if (s->judge.metric != METRIC_ACCURACY)
        return CONSM_OK;
    TRY(NEW(right, 2 * rows));
    mark_right(right, mean, s);
    mark_right(right + rows, alone, s);
    *out = companions_hold(right, right + rows, rows);
done:
    mem_free(right);
    return st;
}

static void add_network(struct company *all, const struct choice_finalist *f, bool clean)
{
    int m = all->count++;
    all->logits[m] = f->logits;
    all->network[m] = f;
    all->clean[m] = clean;
}

/* Predicts with a network over the edges of a problem. */
static consm_status predict(struct choice_finalist *f, struct session *s,
                            const struct problem *problem)
{
    consm_status st = CONSM_OK;
    struct session *network = NULL;
    int64_t cells = problem->nodes * problem->classes;
    const float *logits;
    TRY(open_companion(&network, s, f, problem, false));
    TRY(session_logits(&logits, network));
    TRY(NEW(f->logits, cells));
    memcpy(f->logits, logits, (size_t)cells * sizeof *logits);
done:
    session_free(network);
    return st;
}

/* The networks that were tried without the share of edges with the least trust. */
static consm_status meet_spares(struct company *all, struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_spares *spares = &own->clean.spares;
    float *trust = NULL;
    struct consm_kept *kept = NULL;
    TRY(consm_stored_trust(&trust, s));
    all->drop_below = consm_score_at(trust, own->edges->count, spares->share);
    if (all->drop_below <= 0)
        goto done;
    TRY(consm_kept_by(&kept, s, trust, all->drop_below));
    for (int i = 0; i < spares->count; i++) {
        TRY(predict(&spares->network[i], s, consm_kept_problem(kept)));
        add_network(all, &spares->network[i], true);
    }
done:
    consm_kept_free(kept);
    mem_free(trust);
    return st;
}

/* ConSM's network as it was before it left out edges. */
static consm_status meet_before(struct company *all, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct consm_clean *clean = &((struct consm *)s->own)->clean;
    TRY(choice_finalist_make(&all->before, s->choice->trial[0].number, &clean->aside.gnn->learner));
    TRY(predict(&all->before, s, clean->whole));
    add_network(all, &all->before, false);
done:
    return st;
}

static consm_status meet(struct company *all, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct consm *own = s->own;
    const struct consm_clean *clean = &own->clean;
    all->count = 1;
    TRY(session_logits(&all->logits[0], own->trees ? own->trees : s));
    for (int64_t i = 0; i < s->choice->finalists; i++)
        add_network(all, &s->choice->finalist[i], false);
    if (s->choice->trees.rounds > 0 && !own->trees) {
        TRY(consm_open_trees(&all->trees, s));
        TRY(session_logits(&all->logits[all->count++], all->trees));
    }
    if (clean->spares.count > 0 && !own->trees)
        TRY(meet_spares(all, s));
    if (clean->on && clean->aside.gnn && !clean->aside.on)
        TRY(meet_before(all, s));
done:
    return st;
}

consm_status consm_settle_companions(struct session *s, struct train_result *result)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct company all = {0};
    float *mean = NULL;
    bool may = s->choice && s->choice->finalists > 0 && s->judge.rows > 0;
    s->options.config.companions = COMPANIONS_NO;
    if (!may)
        return CONSM_OK;
    TRY(meet(&all, s));
    TRY(divide_votes(&all, s));
    TRY(mix(&mean, &all, s->problem));
    TRY(holds(&may, s, mean, all.logits[0]));
    if (!may)
        goto done;
    TRY(found(s, &all, result));
    if (own->company.count == 0)
        goto done;
    own->company.logits = mean;
    result->companions.alone = result->val_score;
    result->val_score = judge_score(&s->judge, mean, false);
    result->val_acc = accuracy(mean, s->problem, SPLIT_VAL);
    result->test_acc = accuracy(mean, s->problem, SPLIT_TEST);
    s->options.config.companions = COMPANIONS_YES;
    mean = NULL;
done:
    company_free(&all);
    mem_free(mean);
    return st;
}
