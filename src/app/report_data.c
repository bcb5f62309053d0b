/* The report's frame: date, data, settings and glossary. */
#include "app/report_parts.h"

#include "data/table/cells.h"
#include "data/table/recipe.h"
#include "io/token.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The date; SOURCE_DATE_EPOCH if set, so that a page can be reproduced byte for byte. */
void report_add_date(struct report *r)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm day;
    char text[32];
    if (gmtime_r(&now, &day) && strftime(text, sizeof text, "%Y-%m-%d", &day))
        report_about(r, "date", text);
}

/* ---- what was read ------------------------------------------------------- */

static void add_count(struct table *t, const char *what, int64_t count)
{
    table_row(t);
    table_text(t, what);
    table_number(t, (double)count, 0);
}

static void add_overview(struct report *r, const struct dataset *d)
{
    int64_t labelled = 0;
    for (int64_t i = 0; i < d->nodes; i++)
        labelled += d->label[i] >= 0;
    struct table *t = report_new_table(r, "overview", "The graph as it was read");
    table_column(t, "Item", TABLE_LEFT, NULL);
    table_column(t, "Count", TABLE_RIGHT, NULL);
    add_count(t, "nodes", d->nodes);
    add_count(t, d->weight ? "stored edges, with weights" : "stored edges", d->edges);
    add_count(t, "features", d->features);
    add_count(t, "nodes with a label", labelled);
    add_count(t, "nodes without a label", d->nodes - labelled);
    for (int32_t k = 0; k < d->classes && k < 20; k++) {
        char name[24], text[160];
        int64_t of = 0;
        for (int64_t i = 0; i < d->nodes; i++)
            of += d->label[i] == k;
        snprintf(text, sizeof text, "nodes of class %.120s", dataset_class_name(d, k, name));
        add_count(t, text, of);
    }
}

/* Missing cells of a column. In a column of texts "none" is a value. */
static int64_t missing_of(const struct cells *c, int32_t column, enum recipe_kind kind)
{
    int64_t missing = 0, odd = 0;
    for (size_t i = 0; i < c->odds; i++)
        if (c->odd[i].column == column) {
            const char *text = names_at(&c->text, c->odd[i].text);
            bool value = (kind == RECIPE_CATEGORY || kind == RECIPE_LEFT_OUT) &&
                         token_is_one_of(text, strlen(text), "none");
            missing += cells_missing(text, strlen(text)) && !value;
            odd++;
        }
    for (int64_t i = 0; i < c->rows; i++)
        missing += isnan(c->value[i * c->columns + column]);
    return missing - odd; /* odd cells are not numbers either */
}

/* How each column of a table became features, and how much of it was missing. */
static void add_columns(struct report *r, const struct dataset *d)
{
    enum { MOST = 60 };
    const struct recipe *recipe = d->recipe;
    if (!recipe || d->partition)
        return;
    struct table *t = report_new_table(r, "columns", "Columns of the table");
    table_column(t, "Column", TABLE_LEFT, NULL);
    table_column(t, "Read as", TABLE_LEFT, NULL);
    table_column(t, "Missing", TABLE_RIGHT, "cells without a value");
    for (int64_t i = 0; i < recipe->columns && i < MOST; i++) {
        const struct recipe_column *c = &recipe->column[i];
        int32_t at = -1;
        for (int32_t k = 0; d->cells && k < d->cells->columns; k++)
            if (strcmp(names_at(&d->cells->name, k), c->name) == 0)
                at = k;
        table_row(t);
        table_text(t, c->name);
        table_text(t, recipe_kind_name[c->kind]);
        table_number(t, at < 0 ? 0 : (double)missing_of(d->cells, at, c->kind), 0);
    }
}

void report_add_data(struct report *r, const struct dataset *d)
{
    report_section(r, "The data", NULL);
    report_in_columns(r);
    add_overview(r, d);
    add_columns(r, d);
}

/* ---- settings ------------------------------------------------------------ */

/* Whether a parameter belongs to every run, or to this model. */
bool report_reads(const struct consm_model *m, const struct config_row *row)
{
    size_t length = strlen(row->name);
    if (row - config_rows() < CONFIG_ROW_layers)
        return true;
    for (const char *at = m->def->knobs; (at = strstr(at, row->name)) != NULL; at += length)
        if ((at == m->def->knobs || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

void report_add_settings(struct report *r, const struct consm_model *m)
{
    struct config defaults;
    char buffer[32];
    model_defaults(m->def, &defaults);
    report_section(r, "Settings",
                   "The final settings: parameters set to auto show the value that was chosen.");
    report_in_columns(r);
    struct table *const t[2] = {
        report_new_table(r, "settings", "Differences from the model's defaults"),
        report_new_table(r, "settings-default", "Defaults of the model")};
    for (int k = 0; k < 2; k++) {
        table_column(t[k], "Parameter", TABLE_LEFT, NULL);
        table_column(t[k], "Value", TABLE_LEFT, NULL);
    }
    for (const struct config_row *row = config_rows(); row->name; row++) {
        char other[32];
        if (!report_reads(m, row))
            continue;
        const char *value = config_text(&m->config, row, buffer);
        int same = strcmp(value, config_text(&defaults, row, other)) == 0;
        table_row(t[same]);
        table_text(t[same], row->name);
        table_text(t[same], value);
    }
}

/* ---- words --------------------------------------------------------------- */

void report_add_glossary(struct report *r)
{
    static const char *const word[][2] = {
        {"accuracy", "share of nodes whose class is predicted correctly"},
        {"average precision",
         "area under the precision-recall curve of one class; chance: the share of the class"},
        {"mean average precision", "mean of the average precision over all classes"},
        {"balanced accuracy", "mean of the recall over all classes"},
        {"confidence", "probability of the predicted class"},
        {"ECE", "expected calibration error: difference between confidence and accuracy"},
        {"F1", "2 · precision · recall / (precision + recall)"},
        {"log-odds", "log(p / (1 - p)): 0 means probability 0.5, +0.69 doubles the odds"},
        {"macro-F1", "mean of F1 over all classes"},
        {"precision", "of the nodes predicted as a class, the share that has it"},
        {"recall", "of the nodes of a class, the share predicted as it"},
        {"ROC-AUC",
         "probability that a random node of the class scores higher than a random other node"},
        {"training, validation, test",
         "nodes to learn from; nodes for model selection; nodes evaluated once, at the end"},
        {"trust", "probability that both ends of an edge have the same class"},
    };
    report_section(r, "Glossary", NULL);
    struct table *t = report_new_table(r, "glossary", "Terms used in this report");
    table_column(t, "Term", TABLE_LEFT, NULL);
    table_column(t, "Meaning", TABLE_PROSE, NULL);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        table_row(t);
        table_text(t, word[i][0]);
        table_text(t, word[i][1]);
    }
}
