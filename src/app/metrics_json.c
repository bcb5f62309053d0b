/* The metrics of one role as JSON, for metrics.json and for model files, which also read it back.
 */
#include "app/model_json.h"

#include <math.h>

/* With more classes than this only classes that occur are written, and only non-zero entries of the
 * confusion matrix: three dense matrices of 1,500 classes would not fit a file's header. */
enum { DENSE_CLASSES = 200 };

void figure_to_json(struct text *t, const char *name, double value)
{
    text_printf(t, ", \"%s\": ", name);
    text_json_number(t, value, JSON_DIGITS);
}

/* "top": [{"k": 10, …}] and "curve", four lists of equal length. Six digits are enough for a
 * figure. */
static void curve_to_json(struct text *t, const struct metrics_curve *c)
{
    enum { DRAWN = 6 };
    static const char *const name[] = {"threshold", "precision", "recall", "false_positive_rate"};
    text_add(t, ", \"top\": [");
    for (int64_t i = 0; i < c->tops; i++) {
        text_printf(t, "%s{\"k\": %lld", i ? ", " : "", (long long)c->top[i].k);
        figure_to_json(t, "precision", c->top[i].precision);
        figure_to_json(t, "recall", c->top[i].recall);
        text_add(t, "}");
    }
    text_add(t, "], \"curve\": {");
    for (int f = 0; f < 4; f++) {
        text_printf(t, "%s\"%s\": [", f ? ", " : "", name[f]);
        for (int64_t i = 0; i < c->points; i++) {
            const struct consm_curve_point *p = &c->point[i];
            const double value[] = {p->threshold, p->precision, p->recall, p->false_positive_rate};
            text_add(t, i ? ", " : "");
            text_json_number(t, value[f], DRAWN);
        }
        text_add(t, "]");
    }
    text_add(t, "}");
}

static void classes_to_json(struct text *t, const struct metrics *m,
                            const struct consm_model *model)
{
    const bool sparse = m->all.classes > DENSE_CLASSES;
    char buffer[24];
    int64_t written = 0;
    bool none = m->all.nodes == 0; /* nothing was measured: null, not 0 */
    text_add(t, ", \"classes\": [");
    for (int32_t k = 0; k < m->all.classes; k++) {
        const struct consm_class_metrics *of = &m->of[k];
        if (sparse && of->support == 0 && of->predicted == 0)
            continue;
        text_add(t, written++ ? ", {" : "{");
        if (sparse)
            text_printf(t, "\"class\": %d, ", k);
        text_add(t, "\"name\": ");
        text_json(t, consm_model_class(model, k, buffer));
        text_printf(t, ", \"support\": %lld, \"predicted\": %lld", (long long)of->support,
                    (long long)of->predicted);
        figure_to_json(t, "precision", none ? (double)NAN : of->precision);
        figure_to_json(t, "recall", none ? (double)NAN : of->recall);
        figure_to_json(t, "f1", none ? (double)NAN : of->f1);
        if (none) {
            text_add(t, ", \"roc_auc\": null, \"average_precision\": null}");
            continue;
        }
        figure_to_json(t, "roc_auc", of->roc_auc);
        figure_to_json(t, "average_precision", of->average_precision);
        if (m->curve)
            curve_to_json(t, &m->curve[k]);
        text_add(t, "}");
    }
    text_add(t, "]");
}

/* [true class, predicted class, nodes], … */
static void sparse_confusion(struct text *t, const struct metrics *m)
{
    for (int64_t i = 0; i < m->cells; i++)
        text_printf(t, "%s[%d, %d, %lld]", i ? ", " : "", m->cell[i].truth, m->cell[i].said,
                    (long long)m->cell[i].count);
}

static void dense_confusion(struct text *t, const struct metrics *m)
{
    int64_t at = 0;
    for (int32_t i = 0; i < m->all.classes; i++) {
        text_add(t, i ? ", [" : "[");
        for (int32_t j = 0; j < m->all.classes; j++) {
            bool here = at < m->cells && m->cell[at].truth == i && m->cell[at].said == j;
            text_printf(t, "%s%lld", j ? ", " : "", here ? (long long)m->cell[at].count : 0LL);
            at += here;
        }
        text_add(t, "]");
    }
}

void metrics_to_json(struct text *t, const struct consm_metrics *metrics,
                     const struct consm_model *model)
{
    const struct metrics *m = (const struct metrics *)metrics;
    text_printf(t, "{\"nodes\": %lld", (long long)m->all.nodes);
    figure_to_json(t, "accuracy", m->all.accuracy);
    figure_to_json(t, "macro_f1", m->all.macro_f1);
    figure_to_json(t, "balanced_accuracy", m->all.balanced_accuracy);
    figure_to_json(t, "roc_auc", m->all.roc_auc);
    figure_to_json(t, "nll", m->all.nll);
    figure_to_json(t, "ece", m->all.ece);
    figure_to_json(t, "average_precision", m->all.average_precision);
    if (m->all.foreign)
        text_printf(t, ", \"unknown_class_nodes\": %lld", (long long)m->all.foreign);
    classes_to_json(t, m, model);
    text_add(t, ", \"confusion\": [");
    if (m->all.classes > DENSE_CLASSES)
        sparse_confusion(t, m);
    else
        dense_confusion(t, m);
    text_add(t, "]}");
}

double figure_from_json(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

int64_t count_from_json(const json_t *object, const char *name)
{
    return (int64_t)json_integer_value(json_object_get(object, name));
}

/* ---- reading back -------------------------------------------------------- */

/* Older files have none; points beyond the limit are left out. */
static void curve_from_json(struct metrics_curve *c, const json_t *object)
{
    const json_t *top = json_object_get(object, "top"), *curve = json_object_get(object, "curve");
    const json_t *threshold = json_object_get(curve, "threshold");
    for (size_t i = 0; i < json_array_size(top) && i < METRICS_TOPS; i++) {
        const json_t *one = json_array_get(top, i);
        c->top[c->tops++] =
            (struct consm_top){count_from_json(one, "k"), figure_from_json(one, "precision"),
                               figure_from_json(one, "recall")};
    }
    for (size_t i = 0; i < json_array_size(threshold) && i < RANK_POINTS; i++)
        c->point[c->points++] = (struct consm_curve_point){
            json_number_value(json_array_get(threshold, i)),
            json_number_value(json_array_get(json_object_get(curve, "precision"), i)),
            json_number_value(json_array_get(json_object_get(curve, "recall"), i)),
            json_number_value(json_array_get(json_object_get(curve, "false_positive_rate"), i))};
}

/* Checks sizes first: the file's bytes bound the memory. */
static bool complete(const json_t *of, const json_t *confusion, int32_t classes)
{
    const bool sparse = classes > DENSE_CLASSES;
    bool fits = json_is_array(of) && json_is_array(confusion);
    const json_t *row;
    size_t r;
    if (!sparse)
        fits =
            json_array_size(of) == (size_t)classes && json_array_size(confusion) == (size_t)classes;
    json_array_foreach((json_t *)confusion, r, row)
    {
        fits = fits && json_array_size(row) == (sparse ? 3 : (size_t)classes);
    }
    return fits;
}

/* Adds a cell that is within the matrix. */
static consm_status add_cell(struct metrics *out, size_t *room, json_int_t truth, json_int_t said,
                             json_int_t count)
{
    consm_status st = CONSM_OK;
    if (count == 0)
        return CONSM_OK;
    if (truth < 0 || truth >= out->all.classes || said < 0 || said >= out->all.classes)
        return status_fail(CONSM_EFORMAT,
                           "metrics: true class %lld, predicted class %lld: expected 0 to %d",
                           (long long)truth, (long long)said, out->all.classes - 1);
    TRY(GROW(out->cell, out->cells, *room, 1));
    out->cell[out->cells++] = (struct confusion_cell){(int32_t)truth, (int32_t)said, count};
done:
    return st;
}

static consm_status confusion_from_json(struct metrics *out, const json_t *confusion)
{
    consm_status st = CONSM_OK;
    const bool sparse = out->all.classes > DENSE_CLASSES;
    size_t room = 0, i, k;
    json_t *row, *count;
    json_array_foreach((json_t *)confusion, i, row)
    {
        if (sparse)
            TRY(add_cell(out, &room, json_integer_value(json_array_get(row, 0)),
                         json_integer_value(json_array_get(row, 1)),
                         json_integer_value(json_array_get(row, 2))));
        json_array_foreach(row, k, count)
        {
            if (!sparse)
                TRY(add_cell(out, &room, (json_int_t)i, (json_int_t)k, json_integer_value(count)));
        }
    }
done:
    return st;
}

static consm_status class_from_json(struct metrics *out, const json_t *row, int64_t k)
{
    if (k < 0 || k >= out->all.classes)
        return status_fail(CONSM_EFORMAT, "metrics: class %lld: expected 0 to %d", (long long)k,
                           out->all.classes - 1);
    out->of[k] = (struct consm_class_metrics){.support = count_from_json(row, "support"),
                                              .predicted = count_from_json(row, "predicted"),
                                              .precision = figure_from_json(row, "precision"),
                                              .recall = figure_from_json(row, "recall"),
                                              .f1 = figure_from_json(row, "f1"),
                                              .roc_auc = figure_from_json(row, "roc_auc"),
                                              .average_precision =
                                                  figure_from_json(row, "average_precision")};
    if (out->curve)
        curve_from_json(&out->curve[k], row);
    return CONSM_OK;
}

consm_status metrics_from_json(struct metrics *out, const json_t *object, int32_t classes)
{
    consm_status st = CONSM_OK;
    const json_t *of = json_object_get(object, "classes");
    const json_t *confusion = json_object_get(object, "confusion");
    const bool sparse = classes > DENSE_CLASSES;
    *out = (struct metrics){0};
    if (!complete(of, confusion, classes))
        return status_fail(CONSM_EFORMAT, "metrics: expected values of %d classes", classes);
    out->all =
        (struct consm_metrics){.size = sizeof out->all,
                               .classes = classes,
                               .nodes = count_from_json(object, "nodes"),
                               .accuracy = figure_from_json(object, "accuracy"),
                               .macro_f1 = figure_from_json(object, "macro_f1"),
                               .balanced_accuracy = figure_from_json(object, "balanced_accuracy"),
                               .roc_auc = figure_from_json(object, "roc_auc"),
                               .nll = figure_from_json(object, "nll"),
                               .ece = figure_from_json(object, "ece"),
                               .average_precision = figure_from_json(object, "average_precision")};
    TRY(ZNEW(out->of, classes));
    for (int32_t k = 0; k < classes; k++)
        out->of[k].roc_auc = out->of[k].average_precision = NAN;
    if (classes <= METRICS_CURVES)
        TRY(ZNEW(out->curve, classes));
    for (size_t i = 0; i < json_array_size(of); i++) {
        const json_t *row = json_array_get(of, i);
        TRY(class_from_json(out, row, sparse ? count_from_json(row, "class") : (int64_t)i));
    }
    TRY(confusion_from_json(out, confusion));
done:
    if (st < 0)
        metrics_free(out);
    return st;
}
