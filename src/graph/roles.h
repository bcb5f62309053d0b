/* The role of a node in an evaluation: train, validation, test or none. */
#ifndef GRAPH_ROLES_H
#define GRAPH_ROLES_H

enum split_role { SPLIT_NONE = 0, SPLIT_TRAIN = 1, SPLIT_VAL = 2, SPLIT_TEST = 3 };

#endif
