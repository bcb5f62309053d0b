/* A graph small enough to embed in a page. Every edge is stored once, at its lower end: per node
 * the number of higher neighbours and the steps from one to the next as base-128 numbers, and one
 * byte of trust per edge, both as base64. Squirrel's 198,353 edges take about 0.7 MB. */
#include <math.h>
#include <string.h>

#include "report/html.h"
#include "report/svg_inside.h"

enum { BALL_NODES = 1500, BALL_FANOUT = 60, NAME_COLUMNS = 80 };

/* The embedded nodes, in ascending order. */
struct sample {
    int32_t *index; /* (nodes) new number or -1 */
    int64_t count;
    bool whole;
};

/* ---- base64 -------------------------------------------------------------- */

struct coder {
    struct text *out;
    uint32_t bits;
    int bytes;
};

static void put_byte(struct coder *c, unsigned byte)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    c->bits = c->bits << 8 | (byte & 255);
    if (++c->bytes < 3)
        return;
    char four[4];
    for (int i = 0; i < 4; i++)
        four[i] = digit[c->bits >> (18 - 6 * i) & 63];
    text_add_bytes(c->out, four, 4);
    *c = (struct coder){c->out, 0, 0};
}

/* Fills the last group with zeros; the reader knows how much it needs. */
static void put_end(struct coder *c)
{
    while (c->bytes > 0)
        put_byte(c, 0);
}

static void put_number(struct coder *c, uint64_t value)
{
    for (; value > 127; value >>= 7)
        put_byte(c, (unsigned)(value & 127) | 128);
    put_byte(c, (unsigned)value);
}

/* ---- which nodes --------------------------------------------------------- */

/* Walks breadth first from a seed and takes up to BALL_NODES nodes; returns the number of their
 * edges. order has room for all nodes. */
static int64_t take_ball(struct sample *s, int32_t *order, const struct graph_view *g, int64_t seed)
{
    int64_t head = 0, tail = 0, edges = 0;
    if (s->index[seed] >= 0)
        return 0;
    s->index[seed] = 0;
    order[tail++] = (int32_t)seed;
    while (head < tail && tail < BALL_NODES) {
        int64_t node = order[head++];
        int64_t end = g->start[node + 1];
        if (end > g->start[node] + BALL_FANOUT)
            end = g->start[node] + BALL_FANOUT;
        for (int64_t k = g->start[node]; k < end && tail < BALL_NODES; k++) {
            if (s->index[g->col[k]] >= 0)
                continue;
            s->index[g->col[k]] = 0;
            order[tail++] = g->col[k];
        }
    }
    for (int64_t i = 0; i < tail; i++)
        for (int64_t k = g->start[order[i]]; k < g->start[order[i] + 1]; k++)
            edges += s->index[g->col[k]] >= 0;
    s->count += tail;
    return edges;
}

static consm_status choose(struct sample *s, const struct graph_view *g, int64_t most_edges)
{
    consm_status st = CONSM_OK;
    int32_t *order = NULL;
    int64_t edges = 0, next = 0;
    TRY(NEW(s->index, g->nodes));
    int64_t most_nodes = most_edges / 5 + 1; /* labels and names take room too */
    s->whole = g->start[g->nodes] / 2 <= most_edges && g->nodes <= most_nodes;
    for (int64_t i = 0; i < g->nodes; i++)
        s->index[i] = s->whole ? 0 : -1;
    if (!s->whole) {
        TRY(NEW(order, g->nodes));
        int64_t seeds = 64, stride = g->nodes / seeds > 0 ? g->nodes / seeds : 1;
        for (int64_t seed = 0; seed < g->nodes && s->count < most_nodes; seed += stride) {
            edges += take_ball(s, order, g, seed);
            if (edges > most_edges)
                break;
        }
    }
    for (int64_t i = 0; i < g->nodes; i++)
        if (s->index[i] >= 0)
            s->index[i] = (int32_t)next++;
    s->count = next;
done:
    mem_free(order);
    return st;
}

/* ---- writing ------------------------------------------------------------- */

static void add_edges(struct text *out, const struct graph_view *g, const struct sample *s)
{
    struct coder c = {out, 0, 0};
    text_add(out, "\"edges\":\"");
    for (int64_t i = 0; i < g->nodes; i++) {
        uint64_t above = 0;
        int32_t previous = s->index[i];
        if (previous < 0)
            continue;
        for (int64_t k = g->start[i]; k < g->start[i + 1]; k++)
            above += g->col[k] > i && s->index[g->col[k]] >= 0;
        put_number(&c, above);
        for (int64_t k = g->start[i]; k < g->start[i + 1]; k++) {
            int32_t other = s->index[g->col[k]];
            if (g->col[k] <= i || other < 0)
                continue;
            put_number(&c, (uint64_t)(other - previous));
            previous = other;
        }
    }
    put_end(&c);
    text_add(out, "\"");
}

static void add_scores(struct text *out, const struct graph_view *g, const struct sample *s)
{
    struct coder c = {out, 0, 0};
    double low, high;
    graph_score_range(&low, &high, g);
    text_add(out, ",\"low\":");
    text_json_number(out, low, 6);
    text_add(out, ",\"high\":");
    text_json_number(out, high, 6);
    text_add(out, ",\"threshold\":");
    text_json_number(out, g->threshold, 6);
    text_add(out, ",\"scores\":\"");
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t k = g->start[i]; s->index[i] >= 0 && k < g->start[i + 1]; k++) {
            if (g->col[k] <= i || s->index[g->col[k]] < 0)
                continue;
            double share = (g->score[k] - low) / (high - low);
            put_byte(&c, isfinite(share) ? (unsigned)lround(254 * share) : 255);
        }
    put_end(&c);
    text_add(out, "\"");
}

static void add_classes(struct text *out, const char *key, const int32_t *class_of,
                        const struct graph_view *g, const struct sample *s)
{
    const char *comma = "";
    if (!class_of)
        return;
    text_printf(out, ",\"%s\":[", key);
    for (int64_t i = 0; i < g->nodes; i++) {
        if (s->index[i] < 0)
            continue;
        text_printf(out, "%s%d", comma, class_of[i]);
        comma = ",";
    }
    text_add(out, "]");
}

static void add_name(struct text *out, const char *name)
{
    char *clipped = NULL;
    if (text_clip(&clipped, name, NAME_COLUMNS) < 0)
        out->status = CONSM_ENOMEM;
    else
        text_json(out, clipped);
    mem_free(clipped);
}

static void add_names(struct text *out, const struct graph_view *g, const struct sample *s)
{
    const char *comma = "";
    if (g->class_name) {
        text_add(out, ",\"class_names\":[");
        for (int32_t i = 0; i < g->classes; i++) {
            text_add(out, i ? "," : "");
            add_name(out, g->class_name[i]);
        }
        text_add(out, "]");
    }
    if (s->whole && !g->node_name)
        return;
    text_add(out, ",\"names\":[");
    for (int64_t i = 0; i < g->nodes; i++) {
        if (s->index[i] < 0)
            continue;
        text_add(out, comma);
        comma = ",";
        if (g->node_name)
            add_name(out, g->node_name[i]);
        else
            text_printf(out, "\"%lld\"", (long long)i);
    }
    text_add(out, "]");
}

static void add_roles(struct text *out, const struct graph_view *g, const struct sample *s)
{
    text_add(out, ",\"roles\":\"");
    for (int64_t i = 0; i < g->nodes; i++)
        if (s->index[i] >= 0)
            text_printf(out, "%d", g->role[i] & 3);
    text_add(out, "\"");
}

/* The true degree of nodes of which the sample left neighbours out. */
static void add_degrees(struct text *out, const struct graph_view *g, const struct sample *s)
{
    const char *comma = "";
    text_add(out, ",\"degrees\":[");
    for (int64_t i = 0; i < g->nodes; i++) {
        if (s->index[i] < 0)
            continue;
        text_printf(out, "%s%lld", comma, (long long)(g->start[i + 1] - g->start[i]));
        comma = ",";
    }
    text_add(out, "]");
}

consm_status report_graph_json(struct text *out, const struct graph_view *g, int64_t most_edges)
{
    consm_status st = CONSM_OK;
    struct sample s = {0};
    TRY(choose(&s, g, most_edges));
    text_add(out, "{\"name\":");
    text_json(out, g->name);
    text_printf(out, ",\"nodes\":%lld,\"of\":%lld,\"of_edges\":%lld,\"classes\":%d,",
                (long long)s.count, (long long)g->nodes, (long long)(g->start[g->nodes] / 2),
                g->classes);
    add_edges(out, g, &s);
    if (g->score)
        add_scores(out, g, &s);
    add_classes(out, "label", g->label, g, &s);
    add_classes(out, "predicted", g->predicted, g, &s);
    if (g->role)
        add_roles(out, g, &s);
    add_names(out, g, &s);
    if (!s.whole)
        add_degrees(out, g, &s);
    text_add(out, "}");
    TRY(text_status(out));
done:
    mem_free(s.index);
    return st;
}
