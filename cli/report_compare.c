/* Compares two runs: their metrics for the same role, on the same data or not. */
#include "report_compare.h"
#include "base/number.h"

#include "app/report.h"
#include "base/alloc.h"
#include "io/file.h"
#include "models/config.h"
#include "report/html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct pair {
    struct consm_model *model[2];
    struct consm_model_info info[2];
    const char *name[2]; /* as they were typed */
};

/* A folder's model, or the file itself. */
static consm_status open_model(struct consm_model **out, const char *path)
{
    consm_status st = CONSM_OK;
    char *file = NULL;
    if (file_kind(path) != FILE_FOLDER)
        return consm_model_load(out, path);
    TRY(file_join(&file, path, "model.safetensors"));
    TRY(consm_model_load(out, file));
done:
    mem_free(file);
    return st;
}

static struct table *new_table(struct report *r, const struct pair *p, const char *name,
                               const char *caption, const char *first)
{
    struct table *t = report_new_table(r, name, caption);
    table_column(t, first, TABLE_LEFT, NULL);
    for (int i = 0; i < 2; i++)
        table_column(t, p->name[i], TABLE_RIGHT, NULL);
    return t;
}

static void add_figure(struct table *t, const char *what, const double value[2], int decimals)
{
    double change = value[1] - value[0];
    table_row(t);
    table_text(t, what);
    for (int i = 0; i < 2; i++) {
        if (isnan(value[i]))
            table_text(t, "unknown");
        else
            table_number(t, value[i], decimals);
    }
    if (isnan(change))
        table_empty(t);
    else
        table_number(t, change, decimals);
}

/* The role that both have: test, else validation. */
static enum consm_role role_of(const struct pair *p)
{
    bool test = consm_model_metrics(p->model[0], CONSM_TEST)->nodes > 0 &&
                consm_model_metrics(p->model[1], CONSM_TEST)->nodes > 0;
    return test ? CONSM_TEST : CONSM_VALIDATION;
}

static void add_figures(struct report *r, const struct pair *p)
{
    const struct consm_metrics *x = consm_model_metrics(p->model[0], role_of(p)),
                               *y = consm_model_metrics(p->model[1], role_of(p));
    struct table *t = new_table(
        r, p, "figures",
        role_of(p) == CONSM_TEST
            ? "On the test nodes"
            : "On the validation nodes; optimistic: they were also used for model selection",
        "Metric");
    table_column(t, "Difference", TABLE_RIGHT, "second minus first");
    add_figure(t, "nodes", (double[]){(double)x->nodes, (double)y->nodes}, 0);
    add_figure(t, "accuracy", (double[]){x->accuracy, y->accuracy}, 4);
    add_figure(t, "macro-F1", (double[]){x->macro_f1, y->macro_f1}, 4);
    add_figure(t, "balanced accuracy", (double[]){x->balanced_accuracy, y->balanced_accuracy}, 4);
    add_figure(t, "ROC-AUC", (double[]){x->roc_auc, y->roc_auc}, 4);
    add_figure(t, "mean average precision", (double[]){x->average_precision, y->average_precision},
               4);
    add_figure(t, "expected calibration error", (double[]){x->ece, y->ece}, 4);
}

/* F1 of the classes that both have, by name. */
static void add_classes(struct report *r, const struct pair *p)
{
    char a[24], b[24];
    struct table *t = new_table(r, p, "classes", "F1 per class", "Class");
    table_column(t, "Difference", TABLE_RIGHT, "second minus first");
    for (int32_t i = 0; i < p->info[0].classes; i++)
        for (int32_t k = 0; k < p->info[1].classes; k++) {
            const char *name = consm_model_class(p->model[0], i, a);
            if (strcmp(name, consm_model_class(p->model[1], k, b)) != 0)
                continue;
            const struct consm_class_metrics *x = consm_metrics_class(
                                                 consm_model_metrics(p->model[0], role_of(p)), i),
                                             *y = consm_metrics_class(
                                                 consm_model_metrics(p->model[1], role_of(p)), k);
            add_figure(
                t, name,
                (double[]){x->support ? x->f1 : (double)NAN, y->support ? y->f1 : (double)NAN}, 4);
        }
}

static void add_words(struct table *t, const char *what, const char *x, const char *y)
{
    if (strcmp(x, y) == 0)
        return;
    table_row(t);
    table_text(t, what);
    table_text(t, x);
    table_text(t, y);
}

/* A parameter's value; "" if the model does not read it. */
static const char *value_of(const struct consm_model *m, const struct config_row *row,
                            char buffer[32])
{
    return report_reads(m, row) ? consm_model_parameter(m, row->name, buffer) : "";
}

static void add_settings(struct report *r, const struct pair *p)
{
    const struct consm_model_info *x = &p->info[0], *y = &p->info[1];
    char a[32], b[32];
    struct table *t = new_table(r, p, "differences", "Settings that differ", "Setting");
    add_words(t, "model", x->model, y->model);
    add_words(t, "backbone", x->backbone, y->backbone);
    add_words(t, "data", x->dataset, y->dataset);
    add_words(t, "SHA-256 of the data", x->data_sha256, y->data_sha256);
    add_words(t, "split", x->split, y->split);
    snprintf(a, sizeof a, "%llu", (unsigned long long)x->seed);
    snprintf(b, sizeof b, "%llu", (unsigned long long)y->seed);
    add_words(t, "seed", a, b);
    for (const struct config_row *row = config_rows(); row->name; row++)
        if (row - config_rows() != CONFIG_ROW_backbone) /* it is shown above */
            add_words(t, row->name, value_of(p->model[0], row, a), value_of(p->model[1], row, b));
}

/* If both were selected by ranking, accuracy says little: a model that never predicts the rare
 * class may have the higher one. */
static void sum_up_ranking(struct report *r, const struct pair *p, const struct consm_metrics *x,
                           const struct consm_metrics *y)
{
    const char *metric = p->info[0].metric;
    bool area = strcmp(metric, "roc-auc") == 0;
    double a = area ? x->roc_auc : x->average_precision,
           b = area ? y->roc_auc : y->average_precision;
    char words[400];
    if (strcmp(metric, p->info[1].metric) != 0 ||
        (!area && strcmp(metric, "average-precision") != 0) || !(a < b || b < a))
        return;
    number_print(words, sizeof words, "%.100s has the higher %s: %.4f, the other %.4f.",
                 p->name[a < b], area ? "ROC-AUC" : "mean average precision", a < b ? b : a,
                 a < b ? a : b);
    report_summary(r, words);
}

/* The first sentences: which is better, by how much, and whether so few nodes can tell. */
static void sum_up(struct report *r, const struct pair *p)
{
    const struct consm_metrics *x = consm_model_metrics(p->model[0], role_of(p)),
                               *y = consm_model_metrics(p->model[1], role_of(p));
    char words[400];
    if (!x || !y || x->nodes == 0 || y->nodes == 0)
        return;
    sum_up_ranking(r, p, x, y);
    double a = x->accuracy, b = y->accuracy, points = 100 * fabs(a - b);
    double error = sqrt(a * (1 - a) / (double)x->nodes + b * (1 - b) / (double)y->nodes);
    if (points == 0)
        number_print(words, sizeof words, "Both models have an accuracy of %.2f %%.", 100 * a);
    else if (fabs(a - b) < 1.96 * error)
        number_print(words, sizeof words,
                     "Accuracy differs by %.2f points. This is not significant with so few nodes: "
                     "by chance alone, 95 %% of differences are below %.2f points.",
                     points, 196 * error);
    else
        number_print(words, sizeof words, "%.100s has the higher accuracy, by %.2f points.",
                     p->name[a < b], points);
    report_summary(r, words);
}

static consm_status compare(const struct args *args, struct pair *p)
{
    consm_status st = CONSM_OK;
    struct report *r = NULL;
    struct text text = {0};
    char title[300];
    for (int i = 0; i < 2; i++) {
        p->name[i] = args->item[i];
        p->info[i].size = sizeof p->info[i];
        TRY(open_model(&p->model[i], args->item[i]));
        TRY(consm_model_info(&p->info[i], p->model[i]));
    }
    snprintf(title, sizeof title, "%.130s and %.130s", p->name[0], p->name[1]);
    TRY(report_new(&r, title));
    if (strcmp(p->info[0].data_sha256, p->info[1].data_sha256) != 0 ||
        strcmp(p->info[0].dataset, p->info[1].dataset) != 0 ||
        strcmp(p->info[0].split, p->info[1].split) != 0)
        report_summary(r, "The models were evaluated on different data or splits, so the "
                          "difference is not only due to the models.");
    sum_up(r, p);
    report_section(r, "Two models", NULL);
    report_in_columns(r);
    add_figures(r, p);
    add_classes(r, p);
    add_settings(r, p);
    TRY(report_to_terminal(&text, r, 0, false));
    fputs(text_string(&text), stdout);
    if (args_has(args, "output"))
        TRY(report_write_html(r, args_get(args, "output")));
done:
    text_free(&text);
    report_free(r);
    return st;
}

int report_compare(const struct args *args)
{
    struct pair p = {0};
    consm_status st = compare(args, &p);
    consm_model_free(p.model[0]);
    consm_model_free(p.model[1]);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}
