/* Removes edges from the rows of the graph that carries messages, and a column from the features of
 * the ball around the node. */
#include "app/occlude_part.h"
#include "base/order.h"

#include "app/predictor.h"
#include "train/session.h"

#include <stdlib.h>
#include <string.h>

bool gap_possible(const struct consm_predictor *p)
{
    bool possible = p->rows_do && !p->graph;
    for (int64_t i = 0; i < p->parts; i++)
        possible = possible && p->part[i].session && p->part[i].reach >= 0 &&
                   p->part[i].model->config.add_above <= 0; /* pairs lead to nodes far away */
    return possible;
}

int64_t gap_reach(const struct consm_predictor *p)
{
    int64_t reach = 0;
    for (int64_t i = 0; i < p->parts; i++)
        reach = p->part[i].reach > reach ? p->part[i].reach : reach;
    return reach;
}

/* ---- rows ---------------------------------------------------------------- */

/* The rows that a gap changes, in ascending order. */
struct holes {
    int64_t count;
    int32_t *node;       /* (count) */
    struct csr_row *row; /* (count) into col and val */
    int32_t *col;
    float *val; /* NULL: every entry is 1 */
};

static void holes_free(struct holes *h)
{
    mem_free(h->node);
    mem_free(h->row);
    mem_free(h->col);
    mem_free(h->val);
}

static bool changed(const void *ctx, int64_t i, struct csr_row *out)
{
    const struct holes *h = ctx;
    int32_t wanted = (int32_t)i;
    const int32_t *at = bsearch(&wanted, h->node, (size_t)h->count, sizeof *h->node, order_int32);
    if (at)
        *out = h->row[at - h->node];
    return at != NULL;
}

static bool is_gone(const struct gap *gap, int32_t a, int32_t b)
{
    return (a == gap->left && b == gap->right) || (a == gap->right && b == gap->left) ||
           a == gap->neighbour || b == gap->neighbour;
}

static consm_status holes_new(struct holes *h, const struct csr *graph, const struct gap *gap)
{
    consm_status st = CONSM_OK;
    int32_t v = gap->neighbour;
    int64_t degree = v >= 0 ? graph->start[v + 1] - graph->start[v] : 0, entries = 0, used = 0;
    TRY(NEW(h->node, degree + 3));
    if (gap->left >= 0) {
        h->node[h->count++] = gap->left;
        h->node[h->count++] = gap->right;
    }
    if (v >= 0)
        h->node[h->count++] = v;
    for (int64_t k = 0; k < degree; k++)
        h->node[h->count++] = graph->col[graph->start[v] + k];
    qsort(h->node, (size_t)h->count, sizeof *h->node, order_int32);
    for (int64_t i = 0; i < h->count; i++)
        entries += graph->start[h->node[i] + 1] - graph->start[h->node[i]];
    TRY(NEW(h->row, h->count + 1));
    TRY(NEW(h->col, entries + 1));
    if (graph->val)
        TRY(NEW(h->val, entries + 1));
    for (int64_t i = 0; i < h->count; i++) {
        int64_t begin = used;
        for (int64_t e = graph->start[h->node[i]]; e < graph->start[h->node[i] + 1]; e++) {
            if (is_gone(gap, h->node[i], graph->col[e]))
                continue;
            if (h->val)
                h->val[used] = graph->val[e];
            h->col[used++] = graph->col[e];
        }
        h->row[i] = (struct csr_row){h->col + begin, h->val ? h->val + begin : NULL, used - begin};
    }
done:
    return st;
}

/* ---- features ------------------------------------------------------------ */

static void blank_column(struct scene *s, int64_t features, int64_t column, const float *mean)
{
    for (int64_t i = 0; s->dense && i < s->ball.nodes; i++)
        s->dense[i * features + column] = mean[column];
    for (int64_t i = 0; s->sparse && i < s->ball.nodes; i++) {
        int64_t e = csr_find(s->sparse, i, (int32_t)column);
        if (e >= 0)
            s->sparse->val[e] = 0;
    }
}

/* Makes room for values that a column can be blanked in. */
static consm_status own_values(struct csr *m)
{
    consm_status st = CONSM_OK;
    if (m && !m->val) {
        TRY(NEW(m->val, m->nnz + 1));
        for (int64_t e = 0; e < m->nnz; e++)
            m->val[e] = 1;
    }
done:
    return st;
}

/* ---- the answer ---------------------------------------------------------- */

static consm_status ask(float *row, struct consm_predictor *p, const struct part *part,
                        int32_t centre, const struct gap *gap, const float *mean)
{
    consm_status st = CONSM_OK;
    struct scene s = {0};
    struct holes holes = {0};
    struct backend *backend = NULL;
    float *logits = NULL;
    int64_t c = p->problem.classes, f = p->problem.features;
    const struct csr *graph = views_get(part->views, VIEW_ADJACENCY);
    if (!graph)
        return CONSM_ENOMEM;
    if (gap)
        TRY(holes_new(&holes, graph, gap));
    const struct csr_rows rows = {.base = graph, .changed = gap ? changed : NULL, .ctx = &holes};
    TRY(ball_new(&s.ball, &rows, &centre, 1, part->reach, p->problem.nodes));
    TRY(views_of_rows(&s.views, &rows, &s.ball));
    TRY(scene_features(&s, &p->problem));
    if (gap && gap->feature >= 0) {
        TRY(own_values(s.sparse));
        blank_column(&s, f, gap->feature, mean);
    }
    TRY(scene_pose(&s, p));
    TRY(prepare_backend(&backend, p->prepared, NULL, scene_threads(p, &s)));
    TRY(NEW(logits, s.ball.nodes * c));
    TRY(session_part_logits(logits, part->session, &s.problem, backend));
    memcpy(row, logits + ball_find(&s.ball, centre) * c, (size_t)c * sizeof *row);
done:
    mem_free(logits);
    backend_close(backend);
    holes_free(&holes);
    scene_free(&s);
    return st;
}

consm_status gap_logits(float *row, struct consm_predictor *p, int32_t centre,
                        const struct gap *gap, const float *mean)
{
    consm_status st = CONSM_OK;
    int32_t c = p->problem.classes;
    double *mixed = NULL;
    float *probability = NULL;
    if (!model_mixes(p->model))
        return ask(row, p, &p->part[0], centre, gap, mean);
    TRY(ZNEW(mixed, c));
    TRY(NEW(probability, c));
    for (int64_t i = 0; i < p->parts; i++) {
        TRY(ask(row, p, &p->part[i], centre, gap, mean));
        model_mix(mixed, probability, p->model, p->part[i].model, row, c);
    }
    model_mixed(row, mixed, c);
done:
    mem_free(mixed);
    mem_free(probability);
    return st;
}
