/* The graph with a model's results, for Gephi, Cytoscape, yEd and networkx: nodes with class,
 * prediction and confidence, edges with trust. */
#ifndef APP_GRAPH_OUTPUT_H
#define APP_GRAPH_OUTPUT_H

#include "consm.h"

/* GraphML, GEXF, GML or JSON by the path's suffix; CONSM_EINVAL for any other. */
consm_status graph_output_check(const char *path);
consm_status graph_output_write(const char *path, const struct consm_model *model,
                                const struct consm_prediction *prediction,
                                const struct consm_edge_scores *scores,
                                const struct consm_dataset *data);

#endif
