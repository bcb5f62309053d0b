/* Tables as text, row by row, over a mapped file. */

/*
 * The first row decides the separator: tab, semicolon, comma or runs of blanks. Fields may be
 * "quoted", with "" for a quote. Lines may end in CR LF. A byte order mark, blank lines and lines
 * that begin with # or % are skipped. Rows know their line, for messages.
 */
#ifndef IO_CSV_H
#define IO_CSV_H

#include "io/token.h"

struct csv_field {
    const char *text; /* not terminated */
    size_t length;
};

enum { CSV_MAX_FIELDS = 1 << 20 };

struct csv {
    const char *name; /* of the file, for messages */
    const char *at, *end;
    const char
        *kept; /* bytes after this are still needed, the ones before may be released; or NULL */
    bool cut;  /* the text continues after the end: someone else reads it */
    char delimiter;          /* ',', '\t' or ' ' for runs of blanks */
    bool keep_blank;         /* blank lines count as rows of one empty field */
    int64_t line;            /* line of the current row, from 1 */
    int64_t position;        /* lines before c->at */
    struct csv_field *field; /* (fields) of the current row */
    int fields;
    size_t capacity;
    struct csv_field *heading; /* (headings) the names of the columns, for messages; or NULL */
    int headings;
    char *scratch; /* unescaped fields of the current row */
    size_t scratch_used, scratch_capacity;
};

/* Prepares to read the first row. c needs csv_free, also after a failed row. */
void csv_start(struct csv *c, const struct text_file *file);
void csv_free(struct csv *c);

/* Reads the next row into c->field and c->fields; *more is false if there is none. */
consm_status csv_row(bool *more, struct csv *c);

/* Skips a row without parsing it, if it has no quotes: for rows that someone else reads. */
consm_status csv_pass(bool *more, struct csv *c);

/* Takes the current row as column names for messages. */
consm_status csv_name_columns(struct csv *c);

/* Reads a line that is only two plain numbers, as in most edge lists, and returns true; otherwise
 * leaves it to csv_row. Much faster than csv_row. */
bool csv_two_numbers(struct csv *c, uint32_t *a, uint32_t *b);

/* A position between two rows to return to. */
struct csv_place {
    const char *at;
    int64_t position;
};
struct csv_place csv_tell(const struct csv *c);
void csv_seek(struct csv *c, struct csv_place place);

/* "FILE: line 3, column 2 (age): found "x", expected WHAT"; column counts from 0. */
consm_status csv_fail(const struct csv *c, int column, const char *expected, ...)
    __attribute__((format(printf, 3, 4)));
/* "FILE: line 3: found 4 columns, expected WHAT" */
consm_status csv_fail_columns(const struct csv *c, const char *expected, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends the field to buffer, quoted if it would otherwise be read back differently. */
consm_status csv_quote(char **buffer, size_t *used, size_t *capacity, const char *text);

#endif
