/* Points: one quantity against another. */
#include <math.h>

#include "report/svg_inside.h"

static void draw_point(const struct plot *p, const struct scatter_chart *c, int series, int64_t i)
{
    const struct scatter_series *s = &c->series[series];
    double x = scale_at(&p->x, s->x[i]), y = scale_at(&p->y, s->y[i]);
    const struct figure_axis *axis[2] = {&c->x, &c->y};
    double value[2] = {s->x[i], s->y[i]};
    if (!isfinite(x) || !isfinite(y))
        return;
    text_add(p->out, "<g");
    svg_style(p->out, series, "dot tip");
    text_add(p->out, "><title>");
    text_xml(p->out, s->label ? s->label[i] : s->name);
    for (int a = 0; a < 2; a++) {
        text_add(p->out, "\n");
        text_xml(p->out, axis[a]->label);
        text_add(p->out, ": ");
        svg_value(p->out, value[a]);
        if (axis[a]->unit) {
            text_add(p->out, " ");
            text_xml(p->out, axis[a]->unit);
        }
    }
    text_add(p->out, "</title>");
    svg_marker(p->out, series, x, y, s->n > 300 ? 2.5 : 4);
    text_add(p->out, "</g>\n");
}

static void draw_diagonal(const struct plot *p)
{
    double low = fmax(p->x.low, p->y.low), high = fmin(p->x.high, p->y.high);
    if (low < high)
        text_printf(p->out, "<path class=\"rule\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
                    scale_at(&p->x, low), scale_at(&p->y, low), scale_at(&p->x, high),
                    scale_at(&p->y, high));
}

/* Returns whether there is anything to draw. */
static bool measure(struct plot *p, struct ticks *x_ticks, struct ticks *y_ticks,
                    const struct scatter_chart *c, double top)
{
    double x_range[2] = {range_empty[0], range_empty[1]};
    double y_range[2] = {range_empty[0], range_empty[1]};
    for (int s = 0; s < c->series_count; s++) {
        range_add(x_range, c->series[s].x, c->series[s].n, c->x.log);
        range_add(y_range, c->series[s].y, c->series[s].n, c->y.log);
    }
    axis_fit(&p->x, x_ticks, &c->x, x_range, true);
    axis_fit(&p->y, y_ticks, &c->y, y_range, true);
    plot_place(p, y_ticks, FIGURE_WIDTH, top);
    return x_range[0] <= x_range[1] && y_range[0] <= y_range[1];
}

consm_status figure_scatter(struct figure **out, const struct scatter_chart *c)
{
    consm_status st = CONSM_OK;
    struct figure *f = NULL;
    struct legend_entry *entry = NULL;
    struct ticks x_ticks, y_ticks;
    struct plot p = {0};
    double top;
    *out = NULL;
    TRY(figure_begin(&f, &top, &c->words, false, "", FIGURE_WIDTH, FIGURE_HEIGHT));
    TRY(NEW(entry, c->series_count));
    for (int s = 0; s < c->series_count; s++)
        entry[s] = (struct legend_entry){c->series[s].name, s, LEGEND_POINT};
    if (c->series_count > 1)
        top = legend_draw(&f->body, entry, c->series_count, 12, FIGURE_WIDTH - 12, top);
    p.out = &f->body;
    bool any = measure(&p, &x_ticks, &y_ticks, c, top);
    axis_draw_x(&p, &x_ticks, &c->x);
    axis_draw_y(&p, &y_ticks, &c->y);
    plot_open(&p);
    if (c->diagonal)
        draw_diagonal(&p);
    for (int s = 0; s < c->series_count; s++) {
        text_printf(p.out, "<g class=\"series\" data-series=\"%d\">\n", s);
        for (int64_t i = 0; i < c->series[s].n; i++)
            draw_point(&p, c, s, i);
        text_add(p.out, "</g>\n");
    }
    if (!any)
        plot_empty(&p);
    plot_close(&p);
    TRY(text_status(&f->body));
    *out = f;
    f = NULL;
done:
    mem_free(entry);
    figure_free(f);
    return st;
}
