/* Finds how many steps over the graph's matrices lie between a row of a result and the rows it
 * depends on. Callers that need a few rows can then run the same program on the part of the graph
 * within that many steps. Found backwards from the result, over the recording. */
#include "base/known.h"
#include "program/internal.h"

/* For each node: the distance from the requested rows at which it is needed (-1: not), and whether
 * its value depends on the graph or the features, not only on parameters. */
struct looking {
    const struct program *p;
    const struct csr *two_steps;
    int64_t *distance; /* (nodes) */
    bool *by_graph;    /* (nodes) */
    int64_t reach;     /* so far; -1: all rows */
};

static void mark_by_graph(struct looking *l)
{
    for (node x = 0; x < l->p->count; x++) {
        const struct node_info *info = &l->p->node[x];
        l->by_graph[x] =
            info->op == OP_INPUT || info->op == OP_SPARSE || info->attr.csr || info->attr.index;
        for (int i = 0; i < NODE_SOURCES; i++)
            if (info->src[i] != POISON)
                l->by_graph[x] = l->by_graph[x] || l->by_graph[info->src[i]];
    }
}

/* Steps of one walk over the matrix; 0: not a matrix of the graph. */
static int64_t steps_of(const struct looking *l, const struct csr *s)
{
    KNOWN(s);
    return s->rows != s->cols ? 0 : s == l->two_steps ? 2 : 1;
}

static void see(struct looking *l, int64_t distance)
{
    if (l->reach >= 0 && distance > l->reach)
        l->reach = distance;
}

/* The distance at which x, needed at distance d, needs a source; -1: as a whole. */
static int64_t source_distance(const struct looking *l, const struct node_info *info, int slot,
                               int64_t d)
{
    const struct node_info *source = &l->p->node[info->src[slot]];
    switch (op_reads(info->op, slot)) {
    case 'e':
    case 'n':
    case 'o': return d;
    case 'r': return op_made(info->op) == MADE_ENTRIES || source->rows == info->rows ? d : -1;
    case 'c':
        return info->attr.transposed || steps_of(l, info->attr.csr) == 0
                   ? -1
                   : d + steps_of(l, info->attr.csr);
    default: return -1;
    }
}

/* Whether rows of the result can be computed without the others. EDGE_DROP reads no source, only
 * the degrees at both ends of an entry. */
static bool by_rows(const struct program *p, const struct node_info *info)
{
    int64_t source_rows = info->src[0] == POISON ? 0 : p->node[info->src[0]].rows;
    return op_made(info->op) == MADE_LEAF || op_made(info->op) == MADE_ENTRIES ||
           info->op == OP_EDGE_DROP ||
           op_makes_rows(info->op, &info->attr, info->rows, source_rows);
}

static void look_behind(struct looking *l, node x)
{
    const struct node_info *info = &l->p->node[x];
    int64_t d = l->distance[x];
    bool rows = by_rows(l->p, info);
    if (!rows && l->by_graph[x])
        l->reach = -1;
    if (op_walks(info->op) && info->attr.csr)
        see(l, d + steps_of(l, info->attr.csr));
    if (info->op == OP_EDGE_DROP)
        see(l, d + 2);
    for (int slot = 0; slot < NODE_SOURCES; slot++) {
        node source = info->src[slot];
        if (source == POISON)
            continue;
        int64_t at = rows ? source_distance(l, info, slot, d) : -1;
        if (at < 0 && l->by_graph[source])
            l->reach = -1;
        l->distance[source] = at > l->distance[source] ? at : l->distance[source];
    }
}

consm_status program_reach(int64_t *out, const struct program *p, node x,
                           const struct csr *two_steps)
{
    consm_status st = CONSM_OK;
    struct looking l = {.p = p, .two_steps = two_steps};
    *out = -1;
    TRY(program_check(p));
    x = node_now(p, x);
    if (!node_good(p, x))
        return status_fail(CONSM_EPROGRAM, "the program has no such value");
    TRY(NEW(l.distance, p->count));
    TRY(ZNEW(l.by_graph, p->count));
    for (node y = 0; y < p->count; y++)
        l.distance[y] = y == x ? 0 : -1;
    mark_by_graph(&l);
    for (node y = x; y >= 0 && l.reach >= 0; y--)
        if (l.distance[y] >= 0)
            look_behind(&l, y);
    *out = l.reach;
done:
    mem_free(l.distance);
    mem_free(l.by_graph);
    return st;
}

bool program_walks(const struct program *p, const struct csr *matrix)
{
    bool walks = false;
    for (node x = 0; x < p->count; x++)
        walks = walks || (matrix && p->node[x].attr.csr == matrix);
    return walks;
}
