/* ConSM: a GNN trained with edge coefficients from confidence-based subgraph matching (Choi et al.,
 * CIKM 2022). This file records the GNN, which is another model. The matching module is src/match;
 * their alternation (Algorithm 2) is src/train/consm/rounds.c. */
#include "models/model.h"

static node consm_build(struct program *p, const struct inputs *in, const struct config *c)
{
    const struct model_def *backbone;
    if (model_find(&backbone, config_names_backbone[c->backbone]) < 0)
        return program_fault(p, "backbone: %s", consm_errmsg());
    return backbone->build(p, in, c);
}

/* Rounds end the training; epochs can shorten it. The first round's updates continue the warm-up,
 * one arm without coefficients, so the warm-up may be short. A fourth round validates better but
 * predicts no better. */
static void consm_defaults(struct config *c)
{
    c->epochs = 1000000;
    c->warmup = 300;
    c->rounds = 3;
    c->round_patience = 1;
    c->with_trees = WITH_TREES_AUTO;
    c->companions = COMPANIONS_YES;
}

const struct model_def model_consm = {
    .name = "consm",
    .title = "Confidence-based subgraph matching with a GNN",
    .paper = "Choi et al., CIKM 2022",
    .knobs =
        "profile backbone zeta rounds round_patience warmup stretch candidates folds gnn_steps "
        "lambda attract "
        "guesses entropy student companions trust_pairs drop_share drop_below drop_first add_share "
        "add_above "
        "grow grow_confidence "
        "lambda_per alpha_lu "
        "coefficients alpha_uu distance messages match_steps match_update match_pairs "
        "match_refresh "
        "match_width match_hidden match_layers match_dropout match_lr match_weight_decay "
        "match_slope match_ego match_join match_error prune_score "
        "prune_by transport map pool two_hop_cap layers hidden dropout",
    .defaults = consm_defaults,
    .build = consm_build,
};
