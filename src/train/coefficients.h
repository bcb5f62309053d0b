/* What a trained model thinks of each edge. */
#ifndef TRAIN_COEFFICIENTS_H
#define TRAIN_COEFFICIENTS_H

#include "graph/edges.h"
#include "train/train.h"

/* One coefficient per undirected edge of the session's graph, larger for edges the model trusts
 * more: ConSM's and GAM's w, GAT's last scores before the softmax, FAGCN's last gates, PTDNet's
 * last gates; of the two directions the mean. w (edges) belongs to the caller. CONSM_EINVAL for a
 * model without an opinion. */
consm_status session_coefficients(struct session *s, float *w, const struct edges *edges);

#endif
