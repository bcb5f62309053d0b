/* Figures as SVG: lines, bars, heat maps, points, reliability, and the neighbourhood of a node. The
 * same input gives the same bytes. Colours are safe for the colour-blind (Okabe and Ito's eight for
 * categories, viridis for ramps) and never the only difference: lines also differ in marker and
 * dash. A chart with error bars must say what they are, or it is refused. */

/*
 * A figure is drawn once and written in two forms: inline for the report, whose style sheet colours
 * it in light and dark, or standalone with that style inside and the caption below.
 */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "report/text.h"
#include "stats/stats.h"

struct figure {
    char *name; /* a slug: file name and id */
    char *title, *caption;
    int width, height;
    struct text body; /* the elements inside <svg> */
};

void figure_free(struct figure *f); /* NULL is fine */
consm_status figure_to_inline(struct text *out, const struct figure *f);
consm_status figure_to_svg(struct text *out, const struct figure *f);

/* The texts of all charts. spread says what error bars, bands or whiskers show, for example "95 %
 * confidence interval of the mean over 10 seeds". */
struct figure_words {
    const char *name, *title, *caption, *spread;
};

/* All zero: a linear axis that fits the data. */
struct figure_axis {
    const char *label, *unit; /* unit may be NULL */
    bool log, fixed, from_zero;
    double low, high;              /* when fixed */
    const double *tick;            /* (ticks) own positions instead of round ones, or NULL */
    const char *const *tick_label; /* (ticks) or NULL: the values */
    int ticks;
};

/* A line of numbers; low and high are NULL without error band. NaNs leave gaps. */
struct figure_series {
    const char *name;
    const double *x, *y, *low, *high; /* (n) */
    int64_t n;
    bool strong; /* drawn thicker: the figure's main subject */
    bool dashed; /* an oracle or a reference */
};

/* A labelled straight line across the plot: the true homophily, the automatic choice, chance. */
struct figure_rule {
    const char *label;
    double at;
    bool horizontal;
};

struct line_chart {
    struct figure_words words;
    struct figure_axis x, y;
    const struct figure_series *series;
    int series_count;
    const struct figure_rule *rule;
    int rules;
    bool wide; /* as wide as two */
};
consm_status figure_line(struct figure **out, const struct line_chart *chart);

/* Colours reserved for trust: no class and no series has them. */
enum figure_style { FIGURE_TRUSTED = 100, FIGURE_DISTRUSTED };

/* groups × series bars side by side; arrays are (groups, series); low, high, reference may be NULL.
 * A reference is a figure of others, drawn as a mark across the bar. */
struct bar_chart {
    struct figure_words words;
    struct figure_axis y;
    const char *group_label; /* of the x axis */
    const char *const *group, *const *series;
    int groups, series_count;
    const double *value, *low, *high, *reference;
    const char *reference_name; /* "the paper" */
    const int *style; /* (series_count) colours, or of enum figure_style; NULL: 0, 1, … */
};
consm_status figure_bar(struct figure **out, const struct bar_chart *chart);

/* rows × columns cells, row 0 at the bottom; NaN cells are crossed out. */
struct heat_map {
    struct figure_words words;
    struct figure_axis x, y; /* label and unit only */
    const char *const *column, *const *row;
    int columns, rows;
    const double *value; /* (rows, columns) */
    const char *value_label, *value_unit;
    int decimals;
    bool fixed;
    double low, high; /* of the colours, if fixed */
};
consm_status figure_heat(struct figure **out, const struct heat_map *map);

/* Predicted probability against observed share per bin, with Wilson's 95 % intervals, the diagonal
 * of perfect calibration, and below it the number in each bin. */
struct reliability_chart {
    struct figure_words words; /* spread may be NULL, it is known */
    const char *x_label, *y_label;
    const char *const *series;
    const struct stats_reliability *bins; /* (series_count) */
    int series_count;
};
consm_status figure_reliability(struct figure **out, const struct reliability_chart *chart);

/* A graph with its facts, in plain arrays (CSR, both directions of an edge stored). */
struct graph_view {
    const char *name;
    int64_t nodes;
    const int64_t *start;          /* (nodes+1) */
    const int32_t *col;            /* (start[nodes]) */
    const float *score;            /* (start[nodes]) trust of each edge, or NULL: unknown */
    double threshold;              /* edges with at least this score are kept */
    const int32_t *label;          /* (nodes) true class or -1, or NULL */
    const int32_t *predicted;      /* (nodes) predicted class or -1, or NULL */
    const uint8_t *role;           /* (nodes) 0 none, 1 train, 2 validation, 3 test, or NULL */
    const char *const *node_name;  /* (nodes) or NULL: numbers */
    const char *const *class_name; /* (classes) or NULL: numbers */
    int32_t classes;
};

/* The node in the middle, its neighbours on a ring (the 24 farthest from the threshold: the
 * clearest ones, trusted and distrusted), theirs on an outer ring. Edge colour and dash show the
 * score, node colour the class. */
consm_status figure_neighbourhood(struct figure **out, const struct figure_words *words,
                                  const struct graph_view *graph, int64_t node);

/* The whole graph by a force layout: nodes by predicted class and edges by trust, or only one of
 * both. Of more than 5,000 nodes, evenly spaced ones are drawn. words (WHOLE_KINDS). */
enum whole_kind { WHOLE_BOTH, WHOLE_CLASSES, WHOLE_TRUST, WHOLE_KINDS };
consm_status figure_whole(struct figure *out[WHOLE_KINDS], const struct figure_words *words,
                          const struct graph_view *graph);

#endif
