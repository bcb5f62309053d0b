/* The propagation losses, and the procedure of models with NGM's or P-reg's. In a graph in parts no
 * process lists all edges: sums over edges are then quadratic forms of a matrix, which ranks divide
 * like any other. */
#include "train/propagation.h"
#include "train/supervised.h"

#include "graph/partition.h"
#include "train/session.h"
#include <math.h>

static consm_status collect_edges(struct propagation *p, const struct csr *graph)
{
    consm_status st = CONSM_OK;
    TRY(edges_new(&p->edges, graph));
    TRY(ZNEW(p->pull, p->edges->count));
    TRY(index_of(&p->left, p->edges->left, p->edges->count, graph->rows));
    TRY(index_of(&p->right, p->edges->right, p->edges->count, graph->rows));
done:
    return st;
}

/* The pattern of the graph with its own values. */
consm_status pulls_new(struct csr **out, const struct csr *graph)
{
    consm_status st = CONSM_OK;
    struct csr *a;
    *out = NULL;
    TRY(ZNEW(a, 1));
    *a = *graph;
    a->borrowed = true;
    a->t = a;
    a->t_entry = NULL;
    a->val = mem_sparse_alloc((size_t)graph->nnz, sizeof *graph->val);
    if (!a->val)
        TRY(CONSM_ENOMEM);
    *out = a;
    return CONSM_OK;
done:
    mem_free(a);
    return st;
}

void pulls_free(struct csr *pulls)
{
    if (pulls)
        mem_sparse_free(pulls->val);
    csr_free(pulls);
}

static consm_status open_pulls(struct propagation *p, const struct csr *graph)
{
    consm_status st = CONSM_OK;
    TRY(pulls_new(&p->pulls, graph));
    TRY(ZNEW(p->pulled, graph->rows));
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
    st = kind == PROPAGATION_P_REG ? csr_neighbour_mean(&p->mean, graph)
         : graph->partition        ? open_pulls(p, graph)
                                   : collect_edges(p, graph);
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
    pulls_free(p->pulls);
    mem_free(p->pulled);
    mem_free(p);
}

/* λ; auto is 1 here. */
static double strength(const struct config *c)
{
    return isnan(c->lambda) ? 1 : c->lambda;
}

/* λ, over the number of edges if so configured. */
static double share_of_edge(const struct config *c, int64_t count)
{
    return strength(c) / (c->lambda_per == LAMBDA_PER_MEAN && count > 0 ? (double)count : 1);
}

/* The same by entries of the partition's rows. One process sums each row, and all add the rows in
 * one order. */
static consm_status weigh_entries(struct propagation *p, const float *w, const uint8_t *labelled,
                                  const struct config *c)
{
    consm_status st = CONSM_OK;
    struct csr *s = p->pulls;
    const double alpha[3] = {c->alpha_uu, c->alpha_lu, c->alpha_ll};
    double share = share_of_edge(c, s->nnz / 2), *ahead = NULL, total = 0;
    TRY(ZNEW(ahead, s->rows)); /* each edge counts at its first end */
    for (int64_t r = s->partition->low; r < s->partition->high; r++) {
        double all = 0;
        for (int64_t k = s->start[r]; k < s->start[r + 1]; k++) {
            int known = labelled[r] + labelled[s->col[k]];
            s->val[k] = (float)(share * alpha[known] * (w ? w[k] : 1));
            all += (double)s->val[k];
            ahead[r] += s->col[k] > r ? (double)s->val[k] : 0;
        }
        p->pulled[r] = (float)all;
    }
    TRY(partition_gather(s->partition, p->pulled, sizeof *p->pulled));
    TRY(partition_gather(s->partition, ahead, sizeof *ahead));
    for (int64_t r = 0; r < s->rows; r++)
        total += ahead[r];
    p->total = (float)total;
    csr_touch(s);
done:
    mem_free(ahead);
    return st;
}

consm_status propagation_weigh(struct propagation *p, const float *w, const uint8_t *labelled,
                               const struct config *c)
{
    if (p->pulls)
        return weigh_entries(p, w, labelled, c);
    int64_t count = p->edges->count;
    const double alpha[3] = {c->alpha_uu, c->alpha_lu, c->alpha_ll};
    double share = share_of_edge(c, count), total = 0;
    for (int64_t e = 0; e < count; e++) {
        int known = labelled[p->edges->left[e]] + labelled[p->edges->right[e]];
        p->pull[e] = (float)(share * alpha[known] * (w ? w[e] : 1));
        total += (double)p->pull[e];
    }
    p->total = (float)total;
    return CONSM_OK;
}

/* λ/n·Σ -softmax(z)·log softmax(D^-1 A z) */
static node p_reg(struct propagation *own, struct program *p, node z, const struct config *c)
{
    node agree = dot(p, softmax(p, z), log_softmax(p, spmm(p, own->mean, z)));
    return scale(p, (float)(-strength(c) / (double)own->mean->rows), agree);
}

/* Each edge is twice in the matrix S of pulls: ⟨y, S y⟩/2, y the rows of x scaled to length 1 */
node pulls_cosine(struct program *p, const struct csr *pulls, node x)
{
    node y = row_normalize(p, x);
    return scale(p, 0.5f, dot(p, y, spmm(p, pulls, y)));
}

/* With d the row sums of S:
 *   Σ pull·|x_i - x_j|² = Σ_i d_i |x_i|² - ⟨x, S x⟩
 *   Σ pull·(1 - cos)    = Σ pull - Σ pull·cos */
static node quadratic(struct propagation *own, struct program *p, node z, const struct config *c)
{
    node x = c->distance == DISTANCE_LOGITS ? z : softmax(p, z);
    if (c->distance == DISTANCE_SQUARED) {
        node alone = dot(p, scale_rows(p, x, input(p, own->pulled, own->pulls->rows, 1)), x);
        return sub(p, alone, dot(p, x, spmm(p, own->pulls, x)));
    }
    node alike = pulls_cosine(p, own->pulls, x);
    return sub(p, input(p, &own->total, 1, 1), alike);
}

node propagation_loss(struct propagation *own, struct program *p, node z, const struct config *c)
{
    if (own->mean)
        return p_reg(own, p, z, c);
    if (own->pulls)
        return own->pulls->nnz > 0 ? quadratic(own, p, z, c) : fill(p, 0, 1, 1);
    int64_t count = own->edges->count;
    if (count == 0)
        return fill(p, 0, 1, 1);
    node pull = input(p, own->pull, count, 1);
    /* d = |y_i - y_j|² of the probabilities */
    if (c->distance == DISTANCE_SQUARED) {
        node difference = pair_squared(p, softmax(p, z), own->left, own->right);
        return dot(p, row_sum(p, difference), pull);
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
    if (!own->mean)
        TRY(propagation_weigh(own, NULL, labelled, &s->options.config));
done:
    mem_free(labelled);
    return st;
}

static node whole_loss(struct session *s, struct program *p, node supervised, node predictions)
{
    node mean = mean_prediction(p, predictions, s->problem->classes);
    return add(p, supervised, propagation_loss(s->own, p, mean, &s->options.config));
}

static void propagation_close(struct session *s)
{
    propagation_free(s->own);
    s->own = NULL;
}

const struct procedure propagation_procedure = {
    .model = "",
    .resumes = true,
    .parts = true,
    .open = propagation_open,
    .loss = whole_loss,
    .close = propagation_close,
};
