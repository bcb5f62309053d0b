/* GAM: a GCN with a loss that pulls neighbours together if an agreement model, which reads only
 * features, expects the same class (Stretcu et al. 2019). This file records the classifier;
 * src/train/gam.c has the agreement model, the propagation loss and their rounds. --model OTHER
 * --propagation gam trains another classifier in the same way. */
#include "models/model.h"

extern const struct model_def model_gcn;

static node gam_build(struct program *p, const struct inputs *in, const struct config *c)
{
    return model_gcn.build(p, in, c);
}

static void gam_defaults(struct config *c)
{
    c->propagation = PROPAGATION_GAM;
}

const struct model_def model_gam = {
    .name = "gam",
    .title = "Graph agreement model with a GCN",
    .paper = "Stretcu et al., NeurIPS 2019",
    .knobs = "propagation rounds round_patience warmup gnn_steps lambda lambda_per alpha_ll "
             "alpha_lu alpha_uu distance grow grow_confidence match_steps match_hidden "
             "match_dropout match_lr layers hidden dropout input_dropout",
    .defaults = gam_defaults,
    .build = gam_build,
};
