/*
 * Tables as text, row by row, over bytes that stay where they are (a mapped file). Tab, semicolon,
 * comma or runs of blanks separate the columns, whichever the first row uses; fields may be
 * "quoted", with "" for a quote; lines may end in CR LF; a byte order mark, blank lines and lines
 * that begin with # or % are passed over. Rows know their line, so that every complaint can name
 * it.
 */
#ifndef IO_CSV_H
#define IO_CSV_H

#include "io/token.h"

struct csv_field {
    const char *text; /* no end mark */
    size_t length;
};

enum { CSV_MAX_FIELDS = 1 << 20 };

struct csv {
    const char *name; /* of the file, for messages */
    const char *at, *end;
    const char *kept; /* of a file that need not stay: what is behind this still does; or NULL */
    bool cut;         /* the text goes on behind the end: somebody else reads it */
    char delimiter;   /* ',', '\t' or ' ' for runs of blanks */
    bool keep_blank;  /* blank lines count as rows of one empty field */
    int64_t line;     /* where the current row begins, from 1 */
    int64_t position; /* lines behind c->at */
    struct csv_field *field; /* (fields) of the current row */
    int fields;
    size_t capacity;
    struct csv_field *heading; /* (headings) the names of the columns, for messages; or NULL */
    int headings;
    char *scratch; /* unescaped fields of the current row */
    size_t scratch_used, scratch_capacity;
};

/* Ready to read the first row. c needs csv_free, also after a failed row. */
void csv_start(struct csv *c, const struct text_file *file);
void csv_free(struct csv *c);

/* The next row, into c->field and c->fields; *more is false when there was none. */
consm_status csv_row(bool *more, struct csv *c);

/* Moves over a row without looking into it, as far as there are no quotes in it: for rows that
 * somebody else reads. */
consm_status csv_pass(bool *more, struct csv *c);

/* The current row names the columns: messages say those names from now on. */
consm_status csv_name_columns(struct csv *c);

/* A line that is nothing but two plain numbers, as in most edge lists: true and read, or false and
 * still to be read by csv_row. Much faster than that. */
bool csv_two_numbers(struct csv *c, uint32_t *a, uint32_t *b);

/* A place between two rows to come back to. */
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

/* The field, quoted if it would otherwise be read back differently, written behind buffer's end. */
consm_status csv_quote(char **buffer, size_t *used, size_t *capacity, const char *text);

#endif
