/* A figure's frame: start, words, markers, and its two forms. */
#include <math.h>
#include <string.h>

#include "report/assets.h"
#include "report/svg_inside.h"

void figure_free(struct figure *f)
{
    if (!f)
        return;
    mem_free(f->name);
    mem_free(f->title);
    mem_free(f->caption);
    text_free(&f->body);
    mem_free(f);
}

/* Hands the buffer of a text over as a string. */
static consm_status take(char **out, struct text *t)
{
    text_add(t, "");
    *out = t->status < 0 ? NULL : t->data;
    if (t->status < 0)
        return t->status;
    *t = (struct text){0};
    return CONSM_OK;
}

consm_status figure_begin(struct figure **out, double *y, const struct figure_words *words,
                          bool has_errors, const char *kind, int width, int height)
{
    consm_status st = CONSM_OK;
    struct figure *f = NULL;
    struct text t = {0};
    *out = NULL;
    if (has_errors && !words->spread)
        TRY(status_fail(CONSM_EINVAL, "figure %s has error %s, but no text that explains them",
                        words->name ? words->name : "", kind));
    TRY(ZNEW(f, 1));
    f->width = width;
    f->height = height;
    text_slug(&t, words->name);
    TRY(take(&f->name, &t));
    text_plain(&t, words->title);
    TRY(take(&f->title, &t));
    text_plain(&t, words->caption);
    if (has_errors) {
        size_t length = t.length;
        bool ended = length == 0 || strchr(".!?", t.data[length - 1]);
        text_printf(&t, "%s%s%c%s: ", ended ? "" : ".", length ? " " : "", kind[0] - 'a' + 'A',
                    kind + 1);
        text_plain(&t, words->spread);
        text_add(&t, ".");
    }
    TRY(take(&f->caption, &t));
    *y = 12;
    if (*f->title) {
        double room = (width - 24) / fmax(1, svg_words_width(f->title, 14.5));
        int64_t columns = text_width(f->title);
        svg_text(&f->body, "title", 12, 24, "start", f->title,
                 room < 1 ? (int64_t)(room * (double)columns) : columns);
        *y = 40;
    }
    *out = f;
    f = NULL;
done:
    text_free(&t);
    figure_free(f);
    return st;
}

/* ---- pieces -------------------------------------------------------------- */

double svg_words_width(const char *words, double size)
{
    double width = 0;
    for (uint32_t c; words && (c = text_decode(&words)) != 0;) {
        if (c >= 'A' && c <= 'Z')
            width += 0.72;
        else if (c < 0x80 && strchr(" .,:;!'()[]|ijlIft", (int)c))
            width += 0.38;
        else if (c == 'm' || c == 'w')
            width += 0.92;
        else
            width += 0.61 * text_columns(c);
    }
    return width * size;
}

void svg_text(struct text *out, const char *class, double x, double y, const char *anchor,
              const char *words, int64_t columns)
{
    char *shown = NULL;
    if (text_clip(&shown, words, columns) < 0) {
        out->status = CONSM_ENOMEM;
        return;
    }
    text_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y,
                anchor);
    text_xml(out, shown);
    if (text_width(words) > columns) {
        text_add(out, "<title>");
        text_xml(out, words);
        text_add(out, "</title>");
    }
    text_add(out, "</text>\n");
    mem_free(shown);
}

void svg_text_ends(struct text *out, const char *class, double x, double y, const char *words,
                   int64_t columns)
{
    char *shown = NULL;
    if (text_clip_middle(&shown, words, columns) < 0) {
        out->status = CONSM_ENOMEM;
        return;
    }
    text_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", class, x,
                y);
    text_xml(out, shown);
    if (text_width(words) > columns) {
        text_add(out, "<title>");
        text_xml(out, words);
        text_add(out, "</title>");
    }
    text_add(out, "</text>\n");
    mem_free(shown);
}

void svg_style(struct text *out, int style, const char *more)
{
    if (style < 0)
        text_printf(out, " class=\"ink %s\"", more);
    else if (style >= FIGURE_TRUSTED)
        text_printf(out, " class=\"%s %s\"", style == FIGURE_TRUSTED ? "trusted" : "distrusted",
                    more);
    else
        text_printf(out, " class=\"s%d%s %s\"", style % FIGURE_COLOURS,
                    style >= FIGURE_COLOURS ? " alt" : "", more);
}

/* Six shapes of similar area, so that lines can be told apart without colour. */
void svg_marker(struct text *out, int style, double x, double y, double radius)
{
    static const int8_t corner[5][10] = {
        {-9, -9, 9, -9, 9, 9, -9, 9},      /* square */
        {0, -13, 12, 9, -12, 9, 0, -13},   /* triangle */
        {0, -13, 13, 0, 0, 13, -13, 0},    /* diamond */
        {0, 13, 12, -9, -12, -9, 0, 13},   /* triangle upside down */
        {-5, -11, 12, 0, -5, 11, -12, -2}, /* dart */
    };
    int shape = (style < 0 ? 0 : style) % 6;
    if (shape == 0) {
        text_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", x, y, radius);
        return;
    }
    text_add(out, "<path d=\"");
    for (int i = 0; i < 4; i++)
        text_printf(out, "%c%.1f %.1f", i ? 'L' : 'M', x + corner[shape - 1][2 * i] * radius / 10,
                    y + corner[shape - 1][2 * i + 1] * radius / 10);
    text_add(out, "Z\"/>");
}

void svg_value(struct text *out, double value)
{
    if (isnan(value))
        text_add(out, "–");
    else if (fabs(value) >= 1e5 && isfinite(value))
        text_printf(out, "%.3g", value);
    else
        text_printf(out, "%.4g", value);
}

void plot_place(struct plot *p, const struct ticks *y_ticks, int width, double top)
{
    p->left = p->x.from = axis_y_room(y_ticks);
    p->right = p->x.to = width - 16;
    p->top = p->y.to = top + 6;
    p->bottom = p->y.from = FIGURE_HEIGHT - 46;
}

void plot_open(const struct plot *p)
{
    double x = p->left - 8, y = p->top - 8, w = p->right - p->left + 16,
           h = p->bottom - p->top + 16;
    text_printf(p->out,
                "<svg class=\"plot\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                "viewBox=\"%.1f %.1f %.1f %.1f\">\n",
                x, y, w, h, x, y, w, h);
}

void plot_empty(const struct plot *p)
{
    svg_text(p->out, "tick", (p->left + p->right) / 2, (p->top + p->bottom) / 2, "middle",
             "no data", 10);
}

void plot_close(const struct plot *p)
{
    text_add(p->out, "</svg>\n");
}

/* ---- legend -------------------------------------------------------------- */

static void legend_key(struct text *out, const struct legend_entry *e, double x, double y)
{
    if (e->kind == LEGEND_BOX) {
        text_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"10\"", x + 3, y - 5);
        svg_style(out, e->style, "bar");
        text_add(out, "/>");
        return;
    }
    if (e->kind == LEGEND_LINE || e->kind == LEGEND_DASH) {
        text_printf(out, "<path d=\"M%.1f %.1fh20\"", x, y);
        svg_style(out, e->style, e->kind == LEGEND_DASH ? "line dashed" : "line");
        text_add(out, "/>");
    }
    if (e->kind == LEGEND_REFERENCE) {
        text_printf(out, "<path class=\"mark-reference\" d=\"M%.1f %.1fh14\"/>", x + 3, y);
    } else if (e->kind != LEGEND_DASH) {
        text_add(out, "<g");
        svg_style(out, e->style, "marker");
        text_add(out, ">");
        svg_marker(out, e->style, x + 10, y, 4);
        text_add(out, "</g>");
    }
}

double legend_draw(struct text *out, const struct legend_entry *entry, int count, double left,
                   double right, double top)
{
    double x = left, y = top + 6;
    bool any = false;
    for (int i = 0; i < count; i++) {
        if (!entry[i].name || !*entry[i].name)
            continue;
        double width = 26 + fmin(svg_words_width(entry[i].name, 12), 36 * 0.61 * 12) + 14;
        if (x > left && x + width > right) {
            x = left;
            y += 18;
        }
        text_printf(out, "<g class=\"key\" data-series=\"%d\">", entry[i].style);
        legend_key(out, &entry[i], x, y);
        svg_text(out, "legend", x + 26, y + 4, "start", entry[i].name, 36);
        text_add(out, "</g>\n");
        x += width;
        any = true;
    }
    return any ? y + 14 : top;
}

/* ---- writing ------------------------------------------------------------- */

static void open_svg(struct text *out, const struct figure *f, int height)
{
    text_printf(out, "viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", f->width, height);
    text_xml(out, *f->title ? f->title : f->name);
    text_add(out, "\">\n");
}

consm_status figure_to_inline(struct text *out, const struct figure *f)
{
    if (f->body.status < 0)
        return f->body.status;
    text_printf(out, "<svg class=\"fig\" id=\"figure-%s\" tabindex=\"0\" ", f->name);
    open_svg(out, f, f->height);
    text_add_bytes(out, text_string(&f->body), f->body.length);
    text_add(out, "</svg>\n");
    return text_status(out);
}

/* Draws the caption in lines of the figure's width; returns their number. Without out it only
 * counts. */
static int draw_caption(struct text *out, const struct figure *f)
{
    const char *s = f->caption;
    double limit = f->width - 24;
    int lines = 0;
    while (*s) {
        double width = 0;
        size_t length = 0, fits = 0;
        while (s[length] && (width <= limit || fits == 0)) {
            size_t word = strcspn(s + length, " ");
            char *part = mem_strndup(s, length + word);
            width = part ? svg_words_width(part, 10.5) : limit + 1;
            mem_free(part);
            if (width <= limit || fits == 0)
                fits = length + word;
            length += word;
            length += strspn(s + length, " ");
        }
        if (out) {
            text_printf(out, "<text class=\"caption\" x=\"12\" y=\"%d\">",
                        f->height + 10 + 14 * lines);
            char *line = mem_strndup(s, fits);
            text_xml(out, line);
            text_add(out, "</text>\n");
            mem_free(line);
        }
        s += fits;
        s += strspn(s, " ");
        lines++;
    }
    return lines;
}

consm_status figure_to_svg(struct text *out, const struct figure *f)
{
    if (f->body.status < 0)
        return f->body.status;
    int lines = draw_caption(NULL, f), height = f->height + (lines ? 14 * lines + 8 : 0);
    text_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fig\" width=\"%d\" "
                "height=\"%d\" ",
                f->width, height);
    open_svg(out, f, height);
    text_add(out, "<title>");
    text_xml(out, *f->title ? f->title : f->name);
    text_add(out, "</title>\n<desc>");
    text_xml(out, f->caption);
    text_add(out, "</desc>\n<style>\n");
    text_add_bytes(out, (const char *)asset_figure_css, asset_figure_css_size);
    text_printf(out, "</style>\n<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", f->width,
                height);
    text_add_bytes(out, text_string(&f->body), f->body.length);
    draw_caption(out, f);
    text_add(out, "</svg>\n");
    return text_status(out);
}
