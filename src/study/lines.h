/* Lines and bars over seeds, with 95 % intervals. A line is a figure against a parameter. */
#ifndef STUDY_LINES_H
#define STUDY_LINES_H

#include "study/study.h"

enum { LINES_MOST = 32 };

struct study_line {
    const char *name;
    int64_t n;
    double x[LINES_MOST], y[LINES_MOST], low[LINES_MOST], high[LINES_MOST];
    bool strong, dashed;
};

/* Adds a point: the cell's mean and interval, times scale; nothing if the cell has no runs. */
void lines_add(struct study_line *line, double x, const struct study_cell *cell, double scale);

/* Adds the figure of count lines; words without a spread get the usual one. */
void lines_figure(struct report *r, const struct line_chart *chart, const struct study_line *line,
                  int count);

/* Adds the chart with bars of these cells (groups, series_count), times scale; no interval leaves
 * 0 … most. */
consm_status bars_figure(struct report *r, const struct bar_chart *chart,
                         const struct study_cell *cell, double scale, double most);

/* Where the line is highest; -1 if it is empty. */
int64_t lines_top(const struct study_line *line);

#endif
