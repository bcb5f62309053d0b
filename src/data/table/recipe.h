/*
 * How the columns of a table become features, learned from one table and kept with the model that
 * was trained on it, so that the next table is read with the same eyes:
 *
 *   number     as it is                                 feature "age"
 *   boolean    yes, true, y, t: 1; no, false, n, f: 0   feature "vip"
 *   date       days since 1970-01-01                    feature "joined"
 *   (numbers and dates that are large and near each other, as Unix times of a week, are counted
 *   from their mean, before they become floats:         feature "when-1700000000")
 *   category   one feature a value, 0 or 1              features "country=DE", "country=FR", …
 *
 * What is missing becomes the mean of its column (of a category: 0 in all its features), and a
 * feature "age is missing" says so where the learned table had such cells. Of a category's values
 * the RECIPE_VALUES most frequent have a feature; the others, and those that the learned table did
 * not have, are 0 in all of them. A column with more values than that and hardly one twice (names,
 * free text) is left out.
 *
 * The kind of a column shows in its cells. Where at least half of those that say something are
 * numbers, the others are faults, and the same holds for dates.
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
    double fill;    /* for what is missing */
    double shift;   /* taken off numbers and dates that are large and near each other */
    bool blanks;    /* a feature says where it is */
};

struct recipe {
    int64_t columns;
    struct recipe_column *column;
};

void recipe_free(struct recipe *r);

/* Features the recipe makes. */
int64_t recipe_features(const struct recipe *r);
/* Their names, as a list that frees with mem_free_texts. */
consm_status recipe_names(char ***out, const struct recipe *r);

/* Learns; what is wrong with the cells goes into faults, which speak of the file. Columns that are
 * left out, and values beyond the limit, are told by the log. O(cells). */
consm_status recipe_learn(struct recipe **out, const struct cells *c, struct faults *faults,
                          const char *file);

/* The same of a table whose rows are spread over processes, of which c has this one's: all call it,
 * and all learn what the whole table teaches. Faults are those of the rows here. */
consm_status recipe_learn_share(struct recipe **out, const struct cells *c, struct faults *faults,
                                const char *file, const struct partition *partition);

/* (rows, features) of a table, the caller's to free. The table must have the recipe's columns, in
 * any order; others are passed over. Values not seen in learning are told by the log. */
consm_status recipe_apply(float **out, const struct recipe *r, const struct cells *c,
                          struct faults *faults, const char *file);

consm_status recipe_copy(struct recipe **out, const struct recipe *r);

/* [{"name": "age", "kind": "number", "fill": 31.5, "blanks": true}, …]; NULL: no memory. */
json_t *recipe_to_json(const struct recipe *r);
consm_status recipe_from_json(struct recipe **out, const json_t *list);

/* "days since 1970-01-01" of 2026-11-16, 2026/11/16, 16.11.2026, 2026-11-16T04:30:00Z and the
 * like; false when the text is no date. */
bool recipe_day(double *out, const char *text, size_t length);

#endif
