/* Boosted trees: the only model that is not a program. graph/neighbour_columns.h describes the
 * columns that its trees read, train/trees.c how they are made and used. */
#include "models/model.h"

/* Validation ends training long before the last round. The weight decay is that of leaves, which is
 * unrelated to a network's. */
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
