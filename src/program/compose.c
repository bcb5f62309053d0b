/* Writes out a walk as a matrix. If the loss reads the end of a fixed walk (APPNP's Z_K = Π·Z_0)
 * only at a few rows, these rows of Π are a small constant dense matrix. A step is then one dense
 * product instead of K sparse ones. Only the order of sums differs. */

/* The first run computes the matrix, backwards from the rows that are read. This pass runs after
 * restriction, whose smaller matrices and gathers are part of the walk. */
#include "program/internal.h"

#include <string.h>

/* An element of the matrix costs about a fifth of an entry of the walk, because it is read in
 * order. */
enum { ENTRIES_WORTH = 5 };

struct walk {
    node end, start;
    int *uses;    /* (nodes) how often the nodes that the loss needs read it */
    int *within;  /* (nodes) how often nodes of the walk read it */
    node *toward; /* (nodes) rows of the end by rows of this node, transposed; POISON: not yet known
                   */
    int64_t steps;  /* sparse products */
    double entries; /* all their entries */
};

/* Whether it is fixed and linear in each source. */
static bool is_step(const struct node_info *info)
{
    if (info->op == OP_GATHER)
        return info->attr.index->fixed;
    return info->op == OP_SPMM_ADD && !info->attr.csr->changes && !info->attr.csr->partition &&
           !info->attr.transposed;
}

/* How often each node is read by needed nodes. */
static void count_uses(int *uses, const struct program *p)
{
    for (node x = p->count - 1; x >= 0; x--)
        for (int i = 0; i < NODE_SOURCES; i++)
            if ((uses[x] > 0 || x == p->loss || p->node[x].keep) && p->node[x].src[i] != POISON)
                uses[p->node[x].src[i]]++;
}

/* Whether only a fixed walk lies between start and end, and nothing else reads its values. */
static bool trace(struct walk *w, const struct program *p)
{
    memset(w->within, 0, (size_t)p->count * sizeof *w->within);
    w->within[w->end] = 1; /* read by the loss */
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

/* Finds a walk whose end the loss reads at few rows; its start is what its last step adds. */
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

/* Adds t to the dependence of the end on x. */
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

/* Z = a·S·X + b·Y: X's part is a·Sᵀ of Z's, Y's part b times it. */
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

/* The end of the walk as one product; Πᵀ is (rows of the start, rows of the end). */
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
