/*
 * A split as a CSV file: a header `id,role`, then a line per node with its id and train, val, test
 * or none. Ids with commas, quotes or line ends are quoted.
 */
#include "data/split.h"
#include "io/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static consm_status write_field(struct file_writer *w, const char *text)
{
    consm_status st = CONSM_OK;
    if (!text[strcspn(text, ",\"\r\n")] && text[0] != '#' && text[0])
        return file_write(w, text, strlen(text));
    TRY(file_write(w, "\"", 1));
    for (const char *c = text; *c; c++)
        TRY(file_write(w, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1));
    TRY(file_write(w, "\"", 1));
done:
    return st;
}

consm_status split_write(const char *path, const struct dataset *d, const uint8_t *role)
{
    consm_status st = CONSM_OK;
    struct file_writer *w = NULL;
    char buffer[24];
    TRY(file_create(&w, path));
    TRY(file_printf(w, "id,role\n"));
    for (int64_t i = 0; i < d->nodes; i++) {
        TRY(write_field(w, dataset_node_id(d, i, buffer)));
        TRY(file_printf(w, ",%s\n", split_role_name(role[i])));
    }
    TRY(file_commit(w));
done:
    file_close(w);
    return st;
}

/* ---- reading ------------------------------------------------------------- */

struct reader {
    const char *path;
    const uint8_t *at, *end;
    int64_t line; /* of at, from 1 */
    char *field;  /* the last field, terminated */
    size_t room;
};

static consm_status add_letter(struct reader *r, size_t *length, char letter)
{
    consm_status st = GROW(r->field, *length, r->room, 1);
    if (st == CONSM_OK)
        r->field[(*length)++] = letter;
    return st;
}

/* Reads a field up to a comma or line end, which is not consumed. */
static consm_status read_field(struct reader *r)
{
    consm_status st = CONSM_OK;
    size_t length = 0;
    bool quoted = r->at < r->end && *r->at == '"';
    int64_t began = r->line;
    if (quoted)
        r->at++;
    for (; r->at < r->end; r->at++) {
        char letter = (char)*r->at;
        if (quoted && letter == '"') {
            if (r->at + 1 == r->end || r->at[1] != '"')
                break;
            r->at++;
        } else if (!quoted && (letter == ',' || letter == '\n')) {
            break;
        }
        r->line += letter == '\n';
        TRY(add_letter(r, &length, letter));
    }
    if (quoted && r->at == r->end)
        TRY(status_fail(CONSM_EFORMAT, "%s: line %lld: a quote is not closed", r->path,
                        (long long)began));
    if (quoted)
        r->at++;
    else if (length && r->field[length - 1] == '\r')
        length--;
    TRY(add_letter(r, &length, 0));
done:
    return st;
}

/* Moves past the line's end. Anything else here is an error. */
static consm_status end_line(struct reader *r)
{
    if (r->at < r->end && *r->at == '\r')
        r->at++;
    if (r->at < r->end && *r->at != '\n')
        return status_fail(
            CONSM_EFORMAT,
            "%s: line %lld: found \"%c\" after the role, expected the end of the line", r->path,
            (long long)r->line, *r->at >= 32 && *r->at < 127 ? *r->at : '?');
    if (r->at < r->end) {
        r->at++;
        r->line++;
    }
    return CONSM_OK;
}

static consm_status expect_comma(struct reader *r)
{
    if (r->at == r->end || *r->at != ',')
        return status_fail(CONSM_EFORMAT, "%s: line %lld: found one column, expected id,role",
                           r->path, (long long)r->line);
    r->at++;
    return CONSM_OK;
}

/* Sorted by id, to find a node by its name. */
struct named {
    const char *id;
    int64_t node;
};

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->id, ((const struct named *)b)->id);
}

static int64_t find_node(const struct dataset *d, const struct named *order, const char *id)
{
    if (!d->node_id) {
        char *end;
        errno = 0;
        long long number = strtoll(id, &end, 10);
        return errno || end == id || *end || number >= d->nodes ? -1 : number;
    }
    int64_t low = 0, high = d->nodes;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int order_of = strcmp(order[middle].id, id);
        if (order_of == 0)
            return order[middle].node;
        if (order_of < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static consm_status read_role(uint8_t *role, struct reader *r)
{
    for (enum split_role k = SPLIT_NONE; k <= SPLIT_TEST; k++)
        if (strcmp(r->field, split_role_name(k)) == 0) {
            *role = (uint8_t)k;
            return CONSM_OK;
        }
    return status_fail(CONSM_EFORMAT,
                       "%s: line %lld: found the role \"%.40s\", expected train, val, test or none",
                       r->path, (long long)r->line, r->field);
}

static consm_status read_line(uint8_t *role, bool *seen, struct reader *r, const struct dataset *d,
                              const struct named *order)
{
    consm_status st = CONSM_OK;
    TRY(read_field(r));
    int64_t node = find_node(d, order, r->field);
    if (node < 0)
        TRY(status_fail(CONSM_EFORMAT, "%s: line %lld: %s has no node \"%.60s\"", r->path,
                        (long long)r->line, d->name, r->field));
    if (seen[node])
        TRY(status_fail(CONSM_EFORMAT, "%s: line %lld: node \"%.60s\" occurs twice", r->path,
                        (long long)r->line, r->field));
    seen[node] = true;
    TRY(expect_comma(r));
    TRY(read_field(r));
    TRY(read_role(&role[node], r));
    TRY(end_line(r));
done:
    return st;
}

/* The header is required, so that another file is not taken for a split. */
static consm_status read_header(struct reader *r)
{
    consm_status st = CONSM_OK;
    if (r->end - r->at >= 3 && memcmp(r->at, "\xEF\xBB\xBF", 3) == 0)
        r->at += 3;
    TRY(read_field(r));
    bool good = strcmp(r->field, "id") == 0;
    if (good)
        TRY(expect_comma(r));
    TRY(read_field(r));
    if (!good || strcmp(r->field, "role") != 0)
        TRY(status_fail(CONSM_EFORMAT, "%s: line 1: expected the header id,role", r->path));
    TRY(end_line(r));
done:
    return st;
}

consm_status split_read(uint8_t *role, const struct dataset *d, const char *path)
{
    consm_status st = CONSM_OK;
    struct file_map map = {0};
    struct reader r = {.path = path, .line = 1};
    struct named *order = NULL;
    bool *seen = NULL;
    TRY(file_map(&map, path));
    if (map.size == 0)
        TRY(status_fail(CONSM_EFORMAT, "%s: is empty: expected the header id,role", path));
    r.at = map.data;
    r.end = map.data + map.size;
    TRY(ZNEW(seen, d->nodes));
    TRY(NEW(order, d->nodes));
    for (int64_t i = 0; d->node_id && i < d->nodes; i++)
        order[i] = (struct named){d->node_id[i], i};
    if (d->node_id)
        qsort(order, (size_t)d->nodes, sizeof *order, by_id);
    memset(role, SPLIT_NONE, (size_t)d->nodes);
    TRY(read_header(&r));
    while (r.at < r.end) {
        if (*r.at == '\n' || *r.at == '\r' || *r.at == '#') {
            while (r.at < r.end && *r.at != '\n')
                r.at++;
            TRY(end_line(&r));
        } else {
            TRY(read_line(role, seen, &r, d, order));
        }
    }
done:
    mem_free(seen);
    mem_free(order);
    mem_free(r.field);
    file_unmap(&map);
    return st;
}
