/* The same dataset with its nodes in another order. */
#ifndef DATA_ORDER_H
#define DATA_ORDER_H

#include "data/dataset.h"

/* Node i of the new dataset is node old[i] (n, each once). Nodes keep their names; unnamed nodes
 * are named by their old numbers. A table's cells are not copied; features are numbers there. */
consm_status dataset_order(struct dataset **out, const struct dataset *d, const int32_t *old);

#endif
