/* Reference points, edge scores and the selection of the top k. */
#include "match/prune.h"

#include "stats/rank.h"
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

struct best {
    struct rank_choice choice;
    const float *score;
};

static bool is_best(const void *ctx, int64_t e)
{
    const struct best *best = ctx;
    return rank_takes(&best->choice, best->score[e], e);
}

void prune_top(uint8_t *keep, const struct csr *graph, const float *score,
               const struct edges *edges, int64_t k, int64_t *next, struct team *team)
{
    struct best best = {.score = score};
    rank_choose(&best.choice, score, edges->count, k, team);
    edges_mark(keep, graph, edges, is_best, &best, next, team);
}
