/* The owners of rows. An axis is identified by its number of rows: values with as many rows are
 * divided alike, so operations row by row never wait. */
#include "mpi/inside.h"

#include "graph/cut.h"
#include <string.h>

struct axis *axis_find(const struct divided *d, int64_t rows)
{
    struct axis *a = d->axes;
    while (a && a->rows != rows)
        a = a->next;
    return a;
}

static consm_status axis_new(struct axis **out, int64_t rows)
{
    struct axis *a = world.os->zalloc(1, sizeof *a);
    if (a)
        a->cut = world.os->zalloc((size_t)world.ranks.size + 1, sizeof *a->cut);
    if (!a || !a->cut) {
        world.os->free(a);
        return CONSM_ENOMEM;
    }
    a->rows = rows;
    *out = a;
    return CONSM_OK;
}

consm_status axis_of(struct axis **out, struct divided *d, int64_t rows, const int64_t *weight)
{
    struct axis *a = axis_find(d, rows);
    *out = a;
    if (a)
        return CONSM_OK;
    consm_status st = axis_new(&a, rows);
    if (st < 0)
        return st;
    cut_rows(a->cut, weight, rows, world.ranks.size);
    a->next = d->axes;
    *out = d->axes = a;
    return CONSM_OK;
}

consm_status axis_cut(struct axis **out, struct divided *d, int64_t rows, const int64_t *cut)
{
    size_t bytes = ((size_t)world.ranks.size + 1) * sizeof *cut;
    struct axis **last = &d->axes;
    for (; *last; last = &(*last)->next)
        if ((*last)->rows == rows && memcmp((*last)->cut, cut, bytes) == 0) {
            *out = *last;
            return CONSM_OK;
        }
    consm_status st = axis_new(last, rows);
    if (st < 0)
        return st;
    memcpy((*last)->cut, cut, bytes);
    *out = *last;
    return CONSM_OK;
}

consm_status axis_numbers(const int64_t **out, struct axis *a)
{
    int64_t low = axis_low(a), count = axis_high(a) - low;
    if (!a->number) {
        a->number = world.os->zalloc((size_t)count + 1, sizeof *a->number);
        if (!a->number)
            return CONSM_ENOMEM;
        for (int64_t i = 0; i < count; i++)
            a->number[i] = low + i;
    }
    *out = a->number;
    return CONSM_OK;
}

consm_status axis_travels(const struct axis *a)
{
    if (a->rows <= INT32_MAX)
        return CONSM_OK;
    return world.os->fail(CONSM_ELIMIT, "a value has %lld rows: ranks exchange at most %d",
                          (long long)a->rows, INT32_MAX);
}

void axes_free(struct axis *a)
{
    while (a) {
        struct axis *next = a->next;
        world.os->free(a->cut);
        world.os->free(a->number);
        world.os->free(a);
        a = next;
    }
}

/* ---- the axes of a plan ---- */

/* The matrix that an instruction walks row by row; NULL: none with constant entries. */
static const struct csr *walked(const struct instr *in)
{
    const struct csr *s = in->attr.csr;
    if (!s || s->changes)
        return NULL;
    return in->attr.transposed ? s->t : s;
}

/* Divides rows by the entries of all the plan's matrices with `rows` rows, plus one per row. */
static consm_status weigh_rows(struct divided *d, const struct planned *plan, int64_t rows)
{
    const struct csr *last = NULL;
    struct axis *axis;
    int64_t *weight = world.os->zalloc((size_t)rows + 1, sizeof *weight);
    if (!weight)
        return CONSM_ENOMEM;
    for (int64_t r = 0; r <= rows; r++)
        weight[r] = r;
    for (int32_t i = 0; i < plan->instrs; i++) {
        const struct csr *s = walked(&plan->instr[i]);
        for (int64_t r = 0; s && s != last && s->rows == rows && r <= rows; r++)
            weight[r] += s->start[r];
        last = s ? s : last;
    }
    consm_status st = axis_of(&axis, d, rows, weight);
    world.os->free(weight);
    return st;
}

/* Entries go with their rows, unless an axis with as many rows exists and says otherwise. */
static consm_status follow_rows(struct divided *d, const struct csr *s)
{
    struct axis *rows = axis_find(d, s->rows), *entries;
    if (axis_find(d, s->nnz))
        return CONSM_OK;
    consm_status st = axis_of(&entries, d, s->nnz, NULL);
    for (int p = 0; st == CONSM_OK && p <= world.ranks.size; p++)
        entries->cut[p] = s->start[rows->cut[p]];
    return st;
}

consm_status axes_plan(struct divided *d, const struct planned *plan)
{
    consm_status st = CONSM_OK;
    for (int32_t i = 0; i < plan->instrs && st == CONSM_OK; i++) {
        const struct csr *s = walked(&plan->instr[i]);
        if (s && !axis_find(d, s->rows))
            st = weigh_rows(d, plan, s->rows);
    }
    for (int32_t i = 0; i < plan->instrs && st == CONSM_OK; i++) {
        const struct csr *s = plan->instr[i].attr.csr;
        if (s && !s->changes && axis_find(d, s->rows))
            st = follow_rows(d, s);
    }
    return st;
}

bool axis_follows(const struct divided *d, const struct csr *s)
{
    const struct axis *rows = axis_find(d, s->rows), *entries = axis_find(d, s->nnz);
    for (int p = 0; rows && entries && p <= world.ranks.size; p++)
        if (entries->cut[p] != s->start[rows->cut[p]])
            return false;
    return rows && entries;
}
