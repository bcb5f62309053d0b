/* Builds lines from points, and figures from lines and cells. */
#include "study/lines.h"

#include <math.h>

static const char spread[] = "95 % confidence interval of the mean over the seeds (Student's t)";

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

void lines_figure(struct report *r, const struct line_chart *chart, const struct study_line *line,
                  int count)
{
    struct figure_series series[STUDY_MOST];
    struct line_chart full = *chart;
    for (int i = 0; i < count; i++)
        series[i] = (struct figure_series){line[i].name, line[i].x, line[i].y,      line[i].low,
                                           line[i].high, line[i].n, line[i].strong, line[i].dashed};
    if (!full.words.spread)
        full.words.spread = spread;
    full.series = series;
    full.series_count = count;
    report_lines(r, &full);
}

consm_status bars_figure(struct report *r, const struct bar_chart *chart,
                         const struct study_cell *cell, double scale, double most)
{
    consm_status st = CONSM_OK;
    struct bar_chart full = *chart;
    double *value = NULL, *low = NULL, *high = NULL;
    int count = chart->groups * chart->series_count;
    TRY(NEW(value, count));
    TRY(NEW(low, count));
    TRY(NEW(high, count));
    for (int i = 0; i < count; i++) {
        bool one = cell[i].n < 2; /* it has no interval */
        value[i] = scale * cell[i].mean;
        low[i] = one ? (double)NAN : scale * fmax(0, cell[i].interval.low);
        high[i] = one ? (double)NAN : scale * fmin(most, cell[i].interval.high);
    }
    full.words.spread = spread;
    full.value = value;
    full.low = low;
    full.high = high;
    report_bars(r, &full);
done:
    mem_free(value);
    mem_free(low);
    mem_free(high);
    return st;
}

int64_t lines_top(const struct study_line *line)
{
    int64_t best = -1;
    for (int64_t i = 0; i < line->n; i++)
        if (best < 0 || line->y[i] > line->y[best])
            best = i;
    return best;
}
