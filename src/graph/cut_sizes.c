/* Counts the rows, entries and halo of each part. */
#include "graph/cut.h"

consm_status cut_sizes(struct cut_size *size, const struct csr *graph, int parts)
{
    consm_status st = CONSM_OK;
    int64_t *cut = NULL, *weight = NULL;
    int32_t *seen = NULL; /* 1 + the last part that needed a column */
    TRY(NEW(cut, parts + 1));
    TRY(NEW(weight, graph->rows + 1));
    TRY(ZNEW(seen, graph->cols));
    for (int64_t r = 0; r <= graph->rows; r++)
        weight[r] = graph->start[r] + r;
    cut_rows(cut, weight, graph->rows, parts);
    for (int p = 0; p < parts; p++) {
        struct cut_size *s = &size[p];
        *s = (struct cut_size){.rows = cut[p + 1] - cut[p],
                               .entries = graph->start[cut[p + 1]] - graph->start[cut[p]]};
        for (int64_t k = graph->start[cut[p]]; k < graph->start[cut[p + 1]]; k++) {
            int32_t c = graph->col[k];
            if (c >= cut[p] && c < cut[p + 1])
                continue;
            s->outside++;
            s->halo += seen[c] != p + 1;
            seen[c] = p + 1;
        }
    }
done:
    mem_free(cut);
    mem_free(weight);
    mem_free(seen);
    return st;
}
