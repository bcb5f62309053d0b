/* Bars of edge F1, and the calibration of ConSM's scores. */
#include "study/edges.h"
#include "study/lines.h"

#include <math.h>
#include <string.h>

enum { BINS = 10 };

consm_status edges_bars(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct judge row[EDGES_ROWS];
    struct study_cell *cell = NULL, by_chance; /* (datasets, rows) */
    int rows = edges_rows(row, o, false), count = rows * o->datasets;
    const char *series[EDGES_ROWS], *group[STUDY_MOST];
    char title[STUDY_MOST][96];
    double *chance = NULL; /* likewise */
    TRY(NEW(cell, count));
    TRY(NEW(chance, count));
    for (int i = 0; i < count; i++) {
        const char *dataset = o->dataset[i / rows];
        TRY(edges_cell(&cell[i], v, &row[i % rows], dataset, "f1"));
        TRY(edges_cell(&by_chance, v, &row[i % rows], dataset, "chance"));
        chance[i] = by_chance.mean;
    }
    for (int k = 0; k < rows; k++)
        series[k] = row[k].title;
    for (int s = 0; s < o->datasets; s++)
        group[s] = view_dataset_title(o->dataset[s], title[s]);
    struct bar_chart chart = {
        .words = {"edges-f1-bars", "Edge F1 of all methods",
                  "F1 of the top k edges, k = ⌊hE⌋, the number of edges within a class.", NULL},
        .y = {.label = "Edge F1", .from_zero = true},
        .group_label = "Dataset",
        .group = group,
        .series = series,
        .groups = o->datasets,
        .series_count = rows,
        .reference = chance,
        .reference_name = "chance"};
    TRY(bars_figure(r, &chart, cell, 1, 1));
done:
    mem_free(cell);
    mem_free(chance);
    return st;
}

/* Largest number of edges in a bin of one run, so that sums over all seeds stay exact. */
static const int64_t MOST_IN_BIN = INT64_C(1) << 40;

/* The bins of all seeds together. */
static consm_status pool_bins(struct stats_reliability *out, const struct study_view *v,
                              const struct judge *j, const char *dataset)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    const json_t *record;
    *out = (struct stats_reliability){.bins = BINS};
    TRY(options_run(&run, v->options, TASK_TRAIN, dataset, j->model));
    for (int64_t seed = 0; seed < v->options->seeds; seed++) {
        run.seed = (uint64_t)seed;
        TRY(view_record(&record, v, &run));
        const json_t *part = json_object_get(record, j->source);
        const json_t *count = json_object_get(part, "bin_count");
        for (size_t b = 0; b < BINS; b++) {
            int64_t n = json_integer_value(json_array_get(count, b));
            n = n < 0 ? 0 : n > MOST_IN_BIN ? MOST_IN_BIN : n; /* a record may come from anyone */
            const json_t *p = json_array_get(json_object_get(part, "bin_predicted"), b);
            const json_t *s = json_array_get(json_object_get(part, "bin_observed"), b);
            out->count[b] += n;
            out->predicted[b] += (double)n * json_number_value(p);
            out->observed[b] += (double)n * json_number_value(s);
        }
    }
    double all = 0;
    for (int b = 0; b < BINS; b++)
        all += (double)out->count[b];
    for (int b = 0; b < BINS; b++) {
        double n = out->count[b] ? (double)out->count[b] : (double)NAN;
        out->predicted[b] /= n;
        out->observed[b] /= n;
        if (out->count[b])
            out->ece += n / all * fabs(out->observed[b] - out->predicted[b]);
    }
done:
    return st;
}

consm_status edges_reliability(struct report *r, const struct study_view *v, const char *dataset)
{
    consm_status st = CONSM_OK;
    struct judge row[EDGES_ROWS];
    struct stats_reliability *bins = NULL;
    const char *series[EDGES_ROWS];
    struct view_words name, head;
    char title[96];
    int rows = edges_rows(row, v->options, true), shown = 0;
    TRY(ZNEW(bins, rows));
    for (int k = 0; k < rows; k++)
        if (strcmp(row[k].model->name, "consm") == 0) { /* three lines are readable, six are not */
            series[shown] = row[k].source;
            TRY(pool_bins(&bins[shown++], v, &row[k], dataset));
        }
    view_printf(&name, "calibration-%s", dataset);
    view_printf(&head, "%s: calibration of ConSM's edge scores",
                view_dataset_title(dataset, title));
    struct reliability_chart chart = {.words = {name.text, head.text,
                                                "Edges with at least one test node, all seeds "
                                                "together; calibrated on validation edges.",
                                                NULL},
                                      .x_label = "Predicted probability of the same class",
                                      .y_label = "Observed share",
                                      .series = series,
                                      .bins = bins,
                                      .series_count = shown};
    if (shown > 0) {
        report_reliability(r, &chart);
    }
done:
    mem_free(bins);
    return st;
}
