/*
 * A walk written out. When the loss reads the end of a fixed walk (APPNP's Z_K = Π·Z_0) at a few
 * rows only, these rows of Π are a small dense matrix that never changes. The first run computes
 * it, by going back from the rows that are read; from then on a step is one dense product instead
 * of K sparse ones, and one more on the way back. The same function and the same gradient, but for
 * the order of the sums.
 *
 * It runs behind restriction, whose smaller matrices and gathers are part of the walk.
 */
#include "program/internal.h"

#include <string.h>

/* An element of the matrix costs a step about a fifth of what an entry of the walk costs: it is
 * read in order, and an entry is not. */
enum { ENTRIES_WORTH = 5 };

struct walk {
    node end, start;
    int *uses;      /* (nodes) how often it is read by what the loss needs */
    int *within;    /* (nodes) … by nodes of the walk */
    node *toward;   /* (nodes) rows of the end by rows of this node, transposed; POISON: not yet */
    int64_t steps;  /* sparse products … */
    double entries; /* … and what they walk over, in all */
};

/* Fixed, and linear in each of its sources. */
static bool is_step(const struct node_info *info)
{
    if (info->op == OP_GATHER)
        return info->attr.index->fixed;
    return info->op == OP_SPMM_ADD && !info->attr.csr->changes && !info->attr.csr->partition &&
           !info->attr.transposed;
}

/* How often each node is read, by those that somebody needs: they alone are looked at. */
static void count_uses(int *uses, const struct program *p)
{
    for (node x = p->count - 1; x >= 0; x--)
        for (int i = 0; i < NODE_SOURCES; i++)
            if ((uses[x] > 0 || x == p->loss || p->node[x].keep) && p->node[x].src[i] != POISON)
                uses[p->node[x].src[i]]++;
}

/* Whether nothing but a fixed walk lies between start and end, and nobody else reads of it. */
static bool trace(struct walk *w, const struct program *p)
{
    memset(w->within, 0, (size_t)p->count * sizeof *w->within);
    w->within[w->end] = 1; /* the loss */
    w->steps = 0;
    w->entries = 0;
    for (node x = w->end; x >= 0; x--) {
        const struct node_info *info = &p->node[x];
        if (w->within[x] == 0 || x == w->start)
            continue;
        if (x < w->start || !is_step(info) || info->keep || w->within[x] != w->uses[x])
            return false;
        w->within[info->src[0]]++;
        if (info->src[1] != POISON)
            w->within[info->src[1]]++;
        w->steps += info->op == OP_SPMM_ADD;
        w->entries += info->op == OP_SPMM_ADD ? (double)info->attr.csr->nnz : 0;
    }
    return true;
}

/* Finds a walk whose end the loss reads at few rows; where it began is what it adds at its end. */
static bool find_walk(struct walk *w, const struct program *p)
{
    for (node x = 0; x < p->count; x++) {
        const struct node_info *info = &p->node[x];
        w->end = info->src[0];
        if (info->op != OP_NLL || w->uses[x] + (x == p->loss) == 0 ||
            p->node[w->end].op != OP_SPMM_ADD)
            continue;
        w->start = p->node[w->end].src[1];
        while (w->start != POISON && p->node[w->start].op == OP_GATHER)
            w->start = p->node[w->start].src[0];
        if (w->start == POISON || !trace(w, p) || w->steps < 2)
            continue;
        const double elements = (double)ROWS(p, w->end) * (double)ROWS(p, w->start);
        if (elements * sizeof(float) <= (double)p->backend->kind->composes &&
            elements <= ENTRIES_WORTH * w->entries)
            return true;
    }
    return false;
}

/* Notes that x gets t more of the end. */
static void bring(struct program *p, struct walk *w, node x, node t)
{
    if (t == POISON)
        return;
    p->node[t].constant = true;
    if (w->toward[x] != POISON) {
        t = add(p, w->toward[x], t);
        if (t != POISON)
            p->node[t].constant = true;
    }
    w->toward[x] = t;
}

/* Z = a·S·X + b·Y:  what X brings is a·Sᵀ of what Z brings, what Y brings b times it. */
static void back_step(struct program *p, struct walk *w, const struct node_info *info, node t)
{
    if (info->op == OP_GATHER) {
        bring(p, w, info->src[0], segment_sum(p, t, info->attr.index));
        return;
    }
    const struct attr back = {.csr = info->attr.csr, .transposed = true, .a = info->attr.a};
    if (!program_transpose(p, info->attr.csr))
        return;
    bring(p, w, info->src[0],
          RECORD(p, .op = OP_SPMM_ADD, .rows = info->attr.csr->cols, .cols = COLS(p, t), .src = {t},
                 .sources = 1, .attr = back));
    if (info->src[1] != POISON)
        bring(p, w, info->src[1], scale(p, info->attr.b, t));
}

static consm_status identity(node *out, struct program *p, int64_t n)
{
    consm_status st = CONSM_OK;
    float *one;
    TRY(ZNEW(one, n * n));
    TRY(program_own(p, one, mem_free));
    for (int64_t i = 0; i < n; i++)
        one[i * n + i] = 1;
    *out = constant(p, one, n, n);
done:
    return st;
}

/* The end of the walk as one product, Πᵀ being (rows of the start, rows of the end). */
static consm_status write_out(node *out, struct program *p, const struct node_info *old, void *ctx,
                              node x, const node *renamed)
{
    consm_status st = CONSM_OK;
    struct walk *w = ctx;
    if (x != w->end)
        return CONSM_OK;
    TRY(identity(&w->toward[x], p, old[x].rows));
    for (node y = x; y > w->start; y--)
        if (w->toward[y] != POISON)
            back_step(p, w, &old[y], w->toward[y]);
    *out = matmul_t(p, w->toward[w->start], true, renamed[w->start], false);
    program_name(p, *out, old[x].name);
done:
    return st;
}

consm_status program_compose(struct program *p)
{
    consm_status st = CONSM_OK;
    struct walk w = {0};
    if (p->loss == POISON || p->backend->kind->composes == 0)
        return CONSM_OK;
    TRY(ZNEW(w.uses, p->count));
    TRY(ZNEW(w.within, p->count));
    TRY(NEW(w.toward, p->count));
    for (node x = 0; x < p->count; x++)
        w.toward[x] = POISON;
    count_uses(w.uses, p);
    if (find_walk(&w, p))
        st = program_rewrite(p, write_out, &w);
done:
    mem_free(w.uses);
    mem_free(w.within);
    mem_free(w.toward);
    return st;
}
