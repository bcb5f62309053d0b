/* The propagation losses, and the procedure of models that carry NGM's or P-reg's. */
#include "train/propagation.h"

#include <math.h>

#include "train/session.h"

/* D^-1 A; the row of a node without neighbours gets a 1 on the diagonal. */
static consm_status neighbour_mean(struct csr **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    struct csr *b = NULL;
    int64_t lonely = 0, at = 0;
    for (int64_t r = 0; r < a->rows; r++)
        lonely += a->start[r] == a->start[r + 1];
    TRY(csr_new(&b, a->rows, a->cols, a->nnz + lonely, true));
    for (int64_t r = 0; r < a->rows; r++) {
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
            b->col[at] = a->col[k];
            b->val[at++] = a->val ? a->val[k] : 1;
        }
        if (a->start[r] == a->start[r + 1]) {
            b->col[at] = (int32_t)r;
            b->val[at++] = 1;
        }
        b->start[r + 1] = at;
    }
    TRY(csr_row_normalize(out, b));
done:
    csr_free(b);
    return st;
}

static consm_status collect_edges(struct propagation *p, const struct csr *graph)
{
    consm_status st = CONSM_OK;
    TRY(edges_new(&p->edges, graph));
    TRY(ZNEW(p->pull, p->edges->count));
    TRY(index_new(&p->left, p->edges->count, graph->rows));
    TRY(index_new(&p->right, p->edges->count, graph->rows));
    TRY(index_set(p->left, p->edges->left));
    TRY(index_set(p->right, p->edges->right));
done:
    return st;
}

consm_status propagation_new(struct propagation **out, const struct csr *graph,
                             enum config_propagation kind)
{
    consm_status st = CONSM_OK;
    struct propagation *p;
    *out = NULL;
    TRY(ZNEW(p, 1));
    st = kind == PROPAGATION_P_REG ? neighbour_mean(&p->mean, graph) : collect_edges(p, graph);
    if (st < 0) {
        propagation_free(p);
        return st;
    }
    *out = p;
done:
    return st;
}

void propagation_free(struct propagation *p)
{
    if (!p)
        return;
    edges_free(p->edges);
    index_free(p->left);
    index_free(p->right);
    csr_free(p->mean);
    mem_free(p->pull);
    mem_free(p);
}

/* λ; auto is 1 here. */
static double strength(const struct config *c)
{
    return isnan(c->lambda) ? 1 : c->lambda;
}

void propagation_weigh(struct propagation *p, const float *w, const uint8_t *labelled,
                       const struct config *c)
{
    int64_t count = p->edges->count;
    const double alpha[3] = {c->alpha_uu, c->alpha_lu, c->alpha_ll};
    double share =
        strength(c) / (c->lambda_per == LAMBDA_PER_MEAN && count > 0 ? (double)count : 1);
    double total = 0;
    for (int64_t e = 0; e < count; e++) {
        int known = labelled[p->edges->left[e]] + labelled[p->edges->right[e]];
        p->pull[e] = (float)(share * alpha[known] * (w ? w[e] : 1));
        total += (double)p->pull[e];
    }
    p->total = (float)total;
}

/* λ/n·Σ -softmax(z)·log softmax(D^-1 A z) */
static node p_reg(struct propagation *own, struct program *p, node z, const struct config *c)
{
    node agree = dot(p, softmax(p, z), log_softmax(p, spmm(p, own->mean, z)));
    return scale(p, (float)(-strength(c) / (double)own->mean->rows), agree);
}

node propagation_loss(struct propagation *own, struct program *p, node z, const struct config *c)
{
    if (own->mean)
        return p_reg(own, p, z, c);
    int64_t count = own->edges->count;
    if (count == 0)
        return fill(p, 0, 1, 1);
    node pull = input(p, own->pull, count, 1);
    /* d = |y_i - y_j|² of the probabilities */
    if (c->distance == DISTANCE_SQUARED) {
        node apart = pair_squared(p, softmax(p, z), own->left, own->right);
        return dot(p, row_sum(p, apart), pull);
    }
    /* Σ pull·(1 - cos) = Σ pull - Σ pull·cos */
    node x = c->distance == DISTANCE_PROBABILITIES ? softmax(p, z) : z;
    node alike = dot(p, pair_cosine(p, x, own->left, own->right), pull);
    return sub(p, input(p, &own->total, 1, 1), alike);
}

/* ---- NGM and P-reg: the loss alone, plain epochs ------------------------- */

static consm_status propagation_open(struct session *s)
{
    consm_status st = CONSM_OK;
    struct propagation *own = NULL;
    uint8_t *labelled = NULL;
    if (s->options.eval_only)
        return CONSM_OK;
    TRY(propagation_new(&own, s->problem->graph, s->options.config.propagation));
    s->own = own;
    TRY(ZNEW(labelled, s->problem->nodes));
    for (int64_t k = 0; k < s->labelled->count; k++)
        labelled[s->labelled->row[k]] = 1;
    if (own->edges)
        propagation_weigh(own, NULL, labelled, &s->options.config);
done:
    mem_free(labelled);
    return st;
}

static node extra_loss(struct session *s, struct program *p, node logits)
{
    return propagation_loss(s->own, p, logits, &s->options.config);
}

static void propagation_close(struct session *s)
{
    propagation_free(s->own);
    s->own = NULL;
}

const struct procedure propagation_procedure = {
    .model = "",
    .resumes = true,
    .open = propagation_open,
    .extra_loss = extra_loss,
    .close = propagation_close,
};
