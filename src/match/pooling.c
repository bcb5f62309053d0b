/* Pooling as a sparse matrix for training, and directly for scoring. */
#include "match/pooling.h"

#include <string.h>

/* ---- nearest reference
 * ------------------------------------------------------------------------------ */

struct nearest {
    int32_t *reference;
    const float *h, *r;
    int64_t n, c, f;
};

static void nearest_worker(void *arg, struct worker who)
{
    const struct nearest *q = arg;
    int64_t from, to;
    team_range(who, q->n, 16, &from, &to);
    for (int64_t i = from; i < to; i++) {
        float least = 0;
        for (int64_t k = 0; k < q->c; k++) {
            float distance = 0;
            for (int64_t d = 0; d < q->f; d++) {
                float gap = q->h[i * q->f + d] - q->r[k * q->f + d];
                distance += gap * gap;
            }
            if (k == 0 || distance < least) {
                least = distance;
                q->reference[i] = (int32_t)k;
            }
        }
    }
}

void pooling_nearest(int32_t *reference, const float *h, const float *r, int64_t n, int64_t c,
                     int64_t f, struct team *team)
{
    struct nearest q = {reference, h, r, n, c, f};
    team_run(team, nearest_worker, &q);
}

/* ---- the matrix P
 * ------------------------------------------------------------------------------------ */

consm_status pooling_new(struct pooling *p, int64_t count, int64_t classes, int64_t nodes)
{
    consm_status st = CONSM_OK;
    *p = (struct pooling){.nodes = nodes, .classes = classes};
    TRY(csr_new(&p->matrix, count * classes, nodes, 0, true));
    p->matrix->changes = true;
    TRY(csr_new(&p->matrix->t, nodes, count * classes, 0, true));
    TRY(NEW(p->slot, nodes + 1));
done:
    if (st < 0)
        pooling_free(p);
    return st;
}

void pooling_free(struct pooling *p)
{
    csr_free(p->matrix);
    mem_free(p->slot);
    *p = (struct pooling){0};
}

consm_status pooling_reserve(struct pooling *p, int64_t entries)
{
    consm_status st = CONSM_OK;
    struct csr *both[2] = {p->matrix, p->matrix->t};
    if ((size_t)entries <= p->capacity)
        return CONSM_OK;
    size_t wanted = (size_t)entries + (size_t)entries / 4;
    for (int i = 0; i < 2; i++) {
        mem_free(both[i]->col);
        mem_free(both[i]->val);
        both[i]->col = NULL;
        both[i]->val = NULL;
        TRY(NEW(both[i]->col, wanted));
        TRY(NEW(both[i]->val, wanted));
    }
    p->capacity = wanted;
done:
    if (st < 0)
        p->capacity = 0;
    return st;
}

/* Rebuilds the transpose by a counting sort. */
static void transpose(struct pooling *p)
{
    const struct csr *a = p->matrix;
    struct csr *t = a->t;
    t->nnz = a->nnz;
    memset(t->start, 0, (size_t)(t->rows + 1) * sizeof *t->start);
    for (int64_t k = 0; k < a->nnz; k++)
        t->start[a->col[k] + 1]++;
    for (int64_t r = 0; r < t->rows; r++)
        t->start[r + 1] += t->start[r];
    memcpy(p->slot, t->start, (size_t)t->rows * sizeof *p->slot);
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
            int64_t at = p->slot[a->col[k]]++;
            t->col[at] = (int32_t)r;
            t->val[at] = a->val[k];
        }
}

consm_status pooling_assign(struct pooling *p, const struct subgraphs *s, const int32_t *reference,
                            enum pool pool)
{
    consm_status st = pooling_reserve(p, s->start[s->count]);
    struct csr *a = p->matrix;
    int64_t at = 0, c = p->classes;
    if (st < 0)
        return st;
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t r = 0; r < c; r++) {
            int64_t begin = at;
            a->start[i * c + r] = begin;
            for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
                if (reference[k] == r)
                    a->col[at++] = s->member[k];
            for (int64_t k = begin; k < at; k++)
                a->val[k] = pool == POOL_MEAN ? 1 / (float)(at - begin) : 1;
        }
    a->start[a->rows] = a->nnz = at;
    transpose(p);
    return CONSM_OK;
}

consm_status pooling_split(struct pooling *p, const struct subgraphs *s, const float *weight)
{
    consm_status st = pooling_reserve(p, s->start[s->count] * p->classes);
    struct csr *a = p->matrix;
    int64_t at = 0, c = p->classes;
    if (st < 0)
        return st;
    for (int64_t i = 0; i < s->count; i++) {
        int64_t size = s->start[i + 1] - s->start[i];
        const float *plan = weight + c * s->start[i];
        for (int64_t r = 0; r < c; r++) {
            a->start[i * c + r] = at;
            for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
                if (plan[r * size + k - s->start[i]] != 0) {
                    a->col[at] = s->member[k];
                    a->val[at++] = (float)c * plan[r * size + k - s->start[i]];
                }
        }
    }
    a->start[a->rows] = a->nnz = at;
    transpose(p);
    return CONSM_OK;
}

/* ---- every node at once
 * ------------------------------------------------------------------------------- */

consm_status pool_scratch_new(struct pool_scratch *s, int64_t nodes, int64_t c)
{
    consm_status st = CONSM_OK;
    TRY(walk_new(&s->walk, nodes));
    TRY(NEW(s->size, c));
done:
    return st;
}

void pool_scratch_free(struct pool_scratch *s)
{
    walk_free(&s->walk);
    mem_free(s->size);
    s->size = NULL;
}

struct pool_run {
    float *pooled;
    const struct pool_all *q;
    struct pool_scratch *scratch; /* one per worker */
};

/* Sums the members of one set by reference, then divides. */
static void pool_node(float *out, const struct pool_all *q, struct pool_scratch *s)
{
    int64_t c = q->c, f = q->f;
    memset(out, 0, (size_t)(c * f) * sizeof *out);
    memset(s->size, 0, (size_t)c * sizeof *s->size);
    for (int64_t i = 0; i < s->walk.count; i++) {
        int32_t v = s->walk.found[i], r = q->reference[v];
        float *sum = out + r * f;
        const float *h = q->h + v * f;
        s->size[r]++;
        for (int64_t d = 0; d < f; d++)
            sum[d] += h[d];
    }
    for (int64_t r = 0; q->pool == POOL_MEAN && r < c; r++) {
        float share = s->size[r] > 1 ? 1 / (float)s->size[r] : 1;
        for (int64_t d = 0; d < f; d++)
            out[r * f + d] *= share;
    }
}

static void pool_worker(void *arg, struct worker who)
{
    const struct pool_run *run = arg;
    const struct pool_all *q = run->q;
    struct pool_scratch *s = &run->scratch[who.id];
    /* Small interleaved blocks, because hubs and their neighbours often stand together. */
    enum { BLOCK = 64 };
    for (int64_t begin = (int64_t)who.id * BLOCK; begin < q->graph->rows;
         begin += (int64_t)who.size * BLOCK)
        for (int64_t i = begin; i < begin + BLOCK && i < q->graph->rows; i++) {
            walk_two_hops(&s->walk, q->graph, q->keep, (int32_t)i, q->cap, q->seed);
            pool_node(run->pooled + i * q->c * q->f, q, s);
        }
}

void pooling_all(float *pooled, const struct pool_all *q, struct pool_scratch *scratch,
                 struct team *team)
{
    struct pool_run run = {pooled, q, scratch};
    team_run(team, pool_worker, &run);
}
