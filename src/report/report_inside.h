/* Internals of a report, for its writers only. */
#ifndef REPORT_REPORT_INSIDE_H
#define REPORT_REPORT_INSIDE_H

#include "report/html.h"

enum item_kind { ITEM_SECTION, ITEM_TABLE, ITEM_FIGURE, ITEM_GRAPH };

/* One item in the body of the report; its kind decides which fields are set. */
struct report_item {
    enum item_kind kind;
    char *title, *text; /* section: title and intro; text: the paragraph; graph: name and JSON */
    struct table *table;
    struct figure *figure;
    bool columns; /* section: two in a row */
};

struct report_line {
    char *key, *value, *detail;
    bool yes;
};

struct report_lines {
    struct report_line *line;
    size_t count, capacity;
};

struct report {
    char *title;
    struct report_item *item;
    size_t items, items_capacity;
    struct report_lines about, facts, summary, claims, commands, hashes;
    consm_status status;
};

#endif
