/* Boosted trees: the one model that is no program. Which columns its trees read is in
 * graph/neighbour_columns.h, how they are made and used in train/trees.c. */
#include "models/model.h"

/* Validation ends training long before the last round. The decay is that of leaves, whose size has
 * nothing to do with a network's weights. */
static void trees_defaults(struct config *c)
{
    c->patience = 50;
    c->lr = 0.1;
    c->weight_decay = 1;
}

const struct model_def model_trees = {
    .name = "trees",
    .title = "Boosted trees on features of a node and its neighbours",
    .paper = "Tang et al., NeurIPS 2023",
    .knobs = "tree_depth row_share column_share",
    .unweighted = true,
    .defaults = trees_defaults,
};
