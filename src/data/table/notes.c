/* Lists of notes. */
#include "data/table/notes.h"

#include "base/log.h"
#include "io/token.h"

#include <stdio.h>
#include <string.h>

void notes_free(struct notes *n)
{
    names_free(&n->column);
    names_free(&n->text);
    mem_free(n->note);
    *n = (struct notes){0};
}

consm_status notes_put(struct notes *n, int64_t item, int64_t column, const char *text,
                       size_t length)
{
    consm_status st = CONSM_OK;
    int64_t at;
    if (length == 0)
        return CONSM_OK;
    TRY(names_add(&at, &n->text, text, length));
    TRY(GROW(n->note, n->count, n->capacity, 1));
    n->note[n->count++] = (struct note){item, (int32_t)column, (int32_t)at};
done:
    return st;
}

consm_status notes_add(struct notes *n, int64_t item, const char *column, size_t column_length,
                       const char *text, size_t length)
{
    int64_t place;
    consm_status st = names_add(&place, &n->column, column, column_length);
    return st < 0 ? st : notes_put(n, item, place, text, length);
}

/* fallback[k] = the first default of column k, or -1; returns whether there is one. */
static bool find_defaults(int32_t *fallback, const struct notes *n)
{
    bool any = false;
    memset(fallback, 0xff, (size_t)n->column.count * sizeof *fallback);
    for (size_t i = 0; i < n->count; i++)
        if (n->note[i].item < 0 && fallback[n->note[i].column] < 0) {
            fallback[n->note[i].column] = n->note[i].text;
            any = true;
        }
    return any;
}

consm_status notes_settle(struct notes *n, int64_t items)
{
    consm_status st = CONSM_OK;
    struct notes whole = {0};
    int32_t *fallback = NULL;
    int64_t *seen = NULL; /* (columns) 1 + the last item that has one */
    size_t at = 0;
    TRY(NEW(fallback, n->column.count + 1));
    TRY(ZNEW(seen, n->column.count + 1));
    if (!find_defaults(fallback, n))
        goto done;
    for (int64_t item = 0; item < items; item++) {
        for (; at < n->count && n->note[at].item <= item; at++) {
            if (n->note[at].item < 0)
                continue;
            TRY(GROW(whole.note, whole.count, whole.capacity, 1));
            whole.note[whole.count++] = n->note[at];
            seen[n->note[at].column] = item + 1;
        }
        for (int32_t k = 0; k < n->column.count; k++)
            if (fallback[k] >= 0 && seen[k] != item + 1) {
                TRY(GROW(whole.note, whole.count, whole.capacity, 1));
                whole.note[whole.count++] = (struct note){item, k, fallback[k]};
            }
    }
    mem_free(n->note);
    n->note = whole.note;
    n->count = whole.count;
    n->capacity = whole.capacity;
    whole.note = NULL;
done:
    mem_free(whole.note);
    mem_free(fallback);
    mem_free(seen);
    return st;
}

consm_status notes_take(struct notes **out, struct notes *n)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    if (n->count == 0)
        return CONSM_OK;
    TRY(NEW(*out, 1));
    **out = *n;
    *n = (struct notes){0};
done:
    return st;
}

consm_status notes_select(struct notes **out, const struct notes *from, const int64_t *place)
{
    consm_status st = CONSM_OK;
    struct notes kept = {0};
    *out = NULL;
    for (size_t i = 0; i < from->count; i++) {
        const struct note *n = &from->note[i];
        if (place[n->item] >= 0)
            TRY(notes_add(&kept, place[n->item], names_at(&from->column, n->column),
                          names_length(&from->column, n->column), names_at(&from->text, n->text),
                          names_length(&from->text, n->text)));
    }
    TRY(notes_take(out, &kept));
done:
    notes_free(&kept);
    return st;
}

static const char *digits(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* Whether it is a number by JSON's grammar, which every format here can hold: no leading zeros, so
 * "007" stays a text. */
static bool is_number(const char *text)
{
    const char *at = text + (*text == '-'), *end = digits(at);
    if (end == at || (*at == '0' && end > at + 1))
        return false;
    if (*end == '.') {
        at = end + 1;
        end = digits(at);
        if (end == at)
            return false;
    }
    if (*end == 'e' || *end == 'E') {
        at = end + 1;
        at += *at == '+' || *at == '-';
        end = digits(at);
        if (end == at)
            return false;
    }
    return *end == 0;
}

consm_status notes_kinds(uint8_t **out, const struct notes *n)
{
    consm_status st = CONSM_OK;
    uint8_t *other =
        NULL; /* (columns) bits: a text that is not a number, one that is not true or false */
    *out = NULL;
    TRY(ZNEW(other, n->column.count + 1));
    for (size_t i = 0; i < n->count; i++) {
        const char *text = names_at(&n->text, n->note[i].text);
        bool truth = token_is_one_of(text, strlen(text), "true|false");
        other[n->note[i].column] |= (uint8_t)((is_number(text) ? 0 : 1) | (truth ? 0 : 2));
    }
    for (int64_t k = 0; k < n->column.count; k++)
        other[k] = (uint8_t)(!(other[k] & 1)   ? NOTE_NUMBER
                             : !(other[k] & 2) ? NOTE_TRUTH
                                               : NOTE_TEXT);
    *out = other;
    other = NULL;
done:
    mem_free(other);
    return st;
}

consm_status notes_ids(int64_t *column, const struct notes *n)
{
    consm_status st = CONSM_OK;
    uint8_t *taken = NULL; /* (texts) */
    int64_t found = names_find(&n->column, NOTES_ID, strlen(NOTES_ID));
    *column = -1;
    if (found < 0)
        return CONSM_OK;
    TRY(ZNEW(taken, n->text.count));
    for (size_t i = 0; i < n->count; i++)
        if (n->note[i].column == found && taken[n->note[i].text]++)
            goto done;
    *column = found;
done:
    mem_free(taken);
    return st;
}

void notes_say_lost(const struct notes *n, const char *path)
{
    if (n)
        log_warn("%s: the format cannot store the edges' %s %.60s%s", path,
                 n->column.count == 1 ? "attribute" : "attributes, such as",
                 names_at(&n->column, 0),
                 n->column.count == 1 ? ": it is not written" : ": they are not written");
}

const char *notes_edge_name(char out[NOTES_NAME], const struct notes *n, int64_t column)
{
    const char *name = names_at(&n->column, column);
    if (!token_is_one_of(name, strlen(name), "source|target|weight|key"))
        return name;
    snprintf(out, NOTES_NAME, "%s_", name);
    return out;
}
