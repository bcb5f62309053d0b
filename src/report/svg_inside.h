/* Shared by the chart files: a plot area with scales, ticks, legend and marks. */
#ifndef REPORT_SVG_INSIDE_H
#define REPORT_SVG_INSIDE_H

#include "report/svg.h"

enum {
    FIGURE_WIDTH = 560, /* two fit side by side on a page, one on a phone held sideways */
    FIGURE_HEIGHT = 360,
    FIGURE_COLOURS = 8
};

/* From values to pixels. */
struct scale {
    double low, high; /* values */
    double from, to;  /* pixels */
    bool log;
};
double scale_at(const struct scale *s, double value);

enum { MAX_TICKS = 40 };
struct ticks {
    int count;
    double value[MAX_TICKS];
    char label[MAX_TICKS][48];
};

/* The plot area inside the axes, in pixels, and its scales. */
struct plot {
    struct text *out;
    struct scale x, y;
    double left, right, top, bottom;
};

/* Starts a figure and draws its title; *y is the first free pixel below. Errors without a
 * description are refused here. */
consm_status figure_begin(struct figure **out, double *y, const struct figure_words *words,
                          bool has_errors, const char *kind, int width, int height);

/* The smallest and largest finite value; unchanged if there is none. */
void range_add(double range[2], const double *value, int64_t n, bool log);
extern const double range_empty[2];

/* Fits a scale to the range (round ends unless fixed) and finds its ticks. */
void axis_fit(struct scale *scale, struct ticks *ticks, const struct figure_axis *axis,
              const double range[2], bool round_ends);
void axis_ticks(struct ticks *ticks, double low, double high, bool log, int wanted);

/* Frame, grid, tick labels and axis labels. The y labels need y_room pixels to the left. */
void axis_draw_x(const struct plot *p, const struct ticks *ticks, const struct figure_axis *axis);
void axis_draw_y(const struct plot *p, const struct ticks *ticks, const struct figure_axis *axis);
double axis_y_room(const struct ticks *ticks); /* for labels, tick marks and the axis label */
void axis_draw_label(struct text *out, const struct figure_axis *axis, double x, double y,
                     bool upright);

/* The usual position of a plot in a figure that wide: below `top`, beside the labels of the y axis.
 */
void plot_place(struct plot *p, const struct ticks *y_ticks, int width, double top);

/* Clips the data to the plot, with room for a marker's radius. */
void plot_open(const struct plot *p);
void plot_close(const struct plot *p);
void plot_empty(const struct plot *p); /* says "no data" */

/* Rows of entries from `left` to `right`; returns the first free pixel below. No legend for a
 * single unnamed entry. */
enum legend_kind { LEGEND_LINE, LEGEND_BOX, LEGEND_POINT, LEGEND_REFERENCE, LEGEND_DASH };
struct legend_entry {
    const char *name;
    int style; /* which colour and marker; -1 for ink */
    enum legend_kind kind;
};
double legend_draw(struct text *out, const struct legend_entry *entry, int count, double left,
                   double right, double top);

/* Pieces of elements. */
/* Words centred at x, shortened in their middle. */
void svg_text_ends(struct text *out, const char *class, double x, double y, const char *words,
                   int64_t columns);
void svg_text(struct text *out, const char *class, double x, double y, const char *anchor,
              const char *words, int64_t columns); /* cut to columns, whole in a tooltip */
void svg_marker(struct text *out, int style, double x, double y, double radius);
void svg_style(struct text *out, int style, const char *more); /* class="s3 alt MORE" */
void svg_value(struct text *out, double value);                /* four digits, for tooltips */

/* Estimated width of words in pixels at the given font size, for the usual fonts. */
double svg_words_width(const char *words, double size);

/* 0 … 1, widened to scores outside; NaNs do not count. */
void graph_score_range(double *low, double *high, const struct graph_view *g);

/* Colours as 0xRRGGBB. viridis for 0…1; trust from brown over grey (0.5) to violet. */
uint32_t colour_viridis(double at);
uint32_t colour_trust(double at);
bool colour_is_dark(uint32_t rgb); /* white ink reads better on it */

#endif
