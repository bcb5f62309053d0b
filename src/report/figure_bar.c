/* Grouped bars with whiskers; reference figures are marks across the bars. */
#include <math.h>

#include "report/svg_inside.h"

enum { MANY_BARS = 30 }; /* more get a figure of double width */

static void draw_tip(struct text *out, const struct bar_chart *c, int group, int series, int64_t at)
{
    text_add(out, "<title>");
    text_xml(out, c->series[series]);
    text_add(out, ", ");
    text_xml(out, c->group[group]);
    text_add(out, "\n");
    text_xml(out, c->y.label);
    text_add(out, ": ");
    svg_value(out, c->value[at]);
    if (c->y.unit) {
        text_add(out, " ");
        text_xml(out, c->y.unit);
    }
    if (c->low && c->high && isfinite(c->low[at]) && isfinite(c->high[at])) {
        text_add(out, "\n(");
        svg_value(out, c->low[at]);
        text_add(out, " to ");
        svg_value(out, c->high[at]);
        text_add(out, ")");
    }
    if (c->reference && isfinite(c->reference[at])) {
        text_add(out, "\n");
        text_xml(out, c->reference_name);
        text_add(out, ": ");
        svg_value(out, c->reference[at]);
    }
    text_add(out, "</title>");
}

static void draw_whisker(const struct plot *p, double x, double width, double low, double high)
{
    double top = scale_at(&p->y, high), bottom = scale_at(&p->y, low), cap = fmin(width / 3, 4);
    if (isfinite(top) && isfinite(bottom))
        text_printf(p->out,
                    "<path class=\"whisker\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh%.1fM%.1f %.1fh%.1f\"/>",
                    x, top, bottom, x - cap, top, 2 * cap, x - cap, bottom, 2 * cap);
}

static int style_of(const struct bar_chart *c, int series)
{
    return c->style ? c->style[series] : series;
}

static void draw_bar(const struct plot *p, const struct bar_chart *c, int group, int series,
                     double x, double width)
{
    int64_t at = (int64_t)group * c->series_count + series;
    double y = scale_at(&p->y, c->value[at]);
    double base = scale_at(&p->y, fmin(fmax(0, p->y.low), p->y.high));
    text_printf(p->out, "<g class=\"tip series\" data-series=\"%d\">", series);
    draw_tip(p->out, c, group, series, at);
    if (isfinite(y)) {
        text_printf(p->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", x,
                    fmin(y, base), fmax(width - 1, 0.5), fabs(base - y));
        svg_style(p->out, style_of(c, series), "bar");
        text_add(p->out, "/>");
    } else {
        svg_text(p->out, "tick", x + width / 2, base - 3, "middle", "–", 1);
    }
    if (c->low && c->high)
        draw_whisker(p, x + width / 2 - 0.5, width, c->low[at], c->high[at]);
    if (c->reference && isfinite(c->reference[at])) {
        double mark = scale_at(&p->y, c->reference[at]);
        text_printf(p->out, "<path class=\"mark-reference\" d=\"M%.1f %.1fh%.1f\"/>", x, mark,
                    width - 1);
    }
    text_add(p->out, "</g>\n");
}

static void draw_groups(const struct plot *p, const struct bar_chart *c)
{
    double slot = (p->right - p->left) / (c->groups ? c->groups : 1);
    double room = slot * (c->series_count > 1 ? 0.86 : 0.6),
           width = fmin(room / (c->series_count ? c->series_count : 1), 40);
    plot_open(p);
    for (int g = 0; g < c->groups; g++) {
        double x = p->left + slot * (g + 0.5) - width * c->series_count / 2;
        for (int s = 0; s < c->series_count; s++)
            draw_bar(p, c, g, s, x + s * width, width);
    }
    plot_close(p);
    for (int g = 0; g < c->groups; g++)
        svg_text_ends(p->out, "tick", p->left + slot * (g + 0.5), p->bottom + 16, c->group[g],
                      (int64_t)fmax(2, slot / (0.74 * 12)));
    text_printf(p->out, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>\n", p->left, p->bottom,
                p->right);
}

static consm_status draw_legend(struct text *out, double *y, const struct bar_chart *c, int wide)
{
    consm_status st = CONSM_OK;
    struct legend_entry *entry = NULL;
    int count = 0;
    TRY(NEW(entry, c->series_count + 1));
    for (int s = 0; s < c->series_count; s++)
        entry[count++] = (struct legend_entry){c->series[s], style_of(c, s), LEGEND_BOX};
    if (c->reference)
        entry[count++] = (struct legend_entry){c->reference_name, -1, LEGEND_REFERENCE};
    *y = legend_draw(out, entry, count, 12, wide - 12, *y);
done:
    mem_free(entry);
    return st;
}

consm_status figure_bar(struct figure **out, const struct bar_chart *c)
{
    consm_status st = CONSM_OK;
    struct figure *f = NULL;
    struct ticks ticks;
    struct plot p = {0};
    double top, range[2] = {range_empty[0], range_empty[1]};
    int64_t bars = (int64_t)c->groups * c->series_count;
    struct figure_axis x = {.label = c->group_label};
    int wide = bars > MANY_BARS ? 2 * FIGURE_WIDTH : FIGURE_WIDTH;
    *out = NULL;
    TRY(figure_begin(&f, &top, &c->words, c->low && c->high, "whiskers", wide, FIGURE_HEIGHT));
    TRY(draw_legend(&f->body, &top, c, wide));
    range_add(range, c->value, bars, c->y.log);
    bool any = range[0] <= range[1];
    range_add(range, c->low, bars, c->y.log);
    range_add(range, c->high, bars, c->y.log);
    range_add(range, c->reference, bars, c->y.log);
    axis_fit(&p.y, &ticks, &c->y, range, true);
    p.out = &f->body;
    plot_place(&p, &ticks, wide, top);
    axis_draw_y(&p, &ticks, &c->y);
    draw_groups(&p, c);
    if (!any)
        plot_empty(&p);
    axis_draw_label(&f->body, &x, (p.left + p.right) / 2, p.bottom + 35, false);
    TRY(text_status(&f->body));
    *out = f;
    f = NULL;
done:
    figure_free(f);
    return st;
}
