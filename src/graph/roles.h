/* Which role a node plays in an evaluation. A node may have none. */
#ifndef GRAPH_ROLES_H
#define GRAPH_ROLES_H

enum split_role { SPLIT_NONE = 0, SPLIT_TRAIN = 1, SPLIT_VAL = 2, SPLIT_TEST = 3 };

#endif
