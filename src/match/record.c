/* Records the matching module: the paper's equations as programs. Parameters: w1, b1 (w2, b2) the
 * encoder; w3 (w3r), b3, w6, w6r, w4, b4 the matching function M; w5, b5 the class head f. */
#include "match/matcher_inside.h"
#include "nn/layers.h"

/* X of the nodes that training reads, or of all. */
static node features(const struct matcher *m, struct program *p, bool all)
{
    const struct match_data *d = &m->data;
    const struct csr *words = all ? d->sparse : m->reach.sparse;
    if (words)
        return sparse(p, words);
    return in_parts(
        p, input(p, all ? d->dense : m->reach.dense, all ? d->nodes : m->reach.count, d->features),
        d->graph->partition);
}

/* h = Encoder(X), an MLP of match_layers layers (Eq. embedding). With one layer it ends in ReLU and
 * dropout; with more the last layer is linear. */
node matcher_encode(const struct matcher *m, struct program *p, double dropout, bool all)
{
    const struct config *c = m->config;
    node h = features(m, p, all);
    for (int64_t l = 1; l <= c->match_layers; l++) {
        h = linear(p, layer_name(l).text, h, c->match_width);
        if (l < c->match_layers || c->match_layers == 1)
            h = hidden_step(p, h, dropout);
    }
    return program_name(p, h, "h");
}

/* f(h), of the central node only */
static node class_head(const struct matcher *m, struct program *p, node h)
{
    return linear(p, "5", h, m->data.classes);
}

/* w_ij = M(h'_i ⊕ h'_j), M = linear, activation, linear, sigmoid (Eq. edge_score). The first layer
 * splits: W(h'_i ⊕ h'_j) = W_l h'_i + W_r h'_j, so it is applied once per subgraph and each pair
 * costs one addition. With match_ego the central nodes' embeddings are added, W_l h'_i + V_l h_i:
 * if its neighbours differ, the mean over two hops hides the node itself. */
static node part(const struct matcher *m, struct program *p, node subgraph, const char *ego_name,
                 node ego)
{
    if (!m->config->match_ego)
        return subgraph;
    return add(p, subgraph, linear_no_bias(p, ego_name, ego, m->config->match_hidden));
}

static node left_part(const struct matcher *m, struct program *p, node pooled, node ego)
{
    return part(m, p, linear(p, "3", pooled, m->config->match_hidden), "6", ego);
}

static node right_part(const struct matcher *m, struct program *p, node pooled, node ego)
{
    return part(m, p, linear_no_bias(p, "3r", pooled, m->config->match_hidden), "6r", ego);
}

/* A ReLU whose units are all below zero never learns again; a slope there prevents this. */
static node activation(const struct matcher *m, struct program *p, node x)
{
    float slope = (float)m->config->match_slope;
    return slope > 0 ? leaky_relu(p, x, slope) : relu(p, x);
}

/* An interaction of two central nodes that a sum of two parts cannot express: u·(q_i ∘ q_j) with
 * the class probabilities q = softmax(f(h)), one learned weight per class. It starts at 1: from a
 * larger value M relies on it alone, from a smaller one it learns it late. */
static node agreement_of(struct program *p, node one, node other)
{
    return linear_from(p, "7", mul(p, one, other), 1, INIT_ONE);
}

static node agreement(struct program *p, node q, const struct index *i, const struct index *j)
{
    node one = gather(p, q, i), other = gather(p, q, j);
    return agreement_of(p, one, other);
}

/* The output of M for two subgraphs, before the sigmoid. */
static node match_joined(const struct matcher *m, struct program *p, node left, node right,
                         const struct index *i, const struct index *j)
{
    node joined = activation(m, p, add(p, gather(p, left, i), gather(p, right, j)));
    return linear(p, "4", joined, 1);
}

/* q: class probabilities of the central nodes that M reads. */
static node match_parts(const struct matcher *m, struct program *p, node left, node right, node q,
                        const struct index *i, const struct index *j)
{
    node score = match_joined(m, p, left, right, i, j);
    if (m->config->match_ego)
        score = add(p, score, agreement(p, q, i, j));
    return sigmoid(p, score);
}

/* The same if only the heads that the pairs name are there. */
static node match_named(const struct matcher *m, struct program *p, node left, node right,
                        node head, const struct index *i, const struct index *j)
{
    node score = match_joined(m, p, left, right, i, j);
    if (m->config->match_ego)
        score =
            add(p, score,
                agreement_of(p, softmax(p, gather(p, head, i)), softmax(p, gather(p, head, j))));
    return sigmoid(p, score);
}

/* The authors' program: w_ij = M((h'_i - h'_j)²), without the sigmoid. */
static node match_squared(const struct matcher *m, struct program *p, node pooled,
                          const struct index *i, const struct index *j)
{
    node joined = pair_squared(p, pooled, i, j);
    return linear(p, "4", activation(m, p, linear(p, "3", joined, m->config->match_hidden)), 1);
}

/* h: embeddings of the nodes in reach; the labelled ones are the egos. */
static node match(const struct matcher *m, struct program *p, node pooled, node h)
{
    if (m->config->match_join != MATCH_JOIN_CONCAT)
        return match_squared(m, p, pooled, m->left, m->right);
    node ego = gather(p, h, m->ego);
    return match_parts(m, p, left_part(m, p, pooled, ego), right_part(m, p, pooled, ego),
                       softmax(p, class_head(m, p, ego)), m->left, m->right);
}

/* L_SM = Σ |w_ij - [Y_i = Y_j]| + L_nll(f(h_i), Y_i) + L_nll(f(h_j), Y_j), over the number of pairs
 *                                                                              (Eq. sm_loss)
 * A node's L_nll is computed once and weighted by the number of pairs that name it. */
static node matching_loss(const struct matcher *m, struct program *p, node h, node w)
{
    node target = input(p, m->target, m->pairs, 1), weight = input(p, m->weight, m->pairs, 1);
    node error = m->config->match_error == MATCH_ERROR_L1 ? l1(p, w, target, weight)
                                                          : mse(p, w, target, weight);
    node heads = nll(p, class_head(m, p, h), m->ego, m->reach.label, m->times);
    return axpby(p, 1, error, 2, heads);
}

static consm_status record_train(struct matcher *m)
{
    consm_status st = CONSM_OK;
    struct program *p;
    TRY(program_new(&p, m->learner.params, true));
    node h = matcher_encode(m, p, m->config->match_dropout, false);
    /* h'_i = B(p*_i, h_i) for every labelled node: P·h, c rows each          (Eq. our_monge_map) */
    node rows = m->inside.sets ? inside_pool(m, p, h, matcher_encode(m, p, 0, false))
                : m->member    ? gather(p, segment_max(p, gather(p, h, m->member), m->member_row),
                                        m->pooled_row)
                               : spmm(p, m->pooling.matrix, h);
    node pooled = reshape(p, rows, m->data.labelled, m->data.classes * m->config->match_width);
    node loss = program_name(p, matching_loss(m, p, h, match(m, p, pooled, h)), "L_SM");
    TRY(learner_lesson(&m->learner, &m->learner.train, p, loss, m->config->match_lr,
                       m->config->match_weight_decay));
done:
    return st;
}

static consm_status record_encode(struct matcher *m)
{
    consm_status st = CONSM_OK;
    TRY(program_new(&m->learner.eval, m->learner.params, false));
    m->embedding = matcher_encode(m, m->learner.eval, m->config->match_dropout, true);
    m->head = class_head(m, m->learner.eval, m->embedding);
    program_keep(m->learner.eval, m->embedding);
    program_keep(m->learner.eval, m->head);
    if (m->parts.membership) { /* r, the class means of h, as a product that ranks can divide */
        struct program *p = m->learner.eval;
        node of_class = input(p, m->parts.membership, m->data.nodes, m->data.classes);
        m->parts.references = matmul_t(p, of_class, true, m->embedding, false);
        program_keep(p, m->parts.references);
    }
done:
    return st;
}

/* Between two steps only subgraphs of labelled nodes are mapped. They are in reach, unless ε
 * depends on the distances of all nodes. The step then takes h from here. */
static consm_status record_near(struct matcher *m)
{
    consm_status st = CONSM_OK;
    if (m->way != &whole_way || !m->reach.node || m->inside.sets ||
        m->config->transport == TRANSPORT_SINKHORN)
        return CONSM_OK;
    TRY(program_new(&m->near, m->learner.params, false));
    m->near_embedding = matcher_encode(m, m->near, m->config->match_dropout, false);
    program_keep(m->near, m->near_embedding);
    TRY(program_compile(m->near, m->learner.backend));
done:
    return st;
}

/* The rows that the host provides: all nodes, a block of them, or its part of a graph in parts. */
static int64_t rows_here(const struct matcher *m)
{
    if (whole_in_blocks(m))
        return BLOCK_ROWS;
    int64_t rows = csr_high(m->data.graph) - csr_low(m->data.graph);
    return rows > 0 ? rows : 1;
}

/* h' of every node: computed from h, or provided by the host. */
static node pooled_subgraphs(struct matcher *m, struct program *p, node h)
{
    if (m->way->pooled)
        return m->way->pooled(m, p, h);
    return m->pooled_input = input(p, NULL, rows_here(m), m->data.classes * m->config->match_width);
}

/* The first layer of M on the pooled subgraphs of all nodes, once for all batches of edges. */
static consm_status record_project(struct matcher *m)
{
    consm_status st = CONSM_OK;
    if (m->config->match_join != MATCH_JOIN_CONCAT)
        return CONSM_OK;
    TRY(program_new(&m->project, m->scorer->params, false));
    struct program *p = m->project;
    node ego = m->way->pooled ? matcher_encode(m, p, 0, true)
                              : input(p, NULL, rows_here(m), m->config->match_width);
    node pooled = pooled_subgraphs(m, p, ego);
    m->ego_input = ego;
    m->left_part = left_part(m, p, pooled, ego);
    m->right_part = right_part(m, p, pooled, ego);
    program_keep(p, m->left_part);
    program_keep(p, m->right_part);
done:
    return st;
}

/* Scores a batch of edges; averages both directions if M is not symmetric. */
static consm_status record_score(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct index *i = m->score_left, *j = m->score_right;
    int64_t n = m->data.nodes, width = m->config->match_hidden;
    node w;
    TRY(program_new(&m->score, m->scorer->params, false));
    struct program *p = m->score;
    if (m->parts.partition) {
        node left = input(p, m->parts.left_part, n, width);
        node right = input(p, m->parts.right_part, n, width);
        node head = input(p, m->parts.head, n, m->data.classes);
        node there = match_named(m, p, left, right, head, i, j);
        node back = match_named(m, p, left, right, head, j, i);
        w = axpby(p, 0.5f, there, 0.5f, back);
    } else if (m->project) {
        node left = m->left_input = input(p, NULL, n, width);
        node right = m->right_input = input(p, NULL, n, width);
        node q = softmax(p, m->head_input = input(p, NULL, n, m->data.classes));
        w = axpby(p, 0.5f, match_parts(m, p, left, right, q, i, j), 0.5f,
                  match_parts(m, p, left, right, q, j, i));
    } else {
        node h = m->way->pooled ? matcher_encode(m, p, 0, true) : POISON;
        w = match_squared(m, p, pooled_subgraphs(m, p, h), i, j);
    }
    m->scores = clamp(p, w, 0, 1);
    program_keep(p, m->scores);
done:
    return st;
}

/* Programs that only score use the module's own parameters, trained or loaded. */
static consm_status know_all(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct params *alone = m->scorer->params;
    for (int i = 0, index; m->scorer != &m->learner && i < alone->count; i++) {
        const struct parameter *p = &alone->item[i];
        TRY(params_add(m->learner.params, &index, p->name, p->rows, p->cols, p->init, p->trained));
    }
done:
    return st;
}

/* The programs that a loaded module also needs; all parameters are known before the first is
 * compiled. */
static consm_status record_scoring(struct matcher *m)
{
    consm_status st = CONSM_OK;
    TRY(record_encode(m));
    TRY(record_project(m));
    TRY(record_score(m));
    TRY(far_record_map(m));
    TRY(know_all(m));
    TRY(program_compile(m->learner.eval, m->learner.backend));
    if (m->project)
        TRY(program_compile(m->project, m->scorer->backend));
    if (m->far.map)
        TRY(program_compile(m->far.map, m->learner.backend));
    TRY(program_compile(m->score, m->scorer->backend));
done:
    return st;
}

consm_status matcher_record(struct matcher *m)
{
    consm_status st = CONSM_OK;
    TRY(params_add(m->learner.params, &m->references, "references", m->data.classes,
                   m->config->match_width, INIT_ZERO, false));
    if (m->data.labelled > 0)
        TRY(record_train(m));
    TRY(record_scoring(m));
    if (m->data.labelled > 0)
        TRY(record_near(m));
done:
    return st;
}
