/* The neighbourhood of one node: the node in the middle, its neighbours on a ring from most to
 * least trusted, their other neighbours outside. */

/*
 * The layout is radial, without randomness: every neighbour has a wedge as wide as its children
 * need. assets/picker.js draws the same picture for the node that a reader picks.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/svg_inside.h"

enum { MOST_NEAR = 24, MOST_FAR = 48, HEIGHT = 480 };

struct shown {
    int64_t node;
    double score, clearness;
    double x, y, radius;
    int children;
};

struct picture {
    const struct graph_view *g;
    struct shown spot[1 + MOST_NEAR + MOST_FAR]; /* the node, ring 1, ring 2 */
    int near, count;                             /* spots 1…near are ring 1 */
    double low, high;                            /* of all scores */
};

static double score_at(const struct graph_view *g, int64_t entry)
{
    return g->score ? (double)g->score[entry] : NAN;
}

/* Comparisons instead of fmin and fmax: GCC 12 for aarch64 crashes on those in a reduction. */
void graph_score_range(double *low, double *high, const struct graph_view *g)
{
    *low = 0;
    *high = 1;
    for (int64_t k = 0; g->score && k < g->start[g->nodes]; k++) {
        if (g->score[k] < *low)
            *low = g->score[k];
        if (g->score[k] > *high)
            *high = g->score[k];
    }
}

/* 0 … 1 with the threshold at one half, whatever the range of scores. */
static double trust(const struct picture *p, double score)
{
    double t = p->g->threshold;
    if (!isfinite(score))
        return 0.5;
    if (score < t)
        return p->low < t ? 0.5 * (score - p->low) / (t - p->low) : 0;
    return p->high > t ? 0.5 + 0.5 * (score - t) / (p->high - t) : 1;
}

static int by_clearness(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;
    if (x->clearness != y->clearness)
        return x->clearness > y->clearness ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int by_trust(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;
    if (x->score != y->score && !isnan(x->score) && !isnan(y->score))
        return x->score > y->score ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static consm_status choose_near(struct picture *p, int64_t node)
{
    consm_status st = CONSM_OK;
    const struct graph_view *g = p->g;
    struct shown *all = NULL; /* (degree) */
    int64_t degree = 0;
    TRY(NEW(all, g->start[node + 1] - g->start[node]));
    for (int64_t k = g->start[node]; k < g->start[node + 1]; k++) {
        double score = score_at(g, k), clearness = isnan(score) ? 0 : fabs(score - g->threshold);
        if (g->col[k] != node)
            all[degree++] =
                (struct shown){.node = g->col[k], .score = score, .clearness = clearness};
    }
    qsort(all, (size_t)degree, sizeof *all, by_clearness);
    p->near = degree < MOST_NEAR ? (int)degree : MOST_NEAR;
    qsort(all, (size_t)p->near, sizeof *all, by_trust);
    p->spot[0] = (struct shown){.node = node, .score = NAN};
    for (int i = 0; i < p->near; i++)
        p->spot[1 + i] = all[i];
    p->count = 1 + p->near;
done:
    mem_free(all);
    return st;
}

static int find_spot(const struct picture *p, int64_t node)
{
    for (int i = 0; i < p->count; i++)
        if (p->spot[i].node == node)
            return i;
    return -1;
}

static void choose_far(struct picture *p)
{
    const struct graph_view *g = p->g;
    int each = p->near ? MOST_FAR / p->near : 0;
    each = each < 1 ? 1 : each > 6 ? 6 : each;
    for (int i = 1; i <= p->near; i++) {
        int64_t node = p->spot[i].node;
        for (int64_t k = g->start[node]; k < g->start[node + 1]; k++) {
            if (p->spot[i].children == each || p->count == 1 + p->near + MOST_FAR)
                break;
            if (find_spot(p, g->col[k]) >= 0)
                continue;
            p->spot[p->count++] = (struct shown){.node = g->col[k], .score = score_at(g, k)};
            p->spot[i].children++;
        }
    }
}

/* Wedges clockwise from the top; a node is in the middle of its wedge, its children spread over it
 * one ring further out. */
static void place(struct picture *p, double x, double y)
{
    const double turn = 8 * atan(1), near = 96, far = 168;
    double total = 0, used = 0;
    for (int i = 1; i <= p->near; i++)
        total += fmax(1, p->spot[i].children);
    p->spot[0].x = x;
    p->spot[0].y = y;
    p->spot[0].radius = 13;
    for (int i = 1, child = p->near + 1; i <= p->near; i++) {
        struct shown *s = &p->spot[i];
        double wedge = fmax(1, s->children) / total * turn, begin = used - turn / 4;
        s->x = x + near * cos(begin + wedge / 2);
        s->y = y + near * sin(begin + wedge / 2);
        s->radius = 9;
        for (int c = 0; c < s->children; c++, child++) {
            double angle = begin + wedge * (c + 0.5) / s->children;
            p->spot[child].x = x + far * cos(angle);
            p->spot[child].y = y + far * sin(angle);
            p->spot[child].radius = 5;
        }
        used += wedge;
    }
}

static void add_node_name(struct text *out, const struct graph_view *g, int64_t node)
{
    if (g->node_name)
        text_xml(out, g->node_name[node]);
    else
        text_printf(out, "%lld", (long long)node);
}

static void add_class_name(struct text *out, const struct graph_view *g, int32_t class_index)
{
    if (class_index < 0)
        text_add(out, "unknown");
    else if (g->class_name && class_index < g->classes)
        text_xml(out, g->class_name[class_index]);
    else
        text_printf(out, "%d", class_index);
}

static void draw_edge(struct text *out, const struct picture *p, int a, int b, double score)
{
    const struct shown *from = &p->spot[a], *to = &p->spot[b];
    double t = trust(p, score);
    bool far = a != 0 && b != 0;
    text_printf(out, "<g class=\"tip\"><title>");
    add_node_name(out, p->g, from->node);
    text_add(out, " – ");
    add_node_name(out, p->g, to->node);
    if (isfinite(score))
        text_printf(out, "\ntrust: %.3f (%s)", score,
                    score >= p->g->threshold ? "kept" : "dropped");
    text_printf(out,
                "</title><path class=\"edge%s\" d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#%06x\" "
                "stroke-width=\"%.1f\"%s/></g>\n",
                far ? " far" : "", from->x, from->y, to->x, to->y, colour_trust(t),
                (far ? 0.6 : 1.2) * (1 + 2 * fabs(t - 0.5)),
                isfinite(score) && score < p->g->threshold ? " stroke-dasharray=\"5 4\"" : "");
}

/* Every edge with an end in the middle or on the ring and both ends shown, once. */
static void draw_edges(struct text *out, const struct picture *p)
{
    const struct graph_view *g = p->g;
    for (int i = p->near; i >= 0; i--) {
        int64_t node = p->spot[i].node;
        for (int64_t k = g->start[node]; k < g->start[node + 1]; k++) {
            int other = find_spot(p, g->col[k]);
            if (other > i)
                draw_edge(out, p, i, other, score_at(g, k));
        }
    }
}

static void draw_node(struct text *out, const struct picture *p, int i)
{
    static const char *const role[] = {"", "training", "validation", "test"};
    const struct graph_view *g = p->g;
    const struct shown *s = &p->spot[i];
    int32_t truth = g->label ? g->label[s->node] : -1;
    int32_t guess = g->predicted ? g->predicted[s->node] : -1;
    int32_t shown = guess >= 0 ? guess : truth;
    int part = g->role ? g->role[s->node] & 3 : 0;
    bool wrong = truth >= 0 && guess >= 0 && truth != guess;
    text_add(out, "<g class=\"tip\"><title>");
    add_node_name(out, g, s->node);
    if (g->predicted) {
        text_add(out, "\npredicted: ");
        add_class_name(out, g, guess);
    }
    text_add(out, "\ntrue class: ");
    add_class_name(out, g, truth);
    if (part)
        text_printf(out, "\n%s node", role[part]);
    text_add(out, "</title>");
    if (part == 1)
        text_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"",
                    s->x - s->radius, s->y - s->radius, 2 * s->radius, 2 * s->radius);
    else
        text_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"", s->x, s->y, s->radius);
    if (shown < 0)
        text_add(out, " class=\"node unknown\"");
    else
        svg_style(out, shown % FIGURE_COLOURS, wrong ? "node wrong" : "node");
    text_add(out, "/></g>\n");
}

/* The meaning of colours, dashes, outlines and shapes. */
static double draw_legend(struct text *out, const struct picture *p, double top)
{
    const struct graph_view *g = p->g;
    struct legend_entry entry[FIGURE_COLOURS];
    char words[FIGURE_COLOURS][24];
    int count = g->classes < FIGURE_COLOURS ? g->classes : FIGURE_COLOURS;
    for (int i = 0; i < count; i++) {
        const char *name = g->class_name ? g->class_name[i] : NULL;
        if (!name || (strlen(name) < 12 && name[strspn(name, "0123456789")] == '\0')) {
            if (name)
                snprintf(words[i], sizeof words[i], "class %s", name);
            else
                snprintf(words[i], sizeof words[i], "class %d", i);
            name = words[i];
        }
        entry[i] = (struct legend_entry){name, i, LEGEND_BOX};
    }
    return legend_draw(out, entry, count, 12, FIGURE_WIDTH - 12, top);
}

static void draw_trust_bar(struct text *out, const struct picture *p)
{
    struct text words = {0};
    double y = HEIGHT - 12;
    if (p->g->score) {
        for (int i = 0; i < 40; i++)
            text_printf(out,
                        "<rect x=\"%.1f\" y=\"%.1f\" width=\"3.3\" height=\"8\" fill=\"#%06x\"/>",
                        220 + 3.0 * i, y - 26, colour_trust((i + 0.5) / 40));
        svg_text(out, "tick", 214, y - 18, "end", "distrusted", 12);
        svg_text(out, "tick", 346, y - 18, "start", "trusted", 12);
        text_printf(&words, "dashed: score below %.3g", p->g->threshold);
    }
    if (p->g->role)
        text_printf(&words, "%ssquare: training node", words.length ? ";  " : "");
    if (p->g->predicted && p->g->label)
        text_printf(&words, "%soutlined: wrong prediction", words.length ? ";  " : "");
    svg_text(out, "tick", FIGURE_WIDTH / 2.0, y, "middle", text_string(&words), 90);
    if (words.status < 0)
        out->status = words.status;
    text_free(&words);
}

consm_status figure_neighbourhood(struct figure **out, const struct figure_words *words,
                                  const struct graph_view *g, int64_t node)
{
    consm_status st = CONSM_OK;
    struct figure *f = NULL;
    struct picture p = {.g = g};
    double top;
    *out = NULL;
    if (node < 0 || node >= g->nodes)
        TRY(status_fail(CONSM_ENOTFOUND, "neighbourhood: no node %lld: the graph has %lld",
                        (long long)node, (long long)g->nodes));
    graph_score_range(&p.low, &p.high, g);
    TRY(figure_begin(&f, &top, words, false, "", FIGURE_WIDTH, HEIGHT));
    TRY(choose_near(&p, node));
    choose_far(&p);
    top = draw_legend(&f->body, &p, top);
    place(&p, FIGURE_WIDTH / 2.0, (top + HEIGHT - 46) / 2);
    draw_edges(&f->body, &p);
    for (int i = p.count - 1; i >= 0; i--)
        draw_node(&f->body, &p, i);
    draw_trust_bar(&f->body, &p);
    TRY(text_status(&f->body));
    *out = f;
    f = NULL;
done:
    figure_free(f);
    return st;
}
