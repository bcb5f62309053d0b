/* Choosing ConSM's backbone, or only the features of a given one: each candidate trains alone for
 * the warm-up's number of epochs; the one with the best validation accuracy is taken, with the
 * feature preparation and the regularisation it was tried with. Only training and validation labels
 * are read. */
#include "train/consm.h"

/* The plain choices (feature normalisation, weight decay, dropout, keeping a node's own embedding
 * apart) are open to the same selection as the models. Cheap ones only: each is tried once a run.
 * GAT drops what its authors drop, 0.6 everywhere but in the bag of words. */
static const struct candidate {
    enum config_backbone backbone;
    enum config_normalize_features normalize_features;
    double lr, weight_decay, dropout, input_dropout, attention_dropout;
    int64_t reach, layers;
} candidates[] = {
    {BACKBONE_GCN, FEATURES_NONE, 0.005, 5e-4, 0.5, 0, 0.5, 2, 2},
    {BACKBONE_GCN, FEATURES_ROW, 0.01, 5e-4, 0.5, 0.5, 0.5, 2, 2},
    {BACKBONE_APPNP, FEATURES_ROW, 0.01, 5e-4, 0.8, 0.8, 0.5, 2, 2},
    {BACKBONE_H2GCN, FEATURES_ROW, 0.01, 5e-3, 0.3, 0, 0.5, 1, 1},
    {BACKBONE_GCNII, FEATURES_NONE, 0.005, 5e-4, 0.5, 0, 0.5, 2, 2},
    {BACKBONE_GAT, FEATURES_NONE, 0.005, 5e-4, 0.6, 0, 0.6, 2, 2},
};

static void apply(struct config *c, const struct candidate *candidate)
{
    c->backbone = candidate->backbone;
    if (c->normalize_features != FEATURES_STANDARD) /* the user's word about the columns */
        c->normalize_features = candidate->normalize_features;
    c->lr = candidate->lr;
    c->weight_decay = candidate->weight_decay;
    c->dropout = candidate->dropout;
    c->input_dropout = candidate->input_dropout;
    c->attention_dropout = candidate->attention_dropout;
    c->reach = candidate->reach;
    c->layers = candidate->layers;
}

/* A candidate has the warm-up's number of updates, and one at least. */
static int64_t trial_epochs(const struct config *c)
{
    int64_t warmup = c->warmup > 0 ? c->warmup : 1;
    return c->epochs < warmup ? c->epochs : warmup;
}

/* How many configurations there are to choose from; 0 when all is given. */
static int64_t choices(const struct config *c)
{
    if (c->backbone == BACKBONE_AUTO)
        return sizeof candidates / sizeof *candidates;
    return c->normalize_features == FEATURES_AUTO ? 2 : 0;
}

/* The i-th of them: a candidate, or the given backbone on features as they are, then row by row. */
static void choose(struct config *c, int64_t i)
{
    if (c->backbone == BACKBONE_AUTO)
        apply(c, &candidates[i]);
    else
        c->normalize_features = i == 0 ? FEATURES_NONE : FEATURES_ROW;
}

int64_t consm_choice_updates(const struct config *c)
{
    return trial_epochs(c) * choices(c);
}

/* loss is 0 unless ties on validation go by it. */
static consm_status try_choice(double *val, double *loss, struct session *s, int64_t i)
{
    consm_status st = CONSM_OK;
    struct session *trial = NULL;
    struct train_options options = {.seed = s->options.seed, .config = s->options.config};
    struct progress progress = {0}, heard = {.seed = s->options.seed};
    options.config.epochs = trial_epochs(&s->options.config);
    choose(&options.config, i);
    TRY(model_find(&options.model, config_names_backbone[options.config.backbone]));
    TRY(session_new(&trial, s->problem, &options, s->backend));
    for (int64_t number = 1; number <= options.config.epochs; number++) {
        TRY(session_epoch(trial, number, &progress));
        heard.loss = progress.loss;
        heard.val_acc = progress.val_acc;
        heard.best_val = progress.best_val;
        if (s->options.progress && s->options.progress(s->options.progress_ctx, &heard))
            TRY(status_fail(CONSM_ECANCEL, "stopped while the backbone was being chosen"));
    }
    *val = trial->learner.best;
    *loss = trial->learner.best_loss;
done:
    session_free(trial);
    return st;
}

consm_status consm_choose_backbone(struct session *s)
{
    consm_status st = CONSM_OK;
    double best = -1, best_loss = 0;
    int64_t chosen = 0, count = choices(&s->options.config);
    for (int64_t i = 0; i < count; i++) {
        double val = 0, loss = 0;
        TRY(try_choice(&val, &loss, s, i));
        if (val > best || (val == best && loss < best_loss)) {
            best = val;
            best_loss = loss;
            chosen = i;
        }
    }
    if (count > 0)
        choose(&s->options.config, chosen);
done:
    return st;
}
