/* Reads tables as text in one pass, a field at a time. Only fields with doubled quotes are copied.
 */
#include "io/csv.h"
#include "base/number.h"
#include "io/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The separator is the first of these that the first row has outside quotes: tab, semicolon (if
 * there are more of them than commas), comma, blank. */
static char find_delimiter(struct csv *c)
{
    bool tab = false, quoted = false;
    int64_t commas = 0, semicolons = 0;
    const char *at = c->at;
    while (at < c->end && (*at == '#' || *at == '%' || *at == '\n' || *at == '\r' || *at == ' ')) {
        bool comment = *at == '#' || *at == '%';
        const char *next = comment ? memchr(at, '\n', (size_t)(c->end - at)) : at;
        at = next ? next + 1 : c->end;
    }
    for (; at < c->end && (quoted || *at != '\n'); at++) {
        quoted ^= *at == '"';
        tab |= !quoted && *at == '\t';
        commas += !quoted && *at == ',';
        semicolons += !quoted && *at == ';';
    }
    return (char)(tab ? '\t' : semicolons > commas ? ';' : commas ? ',' : ' ');
}

void csv_start(struct csv *c, const struct text_file *file)
{
    const char *text = file->size ? file->data : "";
    *c = (struct csv){.name = file->name,
                      .at = text,
                      .end = text + file->size,
                      .kept = file->passing ? text : NULL};
    if (file->size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        c->at += 3;
    c->delimiter = find_delimiter(c);
}

void csv_free(struct csv *c)
{
    mem_free(c->field);
    mem_free(c->scratch);
    mem_free(c->heading);
    c->field = NULL;
    c->heading = NULL;
    c->scratch = NULL;
}

struct csv_place csv_tell(const struct csv *c)
{
    return (struct csv_place){c->at, c->position};
}

void csv_seek(struct csv *c, struct csv_place place)
{
    c->at = place.at;
    c->position = place.position;
}

static const char *skip_blanks(const struct csv *c, const char *at)
{
    while (at < c->end && (*at == ' ' || (*at == '\t' && c->delimiter != '\t')))
        at++;
    return at;
}

/* Releases the pages that were read, a piece at a time. */
static void forget(struct csv *c)
{
    enum { PIECE = 1 << 20 };
    if (!c->kept || c->at - c->kept < PIECE)
        return;
    file_forget(c->kept, c->at);
    c->kept = c->at;
}

/* Skips blank and comment lines; false at the end of the file. */
static bool find_row(struct csv *c)
{
    forget(c);
    while (c->at < c->end) {
        const char *at = skip_blanks(c, c->at);
        if (at == c->end)
            break;
        bool comment = *at == '#' || *at == '%';
        bool blank = *at == '\n' || (*at == '\r' && (at + 1 == c->end || at[1] == '\n'));
        if (!comment && (!blank || c->keep_blank))
            return true;
        const char *end = memchr(at, '\n', (size_t)(c->end - at));
        c->at = end ? end + 1 : c->end;
        c->position++;
    }
    return false;
}

static consm_status add_field(struct csv *c, const char *text, size_t length)
{
    if ((size_t)c->fields == c->capacity) {
        consm_status st = GROW(c->field, c->fields, c->capacity, 1);
        if (st < 0)
            return st;
    }
    if (c->fields == CSV_MAX_FIELDS)
        return status_fail(CONSM_ELIMIT, "%s: line %lld: found more than %d columns", c->name,
                           (long long)c->line, CSV_MAX_FIELDS);
    c->field[c->fields++] = (struct csv_field){text, length};
    return CONSM_OK;
}

/* Copies a field with doubled quotes into scratch. Earlier fields there move with it. */
static consm_status add_unescaped(struct csv *c, const char *text, size_t length)
{
    consm_status st = CONSM_OK;
    char *before = c->scratch;
    TRY(GROW(c->scratch, c->scratch_used, c->scratch_capacity, length));
    for (int i = 0; before != c->scratch && i < c->fields; i++) {
        const char *old = c->field[i].text;
        if (before && old >= before && old < before + c->scratch_used)
            c->field[i].text = c->scratch + (old - before);
    }
    char *out = c->scratch + c->scratch_used, *at = out;
    for (size_t i = 0; i < length; i++) {
        *at++ = text[i];
        i += text[i] == '"';
    }
    c->scratch_used += (size_t)(at - out);
    TRY(add_field(c, out, (size_t)(at - out)));
done:
    return st;
}

/* Texts become C strings, which a zero byte would end. */
static consm_status zero_byte(const struct csv *c)
{
    return status_fail(CONSM_EFORMAT, "%s: line %lld, column %d: found a zero byte, expected text",
                       c->name, (long long)c->line, c->fields + 1);
}

/* The field after the quote at c->at; leaves c->at after the closing quote. */
static consm_status quoted_field(struct csv *c)
{
    const char *begin = ++c->at;
    bool doubled = false;
    for (;; c->at++) {
        if (c->at == c->end && c->cut)
            return status_fail(CONSM_EFORMAT,
                               "%s: line %lld, column %d: found a line end inside quotes at the "
                               "boundary of two parts; read the file as a whole",
                               c->name, (long long)c->line, c->fields + 1);
        if (c->at == c->end)
            return status_fail(CONSM_EFORMAT,
                               "%s: line %lld, column %d: found the end of the file, expected a "
                               "closing quote",
                               c->name, (long long)c->line, c->fields + 1);
        if (*c->at == 0)
            return zero_byte(c);
        if (*c->at == '\n')
            c->position++;
        if (*c->at != '"')
            continue;
        if (c->at + 1 < c->end && c->at[1] == '"') {
            doubled = true;
            c->at++;
        } else {
            break;
        }
    }
    size_t length = (size_t)(c->at++ - begin);
    return doubled ? add_unescaped(c, begin, length) : add_field(c, begin, length);
}

/* At the end of a row: its line end is read. */
static bool at_row_end(struct csv *c)
{
    const char *at = c->at;
    if (at < c->end && *at == '\r' && (at + 1 == c->end || at[1] == '\n'))
        at++;
    if (at < c->end && *at != '\n')
        return false;
    c->position++;
    c->at = at < c->end ? at + 1 : at;
    return true;
}

/* An unquoted field, without the blanks around it. */
static consm_status plain_field(struct csv *c)
{
    const char *begin = c->at, *at = begin, *end;
    char delimiter = c->delimiter;
    if (delimiter == ' ')
        while (at < c->end && !is_blank(*at) && *at != '\n' && *at)
            at++;
    else
        while (at < c->end && *at != delimiter && *at != '\n' && *at)
            at++;
    if (at < c->end && *at == 0)
        return zero_byte(c);
    c->at = end = at;
    /* The CR of CR LF is not part of the field; at_row_end() sees it again. */
    if (end > begin && end[-1] == '\r' && (at == c->end || *at == '\n'))
        c->at = --end;
    while (end > begin && is_blank(end[-1]))
        end--;
    return add_field(c, begin, (size_t)(end - begin));
}

consm_status csv_row(bool *more, struct csv *c)
{
    consm_status st = CONSM_OK;
    c->fields = 0;
    c->scratch_used = 0;
    *more = find_row(c);
    c->line = c->position + 1;
    if (!*more)
        return CONSM_OK;
    for (;;) {
        c->at = skip_blanks(c, c->at);
        if (c->delimiter == ' ' && c->fields > 0 && at_row_end(c))
            break;
        if (c->at < c->end && *c->at == '"') {
            TRY(quoted_field(c));
            if (c->delimiter != ' ')
                c->at = skip_blanks(c, c->at);
        } else {
            TRY(plain_field(c));
        }
        if (at_row_end(c))
            break;
        if (c->delimiter == ' ' ? !is_blank(*c->at) : *c->at != c->delimiter)
            TRY(status_fail(CONSM_EFORMAT,
                            "%s: line %lld, column %d: found text after the closing quote, "
                            "expected the next column",
                            c->name, (long long)c->line, c->fields));
        c->at++;
    }
done:
    return st;
}

consm_status csv_pass(bool *more, struct csv *c)
{
    *more = find_row(c);
    if (!*more)
        return CONSM_OK;
    const char *end = memchr(c->at, '\n', (size_t)(c->end - c->at));
    end = end ? end : c->end;
    if (memchr(c->at, '"', (size_t)(end - c->at)))
        return csv_row(more, c);
    c->at = end < c->end ? end + 1 : end;
    c->line = ++c->position;
    return CONSM_OK;
}

consm_status csv_name_columns(struct csv *c)
{
    consm_status st = CONSM_OK;
    const char *scratch = c->scratch;
    mem_free(c->heading);
    TRY(NEW(c->heading, c->fields));
    c->headings = c->fields;
    for (int i = 0; i < c->fields; i++) {
        const char *text = c->field[i].text;
        /* Unescaped fields are gone with the row. */
        bool gone = scratch && text >= scratch && text < scratch + c->scratch_capacity;
        c->heading[i] = gone ? (struct csv_field){"", 0} : c->field[i];
    }
done:
    return st;
}

/* At most 9 digits without leading zero; reads at most 10 bytes. NULL for anything else. */
static const char *short_number(const char *at, uint32_t *out)
{
    uint32_t value = (uint32_t)(unsigned char)at[0] - '0', digit;
    int length = 1;
    if (value > 9)
        return NULL;
    for (; length < 10 && (digit = (uint32_t)(unsigned char)at[length] - '0') <= 9; length++)
        value = value * 10 + digit;
    *out = value;
    return length > 9 || (at[0] == '0' && length > 1) ? NULL : at + length;
}

bool csv_two_numbers(struct csv *c, uint32_t *a, uint32_t *b)
{
    const char *at = c->at;
    if (c->end - at < 32) /* two numbers, a separator and a line end are never longer */
        return false;
    at = short_number(at, a);
    if (!at || *at++ != c->delimiter)
        return false;
    at = short_number(at, b);
    if (!at)
        return false;
    at += *at == '\r';
    if (*at != '\n')
        return false;
    c->at = at + 1;
    c->line = ++c->position;
    return true;
}

/* Length of the first 40 characters of what was found, without cutting one. */
static int shown_length(const struct csv_field *f)
{
    size_t length = f->length;
    if (length > 40)
        for (length = 40; length > 36 && (f->text[length] & 0xc0) == 0x80;)
            length--;
    return (int)length;
}

consm_status csv_fail(const struct csv *c, int column, const char *expected, ...)
{
    char what[256], name[64] = "";
    va_list args;
    va_start(args, expected);
    number_vprint(what, sizeof what, expected, args);
    va_end(args);
    const struct csv_field *f = &c->field[column];
    const struct csv_field *h = c->heading && column < c->headings ? &c->heading[column] : NULL;
    if (h && h->length > 0)
        snprintf(name, sizeof name, " (%.*s)", shown_length(h), h->text);
    if (f->length == 0)
        return status_fail(CONSM_EFORMAT, "%s: line %lld, column %d%s: found nothing, expected %s",
                           c->name, (long long)c->line, column + 1, name, what);
    return status_fail(CONSM_EFORMAT, "%s: line %lld, column %d%s: found \"%.*s%s\", expected %s",
                       c->name, (long long)c->line, column + 1, name, shown_length(f), f->text,
                       f->length > 40 ? "…" : "", what);
}

consm_status csv_fail_columns(const struct csv *c, const char *expected, ...)
{
    char what[256];
    va_list args;
    va_start(args, expected);
    number_vprint(what, sizeof what, expected, args);
    va_end(args);
    return status_fail(CONSM_EFORMAT, "%s: line %lld: found %d column%s, expected %s", c->name,
                       (long long)c->line, c->fields, c->fields == 1 ? "" : "s", what);
}

consm_status csv_quote(char **buffer, size_t *used, size_t *capacity, const char *text)
{
    consm_status st = CONSM_OK;
    size_t length = strlen(text);
    bool quote = length == 0 || strpbrk(text, ",\t \"\r\n") || *text == '#' || *text == '%' ||
                 strncmp(text, "\xef\xbb\xbf", 3) == 0;
    TRY(GROW(*buffer, *used, *capacity, 2 * length + 3));
    char *out = *buffer + *used;
    if (quote)
        *out++ = '"';
    for (; *text; text++) {
        if (*text == '"')
            *out++ = '"';
        *out++ = *text;
    }
    if (quote)
        *out++ = '"';
    *out = 0;
    *used = (size_t)(out - *buffer);
done:
    return st;
}
