/* The loss of a GCN as a function of its edge weights, in double precision on one thread. */

/*
 *   d_i = 1 + Σ_j A_ij,  r = d^-1/2,  Â_ij = r_i A_ij r_j,  Â_ii = r_i²
 *   P = Â H + b1,  Y = relu(P) W2,  Z = Â Y + b2
 *
 * With G = ∂L/∂Â at an entry, ∂L/∂A_ij = r_i r_j (G_ij + G_ji) + δ_i + δ_j, where δ_i = −1/(2 d_i)
 * Σ_j Â_ij (G_ij + G_ji) is the gradient through the degree of i.
 */
#include "attack/surrogate.h"

#include <math.h>
#include <string.h>

struct surrogate_room {
    const struct surrogate *m;
    double *root;                              /* (n) r */
    double *hidden, *pre, *back_pre;           /* (n, hidden) H, P, ∂L/∂P */
    double *out, *logits, *by_logits, *by_out; /* (n, classes) Y, Z, ∂L/∂Z, ∂L/∂Y */
    double *by_degree;                         /* (n) δ */
};

void surrogate_room_free(struct surrogate_room *r)
{
    if (!r)
        return;
    mem_free(r->root);
    mem_free(r->hidden);
    mem_free(r->pre);
    mem_free(r->back_pre);
    mem_free(r->out);
    mem_free(r->logits);
    mem_free(r->by_logits);
    mem_free(r->by_out);
    mem_free(r->by_degree);
    mem_free(r);
}

consm_status surrogate_room_new(struct surrogate_room **out, const struct surrogate *m)
{
    consm_status st = CONSM_OK;
    struct surrogate_room *r = NULL;
    *out = NULL;
    TRY(ZNEW(r, 1));
    r->m = m;
    TRY(NEW(r->root, m->nodes));
    TRY(NEW(r->hidden, m->nodes * m->hidden));
    TRY(NEW(r->pre, m->nodes * m->hidden));
    TRY(NEW(r->back_pre, m->nodes * m->hidden));
    TRY(NEW(r->out, m->nodes * m->classes));
    TRY(NEW(r->logits, m->nodes * m->classes));
    TRY(NEW(r->by_logits, m->nodes * m->classes));
    TRY(NEW(r->by_out, m->nodes * m->classes));
    TRY(NEW(r->by_degree, m->nodes));
    for (int64_t i = 0; i < m->nodes * m->hidden; i++)
        r->hidden[i] = (double)m->h[i];
    *out = r;
    r = NULL;
done:
    surrogate_room_free(r);
    return st;
}

static void add_row(double *to, double factor, const double *from, int64_t width)
{
    for (int64_t k = 0; k < width; k++)
        to[k] += factor * from[k];
}

/* to = Â from; (n, width) */
static void spread(double *to, const struct surrogate_room *r, const struct pair_list *p,
                   const double *from, int64_t width)
{
    for (int64_t i = 0; i < r->m->nodes; i++)
        for (int64_t k = 0; k < width; k++)
            to[i * width + k] = r->root[i] * r->root[i] * from[i * width + k];
    for (int64_t e = 0; e < p->count; e++) {
        int64_t i = p->left[e], j = p->right[e];
        double a = p->weight[e] * r->root[i] * r->root[j];
        if (a == 0)
            continue;
        add_row(to + i * width, a, from + j * width, width);
        add_row(to + j * width, a, from + i * width, width);
    }
}

static void forward(struct surrogate_room *r, const struct pair_list *p)
{
    const struct surrogate *m = r->m;
    int64_t n = m->nodes, f = m->hidden, c = m->classes;
    for (int64_t i = 0; i < n; i++)
        r->root[i] = 1;
    for (int64_t e = 0; e < p->count; e++) {
        r->root[p->left[e]] += p->weight[e];
        r->root[p->right[e]] += p->weight[e];
    }
    for (int64_t i = 0; i < n; i++)
        r->root[i] = 1 / sqrt(r->root[i]);
    spread(r->pre, r, p, r->hidden, f);
    memset(r->out, 0, (size_t)(n * c) * sizeof *r->out);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < f; k++) {
            double x = r->pre[i * f + k] += (double)m->b1[k];
            for (int64_t l = 0; l < c && x > 0; l++)
                r->out[i * c + l] += x * (double)m->w2[k * c + l];
        }
    spread(r->logits, r, p, r->out, c);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < c; l++)
            r->logits[i * c + l] += (double)m->b2[l];
}

/* The loss, and ∂L/∂Z. */
static double margins(struct surrogate_room *r, const struct victims *v)
{
    int64_t n = r->m->nodes, c = r->m->classes, count = 0;
    double sum = 0;
    memset(r->by_logits, 0, (size_t)(n * c) * sizeof *r->by_logits);
    for (int64_t i = 0; i < n; i++)
        count += v->attacked[i] != 0;
    for (int64_t i = 0; i < n; i++) {
        const double *z = r->logits + i * c;
        int32_t y = v->label[i];
        int64_t rival = -1;
        if (!v->attacked[i])
            continue;
        for (int64_t l = 0; l < c; l++)
            if (l != y && (rival < 0 || z[l] > z[rival]))
                rival = l;
        if (rival < 0 || z[y] - z[rival] <= 0)
            continue;
        sum += (z[y] - z[rival]) / (double)count;
        r->by_logits[i * c + y] = 1 / (double)count;
        r->by_logits[i * c + rival] = -1 / (double)count;
    }
    return sum;
}

static double product(const double *a, const double *b, int64_t width)
{
    double sum = 0;
    for (int64_t k = 0; k < width; k++)
        sum += a[k] * b[k];
    return sum;
}

/* G_ij + G_ji */
static double both_ways(const struct surrogate_room *r, int64_t i, int64_t j)
{
    int64_t f = r->m->hidden, c = r->m->classes;
    return product(r->by_logits + i * c, r->out + j * c, c) +
           product(r->by_logits + j * c, r->out + i * c, c) +
           product(r->back_pre + i * f, r->hidden + j * f, f) +
           product(r->back_pre + j * f, r->hidden + i * f, f);
}

static void backward(struct surrogate_room *r, const struct pair_list *p, double *gradient)
{
    const struct surrogate *m = r->m;
    int64_t n = m->nodes, f = m->hidden, c = m->classes;
    spread(r->by_out, r, p, r->by_logits, c);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < f; k++) {
            double sum = 0;
            for (int64_t l = 0; l < c && r->pre[i * f + k] > 0; l++)
                sum += r->by_out[i * c + l] * (double)m->w2[k * c + l];
            r->back_pre[i * f + k] = sum;
        }
    for (int64_t i = 0; i < n; i++)
        r->by_degree[i] = r->root[i] * r->root[i] * both_ways(r, i, i);
    for (int64_t e = 0; e < p->count; e++) {
        int64_t i = p->left[e], j = p->right[e];
        gradient[e] = r->root[i] * r->root[j] * both_ways(r, i, j);
        r->by_degree[i] += p->weight[e] * gradient[e];
        r->by_degree[j] += p->weight[e] * gradient[e];
    }
    for (int64_t i = 0; i < n; i++)
        r->by_degree[i] *= -0.5 * r->root[i] * r->root[i];
    for (int64_t e = 0; e < p->count; e++)
        gradient[e] += r->by_degree[p->left[e]] + r->by_degree[p->right[e]];
}

double surrogate_pass(struct surrogate_room *r, const struct victims *v,
                      const struct pair_list *pairs, double *gradient)
{
    forward(r, pairs);
    double loss = margins(r, v);
    if (gradient)
        backward(r, pairs, gradient);
    return loss;
}
