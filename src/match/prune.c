/* Reference points, edge scores and the selection of the top k. */
#include "match/prune.h"

#include <math.h>
#include <string.h>

void prune_references(float *r, const float *h, const int32_t *node, int64_t count,
                      const int32_t *label, int64_t c, int64_t f)
{
    memset(r, 0, (size_t)(c * f) * sizeof *r);
    for (int64_t k = 0; k < c; k++) {
        int64_t members = 0;
        for (int64_t i = 0; i < count; i++) {
            if (label[node[i]] != k)
                continue;
            members++;
            for (int64_t d = 0; d < f; d++)
                r[k * f + d] += h[node[i] * f + d];
        }
        for (int64_t d = 0; members > 1 && d < f; d++)
            r[k * f + d] /= (float)members;
    }
}

static float dot(const float *a, const float *b, int64_t f)
{
    float sum = 0;
    for (int64_t d = 0; d < f; d++)
        sum += a[d] * b[d];
    return sum;
}

static float length(const float *a, int64_t f)
{
    float norm = sqrtf(dot(a, a, f));
    return norm > 1e-8f ? norm : 1e-8f;
}

struct similarity {
    float *s;
    const float *h, *r;
    int64_t n, c, f;
    bool cosine;
};

static void similarity_worker(void *arg, struct worker who)
{
    const struct similarity *q = arg;
    int64_t from, to;
    team_range(who, q->n, 16, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const float *h = q->h + i * q->f;
        float own = q->cosine ? length(h, q->f) : 1;
        for (int64_t k = 0; k < q->c; k++) {
            const float *r = q->r + k * q->f;
            float other = q->cosine ? length(r, q->f) : 1;
            q->s[i * q->c + k] = dot(h, r, q->f) / (own * other);
        }
    }
}

void prune_similarity(float *s, const float *h, const float *r, int64_t n, int64_t c, int64_t f,
                      bool cosine, struct team *team)
{
    struct similarity q = {s, h, r, n, c, f, cosine};
    team_run(team, similarity_worker, &q);
}

struct scoring {
    float *score;
    const float *s;
    int64_t c;
    const struct edges *edges;
};

static void scoring_worker(void *arg, struct worker who)
{
    const struct scoring *q = arg;
    int64_t from, to;
    team_range(who, q->edges->count, 64, &from, &to);
    for (int64_t e = from; e < to; e++)
        q->score[e] = dot(q->s + q->edges->left[e] * q->c, q->s + q->edges->right[e] * q->c, q->c);
}

void prune_edge_scores(float *score, const float *s, int64_t c, const struct edges *edges,
                       struct team *team)
{
    struct scoring q = {score, s, c, edges};
    team_run(team, scoring_worker, &q);
}

/* Whether edge a comes before edge b: larger score, then earlier edge. A total order, so that a
 * selection is unique. */
static bool before(const float *score, int32_t a, int32_t b)
{
    return score[a] > score[b] || (score[a] == score[b] && a < b);
}

/* Hoare's selection: afterwards order[0 … k-1] are the k first edges, in any order. The pivot is
 * the median of three, so sorted input is not a worst case. */
static void select_first(int32_t *order, int64_t count, int64_t k, const float *score)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        int32_t a = order[low], b = order[low + (high - low) / 2], c = order[high];
        int32_t pivot = before(score, a, b) ? (before(score, b, c)   ? b
                                               : before(score, a, c) ? c
                                                                     : a)
                                            : (before(score, a, c)   ? a
                                               : before(score, b, c) ? c
                                                                     : b);
        int64_t i = low, j = high;
        while (i <= j) {
            while (before(score, order[i], pivot))
                i++;
            while (before(score, pivot, order[j]))
                j--;
            if (i <= j) {
                int32_t swap = order[i];
                order[i++] = order[j];
                order[j--] = swap;
            }
        }
        if (k - 1 <= j)
            high = j;
        else if (k - 1 >= i)
            low = i;
        else
            return;
    }
}

void prune_first(int32_t *order, const float *score, int64_t count, int64_t k)
{
    for (int64_t e = 0; e < count; e++)
        order[e] = (int32_t)e;
    if (k > 0 && k < count)
        select_first(order, count, k, score);
}

void prune_top(uint8_t *keep, int64_t nnz, const float *score, const struct edges *edges, int64_t k,
               int32_t *order)
{
    memset(keep, 0, (size_t)nnz);
    prune_first(order, score, edges->count, k);
    for (int64_t i = 0; i < k && i < edges->count; i++) {
        keep[edges->entry[order[i]]] = 1;
        keep[edges->back[order[i]]] = 1;
    }
}
