/* Finds nearest rows by cosine: all pairs if there are few rows, else along random projections. */
#include "match/near.h"

#include "base/alloc.h"
#include "base/rng.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_UP_TO = 4096, ORDERS = 16, BESIDE = 24 };

/* The nearest rows of one row so far, nearest first. */
struct found {
    float cosine;
    int32_t row;
};

struct searching {
    const struct near_rows *x;
    float *length;       /* (rows) */
    struct found *found; /* (rows, most) */
    int most;
};

static double product(const struct near_rows *x, int64_t i, int64_t j)
{
    double sum = 0;
    if (!x->sparse) {
        for (int64_t k = 0; k < x->width; k++)
            sum += (double)x->dense[i * x->width + k] * (double)x->dense[j * x->width + k];
        return sum;
    }
    const struct csr *s = x->sparse;
    int64_t a = s->start[i], b = s->start[j];
    while (a < s->start[i + 1] && b < s->start[j + 1]) {
        int32_t at_a = s->col[a], at_b = s->col[b];
        if (at_a == at_b)
            sum += s->val ? (double)s->val[a] * (double)s->val[b] : 1;
        a += at_a <= at_b;
        b += at_b <= at_a;
    }
    return sum;
}

static void remember(struct searching *q, int64_t i, int64_t j, float cosine)
{
    struct found *f = q->found + i * q->most;
    int at = q->most;
    for (int k = 0; k < q->most; k++)
        if (f[k].row == j)
            return;
    while (at > 0 && (f[at - 1].row < 0 || f[at - 1].cosine < cosine))
        at--;
    if (at == q->most)
        return;
    memmove(f + at + 1, f + at, (size_t)(q->most - 1 - at) * sizeof *f);
    f[at] = (struct found){cosine, (int32_t)j};
}

static void compare(struct searching *q, int64_t i, int64_t j)
{
    double lengths = (double)q->length[i] * (double)q->length[j];
    if (lengths == 0)
        return;
    float cosine = (float)(product(q->x, i, j) / lengths);
    if (!(cosine > 0))
        return;
    remember(q, i, j, cosine);
    remember(q, j, i, cosine);
}

struct placed {
    double at;
    int32_t row;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Projects rows of length 1 onto a random direction. */
static void project(struct placed *to, const struct searching *q, const float *direction)
{
    const struct near_rows *x = q->x;
    for (int64_t i = 0; i < x->rows; i++) {
        double sum = 0;
        int64_t from = x->sparse ? x->sparse->start[i] : 0;
        int64_t until = x->sparse ? x->sparse->start[i + 1] : x->width;
        for (int64_t k = from; k < until; k++) {
            double v = !x->sparse       ? (double)x->dense[i * x->width + k]
                       : x->sparse->val ? (double)x->sparse->val[k]
                                        : 1;
            sum += v * (double)direction[x->sparse ? x->sparse->col[k] : k];
        }
        to[i] = (struct placed){q->length[i] > 0 ? sum / (double)q->length[i] : 0, (int32_t)i};
    }
}

static consm_status compare_beside(struct searching *q, uint64_t seed)
{
    consm_status st = CONSM_OK;
    int64_t n = q->x->rows;
    struct placed *order = NULL;
    float *direction = NULL;
    TRY(NEW(order, n));
    TRY(NEW(direction, q->x->width + 1));
    for (int round = 0; round < ORDERS; round++) {
        struct rng r;
        rng_init(&r, seed, 0x6e656172u + (uint64_t)round);
        for (int64_t k = 0; k < q->x->width; k++)
            direction[k] = (float)rng_normal(&r);
        project(order, q, direction);
        qsort(order, (size_t)n, sizeof *order, by_place);
        for (int64_t a = 0; a < n; a++)
            for (int64_t b = a + 1; b <= a + BESIDE && b < n; b++)
                compare(q, order[a].row, order[b].row);
    }
done:
    mem_free(order);
    mem_free(direction);
    return st;
}

static consm_status append(struct near_list *out, const struct searching *q)
{
    consm_status st = CONSM_OK;
    int64_t found = 0;
    for (int64_t k = 0; k < q->x->rows * q->most; k++)
        found += q->found[k].row >= 0;
    TRY(GROW(out->pair, out->count, out->room, found + 1));
    for (int64_t k = 0; k < q->x->rows * q->most; k++) {
        int32_t i = (int32_t)(k / q->most), j = q->found[k].row;
        if (j < 0)
            continue;
        out->pair[out->count][0] = i < j ? i : j;
        out->pair[out->count++][1] = i < j ? j : i;
    }
done:
    return st;
}

consm_status near_pairs(struct near_list *out, const struct near_rows *x, int most, uint64_t seed)
{
    consm_status st = CONSM_OK;
    struct searching q = {.x = x, .most = most};
    TRY(NEW(q.length, x->rows + 1));
    TRY(NEW(q.found, x->rows * most + 1));
    for (int64_t k = 0; k < x->rows * most; k++)
        q.found[k] = (struct found){0, -1};
    for (int64_t i = 0; i < x->rows; i++)
        q.length[i] = (float)sqrt(product(x, i, i));
    if (x->rows <= EXACT_UP_TO)
        for (int64_t i = 0; i < x->rows; i++)
            for (int64_t j = i + 1; j < x->rows; j++)
                compare(&q, i, j);
    else
        TRY(compare_beside(&q, seed));
    TRY(append(out, &q));
done:
    mem_free(q.length);
    mem_free(q.found);
    return st;
}

static int in_row_order(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    if (x[0] != y[0])
        return x[0] < y[0] ? -1 : 1;
    return x[1] < y[1] ? -1 : x[1] > y[1];
}

void near_tidy(struct near_list *list, const struct csr *graph)
{
    int64_t kept = 0;
    if (list->count > 0)
        qsort(list->pair, (size_t)list->count, sizeof *list->pair, in_row_order);
    for (int64_t k = 0; k < list->count; k++) {
        int32_t i = list->pair[k][0], j = list->pair[k][1];
        bool again = kept > 0 && list->pair[kept - 1][0] == i && list->pair[kept - 1][1] == j;
        if (again || csr_find(graph, i, j) >= 0)
            continue;
        list->pair[kept][0] = i;
        list->pair[kept++][1] = j;
    }
    list->count = kept;
}

void near_free(struct near_list *list)
{
    mem_free(list->pair);
    *list = (struct near_list){0};
}
