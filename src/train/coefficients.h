/* A trained model's coefficient of each edge. */
#ifndef TRAIN_COEFFICIENTS_H
#define TRAIN_COEFFICIENTS_H

#include "graph/edges.h"
#include "train/train.h"

/* One coefficient per undirected edge of the session's graph, larger for edges that the model
 * trusts more: ConSM's and GAM's w, GAT's last scores before the softmax, FAGCN's and PTDNet's last
 * gates; the mean of both directions. The caller owns w (edges). CONSM_EINVAL for a model without
 * coefficients. */
consm_status session_coefficients(struct session *s, float *w, const struct edges *edges);

#endif
