/* How the columns of a table become features. A recipe is learned from one table and stored with
 * the model, so that the next table is read the same way. */

/*
 *   number     as it is                                 feature "age"
 *   boolean    yes, true, y, t: 1; no, false, n, f: 0   feature "vip"
 *   date       days since 1970-01-01                    feature "joined"
 *   (large numbers and dates that are close to each other, like Unix times of a week, are counted
 *   from their mean before they become floats:          feature "when-1700000000")
 *   category   one feature per value, 0 or 1            features "country=DE", "country=FR", …
 *
 * A missing cell becomes the mean of its column (for a category: 0 in all its features); a feature
 * "age is missing" marks it if the learned table had such cells. The RECIPE_VALUES most frequent
 * values of a category have a feature; others, and values that the learned table lacks, are 0 in
 * all of them. A column with more values, hardly any of them twice (names, free text), is left out.
 *
 * The kind of a column is found from its cells. If at least half of the non-missing ones are
 * numbers, the others are faults; the same holds for dates.
 */
#ifndef DATA_TABLE_RECIPE_H
#define DATA_TABLE_RECIPE_H

#include <jansson.h>

#include "data/table/cells.h"
#include "graph/csr.h"
#include "io/faults.h"

enum { RECIPE_VALUES = 50 };

enum recipe_kind {
    RECIPE_NUMBER,
    RECIPE_BOOLEAN,
    RECIPE_DATE,
    RECIPE_CATEGORY,
    RECIPE_LEFT_OUT,
    RECIPE_KINDS
};
extern const char *const recipe_kind_name[RECIPE_KINDS];

struct recipe_column {
    char *name;
    enum recipe_kind kind;
    int32_t values; /* of a category */
    char **value;   /* (values), sorted by their bytes */
    double fill;    /* replaces missing cells */
    double shift;   /* subtracted from large numbers and dates that are close to each other */
    bool blanks;    /* a feature marks missing cells */
};

struct recipe {
    int64_t columns;
    struct recipe_column *column;
};

void recipe_free(struct recipe *r);

/* Features the recipe makes. */
int64_t recipe_features(const struct recipe *r);
/* Their names, as a list to free with mem_free_texts. */
consm_status recipe_names(char ***out, const struct recipe *r);

/* Learns a recipe. Faults of the cells go into faults, which name the file. Columns that are left
 * out, and values beyond the limit, are logged. O(cells). If processes divide the table's rows, c
 * has those of this one: all call it and learn the recipe of the whole table, with the faults of
 * the rows here; otherwise partition is NULL. */
consm_status recipe_learn(struct recipe **out, const struct cells *c, struct faults *faults,
                          const char *file, const struct partition *partition);

/* (rows, features) of a table; the caller frees it. The table must have the recipe's columns, in
 * any order; others are ignored. Unknown values are logged. */
consm_status recipe_apply(float **out, const struct recipe *r, const struct cells *c,
                          struct faults *faults, const char *file);

consm_status recipe_copy(struct recipe **out, const struct recipe *r);

/* [{"name": "age", "kind": "number", "fill": 31.5, "blanks": true}, …]; NULL: no memory. */
json_t *recipe_to_json(const struct recipe *r);
consm_status recipe_from_json(struct recipe **out, const json_t *list);

/* "days since 1970-01-01" of 2026-11-16, 2026/11/16, 16.11.2026, 2026-11-16T04:30:00Z and similar;
 * false if the text is not a date. */
bool recipe_day(double *out, const char *text, size_t length);

#endif
