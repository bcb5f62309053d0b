/* Axes: chooses ranges and round ticks, and draws them without colliding labels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "report/svg_inside.h"

const double range_empty[2] = {INFINITY, -INFINITY};

double scale_at(const struct scale *s, double value)
{
    double low = s->low, high = s->high;
    if (s->log) {
        low = log10(low);
        high = log10(high);
        value = log10(value);
    }
    return s->from + (value - low) / (high - low) * (s->to - s->from);
}

void range_add(double range[2], const double *value, int64_t n, bool log)
{
    for (int64_t i = 0; value && i < n; i++) {
        if (!isfinite(value[i]) || (log && value[i] <= 0))
            continue;
        range[0] = fmin(range[0], value[i]);
        range[1] = fmax(range[1], value[i]);
    }
}

/* A round step for about `wanted` ticks over the span: 1, 2 or 5 × 10^k. */
static double round_step(double span, int wanted)
{
    double rough = span / wanted, power = pow(10, floor(log10(rough))), part = rough / power;
    return power * (part <= 1.0001 ? 1 : part <= 2.0001 ? 2 : part <= 5.0001 ? 5 : 10);
}

/* "250", "2.5 k", "10 M", with as many decimals as the step needs. Below shorten_from a number is
 * not shortened. */
static void tick_label(char out[48], double value, double step, double shorten_from)
{
    static const char *const suffix[] = {"", " k", " M", " G", " T"};
    int thousands = 0;
    double largest = fmax(fabs(value), step);
    while (largest >= shorten_from && thousands < 4) {
        largest /= 1000;
        value /= 1000;
        step /= 1000;
        thousands++;
    }
    if (fabs(value) < step * 1e-6)
        value = 0;
    int decimals = (int)-floor(log10(step) + 1e-6);
    if (largest > 1e7 || decimals > 6)
        number_print(out, 48, "%.3g%s", value, suffix[thousands]);
    else
        number_print(out, 48, "%.*f%s", decimals > 0 ? decimals : 0, value, suffix[thousands]);
}

static void add_tick(struct ticks *t, double value, double step, double shorten_from)
{
    if (t->count == MAX_TICKS)
        return;
    t->value[t->count] = value;
    tick_label(t->label[t->count], value, step, shorten_from);
    t->count++;
}

static void log_ticks(struct ticks *t, double low, double high, int wanted)
{
    static const double in_decade[] = {1, 2, 5};
    double decades = log10(high / low), every = ceil(decades / wanted);
    int parts = decades <= 2 ? 3 : 1;
    for (double k = floor(log10(low)); k <= log10(high) + 1e-9; k += fmax(1, every))
        for (int i = 0; i < parts; i++) {
            double value = in_decade[i] * pow(10, k);
            if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9))
                add_tick(t, value, value, 999.5);
        }
}

void axis_ticks(struct ticks *t, double low, double high, bool log, int wanted)
{
    t->count = 0;
    if (log) {
        log_ticks(t, low, high, wanted);
        return;
    }
    double step = round_step(high - low, wanted);
    for (double k = ceil(low / step - 1e-6); k * step <= high + step * 1e-6; k++)
        add_tick(t, k * step, step, 10000);
}

static void own_ticks(struct ticks *t, const struct figure_axis *axis)
{
    t->count = axis->ticks < MAX_TICKS ? axis->ticks : MAX_TICKS;
    for (int i = 0; i < t->count; i++) {
        t->value[i] = axis->tick[i];
        if (axis->tick_label) {
            char *cut = NULL;
            if (text_clip(&cut, axis->tick_label[i], 11) == CONSM_OK)
                snprintf(t->label[i], sizeof t->label[i], "%s", cut);
            mem_free(cut);
        } else {
            number_print(t->label[i], sizeof t->label[i], "%.4g", axis->tick[i]);
        }
    }
}

static void fit_range(struct scale *s, const struct figure_axis *axis, const double range[2],
                      bool round_ends)
{
    s->low = range[0];
    s->high = range[1];
    if (!(s->low <= s->high)) { /* no data at all */
        s->low = s->log ? 1 : 0;
        s->high = s->log ? 10 : 1;
    }
    if (axis->from_zero && !s->log) {
        s->low = fmin(0, s->low);
        s->high = fmax(0, s->high);
    }
    if (s->log) {
        double pad = s->low == s->high ? 2 : pow(s->high / s->low, 0.03);
        s->low /= pad;
        s->high *= pad;
        return;
    }
    double pad = s->low == s->high ? fmax(fabs(s->low) * 0.05, 1e-9) : (s->high - s->low) * 0.03;
    pad = s->low == 0 && s->high == 0 ? 0.5 : pad;
    bool positive = s->low >= 0, negative = s->high <= 0; /* rounding must not cross zero */
    s->low = positive ? fmax(0, s->low - pad) : s->low - pad;
    s->high = negative && s->low < 0 ? fmin(0, s->high + pad) : s->high + pad;
    if (round_ends) {
        double step = round_step(s->high - s->low, 6);
        s->low = floor(s->low / step + 1e-6) * step;
        s->high = ceil(s->high / step - 1e-6) * step;
    }
    for (double whole = 1; positive && whole <= 100; whole *= 100) /* shares and percentages */
        if (range[1] <= whole && s->high > whole)
            s->high = whole;
}

void axis_fit(struct scale *scale, struct ticks *ticks, const struct figure_axis *axis,
              const double range[2], bool round_ends)
{
    scale->log = axis->log;
    if (axis->fixed && axis->low < axis->high && (!axis->log || axis->low > 0)) {
        scale->low = axis->low;
        scale->high = axis->high;
    } else {
        double all[2] = {range[0], range[1]};
        range_add(all, axis->tick, axis->ticks, axis->log);
        fit_range(scale, axis, all, round_ends);
    }
    if (axis->tick)
        own_ticks(ticks, axis);
    else
        axis_ticks(ticks, scale->low, scale->high, scale->log, 6);
}

/* ---- drawing ------------------------------------------------------------- */

void axis_draw_label(struct text *out, const struct figure_axis *axis, double x, double y,
                     bool upright)
{
    struct text words = {0};
    text_plain(&words, axis->label);
    if (axis->unit && *axis->unit) {
        text_add(&words, words.length ? " (" : "");
        text_plain(&words, axis->unit);
        text_add(&words, axis->label && *axis->label ? ")" : "");
    }
    if (upright)
        text_printf(out, "<g transform=\"rotate(-90 %.1f %.1f)\">", x, y);
    svg_text(out, "axis-label", x, y, "middle", text_string(&words), upright ? 36 : 60);
    text_add(out, upright ? "</g>\n" : "");
    if (words.status < 0)
        out->status = words.status;
    text_free(&words);
}

double axis_y_room(const struct ticks *ticks)
{
    double widest = 0;
    for (int i = 0; i < ticks->count; i++)
        widest = fmax(widest, svg_words_width(ticks->label[i], 12));
    return 14 + 18 + widest; /* margin and axis label, then gap and tick labels */
}

void axis_draw_x(const struct plot *p, const struct ticks *ticks, const struct figure_axis *axis)
{
    double taken = -INFINITY;
    for (int i = 0; i < ticks->count; i++) {
        double x = scale_at(&p->x, ticks->value[i]),
               half = svg_words_width(ticks->label[i], 12) / 2;
        if (!isfinite(x) || x < p->left - 0.5 || x > p->right + 0.5)
            continue;
        text_printf(p->out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", x, p->top, p->bottom);
        if (x - half < taken + 6)
            continue;
        taken = x + half;
        svg_text(p->out, "tick", x, p->bottom + 16, "middle", ticks->label[i], 12);
    }
    text_printf(p->out, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>\n", p->left, p->bottom,
                p->right);
    axis_draw_label(p->out, axis, (p->left + p->right) / 2, p->bottom + 35, false);
}

void axis_draw_y(const struct plot *p, const struct ticks *ticks, const struct figure_axis *axis)
{
    double taken = INFINITY;
    for (int i = 0; i < ticks->count; i++) {
        double y = scale_at(&p->y, ticks->value[i]);
        if (!isfinite(y) || y < p->top - 0.5 || y > p->bottom + 0.5)
            continue;
        text_printf(p->out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", p->left, y, p->right);
        if (y > taken - 13)
            continue;
        taken = y;
        svg_text(p->out, "tick", p->left - 6, y + 4, "end", ticks->label[i], 12);
    }
    text_printf(p->out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1f\"/>\n", p->left, p->top,
                p->bottom);
    axis_draw_label(p->out, axis, 16, (p->top + p->bottom) / 2, true);
}
