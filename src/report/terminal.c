/* A report in a terminal: its tables, claims and summary, without figures. */
#include "report/report_inside.h"

#include <string.h>

/* Tables named NAME-details are only for files and the page. */
static bool is_detail(const struct table *t)
{
    static const char ending[] = "-details";
    size_t length = strlen(table_name(t)), tail = sizeof ending - 1;
    return length > tail && strcmp(table_name(t) + length - tail, ending) == 0;
}

static void add_lines(struct text *out, const struct report_lines *list, const char *head)
{
    if (list->count > 0)
        text_printf(out, "%s\n", head);
    for (size_t i = 0; i < list->count; i++) {
        text_add(out, "  ");
        text_plain(out, list->line[i].key);
        text_add(out, "\n");
    }
    if (list->count > 0)
        text_add(out, "\n");
}

static void add_claims(struct text *out, const struct report_lines *claims)
{
    if (claims->count > 0)
        text_add(out, "Claims of the paper\n");
    for (size_t i = 0; i < claims->count; i++) {
        text_add(out, claims->line[i].yes ? "  reproduced      " : "  NOT reproduced  ");
        text_plain(out, claims->line[i].key);
        text_add(out, "\n                  ");
        text_plain(out, claims->line[i].detail);
        text_add(out, "\n");
    }
    if (claims->count > 0)
        text_add(out, "\n");
}

consm_status report_to_terminal(struct text *out, const struct report *r, int width, bool bold)
{
    consm_status st = r->status;
    TRY(st);
    for (size_t i = 0; i < r->items; i++)
        if (r->item[i].table && !is_detail(r->item[i].table)) {
            TRY(table_to_terminal(out, r->item[i].table, width, bold));
            text_add(out, "\n");
        }
    add_claims(out, &r->claims);
    add_lines(out, &r->summary, "Summary");
    TRY(text_status(out));
done:
    return st;
}
