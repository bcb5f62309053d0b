/* Reads edge coefficients from a trained session. */
#include "train/coefficients.h"

#include "train/session.h"

/* The position of entry k = (r, col) of the graph if every row also has its loop. */
static int64_t with_loops(int64_t k, int32_t r, int32_t col)
{
    return k + r + (col > r);
}

static consm_status read_edges(float *w, const float *value, int64_t entries,
                               const struct csr *graph, const struct edges *edges)
{
    consm_status st = CONSM_OK;
    struct edge_walk walk;
    int64_t *next = NULL;
    bool loops = entries == graph->nnz + graph->rows;
    if (!loops && entries != graph->nnz)
        return status_fail(CONSM_EPROGRAM,
                           "%lld coefficients: expected %lld, one for each entry of the graph",
                           (long long)entries, (long long)graph->nnz);
    TRY(NEW(next, graph->rows));
    edge_walk_begin(&walk, graph, next);
    for (int64_t e = 0; e < edges->count; e++) {
        edge_walk_step(&walk);
        int64_t there = walk.there, back = walk.back;
        if (loops) {
            there = with_loops(there, edges->left[e], edges->right[e]);
            back = with_loops(back, edges->right[e], edges->left[e]);
        }
        w[e] = (value[there] + value[back]) / 2;
    }
done:
    mem_free(next);
    return st;
}

consm_status session_coefficients(struct session *s, float *w, const struct edges *edges)
{
    consm_status st = CONSM_OK;
    struct program *p = NULL;
    const float *value;
    const struct model_def *model = s->options.model;
    if (s->procedure && s->procedure->coefficients)
        return s->procedure->coefficients(s, w, edges);
    if (!model->coefficients)
        return status_fail(CONSM_EINVAL,
                           "%s has no edge coefficients; consm, gam, gat, fagcn and ptdnet do",
                           model->name);
    TRY(program_new(&p, s->learner.params, false));
    struct inputs in = session_inputs(s, p);
    node found = model->coefficients(p, &in, &s->options.config);
    program_keep(p, found);
    TRY(program_compile(p, s->backend));
    TRY(learner_read(&value, &s->learner, p, found));
    TRY(read_edges(w, value, program_rows(p, found), s->problem->graph, edges));
done:
    program_free(p);
    return st;
}
