/* A table as aligned text for a terminal: columns are measured in display width; tables that are
 * too wide are first shortened, then broken into blocks. */
#include <string.h>

#include "report/table_inside.h"

enum { GAP = 2, SHORTEST = 12 };

struct layout {
    int64_t *body;  /* (columns) display width of the cells */
    int64_t *signs; /* (columns) room for marks and footnote numbers after them */
    int64_t *width; /* (columns) body + signs, at least the head's */
    int64_t *least; /* (columns) the smallest body: numbers are never cut */
};

/* The marks and footnote number of a cell, in the fixed order of the legend. */
static void add_signs(struct text *out, const struct table_cell *cell)
{
    for (const struct table_sign *s = table_signs; s->mark; s++)
        if (cell->marks & s->mark)
            text_add(out, s->sign);
    if (cell->note >= 0)
        text_printf(out, "(%d)", cell->note + 1);
}

static int64_t shown_width(const struct table_cell *cell, int64_t limit, bool signs)
{
    struct text t = {0};
    if (signs)
        add_signs(&t, cell);
    else
        table_show(&t, cell, limit);
    int64_t width = text_width(text_string(&t));
    text_free(&t);
    return width;
}

static void measure(struct layout *l, const struct table *t)
{
    for (size_t c = 0; c < t->columns; c++) {
        l->body[c] = l->signs[c] = 0;
        for (int64_t r = 0; r < t->rows; r++) {
            int64_t body = shown_width(table_at(t, r, c), TABLE_NAME_COLUMNS, false);
            int64_t signs = shown_width(table_at(t, r, c), 0, true);
            l->body[c] = body > l->body[c] ? body : l->body[c];
            l->signs[c] = signs > l->signs[c] ? signs : l->signs[c];
        }
        bool words = t->column[c].align != TABLE_RIGHT && l->body[c] > SHORTEST;
        l->least[c] = words ? SHORTEST : l->body[c] > SHORTEST ? l->body[c] : SHORTEST;
        int64_t head = text_width(t->column[c].name);
        head = head > TABLE_NAME_COLUMNS ? TABLE_NAME_COLUMNS : head;
        if (l->body[c] + l->signs[c] < head)
            l->body[c] = head - l->signs[c];
        l->width[c] = l->body[c] + l->signs[c];
    }
}

/* Shortens columns, the widest first, until the table fits or nothing can shrink. */
static void shorten(struct layout *l, const struct table *t, int64_t limit)
{
    for (;;) {
        int64_t total = 0;
        size_t widest = t->columns;
        for (size_t c = 0; c < t->columns; c++) {
            total += l->width[c] + (c ? GAP : 0);
            bool gives = l->body[c] > l->least[c];
            if (gives && (widest == t->columns || l->body[c] > l->body[widest]))
                widest = c;
        }
        if (total <= limit || widest == t->columns)
            return;
        l->body[widest]--;
        l->width[widest]--;
    }
}

static void add_padded(struct text *out, const char *s, int64_t width, enum table_align align)
{
    int64_t space = width - text_width(s);
    if (align == TABLE_RIGHT)
        text_repeat(out, " ", space);
    text_add(out, s);
    if (align != TABLE_RIGHT)
        text_repeat(out, " ", space);
}

static void add_cell(struct text *out, const struct table *t, const struct layout *l, int64_t row,
                     size_t c, bool bold)
{
    struct text body = {0}, signs = {0};
    const struct table_cell *cell = table_at(t, row, c);
    table_show(&body, cell, l->body[c]);
    add_signs(&signs, cell);
    bool strong = bold && (cell->marks & TABLE_BEST);
    bool faint = bold && (cell->marks & TABLE_MUTED);
    text_add(out, strong ? "\033[1m" : faint ? "\033[2m" : "");
    add_padded(out, text_string(&body), l->body[c], t->column[c].align);
    text_add(out, strong || faint ? "\033[0m" : "");
    add_padded(out, text_string(&signs), l->signs[c], TABLE_LEFT);
    if (body.status < 0 || signs.status < 0)
        out->status = CONSM_ENOMEM;
    text_free(&body);
    text_free(&signs);
}

/* Ends a line and removes trailing padding. */
static void end_line(struct text *out)
{
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = 0;
    text_add(out, "\n");
}

/* Column 0 and columns [begin, end). row -1 is the header, -2 the rule below it. */
static void add_line(struct text *out, const struct table *t, const struct layout *l, int64_t row,
                     size_t begin, size_t end, bool bold)
{
    for (size_t c = 0; c < end; c = c == 0 && begin > 0 ? begin : c + 1) {
        if (c > 0)
            text_repeat(out, " ", GAP);
        if (row == -2) {
            text_repeat(out, "─", l->width[c]);
        } else if (row == -1) {
            char *head = NULL;
            if (text_clip(&head, t->column[c].name, l->width[c]) < 0)
                out->status = CONSM_ENOMEM;
            else
                add_padded(out, head, l->width[c], t->column[c].align);
            mem_free(head);
        } else {
            add_cell(out, t, l, row, c, bold);
        }
    }
    end_line(out);
}

static void add_blocks(struct text *out, const struct table *t, const struct layout *l,
                       int64_t limit, bool bold)
{
    for (size_t begin = 0, end; begin < t->columns; begin = end) {
        int64_t used = l->width[0];
        for (end = begin ? begin : 1; end < t->columns; end++) {
            int64_t more = GAP + l->width[end];
            bool first = end == begin || (begin == 0 && end == 1);
            if (limit > 0 && used + more > limit && !first)
                break;
            used += more;
        }
        if (begin > 0)
            text_add(out, "\n");
        for (int64_t row = -1; row > -3; row--)
            add_line(out, t, l, row, begin, end, bold);
        for (int64_t row = 0; row < t->rows; row++)
            add_line(out, t, l, row, begin, end, bold);
    }
}

/* Words broken into lines of the terminal's width. */
static void add_paragraph(struct text *out, const char *s, int64_t limit)
{
    int64_t used = 0;
    while (*s) {
        size_t length = strcspn(s, " ");
        char *word = mem_strndup(s, length);
        if (!word) {
            out->status = CONSM_ENOMEM;
            return;
        }
        int64_t width = text_width(word);
        if (used > 0 && limit > 0 && used + 1 + width > limit) {
            text_add(out, "\n");
            used = 0;
        } else if (used > 0) {
            text_add(out, " ");
            used++;
        }
        text_plain(out, word);
        used += width;
        mem_free(word);
        s += length;
        s += strspn(s, " ");
    }
    text_add(out, "\n");
}

static void add_legend(struct text *out, const struct table *t, int64_t limit)
{
    struct text line = {0};
    for (const struct table_sign *s = table_signs; s->mark; s++)
        if (t->marks & s->mark)
            text_printf(&line, "%s%s %s", line.length ? "; " : "", s->sign, s->meaning);
    if (line.length)
        add_paragraph(out, text_string(&line), limit);
    for (size_t i = 0; i < t->notes; i++) {
        line.length = 0;
        text_printf(&line, "(%zu) %s", i + 1, t->note[i]);
        add_paragraph(out, text_string(&line), limit);
    }
    for (size_t i = 0; i < t->remarks; i++)
        add_paragraph(out, t->remark[i], limit);
    if (line.status < 0)
        out->status = line.status;
    text_free(&line);
}

consm_status table_to_terminal(struct text *out, const struct table *t, int width, bool bold)
{
    consm_status st = CONSM_OK;
    struct layout l = {0};
    TRY(t->status);
    TRY(NEW(l.body, t->columns));
    TRY(NEW(l.signs, t->columns));
    TRY(NEW(l.width, t->columns));
    TRY(NEW(l.least, t->columns));
    measure(&l, t);
    if (width > 0)
        shorten(&l, t, width);
    if (*t->caption) {
        add_paragraph(out, t->caption, width);
        text_add(out, "\n");
    }
    add_blocks(out, t, &l, width, bold);
    if (t->rows == 0)
        text_add(out, "(no rows)\n");
    add_legend(out, t, width);
    TRY(text_status(out));
done:
    mem_free(l.body);
    mem_free(l.signs);
    mem_free(l.width);
    mem_free(l.least);
    return st;
}
