/* A graph with a run's results, as a JSON file in a study's folder: edges with trust scores,
 * labels, predictions, roles. The report draws neighbourhoods from it without the data. */
#ifndef STUDY_GRAPH_FILE_H
#define STUDY_GRAPH_FILE_H

#include "data/dataset.h"
#include "report/svg.h"
#include "train/edge_trust.h"

consm_status graph_file_write(const char *path, const struct dataset *d, const struct edge_trust *t,
                              const struct problem *problem, const float *logits);

struct graph_file;

/* CONSM_EIO if it cannot be read, CONSM_EFORMAT if graph_file_write did not write it. */
consm_status graph_file_read(struct graph_file **out, const char *path);
const struct graph_view *graph_file_view(const struct graph_file *g);
void graph_file_free(struct graph_file *g);

#endif
