/* The edge terms of ConSM's loss: ζ, and L_SUP with the coefficients of a round. */
#include "train/consm/consm.h"

#include "stats/rank.h"
#include "train/propagation.h"
#include "train/supervised.h"
#include <math.h>

bool consm_known(const struct problem *problem, int32_t i)
{
    uint8_t role = problem->role[i];
    return problem->label[i] >= 0 && (role == SPLIT_TRAIN || role == SPLIT_VAL);
}

/* Counts of edges of one kind: all, those with known labels, and those of them that join one class.
 */
struct tally {
    uint64_t all, known, same;
};

double consm_estimate_zeta(const struct edges *edges, const struct problem *problem)
{
    struct tally of[3] = {{0}}; /* by the number of training ends */
    double inside = 0, all = 0;
    for (int64_t e = 0; e < edges->count; e++) {
        int32_t i = edges->left[e], j = edges->right[e];
        bool known = consm_known(problem, i) && consm_known(problem, j);
        struct tally *t =
            &of[(problem->role[i] == SPLIT_TRAIN) + (problem->role[j] == SPLIT_TRAIN)];
        t->all++;
        t->known += known;
        t->same += known && problem->label[i] == problem->label[j];
    }
    for (int k = 0; k < 3; k++) {
        double here = (double)edges_total(edges, of[k].all);
        double known = (double)edges_total(edges, of[k].known);
        double same = (double)edges_total(edges, of[k].same);
        inside += here * (1 + same) / (2 + known);
        all += here;
    }
    return all > 0 ? inside / all : 0.5;
}

/* ---- L_SUP --------------------------------------------------------------- */

/* Sets slope (|E|) to 1 for confident edges and 0 for others. */
static consm_status mark_confident(float *slope, const float *w, const struct edges *edges,
                                   int64_t confident, struct team *team)
{
    consm_status st = CONSM_OK;
    uint8_t *chosen = NULL;
    if (!edges->partition) {
        struct rank_choice best;
        rank_choose(&best, w, edges->count, confident, team);
        for (int64_t e = 0; e < edges->count; e++)
            slope[e] = rank_takes(&best, w[e], e);
        return CONSM_OK;
    }
    TRY(NEW(chosen, edges->count + 1));
    TRY(edges_top(chosen, edges, w, confident));
    for (int64_t e = 0; e < edges->count; e++)
        slope[e] = chosen[e];
done:
    mem_free(chosen);
    return st;
}

/* In a graph in parts one process sums a node's edges, and all add the nodes in one order; every
 * edge counts from both ends. */
static consm_status sum_nodes(double *sum, const double *fixed, const struct edges *edges)
{
    consm_status st = CONSM_OK;
    double *of_node = NULL;
    int64_t n = edges->partition->cut[edges->partition->parts];
    TRY(ZNEW(of_node, n));
    for (int64_t e = 0; e < edges->count; e++)
        of_node[edges->left[e]] += fixed[e];
    TRY(partition_gather(edges->partition, of_node, sizeof *of_node));
    *sum = 0;
    for (int64_t i = 0; i < n; i++)
        *sum += of_node[i] / 2;
done:
    mem_free(of_node);
    return st;
}

consm_status consm_propagation(float *slope, float *constant, const float *w,
                               const struct edges *edges, const uint8_t *role, double lambda,
                               double zeta, const struct config *c, struct team *team)
{
    consm_status st = CONSM_OK;
    int64_t all = edges_all(edges), confident = (int64_t)floor(zeta * (double)all);
    double share = lambda / (c->lambda_per == LAMBDA_PER_MEAN && all > 0 ? (double)all : 1);
    double fixed = 0, *of_edge = NULL;
    if (edges->partition)
        TRY(NEW(of_edge, edges->count + 1));
    TRY(mark_confident(slope, w, edges, confident, team));
    for (int64_t e = 0; e < edges->count; e++) {
        int labelled =
            (role[edges->left[e]] == SPLIT_TRAIN) + (role[edges->right[e]] == SPLIT_TRAIN);
        double alpha = labelled == 2 ? 0 : labelled == 1 ? c->alpha_lu : c->alpha_uu;
        bool attract = slope[e] > 0;
        double part = attract ? share * alpha * w[e] : 0;
        slope[e] = (float)(share * alpha * (attract ? -w[e] : 1 - w[e]));
        fixed += part;
        if (of_edge)
            of_edge[e] = part;
    }
    if (of_edge)
        TRY(sum_nodes(&fixed, of_edge, edges));
    *constant = (float)fixed;
done:
    mem_free(of_edge);
    return st;
}

/* L_SUP's pull of the edges. */
static node edge_loss(struct session *s, struct program *p, node logits)
{
    struct consm *own = s->own;
    int64_t count = own->edges->count;
    if (edges_all(own->edges) == 0)
        return fill(p, 0, 1, 1);
    node x = s->options.config.distance == DISTANCE_PROBABILITIES ? softmax(p, logits) : logits;
    node pull = own->pulls ? pulls_cosine(p, own->pulls, x)
                           : dot(p, pair_cosine(p, x, own->left, own->right),
                                 input(p, own->slope, count, 1));
    return add(p, pull, input(p, &own->constant, 1, 1));
}

node consm_whole_loss(struct session *s, struct program *p, node supervised, node predictions)
{
    node mean = mean_prediction(p, predictions, s->problem->classes);
    node paper = add(p, consm_guess_loss(s, p, supervised, predictions), edge_loss(s, p, mean));
    return consm_entropy_loss(s, p, paper, mean);
}
