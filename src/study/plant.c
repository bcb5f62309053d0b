/* Adds edges to a graph, and removes edges from it. */
#include "study/plant.h"

#include "base/alloc.h"
#include "study/attacker.h"
#include <math.h>
#include <string.h>

enum { STREAM_PLANT = 83 };

/* ---- the attacked graph ---------------------------------------------------------------------- */

/* Draws edges to add, as many as the budget. */
static consm_status draw(struct changes *out, const struct csr *graph, const int32_t *label,
                         int64_t budget, const struct study_run *run)
{
    consm_status st = CONSM_OK;
    TRY(changes_new(out, budget));
    TRY(attack_draw(out->left, out->right, budget, graph,
                    run->plant == PLANT_BETWEEN ? label : NULL, run->seed,
                    (uint64_t)(STREAM_PLANT + (int)run->plant)));
    out->count = budget;
    memset(out->added, 1, (size_t)budget);
done:
    return st;
}

static consm_status attack(struct csr **out, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    const struct csr *graph = in->prepared->graph;
    const struct study_run *run = in->run;
    const int32_t *label = in->prepared->data->label;
    struct changes changes = {0};
    const int64_t edges = graph->nnz / 2;
    int64_t budget = (int64_t)llround(run->rate * (double)edges);
    if (run->plant == PLANT_DICE)
        TRY(attack_dice(&changes, graph, label, budget, run->seed));
    else if (run->plant == PLANT_RANDOM || run->plant == PLANT_BETWEEN)
        TRY(draw(&changes, graph, label, budget, run));
    else if (run->plant != PLANT_NOTHING)
        TRY(attacker_find(&changes, in, budget));
    TRY(changes_apply(out, graph, &changes));
done:
    changes_free(&changes);
    return st;
}

/* ---- the data on another graph --------------------------------------------------------------- */

/* Takes ownership of the graph. Structural features are computed from this graph. */
static consm_status put_on(struct prepared *out, const struct dataset *data, struct csr *graph)
{
    consm_status st = CONSM_OK;
    *out = (struct prepared){.data = data, .ranks = &ranks_alone, .graph = graph};
    TRY(csr_transpose(graph));
    TRY(views_new(&out->views, graph));
    if (data->features == 0)
        TRY(prepare_structural(&out->structural, out));
done:
    if (st < 0)
        prepare_free(out);
    return st;
}

/* Copies a published graph's pattern, which has no weights. */
static consm_status copy_graph(struct csr **out, const struct csr *attack, int64_t nodes)
{
    consm_status st = CONSM_OK;
    struct edges *edges = NULL;
    if (attack->rows != nodes)
        return status_fail(CONSM_EINVAL,
                           "the attacked graph has %lld nodes, but the dataset has %lld",
                           (long long)attack->rows, (long long)nodes);
    TRY(edges_new(&edges, attack));
    TRY(csr_from_edges(out, nodes, nodes, edges->count, edges->left, edges->right, NULL,
                       CSR_UNDIRECTED, NULL));
done:
    edges_free(edges);
    return st;
}

consm_status planted_new(struct planted *out, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    const struct prepared *clean = in->prepared;
    struct csr *graph = NULL;
    *out = (struct planted){0};
    if (in->attack)
        TRY(copy_graph(&graph, in->attack, clean->data->nodes));
    else
        TRY(attack(&graph, in));
    TRY(put_on(&out->prepared, clean->data, graph));
    TRY(edges_new(&out->edges, graph));
    TRY(NEW(out->injected, out->edges->count));
    out->removed = clean->graph->nnz / 2;
    for (int64_t e = 0; e < out->edges->count; e++) {
        out->injected[e] = csr_find(clean->graph, out->edges->left[e], out->edges->right[e]) < 0;
        out->count += out->injected[e];
        out->removed -= !out->injected[e];
    }
done:
    if (st < 0)
        planted_free(out);
    return st;
}

void planted_free(struct planted *p)
{
    prepare_free(&p->prepared);
    edges_free(p->edges);
    mem_free(p->injected);
    *p = (struct planted){0};
}

consm_status planted_left(struct prepared *out, const struct planted *p, const uint8_t *kept)
{
    consm_status st = CONSM_OK;
    const struct csr *graph = p->prepared.graph;
    struct csr *left_over = NULL;
    int32_t *left = NULL, *right = NULL;
    float *weight = NULL;
    int64_t count = 0;
    *out = (struct prepared){0};
    TRY(NEW(left, p->edges->count));
    TRY(NEW(right, p->edges->count));
    if (graph->val)
        TRY(NEW(weight, p->edges->count));
    for (int64_t e = 0; e < p->edges->count; e++) {
        if (!kept[e])
            continue;
        left[count] = p->edges->left[e];
        right[count] = p->edges->right[e];
        if (weight)
            weight[count] = edges_weight(p->edges, graph, e);
        count++;
    }
    TRY(csr_from_edges(&left_over, graph->rows, graph->cols, count, left, right, weight,
                       CSR_UNDIRECTED, NULL));
    TRY(put_on(out, p->prepared.data, left_over));
done:
    mem_free(left);
    mem_free(right);
    mem_free(weight);
    return st;
}

consm_status planted_on(struct prepared *out, const struct planted *p, struct csr *graph)
{
    return put_on(out, p->prepared.data, graph);
}

consm_status planted_again(struct train_result *out, const struct prepared *on,
                           const struct task_input *in, const uint8_t *role)
{
    consm_status st = CONSM_OK;
    struct train_options options = task_options(in);
    options.config = in->run->again;
    TRY(model_find(&options.model, "gcn"));
    struct problem problem = prepare_problem(on, role);
    TRY(train_once(out, &problem, &options, in->threads));
done:
    return st;
}
