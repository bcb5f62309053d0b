/* Reads SVM-light token by token; a row's pairs are sorted if the file's are not. */
#include "data/readers/svmlight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/partition.h"

struct pair {
    int32_t index;
    float value;
};

struct svm_reader {
    const struct text_file *file;
    const char *at, *end;
    int64_t line, rows, features; /* features as declared, or -1 */
    int64_t first, largest;       /* first index as declared, or -1; largest index met */
    bool zero;                    /* an index 0 was met */
    struct pair *pair;            /* of rows low … high-1 */
    size_t used, capacity, kept;  /* kept: those before the current row */
    int64_t low, high, total;     /* total: pairs of all rows so far */
    int64_t *start;               /* (rows+1) */
    size_t start_capacity;
};

static consm_status bad_token(const struct svm_reader *r, const char *begin, const char *text,
                              size_t length, const char *expected)
{
    return status_fail(CONSM_EFORMAT, "%s: line %lld, character %lld: found \"%.*s\", expected %s",
                       r->file->name, (long long)r->line, (long long)(text - begin) + 1,
                       (int)(length < 40 ? length : 40), text, expected);
}

/* "# features: F, first index: I" */
static void read_declaration(struct svm_reader *r, const char *text, size_t length)
{
    char line[96];
    long long features, first;
    if (length >= sizeof line)
        return;
    memcpy(line, text, length);
    line[length] = 0;
    if (sscanf(line, "# features: %18lld, first index: %1lld", &features, &first) == 2 &&
        features >= 0 && (first == 0 || first == 1)) {
        r->features = features;
        r->first = first;
    }
}

static consm_status read_pair(struct svm_reader *r, const char *begin, const char *text,
                              size_t length, const char *colon)
{
    consm_status st = CONSM_OK;
    int64_t index;
    float value;
    size_t left = (size_t)(colon - text);
    if (left == 3 && memcmp(text, "qid", 3) == 0)
        return CONSM_OK;
    if (!token_int(&index, text, left) || index < 0 || index >= INT32_MAX)
        return bad_token(r, begin, text, length, "index:value with a whole number as index");
    if (!token_float(&value, colon + 1, length - left - 1))
        return bad_token(r, begin, text, length, "index:value with a finite number as value");
    TRY(GROW(r->pair, r->used, r->capacity, 1));
    r->pair[r->used++] = (struct pair){(int32_t)index, value};
    r->zero |= index == 0;
    if (index > r->largest)
        r->largest = index;
done:
    return st;
}

static int by_index(const void *a, const void *b)
{
    int32_t x = ((const struct pair *)a)->index, y = ((const struct pair *)b)->index;
    return (x > y) - (x < y);
}

/* Makes a row ascending and unique, as a matrix requires. */
static consm_status settle_row(struct svm_reader *r)
{
    consm_status st = CONSM_OK;
    struct pair *row = r->pair + r->kept;
    size_t length = r->used - r->kept;
    bool sorted = true;
    for (size_t k = 1; k < length; k++)
        sorted = sorted && row[k - 1].index <= row[k].index;
    if (!sorted)
        qsort(row, length, sizeof *row, by_index);
    for (size_t k = 1; k < length; k++)
        if (row[k - 1].index == row[k].index)
            return status_fail(CONSM_EFORMAT,
                               "%s: line %lld: found index %d twice: expected it once",
                               r->file->name, (long long)r->line, row[k].index);
    if (r->rows >= r->low && r->rows < r->high)
        r->kept = r->used;
    r->used = r->kept;
    r->rows++;
    r->total += (int64_t)length;
    TRY(GROW(r->start, r->rows, r->start_capacity, 1));
    r->start[r->rows] = r->total;
done:
    return st;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* One line without its end. */
static consm_status read_line(struct svm_reader *r, const char *begin, const char *end)
{
    consm_status st = CONSM_OK;
    bool first = true;
    const char *at = begin;
    while (at < end) {
        if (is_blank(*at)) {
            at++;
            continue;
        }
        if (*at == '#') {
            if (first)
                read_declaration(r, at, (size_t)(end - at));
            break;
        }
        const char *token = at;
        while (at < end && !is_blank(*at) && *at != '#')
            at++;
        const char *colon = memchr(token, ':', (size_t)(at - token));
        float target;
        if (colon)
            TRY(read_pair(r, begin, token, (size_t)(at - token), colon));
        else if (!first || !token_float(&target, token, (size_t)(at - token)))
            TRY(bad_token(r, begin, token, (size_t)(at - token),
                          first ? "a number as target, or index:value" : "index:value"));
        first = false;
    }
    if (!first)
        TRY(settle_row(r));
done:
    return st;
}

/* Only now it is known which index is column 0, and how many columns there are. */
static consm_status find_columns(int64_t *out, int64_t *first_index, const struct svm_reader *r)
{
    int64_t first = r->first >= 0 ? r->first : r->zero ? 0 : 1;
    int64_t columns = r->features >= 0 ? r->features : r->largest + 1 - first;
    if (columns < 0)
        columns = 0;
    if (first == 1 && r->zero)
        return status_fail(CONSM_EFORMAT, "%s: found index 0: expected indices from 1",
                           r->file->name);
    if (r->largest + 1 - first > columns)
        return status_fail(CONSM_EFORMAT, "%s: found index %lld: expected at most %lld",
                           r->file->name, (long long)r->largest, (long long)(columns - 1 + first));
    if (!token_plausible(columns, r->file->size) || columns >= INT32_MAX)
        return status_fail(CONSM_ELIMIT, "%s: %lld features are too many for a file of %zu bytes",
                           r->file->name, (long long)columns, r->file->size);
    *out = columns;
    *first_index = first;
    return CONSM_OK;
}

/* Puts the pairs into col and val, which start with entry `before`. */
static void give_pairs(struct csr *a, const struct svm_reader *r, int64_t first, int64_t before)
{
    for (size_t k = 0; k < r->used; k++) {
        a->col[before + (int64_t)k] = r->pair[k].index - (int32_t)first;
        a->val[before + (int64_t)k] = r->pair[k].value;
    }
}

/* Reads all lines; keeps the pairs of rows low … high-1. */
static consm_status read_lines(struct svm_reader *r, const struct text_file *file, int64_t low,
                               int64_t high)
{
    consm_status st = CONSM_OK;
    *r = (struct svm_reader){
        .file = file, .features = -1, .first = -1, .largest = -1, .low = low, .high = high};
    r->at = file->size ? file->data : "";
    r->end = r->at + file->size;
    const char *seen = r->at;
    TRY(GROW(r->pair, 0, r->capacity, 1));
    TRY(GROW(r->start, 0, r->start_capacity, 1));
    r->start[0] = 0;
    while (r->at < r->end) {
        const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
        r->line++;
        TRY(read_line(r, r->at, newline ? newline : r->end));
        r->at = newline ? newline + 1 : r->end;
        if (file->passing && r->at - seen > 1 << 20) {
            file_forget(seen, r->at);
            seen = r->at;
        }
    }
    if (r->rows == 0)
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: is empty: expected a line of index:value pairs for "
                        "each node",
                        file->name));
done:
    return st;
}

static void free_reader(struct svm_reader *r)
{
    mem_free(r->pair);
    mem_free(r->start);
}

consm_status svmlight_read(struct csr **out, const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct svm_reader r;
    int64_t columns = 0, first = 0;
    *out = NULL;
    TRY(read_lines(&r, file, 0, INT64_MAX));
    TRY(find_columns(&columns, &first, &r));
    TRY(csr_new(out, r.rows, columns, (int64_t)r.used, true));
    memcpy((*out)->start, r.start, (size_t)(r.rows + 1) * sizeof *r.start);
    give_pairs(*out, &r, first, 0);
done:
    free_reader(&r);
    return st;
}

consm_status svmlight_rows(int64_t *rows, const struct text_file *file)
{
    struct svm_reader r;
    consm_status st = read_lines(&r, file, 0, 0);
    *rows = r.rows;
    free_reader(&r);
    return st;
}

consm_status svmlight_read_in_parts(struct csr **out, const struct text_file *file,
                                    const struct partition *partition)
{
    consm_status st = CONSM_OK;
    struct svm_reader r;
    int64_t columns = 0, first = 0;
    *out = NULL;
    TRY(read_lines(&r, file, partition->low, partition->high));
    TRY(find_columns(&columns, &first, &r));
    TRY(partition_csr(out, partition, r.rows, columns, r.total, true));
    memcpy((*out)->start, r.start, (size_t)(r.rows + 1) * sizeof *r.start);
    if (partition->low < r.rows)
        give_pairs(*out, &r, first, r.start[partition->low]);
done:
    free_reader(&r);
    return st;
}

consm_status svmlight_write(struct file_writer *w, const struct csr *features,
                            const int32_t *target)
{
    consm_status st = CONSM_OK;
    char number[32];
    TRY(file_printf(w, "# features: %lld, first index: 1\n", (long long)features->cols));
    for (int64_t r = 0; r < features->rows; r++) {
        TRY(file_printf(w, "%d", target ? target[r] : 0));
        for (int64_t k = features->start[r]; k < features->start[r + 1]; k++) {
            token_write_float(number, features->val ? features->val[k] : 1);
            TRY(file_printf(w, " %d:%s", features->col[k] + 1, number));
        }
        TRY(file_write(w, "\n", 1));
    }
done:
    return st;
}
