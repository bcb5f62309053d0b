/* Homophily measures, from counts of (class, class) over edge ends. */
#include "graph/homophily.h"

#include <math.h>
#include <string.h>

/* Counts from one pass over the edge ends. An end is an entry (u, v) of the symmetric matrix with
 * both labels known; every edge has two. */
struct counts {
    double ends;         /* 2E */
    double same;         /* ends inside a class */
    double labelled;     /* nodes with a label */
    double *size;        /* (c) nodes of the class */
    double *degree;      /* (c) D_k = sum of degrees of its nodes */
    double *same_of;     /* (c) ends inside it */
    double pair_entropy; /* - sum p(k,l) log p(k,l), with p the share of ends */
    double share_sum;    /* sum of node homophily */
    double share_nodes;  /* nodes in that sum */
};

/* Orders nodes by class, so that pair counts need only one row of c numbers at a time. */
static consm_status order_by_class(int32_t *order, int64_t *first, const int32_t *label, int64_t n,
                                   int32_t c)
{
    consm_status st = CONSM_OK;
    int64_t *slot = NULL;
    TRY(NEW(slot, c + 1));
    memset(first, 0, (size_t)(c + 1) * sizeof *first);
    for (int64_t i = 0; i < n; i++)
        if (label[i] >= 0)
            first[label[i] + 1]++;
    for (int32_t k = 0; k < c; k++)
        first[k + 1] += first[k];
    memcpy(slot, first, (size_t)(c + 1) * sizeof *slot);
    for (int64_t i = 0; i < n; i++)
        if (label[i] >= 0)
            order[slot[label[i]]++] = (int32_t)i;
done:
    mem_free(slot);
    return st;
}

/* Adds the ends of one node; pair (c) counts ends of its class by the other end's class. */
static void count_node(struct counts *t, double *pair, const struct csr *g, const int32_t *label,
                       int32_t node)
{
    int32_t own = label[node];
    double known = 0, same = 0;
    for (int64_t e = g->start[node]; e < g->start[node + 1]; e++) {
        int32_t other = label[g->col[e]];
        if (other < 0)
            continue;
        known++;
        same += other == own;
        pair[other]++;
    }
    t->ends += known;
    t->same += same;
    t->degree[own] += known;
    t->same_of[own] += same;
    if (known > 0) {
        t->share_sum += same / known;
        t->share_nodes++;
    }
}

static consm_status count_ends(struct counts *t, const struct csr *g, const int32_t *label,
                               int32_t c)
{
    consm_status st = CONSM_OK;
    int32_t *order = NULL;
    int64_t *first = NULL;
    double *pair = NULL, sum_log = 0;
    TRY(NEW(order, g->rows));
    TRY(NEW(first, c + 1));
    TRY(NEW(pair, c));
    TRY(order_by_class(order, first, label, g->rows, c));
    for (int32_t k = 0; k < c; k++) {
        memset(pair, 0, (size_t)c * sizeof *pair);
        t->size[k] = (double)(first[k + 1] - first[k]);
        t->labelled += t->size[k];
        for (int64_t i = first[k]; i < first[k + 1]; i++)
            count_node(t, pair, g, label, order[i]);
        for (int32_t l = 0; l < c && first[k + 1] > first[k]; l++)
            if (pair[l] > 0)
                sum_log += pair[l] * log(pair[l]);
    }
    /* - sum p log p with p = pair / 2E  =  log 2E - (sum pair log pair) / 2E */
    t->pair_entropy = log(t->ends) - sum_log / t->ends;
done:
    mem_free(order);
    mem_free(first);
    mem_free(pair);
    return st;
}

/* h = 1/(C-1) sum_k max(0, h_k - |C_k|/n), h_k the share of class k's ends that stay inside it. */
static double class_insensitive(const struct counts *t, int32_t c)
{
    double sum = 0;
    int32_t present = 0;
    for (int32_t k = 0; k < c; k++) {
        present += t->size[k] > 0;
        if (t->degree[k] > 0)
            sum += fmax(0, t->same_of[k] / t->degree[k] - t->size[k] / t->labelled);
    }
    return present > 1 ? sum / (present - 1) : (double)NAN;
}

consm_status homophily_measure(struct homophily *out, const struct csr *g, const int32_t *label,
                               int32_t classes)
{
    consm_status st = CONSM_OK;
    struct counts t = {0};
    double chance = 0, entropy = 0;
    *out = (struct homophily){(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN};
    TRY(ZNEW(t.size, classes));
    TRY(ZNEW(t.degree, classes));
    TRY(ZNEW(t.same_of, classes));
    TRY(count_ends(&t, g, label, classes));
    if (t.ends == 0)
        goto done;
    for (int32_t k = 0; k < classes; k++) {
        double p = t.degree[k] / t.ends;
        chance += p * p;
        entropy -= p > 0 ? p * log(p) : 0;
    }
    out->edge = t.same / t.ends;
    out->node = t.share_sum / t.share_nodes;
    out->class_insensitive = class_insensitive(&t, classes);
    if (chance < 1)
        /* h_adj = (h_edge - sum_k (D_k/2E)^2) / (1 - sum_k (D_k/2E)^2) */
        out->adjusted = (out->edge - chance) / (1 - chance);
    if (entropy > 0)
        /* LI = I(y, y') / H(y) = 2 - H(y, y') / H(y), over the two ends of a random edge */
        out->informativeness = 2 - t.pair_entropy / entropy;
done:
    mem_free(t.size);
    mem_free(t.degree);
    mem_free(t.same_of);
    return st;
}
