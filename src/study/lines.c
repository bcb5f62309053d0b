/* Builds lines from points, and figures from lines. */
#include "study/lines.h"

#include <math.h>

void lines_add(struct study_line *line, double x, const struct study_cell *cell, double scale)
{
    if (cell->n == 0 || line->n == LINES_MOST)
        return;
    line->x[line->n] = x;
    line->y[line->n] = scale * cell->mean;
    /* All these figures are shares, so an interval stays within 0 … 1. One run has no interval. */
    bool one = cell->n < 2;
    line->low[line->n] = one ? line->y[line->n] : scale * fmax(0, cell->interval.low);
    line->high[line->n] = one ? line->y[line->n] : scale * fmin(1, cell->interval.high);
    line->n++;
}

consm_status lines_figure(struct figure **out, const struct line_chart *chart,
                          const struct study_line *line, int count)
{
    struct figure_series series[STUDY_MOST];
    struct line_chart full = *chart;
    for (int i = 0; i < count; i++)
        series[i] = (struct figure_series){line[i].name, line[i].x, line[i].y,      line[i].low,
                                           line[i].high, line[i].n, line[i].strong, line[i].dashed};
    if (!full.words.spread)
        full.words.spread = "95 % confidence interval of the mean over the seeds (Student's t)";
    full.series = series;
    full.series_count = count;
    return figure_line(out, &full);
}

int64_t lines_top(const struct study_line *line)
{
    int64_t best = -1;
    for (int64_t i = 0; i < line->n; i++)
        if (best < 0 || line->y[i] > line->y[best])
            best = i;
    return best;
}
