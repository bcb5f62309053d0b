/* The report's section on what changed since the model that training began with (--from). */
#include "app/differences.h"
#include "app/report_parts.h"
#include "base/counted.h"

#include <stdio.h>

enum { LISTED = 15 };

static void add_flips(struct report *r, const struct report_input *in)
{
    const struct differences *c = in->changes;
    char buffer[24];
    if (c->flips == 0)
        return;
    struct table *t =
        report_new_table(r, "flips", "Nodes whose label changed, most confident first");
    table_column(t, "Node", TABLE_LEFT, NULL);
    for (int which = 0; which < 2; which++) {
        table_column(t, which ? "Label now" : "Label before", TABLE_LEFT, NULL);
        table_column(t, "Confidence", TABLE_RIGHT, NULL);
    }
    for (int64_t k = 0; k < c->flips && k < LISTED; k++) {
        int64_t i = c->flip[k].at;
        table_row(t);
        table_text(t, dataset_node_id(in->data, i, buffer));
        for (int which = 0; which < 2; which++) {
            table_text(t, differences_label(c, which, i, buffer));
            table_number(t, (double)c->said[which]->confidence[i], 3);
        }
    }
}

static void add_moves(struct report *r, const struct report_input *in)
{
    const struct differences *c = in->changes;
    char buffer[24];
    if (c->moves == 0)
        return;
    struct table *t =
        report_new_table(r, "moves", "Edges whose trust changed, largest difference first");
    table_column(t, "Source", TABLE_LEFT, NULL);
    table_column(t, "Target", TABLE_LEFT, NULL);
    table_column(t, "Trust before", TABLE_RIGHT, NULL);
    table_column(t, "Trust now", TABLE_RIGHT, NULL);
    for (int64_t k = 0; k < c->moves && k < LISTED; k++) {
        int64_t e = c->move[k].at;
        table_row(t);
        table_text(t, dataset_node_id(in->data, c->trust[0]->from[e], buffer));
        table_text(t, dataset_node_id(in->data, c->trust[0]->to[e], buffer));
        table_number(t, (double)c->trust[0]->score[e], 3);
        table_number(t, (double)c->trust[1]->score[e], 3);
    }
}

void report_add_changes(struct report *r, const struct report_input *in)
{
    const struct differences *c = in->changes;
    char text[400];
    if (!c)
        return;
    snprintf(text, sizeof text,
             "Compared with the model that training began with, %lld of %s have another label, and "
             "the trust of %lld of %s differs by %g or more.",
             (long long)c->flips, COUNTED(c->said[0]->nodes, "node"), (long long)c->moves,
             COUNTED(c->trust[0]->edges, "edge"), REPORT_MOVED);
    report_section(r, "Changes", text);
    add_flips(r, in);
    add_moves(r, in);
}
