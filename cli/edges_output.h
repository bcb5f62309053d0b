/* Trust scores as a file, and their quality if there are labels. */
#ifndef CLI_EDGES_OUTPUT_H
#define CLI_EDGES_OUTPUT_H

#include "consm.h"

/* source,target,score,kept with the dataset's ids; "-" is standard output. safe: ids that a
 * spreadsheet would compute get a ' in front. */
consm_status edges_write(const char *path, const struct consm_edge_scores *scores,
                         const struct consm_dataset *data, bool safe, bool witnesses);

/* Measured on edges whose two ends are labelled. */
struct edges_quality {
    int64_t edges;    /* such edges */
    double homophily; /* the share of them that joins one class: chance for f1 */
    double f1;        /* at the ⌊h·edges⌋ best scores */
    double auc, ece;  /* NAN if there is only one kind of edge */
};
consm_status edges_judge(struct edges_quality *q, const struct consm_edge_scores *scores,
                         const struct consm_dataset *data);

#endif
