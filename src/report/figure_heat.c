/* Heat maps: a value over a grid of two settings, with a colour bar, and numbers in the cells if
 * they fit. */
#include <math.h>

#include "report/svg_inside.h"

enum { MOST_LABELLED = 200, BAR_WIDTH = 14 };

static double share(const struct heat_map *m, const double range[2], double value)
{
    (void)m;
    return range[1] > range[0] ? (value - range[0]) / (range[1] - range[0]) : 0.5;
}

static void draw_tip(struct text *out, const struct heat_map *m, int row, int column, double value)
{
    const struct figure_axis *axis[2] = {&m->x, &m->y};
    const char *name[2] = {m->column[column], m->row[row]};
    text_add(out, "<title>");
    text_xml(out, m->value_label);
    text_add(out, ": ");
    text_number(out, value, m->decimals);
    if (m->value_unit) {
        text_add(out, " ");
        text_xml(out, m->value_unit);
    }
    for (int i = 0; i < 2; i++) {
        text_add(out, "\n");
        text_xml(out, axis[i]->label);
        text_add(out, ": ");
        text_xml(out, name[i]);
        if (axis[i]->unit) {
            text_add(out, " ");
            text_xml(out, axis[i]->unit);
        }
    }
    text_add(out, "</title>");
}

static void draw_cell(const struct plot *p, const struct heat_map *m, const double range[2],
                      int row, int column)
{
    double width = (p->right - p->left) / m->columns, height = (p->bottom - p->top) / m->rows;
    double x = p->left + column * width, y = p->bottom - (row + 1) * height;
    double value = m->value[(int64_t)row * m->columns + column];
    struct text label = {0};
    text_number(&label, value, m->decimals);
    text_add(p->out, "<g class=\"tip\">");
    draw_tip(p->out, m, row, column, value);
    text_printf(p->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", x, y,
                width + 0.3, height + 0.3); /* the overlap hides seams */
    uint32_t colour = colour_viridis(share(m, range, value));
    if (isfinite(value))
        text_printf(p->out, " fill=\"#%06x\"/>", colour);
    else
        text_printf(p->out, " class=\"missing\"/><path class=\"axis\" d=\"M%.1f %.1fl%.1f %.1f\"/>",
                    x, y, width, height);
    bool fits = svg_words_width(text_string(&label), 11) < width - 4 && height > 13;
    if (isfinite(value) && fits && m->rows * m->columns <= MOST_LABELLED)
        svg_text(p->out, colour_is_dark(colour) ? "cell light" : "cell dark", x + width / 2,
                 y + height / 2 + 4, "middle", text_string(&label), 12);
    text_add(p->out, "</g>\n");
    if (label.status < 0)
        p->out->status = label.status;
    text_free(&label);
}

/* Labels of rows and columns, as many as fit. */
static void draw_names(const struct plot *p, const struct heat_map *m)
{
    double width = (p->right - p->left) / (m->columns ? m->columns : 1);
    double height = (p->bottom - p->top) / (m->rows ? m->rows : 1);
    double taken = -INFINITY;
    for (int c = 0; c < m->columns; c++) {
        double x = p->left + (c + 0.5) * width;
        double half = fmin(svg_words_width(m->column[c], 12), 12 * 0.57 * 12) / 2;
        if (x - half < taken + 5)
            continue;
        taken = x + half;
        svg_text(p->out, "tick", x, p->bottom + 16, "middle", m->column[c], 12);
    }
    int every = (int)ceil(14 / height);
    for (int r = 0; r < m->rows; r += every)
        svg_text(p->out, "tick", p->left - 6, p->bottom - (r + 0.5) * height + 4, "end", m->row[r],
                 14);
    axis_draw_label(p->out, &m->x, (p->left + p->right) / 2, p->bottom + 35, false);
    axis_draw_label(p->out, &m->y, 16, (p->top + p->bottom) / 2, true);
}

static void draw_colour_bar(const struct plot *p, const struct heat_map *m, const double range[2])
{
    enum { STEPS = 48 };
    double x = p->right + 18, height = (p->bottom - p->top) / STEPS;
    struct scale scale = {range[0], range[1], p->bottom, p->top, false};
    struct ticks ticks;
    struct figure_axis axis = {.label = m->value_label, .unit = m->value_unit};
    text_add(p->out, "<g>");
    for (int i = 0; i < STEPS; i++)
        text_printf(p->out,
                    "<rect x=\"%.1f\" y=\"%.2f\" width=\"%d\" height=\"%.2f\" fill=\"#%06x\"/>", x,
                    p->bottom - (i + 1) * height, BAR_WIDTH, height + 0.3,
                    colour_viridis((i + 0.5) / STEPS));
    text_add(p->out, "</g>\n");
    axis_ticks(&ticks, range[0], range[1], false, 8);
    for (int i = 0; i < ticks.count; i++)
        svg_text(p->out, "tick", x + BAR_WIDTH + 5, scale_at(&scale, ticks.value[i]) + 4, "start",
                 ticks.label[i], 8);
    axis_draw_label(p->out, &axis, FIGURE_WIDTH - 10, (p->top + p->bottom) / 2, true);
}

static void find_range(double range[2], const struct heat_map *m)
{
    range[0] = range_empty[0];
    range[1] = range_empty[1];
    range_add(range, m->value, (int64_t)m->rows * m->columns, false);
    if (m->fixed && m->low < m->high) {
        range[0] = m->low;
        range[1] = m->high;
    } else if (!(range[0] <= range[1])) {
        range[0] = 0;
        range[1] = 1;
    } else if (range[0] == range[1]) {
        range[0] -= 0.5;
        range[1] += 0.5;
    }
}

consm_status figure_heat(struct figure **out, const struct heat_map *m)
{
    consm_status st = CONSM_OK;
    struct figure *f = NULL;
    struct plot p = {0};
    double top, widest = 20, range[2];
    *out = NULL;
    TRY(figure_begin(&f, &top, &m->words, false, "", FIGURE_WIDTH, FIGURE_HEIGHT));
    find_range(range, m);
    for (int r = 0; r < m->rows; r++)
        widest = fmax(widest, fmin(svg_words_width(m->row[r], 12), 14 * 0.57 * 12));
    p.out = &f->body;
    p.left = 32 + widest;
    p.right = FIGURE_WIDTH - 100;
    p.top = top + 2;
    p.bottom = FIGURE_HEIGHT - 46;
    for (int r = 0; r < m->rows; r++)
        for (int c = 0; c < m->columns; c++)
            draw_cell(&p, m, range, r, c);
    if (m->rows == 0 || m->columns == 0)
        plot_empty(&p);
    draw_names(&p, m);
    draw_colour_bar(&p, m, range);
    TRY(text_status(&f->body));
    *out = f;
    f = NULL;
done:
    figure_free(f);
    return st;
}
