/* Connected components by breadth-first search. */
#include "graph/components.h"

#include <string.h>

consm_status components_find(struct components *out, const struct csr *g)
{
    consm_status st = CONSM_OK;
    int32_t *queue = NULL;
    memset(out, 0, sizeof *out);
    TRY(NEW(out->of, g->rows));
    TRY(NEW(queue, g->rows));
    for (int64_t i = 0; i < g->rows; i++)
        out->of[i] = -1;
    for (int64_t i = 0; i < g->rows; i++) {
        int64_t head = 0, tail = 0;
        if (out->of[i] >= 0)
            continue;
        out->of[i] = (int32_t)out->count;
        queue[tail++] = (int32_t)i;
        while (head < tail) {
            int32_t at = queue[head++];
            for (int64_t e = g->start[at]; e < g->start[at + 1]; e++)
                if (out->of[g->col[e]] < 0) {
                    out->of[g->col[e]] = (int32_t)out->count;
                    queue[tail++] = g->col[e];
                }
        }
        out->count++;
        if (tail > out->largest)
            out->largest = tail;
    }
done:
    mem_free(queue);
    if (st < 0)
        components_free(out);
    return st;
}

void components_free(struct components *c)
{
    mem_free(c->of);
    c->of = NULL;
}
