/* Pooling: as a sparse matrix for training, and directly for scoring. */
#include "match/pooling.h"

#include "graph/partition.h"
#include <stdatomic.h>
#include <string.h>

/* ---- the matrix P -------------------------------------------------------- */

consm_status pooling_new(struct pooling *p, int64_t count, int64_t classes, int64_t rows,
                         const int32_t *place, const struct pooling_parts *parts)
{
    consm_status st = CONSM_OK;
    const struct pooling_parts whole = {0}, *q = parts ? parts : &whole;
    *p = (struct pooling){.rows = rows, .classes = classes, .place = place};
    p->capacity = (size_t)q->entries;
    TRY(partition_csr(&p->matrix, q->rows, count * classes, rows, q->entries, true));
    p->matrix->changes = true;
    TRY(partition_csr(&p->matrix->t, q->nodes, rows, count * classes, q->entries, true));
    TRY(NEW(p->slot, rows + 1));
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

/* An entry to send to the owner of its column. */
struct moved {
    int32_t row, col;
    float value;
};

/* Sends the entries to the owners of their columns; send (parts+1). They arrive in the order of
 * processes, so of rows. */
static consm_status send_entries(void **out, int64_t *got, const struct csr *a)
{
    consm_status st = CONSM_OK;
    const struct partition *nodes = a->t->partition;
    struct moved *record = NULL;
    int64_t *send = NULL, *next;
    TRY(ZNEW(send, 2 * (nodes->parts + 1)));
    next = send + nodes->parts + 1;
    for (int64_t k = 0; k < a->nnz; k++)
        send[partition_owner(nodes, a->col[k]) + 1]++;
    for (int p = 0; p < nodes->parts; p++)
        send[p + 1] += send[p];
    memcpy(next, send, (size_t)(nodes->parts + 1) * sizeof *send);
    TRY(NEW(record, a->nnz + 1));
    for (int64_t r = a->partition->low; r < a->partition->high; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            record[next[partition_owner(nodes, a->col[k])]++] =
                (struct moved){(int32_t)r, a->col[k], a->val[k]};
    TRY(nodes->swap(out, got, record, send, sizeof *record));
done:
    mem_free(send);
    mem_free(record);
    return st;
}

/* The two steps of the counting sort: starts from the counts of t->start, then one entry after the
 * other. */
static void begin_columns(struct pooling *p)
{
    struct csr *t = p->matrix->t;
    for (int64_t r = 0; r < t->rows; r++)
        t->start[r + 1] += t->start[r];
    memcpy(p->slot, t->start, (size_t)t->rows * sizeof *p->slot);
}

static void add_entry(struct pooling *p, struct moved entry)
{
    struct csr *t = p->matrix->t;
    int64_t at = p->slot[entry.col]++;
    t->col[at] = entry.row;
    t->val[at] = entry.value;
}

static void transpose_whole(struct pooling *p)
{
    const struct csr *a = p->matrix;
    struct csr *t = a->t;
    t->nnz = a->nnz;
    for (int64_t k = 0; k < a->nnz; k++)
        t->start[a->col[k] + 1]++;
    begin_columns(p);
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            add_entry(p, (struct moved){(int32_t)r, a->col[k], a->val[k]});
}

static consm_status transpose_in_parts(struct pooling *p)
{
    consm_status st = CONSM_OK;
    struct csr *t = p->matrix->t;
    int64_t *got = NULL;
    void *came = NULL;
    TRY(ZNEW(got, t->partition->parts + 1));
    TRY(send_entries(&came, got, p->matrix));
    const struct moved *entry = came;
    t->nnz = got[t->partition->parts];
    if ((size_t)t->nnz > p->capacity)
        TRY(status_fail(CONSM_EPROGRAM, "subgraphs have more members than expected"));
    for (int64_t i = 0; i < t->nnz; i++)
        t->start[entry[i].col + 1]++;
    begin_columns(p);
    for (int64_t i = 0; i < t->nnz; i++)
        add_entry(p, entry[i]);
done:
    mem_free(got);
    mem_free(came);
    return st;
}

/* Rebuilds the transpose by a counting sort. */
static consm_status transpose(struct pooling *p)
{
    consm_status st = CONSM_OK;
    struct csr *t = p->matrix->t;
    memset(t->start, 0, (size_t)(t->rows + 1) * sizeof *t->start);
    if (t->partition)
        TRY(transpose_in_parts(p));
    else
        transpose_whole(p);
    csr_touch(p->matrix);
done:
    return st;
}

consm_status pooling_assign(struct pooling *p, const struct subgraphs *s, const int32_t *reference,
                            enum config_pool pool)
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
                    a->col[at++] = p->place[s->member[k]];
            for (int64_t k = begin; k < at; k++)
                a->val[k] = pool == POOL_MEAN ? 1 / (float)(at - begin) : 1;
        }
    a->start[a->rows] = a->nnz = at;
    return transpose(p);
}

consm_status pooling_list(struct index *member, struct index *row, const struct subgraphs *s,
                          const int32_t *reference, int64_t classes, const int32_t *place)
{
    consm_status st = CONSM_OK;
    int64_t at = 0;
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t k = s->start[i]; k < s->start[i + 1]; k++, at++) {
            member->row[at] = place[s->member[k]];
            row->row[at] = (int32_t)(i * classes + reference[k]);
        }
    for (; at < member->count; at++) {
        member->row[at] = 0;
        row->row[at] = (int32_t)(s->count * classes);
    }
    TRY(index_set(member, member->row));
    TRY(index_set(row, row->row));
done:
    return st;
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
                    a->col[at] = p->place[s->member[k]];
                    a->val[at++] = (float)c * plan[r * size + k - s->start[i]];
                }
        }
    }
    a->start[a->rows] = a->nnz = at;
    return transpose(p);
}

/* ---- mapping ------------------------------------------------------------- */

struct mapping {
    int32_t *reference;
    float *weight;
    const struct subgraphs *s;
    struct ot_plans *plans;
    int64_t classes;
    atomic_int_fast64_t next;
};

/* Threads take sets one by one, so that a large one does not delay the others. */
static void map_worker(void *arg, struct worker who)
{
    struct mapping *q = arg;
    int64_t i;
    while ((i = atomic_fetch_add(&q->next, 1)) < q->s->count) {
        int64_t first = q->s->start[i], size = q->s->start[i + 1] - first;
        const int32_t *member = q->s->member + first;
        if (q->weight)
            ot_plans_weigh(q->plans, who.id, q->weight + q->classes * first, member, size);
        else
            ot_plans_assign(q->plans, who.id, q->reference + first, member, size);
    }
}

void pooling_map(int32_t *reference, float *weight, const struct subgraphs *s, int64_t classes,
                 struct ot_plans *plans, struct team *team)
{
    struct mapping q = {reference, weight, s, plans, classes, 0};
    team_run(team, map_worker, &q);
}

/* ---- every node at once -------------------------------------------------- */

consm_status pool_scratch_new(struct pool_scratch *s, int64_t nodes, int64_t c, int64_t largest,
                              bool split)
{
    consm_status st = CONSM_OK;
    TRY(walk_new(&s->walk, nodes));
    TRY(NEW(s->size, c));
    TRY(NEW(s->reference, largest));
    if (split)
        TRY(NEW(s->weight, c * largest));
done:
    return st;
}

void pool_scratch_free(struct pool_scratch *s)
{
    walk_free(&s->walk);
    mem_free(s->size);
    mem_free(s->reference);
    mem_free(s->weight);
    *s = (struct pool_scratch){0};
}

struct pool_run {
    float *pooled;
    const struct pool_all *q;
    struct pool_scratch *scratch; /* one per worker */
};

static void add_row(float *to, float share, const float *h, int64_t f)
{
    for (int64_t d = 0; d < f; d++)
        to[d] += share * h[d];
}

static void raise_row(float *to, const float *h, int64_t f)
{
    for (int64_t d = 0; d < f; d++)
        to[d] = h[d] > to[d] ? h[d] : to[d];
}

/* Sums the members of one set by reference, or takes their maximum; then divides. */
static void pool_assigned(float *out, const struct pool_all *q, struct pool_scratch *s)
{
    int64_t c = q->c, f = q->f;
    memset(s->size, 0, (size_t)c * sizeof *s->size);
    for (int64_t i = 0; i < s->walk.count; i++) {
        int32_t r = s->reference[i];
        const float *h = q->h + s->walk.found[i] * f;
        if (q->pool == POOL_MAX && s->size[r] > 0)
            raise_row(out + r * f, h, f);
        else
            add_row(out + r * f, 1, h, f);
        s->size[r]++;
    }
    for (int64_t r = 0; q->pool == POOL_MEAN && r < c; r++) {
        float share = s->size[r] > 1 ? 1 / (float)s->size[r] : 1;
        for (int64_t d = 0; d < f; d++)
            out[r * f + d] *= share;
    }
}

/* h' = c·P*·h, as in pooling_split(). */
static void pool_split(float *out, const struct pool_all *q, struct pool_scratch *s)
{
    int64_t c = q->c, size = s->walk.count;
    for (int64_t r = 0; r < c; r++)
        for (int64_t i = 0; i < size; i++)
            if (s->weight[r * size + i] != 0)
                add_row(out + r * q->f, (float)c * s->weight[r * size + i],
                        q->h + s->walk.found[i] * q->f, q->f);
}

static void pool_worker(void *arg, struct worker who)
{
    const struct pool_run *run = arg;
    const struct pool_all *q = run->q;
    struct pool_scratch *s = &run->scratch[who.id];
    struct walk *walk = &s->walk;
    /* Small interleaved blocks, because hubs and their neighbours are often adjacent. */
    enum { BLOCK = 64 };
    for (int64_t begin = (int64_t)who.id * BLOCK; begin < q->count;
         begin += (int64_t)who.size * BLOCK)
        for (int64_t k = begin; k < begin + BLOCK && k < q->count; k++) {
            int64_t i = q->node ? q->node[k] : q->first + k;
            float *out = run->pooled + (q->packed ? k : i) * q->c * q->f;
            memset(out, 0, (size_t)(q->c * q->f) * sizeof *out);
            walk_two_hops(walk, q->graph, q->keep, (int32_t)i, q->cap, q->seed);
            if (q->split) {
                ot_plans_weigh(q->plans, who.id, s->weight, walk->found, walk->count);
                pool_split(out, q, s);
            } else {
                ot_plans_assign(q->plans, who.id, s->reference, walk->found, walk->count);
                pool_assigned(out, q, s);
            }
        }
}

void pooling_all(float *pooled, const struct pool_all *q, struct pool_scratch *scratch,
                 struct team *team)
{
    struct pool_run run = {pooled, q, scratch};
    team_run(team, pool_worker, &run);
}
