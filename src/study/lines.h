/* Lines over seeds: a figure against a parameter, with 95 % intervals. Shared by studies that vary
 * one thing. */
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

/* The figure of count lines; words without a spread get the usual one. */
consm_status lines_figure(struct figure **out, const struct line_chart *chart,
                          const struct study_line *line, int count);

/* Where the line is highest; -1 if it is empty. */
int64_t lines_top(const struct study_line *line);

#endif
