/* Boosted trees (train/trees.c) beside ConSM's candidate networks. Not in the paper. */

/*
 * If features are a table of numbers, trees often predict better than any network (Tang et al.,
 * GADBench, NeurIPS 2023). They cannot be a backbone, because ConSM's losses need gradients. They
 * train once, with their own defaults, on the same training labels. They vote on what the student
 * learns. If they validate better than ConSM's final model, they make the predictions; ConSM always
 * scores the edges.
 */
#include "train/consm/candidates.h"

#include "backends/plugin.h"
#include "base/log.h"
#include "graph/neighbour_columns.h"
#include "train/folds.h"
#include "train/forest.h"
#include <math.h>
#include <string.h>

/* By default trees take part if there are CONSM_MANY_LABELS labels per class, and if a round reads
 * at most this many numbers: nodes that train or validate, times columns, times trees per round (at
 * least two). That is at most 0.5 s a round and a gigabyte of memory. */
static const double MOST_NUMBERS = 1 << 27;

static double numbers_of(const struct session *s)
{
    const struct problem *p = s->problem;
    int64_t trees = forest_group(p->classes);
    return (double)(s->labelled->count + s->judge.rows) *
           (double)neighbour_columns_count(p->features) * (double)(trees > 2 ? trees : 2);
}

/* CONSM_ENOTFOUND if the plug-in is missing and trees were requested. */
static consm_status take_part(bool *out, const struct session *s)
{
    const struct config *c = &s->options.config;
    const struct boost_library *library;
    const struct plugin_services *services;
    bool asked = c->with_trees == WITH_TREES_YES;
    *out = false;
    if (c->with_trees == WITH_TREES_NO || s->validation == 0)
        return CONSM_OK;
    if (asked && s->ranks->size > 1)
        return status_fail(CONSM_EINVAL, "with_trees yes: trees train in one process only");
    if (!asked &&
        (c->candidates == CANDIDATES_FEW || s->ranks->size > 1 || s->problem->graph->partition ||
         consm_labels_a_class(s->problem) < CONSM_MANY_LABELS || numbers_of(s) > MOST_NUMBERS ||
         folds_rare(s->problem, s->judge.positive))) /* one comparison would be chance */
        return CONSM_OK;
    consm_status st = plugin_boost(&library, &services);
    if (st < 0 && !asked) {
        log_info("boosted trees are not among the candidates: %s", consm_errmsg());
        status_clear();
        return CONSM_OK;
    }
    *out = st == CONSM_OK;
    return st;
}

static consm_status options_of(struct train_options *out, const struct session *s)
{
    consm_status st = CONSM_OK;
    *out = (struct train_options){.seed = s->options.seed, .positive = s->options.positive};
    TRY(trees_beside(&out->model, &out->config, &s->options.config));
    if (s->choice->asked.normalize_features != FEATURES_AUTO)
        out->config.normalize_features = s->choice->asked.normalize_features;
done:
    return st;
}

/* After every round: reports progress. A run that is stopped here trains its trees anew when it
 * resumes. */
static consm_status tell(struct session *s, const struct session *trees, double loss, double val)
{
    consm_status st = CONSM_OK;
    const struct train_options *o = &s->options;
    struct progress heard = {.seed = o->seed,
                             .candidate = CONSM_CANDIDATES + 1,
                             .backbone = trees->options.model->name,
                             .loss = loss,
                             .val_acc = val,
                             .best_val = trees->learner.best};
    if (!o->progress || !o->progress(o->progress_ctx, &heard))
        return CONSM_OK;
    if (o->checkpoint)
        TRY(o->checkpoint(o->checkpoint_ctx, s));
    st = status_fail(CONSM_ECANCEL, "stopped during the choice of the backbone");
done:
    return st;
}

static consm_status boost(struct session *s, struct session *trees)
{
    consm_status st = CONSM_OK;
    const struct config *c = &trees->options.config;
    const struct learner *l = &trees->learner;
    double loss, val;
    while (l->steps < c->epochs && l->steps - l->best_step < c->patience && !session_late(s)) {
        TRY(session_step(trees, &loss));
        TRY(session_validate(&val, trees));
        TRY(tell(s, trees, loss, val));
    }
    if (l->best_step > 0)
        TRY(trees->procedure->restore(trees));
done:
    return st;
}

/* Writes down what was learned. */
static consm_status keep(struct choice_trees *to, const struct session *trees)
{
    consm_status st = CONSM_OK;
    const float *numbers;
    int64_t nodes;
    session_forest(&numbers, &nodes, trees);
    TRY(NEW(to->node, nodes * FOREST_COLUMNS));
    memcpy(to->node, numbers, (size_t)(nodes * FOREST_COLUMNS) * sizeof *numbers);
    to->nodes = nodes;
    to->rounds = trees->learner.best_step;
    to->val = trees->learner.best;
done:
    return st;
}

consm_status consm_open_trees(struct session **out, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct consm *own = s->own;
    struct train_options options;
    *out = NULL;
    TRY(options_of(&options, s));
    options.eval_only = true;
    options.forest = s->choice->trees.node;
    options.forest_nodes = s->choice->trees.nodes;
    TRY(session_new(out, own->clean.whole, &options, s->backend));
    TRY(session_loaded(*out));
done:
    if (st < 0) {
        session_free(*out);
        *out = NULL;
    }
    return st;
}

static consm_status offer(struct session *s)
{
    consm_status st = CONSM_OK;
    struct session *trees = NULL;
    TRY(consm_open_trees(&trees, s));
    TRY(s->options.offer(s->options.offer_ctx, trees));
done:
    session_free(trees);
    return st;
}

consm_status consm_train_trees(struct session *s)
{
    consm_status st = CONSM_OK;
    struct session *trees = NULL;
    struct train_options options;
    bool takes;
    if (s->choice->trees.over) /* as a checkpoint says */
        return CONSM_OK;
    TRY(take_part(&takes, s));
    if (takes) {
        TRY(options_of(&options, s));
        TRY(session_new(&trees, s->problem, &options, s->backend));
        TRY(boost(s, trees));
        if (trees->learner.best_step > 0)
            TRY(keep(&s->choice->trees, trees));
    }
    s->choice->trees.over = true;
    if (s->choice->trees.rounds > 0 && s->options.offer)
        TRY(offer(s));
done:
    session_free(trees);
    return st;
}

consm_status consm_hear_trees(struct committee *out, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct candidate_choice *c = s->choice;
    struct session *trees = NULL;
    const float *logits;
    double last = 2;
    for (int64_t i = 0; i < c->count; i++)
        if (!c->trial[i].diverged && c->trial[i].val < last)
            last = c->trial[i].val;
    if (c->trees.rounds == 0 || c->trees.val < last)
        return CONSM_OK;
    TRY(consm_open_trees(&trees, s));
    TRY(session_logits(&logits, trees));
    TRY(committee_hear(out, logits, s->problem));
done:
    session_free(trees);
    return st;
}

/* A student may validate a little worse than the network that it replaced. */
double consm_best_network(const struct candidate_choice *c, double val)
{
    return c->taught ? fmax(val, c->replaced) : val;
}

consm_status consm_settle_trees(struct session *s, struct train_result *result)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct choice_trees *trees = s->choice ? &s->choice->trees : NULL;
    const struct problem *p = own->clean.whole;
    const float *logits;
    s->options.config.with_trees = WITH_TREES_NO;
    if (!trees || trees->rounds == 0)
        return CONSM_OK;
    double best = consm_best_network(s->choice, result->val_score);
    result->trees = (struct train_trees){trees->rounds, trees->val, trees->val > best, best};
    result->candidate[result->candidates++] =
        (struct train_candidate){"trees", "", trees->rounds, trees->val, CONSM_CANDIDATES + 1, -1};
    if (!result->trees.taken)
        return CONSM_OK;
    TRY(consm_open_trees(&own->trees, s));
    TRY(session_logits(&logits, own->trees));
    s->options.config.with_trees = WITH_TREES_YES;
    result->folds = (struct train_folds){0}; /* they are of the network */
    result->val_score = trees->val;
    result->val_acc = accuracy(logits, p, SPLIT_VAL);
    result->test_acc = accuracy(logits, p, SPLIT_TEST);
done:
    return st;
}

struct session *consm_trees(struct session *s, int64_t *rounds)
{
    const struct consm *own = s->own;
    if (own->trees)
        *rounds = s->choice->trees.rounds;
    return own->trees;
}
