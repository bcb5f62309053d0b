/* A growing text. All foreign strings in a report go through it: every format has its own escaping
 * function, because names come from data files and may hold anything: markup, quotes, broken UTF-8,
 * terminal escape codes, 500 characters. */

/* Text for people goes through one decoder that replaces broken bytes, control characters and
 * direction overrides by U+FFFD. Text for programs, CSV and JSON, keeps every character. */

/* A memory failure is stored: later calls do nothing and text_status returns it. So writers need
 * only one check at the end. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "base/alloc.h"

struct text {
    char *data; /* (length) and a final NUL; NULL while empty */
    size_t length, capacity;
    consm_status status;
    bool safe_csv; /* text_csv puts ' before text that a spreadsheet would take for a formula */
};

void text_free(struct text *t);
consm_status text_status(const struct text *t);
const char *text_string(const struct text *t); /* "" while empty; valid until the next change */

/* Our own words, unescaped. */
void text_add(struct text *t, const char *words);
void text_add_bytes(struct text *t, const char *bytes, size_t count);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_repeat(struct text *t, const char *words, int64_t times);

/* Foreign words, escaped for their place. NULL counts as "". */
void text_plain(struct text *t, const char *s);    /* cleaned only; new lines become spaces */
void text_xml(struct text *t, const char *s);      /* HTML or XML, element text or "attribute" */
void text_csv(struct text *t, const char *s);      /* one field; RFC 4180 quotes where needed */
void text_markdown(struct text *t, const char *s); /* inline text, also inside a table cell */
void text_latex(struct text *t, const char *s);    /* inline text */
void text_json(struct text *t, const char *s);     /* a string with its quotes; safe in <script> */
void text_slug(struct text *t, const char *s);     /* a file name or id of a-z, 0-9 and '-' */

/* Numbers: `decimals` digits after the point, "–" for NaN; JSON's null if not finite. */
void text_number(struct text *t, double value, int decimals);
void text_json_number(struct text *t, double value, int digits);

/* The next character of a foreign string, cleaned as above; moves *s past it. 0 at the end. */
uint32_t text_decode(const char **s);
void text_code_point(struct text *t, uint32_t c);

/* Terminal columns: 0 for combining marks, 2 for East Asian wide characters. */
int text_columns(uint32_t c);
int64_t text_width(const char *s);

/* A copy of at most `columns` columns, with "…" for what was cut. Never NULL on success. */
consm_status text_clip(char **out, const char *s, int64_t columns);
/* The same, cut in the middle: names that begin alike often differ at their end. */
consm_status text_clip_middle(char **out, const char *s, int64_t columns);

/* Writes the whole text to a file, atomically. */
consm_status text_save(const struct text *t, const char *path);

#endif
