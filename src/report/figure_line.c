/* Lines with error bands: curves over rounds, ζ, depth, homophily, edges. */
#include <math.h>

#include "report/svg_inside.h"

enum { MOST_MARKERS = 40, MOST_TIPS = 120 };

static bool has_band(const struct line_chart *chart)
{
    for (int s = 0; s < chart->series_count; s++)
        if (chart->series[s].low && chart->series[s].high)
            return true;
    return false;
}

static bool visible(const struct plot *p, double x, double y)
{
    return isfinite(scale_at(&p->x, x)) && isfinite(scale_at(&p->y, y));
}

/* One closed outline per stretch without gaps: along the upper bounds and back along the lower
 * ones. */
static void draw_band(const struct plot *p, const struct figure_series *s, int style)
{
    for (int64_t begin = 0, end; s->low && s->high && begin < s->n; begin = end + 1) {
        for (end = begin; end < s->n && visible(p, s->x[end], s->low[end]) &&
                          visible(p, s->x[end], s->high[end]);
             end++)
            continue;
        if (end - begin < 2)
            continue;
        text_add(p->out, "<path");
        svg_style(p->out, style, "band");
        text_add(p->out, " d=\"");
        for (int64_t i = begin; i < end; i++)
            text_printf(p->out, "%c%.1f %.1f", i == begin ? 'M' : 'L', scale_at(&p->x, s->x[i]),
                        scale_at(&p->y, s->high[i]));
        for (int64_t i = end - 1; i >= begin; i--)
            text_printf(p->out, "L%.1f %.1f", scale_at(&p->x, s->x[i]), scale_at(&p->y, s->low[i]));
        text_add(p->out, "Z\"/>\n");
    }
}

static void draw_line(const struct plot *p, const struct figure_series *s, int style)
{
    bool pen_down = false;
    text_add(p->out, "<path");
    svg_style(p->out, style, s->strong ? "line strong" : s->dashed ? "line dashed" : "line");
    text_add(p->out, " d=\"");
    for (int64_t i = 0; i < s->n; i++) {
        if (!visible(p, s->x[i], s->y[i])) {
            pen_down = false;
            continue;
        }
        text_printf(p->out, "%c%.1f %.1f", pen_down ? 'L' : 'M', scale_at(&p->x, s->x[i]),
                    scale_at(&p->y, s->y[i]));
        pen_down = true;
    }
    text_add(p->out, "\"/>\n");
}

static void add_quantity(struct text *out, const struct figure_axis *axis, double value)
{
    text_add(out, "\n");
    text_xml(out, axis->label);
    text_add(out, ": ");
    svg_value(out, value);
    if (axis->unit && *axis->unit) {
        text_add(out, " ");
        text_xml(out, axis->unit);
    }
}

static void draw_points(const struct plot *p, const struct line_chart *chart,
                        const struct figure_series *s, int style)
{
    int64_t every = (s->n + MOST_TIPS - 1) / MOST_TIPS;
    for (int64_t i = 0; i < s->n; i += every) {
        if (!visible(p, s->x[i], s->y[i]))
            continue;
        double x = scale_at(&p->x, s->x[i]), y = scale_at(&p->y, s->y[i]);
        text_add(p->out, "<g");
        svg_style(p->out, style, s->n <= MOST_MARKERS ? "marker tip" : "marker hidden tip");
        text_add(p->out, "><title>");
        text_xml(p->out, s->name);
        add_quantity(p->out, &chart->x, s->x[i]);
        add_quantity(p->out, &chart->y, s->y[i]);
        if (s->low && s->high && isfinite(s->low[i]) && isfinite(s->high[i])) {
            text_add(p->out, "\n(");
            svg_value(p->out, s->low[i]);
            text_add(p->out, " to ");
            svg_value(p->out, s->high[i]);
            text_add(p->out, ")");
        }
        text_add(p->out, "</title>");
        svg_marker(p->out, style, x, y, s->strong ? 4.5 : 3.5);
        text_printf(p->out, "<circle class=\"hit\" cx=\"%.1f\" cy=\"%.1f\" r=\"8\"/></g>\n", x, y);
    }
}

/* Rules are below the data, their labels above it. Labels of vertical rules step down a line each,
 * so that none covers another. */
static void draw_rule(const struct plot *p, const struct figure_rule *rule, int index, bool label)
{
    double at = scale_at(rule->horizontal ? &p->y : &p->x, rule->at);
    if (!isfinite(at))
        return;
    bool late = at > p->left + 0.62 * (p->right - p->left);
    if (rule->horizontal && !label)
        text_printf(p->out, "<path class=\"rule\" d=\"M%.1f %.1fH%.1f\"/>\n", p->left, at,
                    p->right);
    else if (rule->horizontal)
        svg_text(p->out, "rule-label", p->right - 4, at - 4, "end", rule->label, 50);
    else if (!label)
        text_printf(p->out, "<path class=\"rule\" d=\"M%.1f %.1fV%.1f\"/>\n", at, p->top,
                    p->bottom);
    else
        svg_text(p->out, "rule-label", late ? at - 4 : at + 4, p->top + 11 + 13 * (index % 4),
                 late ? "end" : "start", rule->label, 50);
}

static int width_of(const struct line_chart *chart)
{
    return chart->wide ? 2 * FIGURE_WIDTH : FIGURE_WIDTH;
}

static consm_status draw_legend(struct text *out, double *y, const struct line_chart *chart)
{
    consm_status st = CONSM_OK;
    struct legend_entry *entry = NULL;
    TRY(NEW(entry, chart->series_count));
    for (int s = 0; s < chart->series_count; s++)
        entry[s] = (struct legend_entry){chart->series[s].name, s, LEGEND_LINE};
    *y = legend_draw(out, entry, chart->series_count, 12, width_of(chart) - 12, *y);
done:
    mem_free(entry);
    return st;
}

/* Returns whether there is anything to draw. */
static bool measure(struct plot *p, struct ticks *x_ticks, struct ticks *y_ticks,
                    const struct line_chart *chart, double top)
{
    double x_range[2] = {range_empty[0], range_empty[1]};
    double y_range[2] = {range_empty[0], range_empty[1]};
    for (int i = 0; i < chart->series_count; i++) {
        const struct figure_series *s = &chart->series[i];
        range_add(x_range, s->x, s->n, chart->x.log);
        range_add(y_range, s->y, s->n, chart->y.log);
        range_add(y_range, s->low, s->n, chart->y.log);
        range_add(y_range, s->high, s->n, chart->y.log);
    }
    bool any = x_range[0] <= x_range[1] && y_range[0] <= y_range[1];
    for (int i = 0; i < chart->rules; i++)
        range_add(chart->rule[i].horizontal ? y_range : x_range, &chart->rule[i].at, 1,
                  chart->rule[i].horizontal ? chart->y.log : chart->x.log);
    axis_fit(&p->x, x_ticks, &chart->x, x_range, false);
    axis_fit(&p->y, y_ticks, &chart->y, y_range, true);
    plot_place(p, y_ticks, width_of(chart), top);
    return any;
}

consm_status figure_line(struct figure **out, const struct line_chart *chart)
{
    consm_status st = CONSM_OK;
    struct figure *f = NULL;
    struct ticks x_ticks, y_ticks;
    struct plot p = {0};
    double top;
    *out = NULL;
    TRY(figure_begin(&f, &top, &chart->words, has_band(chart), "bands", width_of(chart),
                     FIGURE_HEIGHT));
    TRY(draw_legend(&f->body, &top, chart));
    p.out = &f->body;
    bool any = measure(&p, &x_ticks, &y_ticks, chart, top);
    axis_draw_x(&p, &x_ticks, &chart->x);
    axis_draw_y(&p, &y_ticks, &chart->y);
    plot_open(&p);
    for (int s = 0; s < chart->series_count; s++)
        draw_band(&p, &chart->series[s], s);
    for (int i = 0; i < chart->rules; i++)
        draw_rule(&p, &chart->rule[i], i, false);
    for (int s = 0; s < chart->series_count; s++) {
        text_printf(p.out, "<g class=\"series\" data-series=\"%d\">\n", s);
        draw_line(&p, &chart->series[s], s);
        draw_points(&p, chart, &chart->series[s], s);
        text_add(p.out, "</g>\n");
    }
    for (int i = 0; i < chart->rules; i++)
        draw_rule(&p, &chart->rule[i], i, true);
    if (!any)
        plot_empty(&p);
    plot_close(&p);
    TRY(text_status(&f->body));
    *out = f;
    f = NULL;
done:
    figure_free(f);
    return st;
}
