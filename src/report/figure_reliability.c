/* The reliability figure: the observed share of positives against the predicted probability, bin by
 * bin, and the number of scores in each bin. */
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "report/svg_inside.h"

enum { HEIGHT = 420, COUNTS_HEIGHT = 56 };

/* Whiskers (Wilson's interval) show how uncertain bins with few scores are. */
static void draw_series(const struct plot *p, const struct reliability_chart *c, int series)
{
    const struct stats_reliability *b = &c->bins[series];
    bool first = true;
    text_printf(p->out, "<g class=\"series\" data-series=\"%d\">\n<path", series);
    svg_style(p->out, series, "line");
    text_add(p->out, " d=\"");
    for (int i = 0; i < b->bins; i++)
        if (b->count[i] > 0) {
            text_printf(p->out, "%c%.1f %.1f", first ? 'M' : 'L', scale_at(&p->x, b->predicted[i]),
                        scale_at(&p->y, b->observed[i]));
            first = false;
        }
    text_add(p->out, "\"/>\n");
    for (int i = 0; i < b->bins; i++) {
        if (b->count[i] == 0)
            continue;
        double x = scale_at(&p->x, b->predicted[i]), y = scale_at(&p->y, b->observed[i]);
        int64_t hits = llround(b->observed[i] * (double)b->count[i]);
        struct stats_interval w = stats_wilson(hits, b->count[i], 0.95);
        text_add(p->out, "<g");
        svg_style(p->out, series, "marker tip");
        text_add(p->out, "><title>");
        text_xml(p->out, c->series[series]);
        text_printf(p->out,
                    "\npredicted: %.3f\nobserved: %.3f (%.3f to %.3f)\nscores in the bin: %lld",
                    b->predicted[i], b->observed[i], w.low, w.high, (long long)b->count[i]);
        text_printf(p->out, "</title><path class=\"line thin\" d=\"M%.1f %.1fV%.1f\"/>", x,
                    scale_at(&p->y, w.low), scale_at(&p->y, w.high));
        svg_marker(p->out, series, x, y, 4);
        text_add(p->out, "</g>\n");
    }
    text_add(p->out, "</g>\n");
}

static double scores_in(const struct stats_reliability *b)
{
    double total = 0;
    for (int i = 0; i < b->bins; i++)
        total += (double)b->count[i];
    return total;
}

/* The share of scores per bin, as small bars side by side, below the diagram. */
static void draw_counts(const struct plot *p, const struct reliability_chart *c)
{
    double most = 0;
    struct figure_axis axis = {.label = "share", .unit = "%"};
    for (int s = 0; s < c->series_count; s++) {
        double total = scores_in(&c->bins[s]);
        for (int i = 0; i < c->bins[s].bins && total > 0; i++)
            most = fmax(most, (double)c->bins[s].count[i] / total);
    }
    for (int s = 0; s < c->series_count && most > 0; s++) {
        const struct stats_reliability *b = &c->bins[s];
        double total = scores_in(b), slot = (p->right - p->left) / b->bins;
        double width = slot * 0.86 / c->series_count;
        for (int i = 0; i < b->bins; i++) {
            double part = total > 0 ? (double)b->count[i] / total : 0;
            double height = part / most * (p->bottom - p->top);
            text_add(p->out, "<g class=\"tip\"><title>");
            text_xml(p->out, c->series[s]);
            text_printf(p->out, "\n%lld scores, %.1f %% of all</title><rect x=\"%.1f\" y=\"%.1f\"",
                        (long long)b->count[i], 100 * part, p->left + slot * (i + 0.07) + width * s,
                        p->bottom - height);
            text_printf(p->out, " width=\"%.1f\" height=\"%.1f\"", fmax(0.5, width - 0.5), height);
            svg_style(p->out, s, "bar");
            text_add(p->out, "/></g>\n");
        }
    }
    char label[24];
    number_print(label, sizeof label, "%.0f", 100 * most);
    svg_text(p->out, "tick", p->left - 6, p->top + 8, "end", label, 8);
    svg_text(p->out, "tick", p->left - 6, p->bottom, "end", "0", 8);
    text_printf(p->out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", p->left, p->top,
                p->bottom, p->right);
    axis_draw_label(p->out, &axis, 16, (p->top + p->bottom) / 2, true);
}

static consm_status draw_legend(struct text *out, double *y, const struct reliability_chart *c)
{
    consm_status st = CONSM_OK;
    struct legend_entry *entry = NULL;
    char(*name)[160] = NULL;
    TRY(NEW(entry, c->series_count + 1));
    TRY(NEW(name, c->series_count));
    for (int s = 0; s < c->series_count; s++) {
        char *cut = NULL;
        TRY(text_clip(&cut, c->series[s], 13));
        number_print(name[s], sizeof name[s],
                     scores_in(&c->bins[s]) > 0 ? "%s, ECE %.3f" : "%s, no data", cut,
                     c->bins[s].ece);
        mem_free(cut);
        entry[s] = (struct legend_entry){name[s], s, LEGEND_LINE};
    }
    entry[c->series_count] = (struct legend_entry){"perfect calibration", -1, LEGEND_DASH};
    *y = legend_draw(out, entry, c->series_count + 1, 12, FIGURE_WIDTH - 12, *y);
done:
    mem_free(entry);
    mem_free(name);
    return st;
}

consm_status figure_reliability(struct figure **out, const struct reliability_chart *c)
{
    consm_status st = CONSM_OK;
    struct figure *f = NULL;
    struct ticks ticks;
    struct plot p = {0}, counts;
    double top, range[2] = {0, 1};
    struct figure_words words = c->words;
    struct figure_axis x = {.label = c->x_label, .fixed = true, .high = 1}, y = x, none = {0};
    *out = NULL;
    y.label = c->y_label;
    words.spread = words.spread ? words.spread : "Wilson's 95 % interval of the observed share";
    TRY(figure_begin(&f, &top, &words, true, "whiskers", FIGURE_WIDTH, HEIGHT));
    TRY(draw_legend(&f->body, &top, c));
    p.out = &f->body;
    axis_fit(&p.x, &ticks, &x, range, false);
    axis_fit(&p.y, &ticks, &y, range, false);
    p.left = p.x.from = axis_y_room(&ticks);
    p.right = p.x.to = FIGURE_WIDTH - 16;
    p.top = p.y.to = top + 6;
    counts = p;
    counts.bottom = HEIGHT - 46;
    counts.top = counts.bottom - COUNTS_HEIGHT;
    p.bottom = p.y.from = counts.top - 26;
    axis_draw_y(&p, &ticks, &y);
    axis_draw_x(&p, &ticks, &none);
    plot_open(&p);
    text_printf(p.out, "<path class=\"rule\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", p.left, p.bottom,
                p.right, p.top);
    for (int s = 0; s < c->series_count; s++)
        draw_series(&p, c, s);
    if (c->series_count == 0)
        plot_empty(&p);
    plot_close(&p);
    draw_counts(&counts, c);
    axis_draw_label(p.out, &x, (p.left + p.right) / 2, HEIGHT - 20, false);
    TRY(text_status(&f->body));
    *out = f;
    f = NULL;
done:
    figure_free(f);
    return st;
}
