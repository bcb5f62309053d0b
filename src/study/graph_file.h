/* A graph with what a run found out about it, as a JSON file in a study's folder: edges with trust
 * scores, labels, predictions, roles. The report draws neighbourhoods from it without the data. */
#ifndef STUDY_GRAPH_FILE_H
#define STUDY_GRAPH_FILE_H

#include "data/dataset.h"
#include "report/svg.h"
#include "train/edge_trust.h"

consm_status graph_file_write(const char *path, const struct dataset *d, const struct edge_trust *t,
                              const struct problem *problem, const float *logits);

struct graph_file;

/* CONSM_EIO when it cannot be read, CONSM_EFORMAT when it is not what graph_file_write wrote. */
consm_status graph_file_read(struct graph_file **out, const char *path);
const struct graph_view *graph_file_view(const struct graph_file *g);
void graph_file_free(struct graph_file *g);

#endif
