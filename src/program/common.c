/* Reuses values between two programs over one store. Evaluation after a step and the next step's
 * forward pass start alike: X·W, and everything up to the first random mask. If the parameters did
 * not change in between, the step takes these values from the evaluation, with the same bits. */

/* The evaluation keeps these values in its arena, each in its own place. The training program has
 * places for all its values anyway. It copies the rows that restrict.c left it, applies its own
 * dropout, and computes everything itself if the evaluation is out of date or does not happen. */
#include "program/internal.h"

/* For the reader's nodes: which node of the evaluation computes the same, except for dropout, and
 * how the reader may reuse it. */
struct match {
    node *same;      /* (nodes of the reader) POISON: none */
    enum reuse *how; /* (nodes of the reader) */
};

static void match_free(struct match *m)
{
    mem_free(m->same);
    mem_free(m->how);
}

/* Whether y computes what x does, or some of its rows, given equal sources; x drops nothing. A
 * smaller matrix has its rows' entries in the same order. */
static bool same_operation(const struct node_info *y, const struct node_info *x)
{
    const struct attr *a = &y->attr, *b = &x->attr;
    const struct csr *matrix = y->whole ? y->whole : a->csr;
    return y->op == x->op && (y->part || y->rows == x->rows) && y->cols == x->cols && !x->part &&
           matrix == b->csr && a->heads == b->heads &&
           (op_is(y->op, DRAWS) ? b->a == 0 : a->a == b->a) && a->b == b->b &&
           a->transposed == b->transposed && a->other_transposed == b->other_transposed &&
           a->column == b->column && !(matrix && matrix->changes);
}

static bool same_leaf(const struct node_info *y, const struct node_info *x)
{
    if (y->op != x->op || y->rows != x->rows || y->cols != x->cols)
        return false;
    return y->op == OP_PARAM
               ? y->parameter == x->parameter
               : y->op == OP_INPUT && y->constant && x->constant && y->data == x->data;
}

/* The node of p that computes what y of q does; POISON: none. */
static node find_same(const struct match *m, const struct program *q, node y,
                      const struct program *p)
{
    const struct node_info *mine = &q->node[y];
    node src[NODE_SOURCES];
    bool leaf = op_made(mine->op) == MADE_LEAF;
    for (int i = 0; i < NODE_SOURCES; i++) {
        node source = mine->src[i];
        src[i] = source == POISON ? POISON : m->same[source];
        if (source != POISON && (src[i] == POISON || m->how[source] == REUSE_DROPPED))
            return POISON;
    }
    if (mine->op == OP_GATHER && mine->part) /* rows of the recorded value, by restrict.c */
        return src[0];
    for (node x = 0; x < p->count && (leaf || op_is(mine->op, IS_COMMON)); x++) {
        const struct node_info *theirs = &p->node[x];
        bool same = theirs->live && (leaf ? same_leaf(mine, theirs) : same_operation(mine, theirs));
        for (int i = 0; same && i < NODE_SOURCES; i++)
            same = theirs->src[i] == src[i];
        if (same)
            return x;
    }
    return POISON;
}

/* Whether node x of p has a value in its arena; rows of features, for example, are in no arena. */
static bool holds(const struct program *p, node x)
{
    return op_made(p->node[x].op) != MADE_LEAF;
}

/* Finds what q may take from p: values that are read by something that p does not compute. Nodes
 * that only lead to them become unnecessary. Constants stay. */
static consm_status match(struct match *m, const struct program *q, const struct program *p)
{
    consm_status st = CONSM_OK;
    TRY(NEW(m->same, q->count));
    TRY(ZNEW(m->how, q->count));
    for (node y = 0; y < q->count; y++) {
        const struct node_info *mine = &q->node[y];
        m->same[y] = mine->live && y < q->forward ? find_same(m, q, y, p) : POISON;
        if (m->same[y] == POISON || op_made(mine->op) == MADE_LEAF || mine->constant)
            continue;
        m->how[y] = op_is(mine->op, DRAWS) && mine->attr.a > 0 ? REUSE_DROPPED
                    : !mine->keep                              ? REUSE_NEEDLESS
                    : holds(p, m->same[y])                     ? REUSE_VALUE
                                                               : REUSE_NOTHING;
    }
    for (node y = 0; y < q->count; y++)
        for (int i = 0; i < NODE_SOURCES && q->node[y].live && m->how[y] == REUSE_NOTHING; i++) {
            node source = q->node[y].src[i];
            if (source != POISON && m->how[source] == REUSE_NEEDLESS)
                m->how[source] = holds(p, m->same[source]) ? REUSE_VALUE : REUSE_NOTHING;
        }
done:
    return st;
}

static bool takes_over(enum reuse how)
{
    return how == REUSE_VALUE || how == REUSE_DROPPED;
}

/* Whether q may take something from p, which is being compiled. */
static bool reads(const struct program *q, const struct program *p)
{
    return q->backend == p->backend && !q->source;
}

consm_status program_common(struct program *p)
{
    consm_status st = CONSM_OK;
    struct match m = {0};
    for (const struct program *q = p->params->readers; q && !p->optimizes; q = q->next_reader) {
        if (!reads(q, p))
            continue;
        TRY(match(&m, q, p));
        for (node y = 0; y < q->count; y++)
            if (takes_over(m.how[y]))
                p->node[m.same[y]].common = true;
        match_free(&m);
        m = (struct match){0};
    }
done:
    match_free(&m);
    return st;
}

/* Tells q's instructions what is in p's arena. */
static consm_status tell(struct program *q, struct program *p)
{
    consm_status st = CONSM_OK;
    struct match m = {0};
    int32_t at = 0;
    TRY(match(&m, q, p));
    for (node y = 0; y < q->count; y++) {
        if (!q->node[y].live || op_made(q->node[y].op) == MADE_LEAF)
            continue;
        q->instr[at].reuse = m.how[y];
        if (takes_over(m.how[y])) {
            q->instr[at].reuse_at = p->node[m.same[y]].offset * sizeof(float);
            q->instr[at].reuse_rows = q->node[y].part;
            q->source = p;
        }
        at++;
    }
    q->plan.memory[PLACE_OTHER] = q->source ? p->arena.memory : NULL;
done:
    match_free(&m);
    return st;
}

consm_status program_join(struct program *p)
{
    consm_status st = CONSM_OK;
    if (!p->backend->kind->reuses)
        return CONSM_OK;
    if (p->optimizes) {
        p->next_reader = p->params->readers;
        p->params->readers = p;
        return CONSM_OK;
    }
    for (struct program *q = p->params->readers; q; q = q->next_reader)
        if (reads(q, p))
            TRY(tell(q, p));
done:
    return st;
}

void program_part(struct program *p)
{
    struct program **at = &p->params->readers;
    while (*at) {
        struct program *q = *at;
        q->source = q->source == p ? NULL : q->source;
        if (q == p)
            *at = q->next_reader;
        else
            at = &q->next_reader;
    }
}

bool program_fresh(const struct program *p)
{
    return p->source && p->source->computed == p->params->block[PLACE_VALUE].version + 1;
}
