/* A picture of a whole graph: a force layout (Fruchterman and Reingold, 1991) with repulsion only
 * between near nodes, found through a grid. It starts from a spiral and takes a fixed number of
 * steps, so the same graph gives the same picture. Of more than MOST nodes, evenly spaced ones are
 * drawn with the edges between them; of more than MOST_EDGES edges, evenly spaced ones. */
#include "report/svg_inside.h"

#include "base/alloc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 5000, MOST_EDGES = 12000, STEPS = 120, SIZE = 560, CELLS = 64 };

struct layout {
    const struct graph_view *g;
    int64_t count, edges;    /* drawn */
    int64_t *node;           /* (count) */
    int32_t *left, *right;   /* (edges) numbers of drawn nodes */
    float *score;            /* (edges) */
    double low, high;        /* of all scores */
    double *x, *y, *dx, *dy; /* (count) in [0, 1] */
    int cells; /* of the grid, along a side: a cell is twice as wide as the distance of nodes */
    int32_t *head, *next; /* nodes by cell */
};

static void layout_free(struct layout *l)
{
    mem_free(l->node);
    mem_free(l->left);
    mem_free(l->right);
    mem_free(l->score);
    mem_free(l->x);
    mem_free(l->y);
    mem_free(l->dx);
    mem_free(l->dy);
    mem_free(l->head);
    mem_free(l->next);
}

static consm_status make_room(struct layout *l, int64_t most_edges)
{
    consm_status st = CONSM_OK;
    TRY(NEW(l->node, l->count));
    TRY(NEW(l->left, most_edges));
    TRY(NEW(l->right, most_edges));
    TRY(NEW(l->score, most_edges));
    TRY(NEW(l->x, l->count));
    TRY(NEW(l->y, l->count));
    TRY(NEW(l->dx, l->count));
    TRY(NEW(l->dy, l->count));
    TRY(NEW(l->head, CELLS * CELLS));
    TRY(NEW(l->next, l->count));
done:
    return st;
}

/* Chooses the nodes and edges to draw. */
static consm_status choose(struct layout *l, const struct graph_view *g)
{
    consm_status st = CONSM_OK;
    int32_t *place = NULL;
    l->g = g;
    graph_score_range(&l->low, &l->high, g);
    l->count = g->nodes < MOST ? g->nodes : MOST;
    TRY(make_room(l, g->start[g->nodes] / 2 + 1));
    TRY(NEW(place, g->nodes));
    memset(place, -1, (size_t)g->nodes * sizeof *place);
    for (int64_t i = 0; i < l->count; i++) {
        l->node[i] = i * g->nodes / l->count;
        place[l->node[i]] = (int32_t)i;
    }
    for (int64_t i = 0; i < l->count; i++)
        for (int64_t e = g->start[l->node[i]]; e < g->start[l->node[i] + 1]; e++)
            if (place[g->col[e]] > i) {
                l->left[l->edges] = (int32_t)i;
                l->right[l->edges] = place[g->col[e]];
                l->score[l->edges++] = g->score ? g->score[e] : NAN;
            }
done:
    mem_free(place);
    return st;
}

static int cell_of(const struct layout *l, double v)
{
    int at = (int)(v * l->cells);
    return at < 0 ? 0 : at >= l->cells ? l->cells - 1 : at;
}

/* Pushes i away from the nodes within 2k: k² / distance. */
static void push(struct layout *l, int64_t i, double k)
{
    int column = cell_of(l, l->x[i]), row = cell_of(l, l->y[i]);
    for (int c = column - 1; c <= column + 1; c++)
        for (int r = row - 1; r <= row + 1; r++) {
            if (c < 0 || r < 0 || c >= l->cells || r >= l->cells)
                continue;
            for (int32_t j = l->head[c * l->cells + r]; j >= 0; j = l->next[j]) {
                double x = l->x[i] - l->x[j], y = l->y[i] - l->y[j];
                double square = x * x + y * y + 1e-9;
                if (j == i || square > 4 * k * k)
                    continue;
                l->dx[i] += x * k * k / square;
                l->dy[i] += y * k * k / square;
            }
        }
}

/* Ends of an edge pull each other: distance² / k. */
static void pull(struct layout *l, double k)
{
    for (int64_t e = 0; e < l->edges; e++) {
        int32_t a = l->left[e], b = l->right[e];
        double x = l->x[a] - l->x[b], y = l->y[a] - l->y[b];
        double force = sqrt(x * x + y * y) / k;
        l->dx[a] -= x * force;
        l->dy[a] -= y * force;
        l->dx[b] += x * force;
        l->dy[b] += y * force;
    }
}

static void step(struct layout *l, double k, double heat)
{
    memset(l->head, -1, sizeof(int32_t) * CELLS * CELLS);
    for (int64_t i = 0; i < l->count; i++) {
        int cell = cell_of(l, l->x[i]) * l->cells + cell_of(l, l->y[i]);
        l->next[i] = l->head[cell];
        l->head[cell] = (int32_t)i;
        /* A weak pull to the middle keeps unconnected nodes on the page. */
        l->dx[i] = (0.5 - l->x[i]) * 0.3;
        l->dy[i] = (0.5 - l->y[i]) * 0.3;
    }
    for (int64_t i = 0; i < l->count; i++)
        push(l, i, k);
    pull(l, k);
    for (int64_t i = 0; i < l->count; i++) {
        double length = sqrt(l->dx[i] * l->dx[i] + l->dy[i] * l->dy[i]) + 1e-12;
        double by = fmin(length, heat) / length;
        l->x[i] = fmin(0.99, fmax(0.01, l->x[i] + l->dx[i] * by));
        l->y[i] = fmin(0.99, fmax(0.01, l->y[i] + l->dy[i] * by));
    }
}

static void settle(struct layout *l)
{
    const double golden = 2.399963229728653, k = sqrt(0.6 / (double)(l->count > 0 ? l->count : 1));
    for (int64_t i = 0; i < l->count; i++) {
        double radius = 0.45 * sqrt(((double)i + 0.5) / (double)l->count);
        l->x[i] = 0.5 + radius * cos(golden * (double)i);
        l->y[i] = 0.5 + radius * sin(golden * (double)i);
    }
    l->cells = (int)fmin(CELLS, fmax(1, 0.5 / k));
    for (int s = 0; s < STEPS; s++)
        step(l, k, 0.1 * (1 - (double)s / STEPS) + 0.002);
}

/* Scales the layout to the page. */
static void fit(double *v, int64_t count, double scale, double middle)
{
    for (int64_t i = 0; i < count; i++)
        v[i] = 0.5 + (v[i] - middle) * scale;
}

static void fill_page(struct layout *l)
{
    double x[2] = {1, 0}, y[2] = {1, 0};
    for (int64_t i = 0; i < l->count; i++) {
        x[0] = fmin(x[0], l->x[i]);
        x[1] = fmax(x[1], l->x[i]);
        y[0] = fmin(y[0], l->y[i]);
        y[1] = fmax(y[1], l->y[i]);
    }
    double width = fmax(fmax(x[1] - x[0], y[1] - y[0]), 1e-6);
    fit(l->x, l->count, 0.96 / width, (x[0] + x[1]) / 2);
    fit(l->y, l->count, 0.96 / width, (y[0] + y[1]) / 2);
}

/* ---- drawing ------------------------------------------------------------- */

enum { TRUST_STEPS = 12 };

static double radius_of(const struct layout *l)
{
    return l->count > 1500 ? 1.6 : l->count > 300 ? 2.6 : 4.5;
}

/* An edge's position on the ramp of trust. */
static double share_of(const struct layout *l, int64_t e)
{
    double score = (double)l->score[e];
    return isnan(score) || l->high <= l->low ? 0.5 : (score - l->low) / (l->high - l->low);
}

static int step_of(const struct layout *l, int64_t e)
{
    return (int)lround(share_of(l, e) * (TRUST_STEPS - 1));
}

static int64_t every(const struct layout *l)
{
    return l->edges / MOST_EDGES + 1;
}

static int32_t class_of(const struct layout *l, int64_t i)
{
    int32_t k = l->g->predicted ? l->g->predicted[l->node[i]] : -1;
    return k < 0 ? -1 : k % FIGURE_COLOURS;
}

/* The edges of one step of trust as one path; step -1: all of them, faint. */
static void draw_edges(struct text *out, const struct layout *l, double top, int trust)
{
    bool any = false;
    for (int64_t e = 0; e < l->edges; e += every(l)) {
        int32_t a = l->left[e], b = l->right[e];
        if (trust >= 0 && step_of(l, e) != trust)
            continue;
        text_printf(out, "%sM%.1f %.1fL%.1f %.1f", any ? "" : "<path d=\"", SIZE * l->x[a],
                    top + SIZE * l->y[a], SIZE * l->x[b], top + SIZE * l->y[b]);
        any = true;
    }
    if (!any)
        return;
    text_printf(out, "\" stroke-width=\"%.1f\"", l->edges > 2000 ? 0.6 : 1.4);
    if (trust < 0)
        text_add(out, " class=\"ink edge faint\"/>\n");
    else
        text_printf(out, " class=\"edge far\" stroke=\"#%06x\"/>\n",
                    colour_trust((double)trust / (TRUST_STEPS - 1)));
}

/* The nodes of one class as one path of dots; all: every node, in ink. */
static void draw_dots(struct text *out, const struct layout *l, double top, int32_t class_index,
                      bool all)
{
    bool any = false;
    for (int64_t i = 0; i < l->count; i++) {
        if (!all && class_of(l, i) != class_index)
            continue;
        text_printf(out, "%sM%.1f %.1fh0", any ? "" : "<path d=\"", SIZE * l->x[i],
                    top + SIZE * l->y[i]);
        any = true;
    }
    if (!any)
        return;
    text_printf(out, "\" stroke-width=\"%.1f\"", (all ? 1.4 : 2) * radius_of(l));
    svg_style(out, all ? -1 : class_index, "dots");
    text_add(out, "/>\n");
}

/* One circle per node, for a file that users open in an editor. */
static void draw_circles(struct text *out, const struct layout *l, double top)
{
    for (int64_t i = 0; i < l->count; i++) {
        text_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"", SIZE * l->x[i],
                    top + SIZE * l->y[i], radius_of(l));
        svg_style(out, class_of(l, i), "dot");
        text_add(out, "/>\n");
    }
}

static void draw(struct text *out, const struct layout *l, double top, enum whole_kind kind)
{
    if (kind == WHOLE_CLASSES)
        draw_edges(out, l, top, -1);
    for (int t = TRUST_STEPS - 1; kind != WHOLE_CLASSES && t >= 0; t--) /* distrust on top */
        draw_edges(out, l, top, t);
    if (kind == WHOLE_TRUST)
        draw_dots(out, l, top, -1, true);
    for (int32_t k = -1; kind == WHOLE_CLASSES && k < FIGURE_COLOURS; k++)
        draw_dots(out, l, top, k, false);
    if (kind == WHOLE_BOTH)
        draw_circles(out, l, top);
}

static double draw_legend(struct text *out, const struct graph_view *g, enum whole_kind kind,
                          double top)
{
    struct legend_entry entry[FIGURE_COLOURS];
    char name[FIGURE_COLOURS][24];
    int count = g->classes < FIGURE_COLOURS ? g->classes : FIGURE_COLOURS;
    for (int k = 0; k < count; k++) {
        snprintf(name[k], sizeof name[k], "class %d", k);
        entry[k] = (struct legend_entry){g->class_name ? g->class_name[k] : name[k], k, LEGEND_BOX};
    }
    if (kind == WHOLE_TRUST) {
        entry[0] = (struct legend_entry){"trusted", FIGURE_TRUSTED, LEGEND_BOX};
        entry[1] = (struct legend_entry){"distrusted", FIGURE_DISTRUSTED, LEGEND_BOX};
        count = 2;
    }
    return legend_draw(out, entry, count, 12, FIGURE_WIDTH - 12, top);
}

static consm_status one(struct figure **out, const struct figure_words *words,
                        const struct layout *l, enum whole_kind kind)
{
    consm_status st = CONSM_OK;
    struct figure *f = NULL;
    double top;
    TRY(figure_begin(&f, &top, words, false, "", FIGURE_WIDTH, SIZE + 70));
    top = draw_legend(&f->body, l->g, kind, top);
    draw(&f->body, l, top, kind);
    f->height = (int)top + SIZE;
    TRY(text_status(&f->body));
    *out = f;
    f = NULL;
done:
    figure_free(f);
    return st;
}

consm_status figure_whole(struct figure *out[WHOLE_KINDS], const struct figure_words *words,
                          const struct graph_view *g)
{
    consm_status st = CONSM_OK;
    struct layout l = {0};
    for (int k = 0; k < WHOLE_KINDS; k++)
        out[k] = NULL;
    TRY(choose(&l, g));
    settle(&l);
    fill_page(&l);
    for (int k = 0; k < WHOLE_KINDS; k++)
        TRY(one(&out[k], &words[k], &l, (enum whole_kind)k));
done:
    for (int k = 0; st < 0 && k < WHOLE_KINDS; k++) {
        figure_free(out[k]);
        out[k] = NULL;
    }
    layout_free(&l);
    return st;
}
