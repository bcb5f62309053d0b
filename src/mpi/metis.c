/* Cuts a graph with METIS: k-way, minimising the volume that parts send each other, balanced by
 * entries (Karypis and Kumar, SIAM J. Sci. Comput. 1998). */
#include "mpi/inside.h"

__attribute__((visibility("default"))) cut_graph_fn consm_cut;

#ifdef CONSM_METIS
#include <metis.h>

static consm_status cut_graph(int32_t *part, const struct csr *graph, int parts)
{
    consm_status st = CONSM_OK;
    int64_t n = graph->rows;
    idx_t nodes = (idx_t)n, constraints = 1, wanted = parts, volume, options[METIS_NOPTIONS];
    idx_t *start = world.os->zalloc((size_t)n + 1, sizeof *start), *col = NULL, *weight = NULL,
          *found = NULL;
    if (graph->nnz >= (int64_t)1 << (IDXTYPEWIDTH - 1))
        TRY(world.os->fail(CONSM_EINVAL,
                           "the graph has %lld entries: the limit of this METIS is 2^%d",
                           (long long)graph->nnz, IDXTYPEWIDTH - 1));
    col = world.os->zalloc((size_t)graph->nnz + 1, sizeof *col);
    weight = world.os->zalloc((size_t)n + 1, sizeof *weight);
    found = world.os->zalloc((size_t)n + 1, sizeof *found);
    if (!start || !col || !weight || !found)
        TRY(CONSM_ENOMEM);
    for (int64_t r = 0; r <= n; r++)
        start[r] = (idx_t)graph->start[r];
    for (int64_t r = 0; r < n; r++)
        weight[r] = start[r + 1] - start[r] + 1;
    for (int64_t k = 0; k < graph->nnz; k++)
        col[k] = graph->col[k];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_OBJTYPE] = METIS_OBJTYPE_VOL;
    options[METIS_OPTION_SEED] = 1;
    int result = METIS_PartGraphKway(&nodes, &constraints, start, col, weight, NULL, NULL, &wanted,
                                     NULL, NULL, options, &volume, found);
    if (result != METIS_OK)
        TRY(world.os->fail(CONSM_ENOMEM, "METIS cannot partition the graph (error %d)", result));
    for (int64_t r = 0; r < n; r++)
        part[r] = (int32_t)found[r];
done:
    world.os->free(start);
    world.os->free(col);
    world.os->free(weight);
    world.os->free(found);
    return st;
}
#else
static consm_status cut_graph(int32_t *part, const struct csr *graph, int parts)
{
    (void)part, (void)graph, (void)parts;
    return world.os->fail(CONSM_ENOTFOUND, "this consm was built without METIS: install it with "
                                           "scripts/bootstrap mpi and build again");
}
#endif

consm_status consm_cut(int32_t *part, const struct csr *graph, int parts,
                       const struct plugin_services *services, uint64_t layout)
{
    if (layout != plugin_layout())
        return services->fail(CONSM_ENOTFOUND, "libconsm_mpi.so is from another build of consm");
    world.os = services;
    if (parts > 1 && graph->nnz > 0)
        return cut_graph(part, graph, parts);
    for (int64_t r = 0; r < graph->rows; r++)
        part[r] = 0;
    return CONSM_OK;
}
