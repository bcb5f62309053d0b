/* Trains on a pruned graph (the paper's Fig. 1): keeps one share of the edges inside classes and
 * another of those between classes. Choosing them uses true labels: an oracle experiment. */
#include "study/task.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "graph/edges.h"
#include <math.h>

enum { STREAM_PRUNE = 77 };

/* kept (edges) = 1 for ⌊share·count⌋ edges of each kind, chosen by the seed. For one seed a smaller
 * share keeps a subset of a larger one. */
static consm_status choose(uint8_t *kept, const struct edges *edges, const int32_t *label,
                           const struct study_run *run)
{
    consm_status st = CONSM_OK;
    int32_t *kind[2] = {NULL, NULL}; /* edges between classes, edges inside */
    int64_t count[2] = {0, 0};
    double share[2] = {run->other_kept, run->same_kept};
    struct rng rng;
    for (int k = 0; k < 2; k++)
        TRY(NEW(kind[k], edges->count));
    for (int64_t e = 0; e < edges->count; e++) {
        int32_t a = label[edges->left[e]], b = label[edges->right[e]];
        int k = a == b;
        kept[e] = a < 0 || b < 0; /* an edge of unknown kind stays */
        if (!kept[e])
            kind[k][count[k]++] = (int32_t)e;
    }
    for (int k = 0; k < 2; k++) {
        rng_init(&rng, run->seed, (uint64_t)(STREAM_PRUNE + k));
        rng_shuffle(&rng, kind[k], count[k]);
        int64_t stay = (int64_t)floor(share[k] * (double)count[k] + 1e-9);
        for (int64_t i = 0; i < stay; i++)
            kept[kind[k][i]] = 1;
    }
done:
    mem_free(kind[0]);
    mem_free(kind[1]);
    return st;
}

static consm_status prune_graph(struct csr **out, const struct csr *graph, const int32_t *label,
                                const struct study_run *run)
{
    consm_status st = CONSM_OK;
    struct edges *edges = NULL;
    uint8_t *kept = NULL;
    int64_t count = 0;
    TRY(edges_new(&edges, graph));
    TRY(NEW(kept, edges->count));
    TRY(choose(kept, edges, label, run));
    for (int64_t e = 0; e < edges->count; e++)
        if (kept[e]) {
            edges->left[count] = edges->left[e];
            edges->right[count++] = edges->right[e];
        }
    TRY(csr_from_edges(out, graph->rows, graph->cols, count, edges->left, edges->right, NULL,
                       CSR_UNDIRECTED, NULL));
done:
    mem_free(kept);
    edges_free(edges);
    return st;
}

consm_status task_prune(json_t *result, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    uint8_t *role = NULL;
    struct csr *graph = NULL;
    struct views *views = NULL;
    struct train_result trained;
    struct train_options options = task_options(in);
    TRY(task_roles(&role, in));
    struct problem problem = prepare_problem(in->prepared, role);
    TRY(prune_graph(&graph, problem.graph, problem.label, in->run));
    TRY(csr_transpose(graph));
    TRY(views_new(&views, graph));
    problem.graph = graph;
    problem.views = views;
    TRY(train_once(&trained, &problem, &options, in->threads));
    TRY(task_record(result, &trained));
    if (json_object_set_new(result, "edges", json_integer(graph->nnz / 2)) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
done:
    views_free(views);
    csr_free(graph);
    mem_free(role);
    return st;
}
