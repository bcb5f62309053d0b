/* Reads Matrix Market coordinates. Duplicate entries stay: the dataset holds the file's lines. */
#include "data/readers/matrix_market.h"

#include <string.h>

#include "data/readers/plain.h"
#include "io/csv.h"

static const char banner[] = "%%MatrixMarket";

bool matrix_market_is(const struct text_file *file)
{
    return file->size >= sizeof banner - 1 && memcmp(file->data, banner, sizeof banner - 1) == 0;
}

struct market {
    bool pattern, symmetric;
    int64_t nodes, entries;
};

/* The first line as five words. */
static consm_status read_banner(struct market *m, const struct text_file *file)
{
    const char *at = file->size ? file->data : "", *end = at + file->size;
    const char *word[5];
    size_t length[5];
    const char *line_end = memchr(at, '\n', file->size);
    end = line_end ? line_end : end;
    int words = 0;
    while (at < end && words < 5) {
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
            at++;
        word[words] = at;
        while (at < end && *at != ' ' && *at != '\t' && *at != '\r')
            at++;
        length[words] = (size_t)(at - word[words]);
        words += length[words] > 0;
    }
    static const char *const wanted[5] = {"%%matrixmarket", "matrix", "coordinate",
                                          "real|integer|pattern|double", "general|symmetric"};
    for (int i = 0; i < 5; i++)
        if (i >= words || !token_is_one_of(word[i], length[i], wanted[i]))
            return status_fail(CONSM_EFORMAT, "%s: line 1, word %d: found \"%.*s\", expected %s",
                               file->name, i + 1,
                               i < words ? (int)(length[i] < 40 ? length[i] : 40) : 0,
                               i < words ? word[i] : "", wanted[i]);
    m->pattern = token_is_one_of(word[3], length[3], "pattern");
    m->symmetric = token_is_one_of(word[4], length[4], "symmetric");
    return CONSM_OK;
}

static bool field_int(int64_t *out, const struct csv *c, int column)
{
    return token_int(out, c->field[column].text, c->field[column].length);
}

/* "rows columns entries" */
static consm_status read_sizes(struct market *m, struct csv *c, const struct text_file *file)
{
    consm_status st = CONSM_OK;
    int64_t size[3];
    bool more;
    TRY(csv_row(&more, c));
    if (!more || c->fields != 3)
        return status_fail(CONSM_EFORMAT,
                           "%s: line %lld: expected the numbers of rows, columns and entries",
                           file->name, (long long)c->line);
    for (int i = 0; i < 3; i++)
        if (!field_int(&size[i], c, i) || size[i] < 0)
            return csv_fail(c, i, "a whole number >= 0");
    if (size[0] != size[1])
        return csv_fail(c, 1, "%lld columns, as many as rows", (long long)size[0]);
    if (!token_plausible_nodes(size[0], file->size))
        return csv_fail(c, 0, "fewer nodes in a file of %zu bytes", file->size);
    /* An entry takes at least four bytes: "1 1\n"; the last may lack its line end. */
    if ((uint64_t)size[2] > file->size / 4 + 1)
        return csv_fail(c, 2, "fewer entries in a file of %zu bytes", file->size);
    m->nodes = size[0];
    m->entries = size[2];
done:
    return st;
}

static consm_status read_entry(struct dataset *d, int64_t e, const struct market *m,
                               const struct csv *c)
{
    int64_t end[2];
    if (c->fields != (m->pattern ? 2 : 3))
        return csv_fail_columns(c, m->pattern ? "2 (row, column)" : "3 (row, column, value)");
    for (int i = 0; i < 2; i++)
        if (!field_int(&end[i], c, i) || end[i] < 1 || end[i] > m->nodes)
            return csv_fail(c, i, "a number from 1 to %lld", (long long)m->nodes);
    if (!m->pattern && !token_float(&d->weight[e], c->field[2].text, c->field[2].length))
        return csv_fail(c, 2, "a finite number");
    d->from[e] = (int32_t)(end[0] - 1);
    d->to[e] = (int32_t)(end[1] - 1);
    return CONSM_OK;
}

static consm_status read_entries(struct dataset *d, const struct market *m, struct csv *c)
{
    consm_status st = CONSM_OK;
    bool more = true;
    uint32_t row, column;
    while (more) {
        if (m->pattern && d->edges < m->entries && csv_two_numbers(c, &row, &column)) {
            if (row - 1 >= m->nodes || column - 1 >= m->nodes)
                return status_fail(CONSM_EFORMAT,
                                   "%s: line %lld: found entry %u %u, expected numbers from 1 to "
                                   "%lld",
                                   c->name, (long long)c->line, row, column, (long long)m->nodes);
            d->from[d->edges] = (int32_t)row - 1;
            d->to[d->edges++] = (int32_t)column - 1;
            continue;
        }
        TRY(csv_row(&more, c));
        if (!more)
            break;
        if (d->edges == m->entries)
            return status_fail(CONSM_EFORMAT,
                               "%s: line %lld: found more entries than the %lld announced", c->name,
                               (long long)c->line, (long long)m->entries);
        TRY(read_entry(d, d->edges, m, c));
        d->edges++;
    }
    if (d->edges < m->entries)
        return status_fail(CONSM_EFORMAT, "%s: line %lld: found %lld entries, expected %lld",
                           c->name, (long long)c->line, (long long)d->edges, (long long)m->entries);
done:
    return st;
}

consm_status matrix_market_read(struct dataset *d, const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct market m = {0};
    struct csv c;
    csv_start(&c, file); /* it skips the banner as a comment */
    c.delimiter = ' ';
    TRY(read_banner(&m, file));
    TRY(read_sizes(&m, &c, file));
    d->nodes = m.nodes;
    d->directed = !m.symmetric;
    TRY(NEW(d->from, m.entries));
    TRY(NEW(d->to, m.entries));
    if (!m.pattern)
        TRY(NEW(d->weight, m.entries));
    TRY(read_entries(d, &m, &c));
done:
    csv_free(&c);
    return st;
}

enum sniffed matrix_market_sniff(const struct probe *p)
{
    return !p->folder && matrix_market_is(&p->file) ? SNIFF_YES : SNIFF_NO;
}

consm_status matrix_market_load(struct dataset **out, const char *path,
                                struct reading_options *reading)
{
    consm_status st = CONSM_OK;
    struct unpacked file = {0};
    *out = NULL;
    TRY(unpack_open(&file, path));
    /* The edge list reader, which continues from here, would also accept other text. */
    if (!matrix_market_is(&(struct text_file){path, file.data, file.size, false}))
        TRY(status_fail(CONSM_EFORMAT, "%s: line 1: expected %%%%MatrixMarket", path));
    TRY(edge_list_load(out, path, reading));
done:
    unpack_close(&file);
    return st;
}
