/* Learns the values of a category, the most frequent ones. If rows are divided among processes, the
 * process that its hash selects counts a text, so that no process has all texts of a column. */
#include "data/table/recipe_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/known.h"
#include "base/log.h"
#include "graph/partition.h"
#include "io/token.h"

struct value_count {
    const char *text;
    int64_t count;
};

/* The most frequent first, then by text. */
static int by_count(const void *a, const void *b)
{
    const struct value_count *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->text, y->text);
}

static int by_text(const void *a, const void *b)
{
    const struct value_count *x = a, *y = b;
    return strcmp(x->text, y->text);
}

/* The values of the rows here, with counts; numbers by their shortest spelling. */
static consm_status count_values(struct names *seen, struct value_count **out, int64_t *present,
                                 const struct look *l, int32_t column)
{
    consm_status st = CONSM_OK;
    const struct cells *c = l->c;
    size_t capacity = 0;
    char number[32];
    int64_t place, before;
    *present = 0;
    for (size_t k = l->start[column]; k < l->start[column + 1]; k++) {
        int32_t text = look_odd(l, k)->text;
        if (l->text[text].missing && !l->text[text].none)
            continue;
        before = seen->count;
        TRY(names_add(&place, seen, names_at(&c->text, text), names_length(&c->text, text)));
        TRY(GROW(*out, before, capacity, 1));
        (*out)[place].count = place == before ? 1 : (*out)[place].count + 1;
        ++*present;
    }
    for (int64_t r = 0; r < c->rows; r++) {
        float value = c->value[r * c->columns + column];
        if (isnan(value))
            continue;
        before = seen->count;
        TRY(names_add(&place, seen, number, (size_t)token_write_float(number, value)));
        TRY(GROW(*out, before, capacity, 1));
        (*out)[place].count = place == before ? 1 : (*out)[place].count + 1;
        ++*present;
    }
    for (int64_t i = 0; i < seen->count; i++)
        (*out)[i].text = names_at(seen, i);
done:
    return st;
}

/* Keeps the values that become features, of `different` in all; the most frequent are here. */
static consm_status keep_values(struct recipe_column *out, struct value_count *value, int64_t count,
                                int64_t different, int64_t present)
{
    consm_status st = CONSM_OK;
    bool unique = different > RECIPE_VALUES ? 2 * different > present
                                            : different >= 10 && 10 * different > 9 * present;
    if (unique) {
        log_warn("ignored column %s: it has %lld different texts in %lld cells", out->name,
                 (long long)different, (long long)present);
        out->kind = RECIPE_LEFT_OUT;
        out->blanks = false;
        goto done;
    }
    if (count > 0)
        qsort(value, (size_t)count, sizeof *value, by_count);
    int32_t kept = different < RECIPE_VALUES ? (int32_t)different : RECIPE_VALUES;
    if (kept < different)
        log_warn("column %s has %lld different texts: the %d most frequent become features",
                 out->name, (long long)different, kept);
    if (kept > 0)
        qsort(value, (size_t)kept, sizeof *value, by_text);
    TRY(ZNEW(out->value, kept));
    KNOWN(value || out->values >= kept);
    for (; out->values < kept; out->values++)
        if (!(out->value[out->values] = mem_strdup(value[out->values].text)))
            TRY(CONSM_ENOMEM);
done:
    return st;
}

/* ---- several processes --------------------------------------------------- */

/* Texts with counts as bytes: the count, then the text with its zero byte. */
struct packing {
    char *bytes;
    size_t used, capacity;
};

static consm_status pack(struct packing *p, const struct value_count *v)
{
    consm_status st = CONSM_OK;
    size_t length = strlen(v->text) + 1;
    TRY(GROW(p->bytes, p->used, p->capacity, sizeof v->count + length));
    memcpy(p->bytes + p->used, &v->count, sizeof v->count);
    memcpy(p->bytes + p->used + sizeof v->count, v->text, length);
    p->used += sizeof v->count + length;
done:
    return st;
}

/* Adds packed texts to a list, each once; *value's texts are those of the list, set once it is
 * complete. */
static consm_status unpack(struct names *seen, struct value_count **value, const char *at,
                           int64_t bytes)
{
    consm_status st = CONSM_OK;
    const char *end = at + bytes;
    size_t capacity = 0;
    int64_t place, count;
    while (at < end) {
        memcpy(&count, at, sizeof count);
        at += sizeof count;
        int64_t before = seen->count;
        TRY(names_add(&place, seen, at, strlen(at)));
        TRY(GROW(*value, before, capacity, 1));
        (*value)[place].count = place == before ? count : (*value)[place].count + count;
        at += strlen(at) + 1;
    }
    for (int64_t i = 0; i < seen->count; i++)
        (*value)[i].text = names_at(seen, i);
done:
    return st;
}

static int who_counts(const char *text, int parts)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (int)((hash >> 32) % (uint64_t)parts);
}

/* Sends every text to its process and returns all that belong to this one. */
static consm_status deal(struct names *seen, struct value_count **value,
                         const struct value_count *mine, int64_t count,
                         const struct partition *partition)
{
    consm_status st = CONSM_OK;
    int64_t *send = NULL, *got;
    struct packing p = {0};
    void *came = NULL;
    TRY(ZNEW(send, 2 * (partition->parts + 1)));
    got = send + partition->parts + 1;
    TRY(GROW(p.bytes, 0, p.capacity, 1));
    for (int to = 0; to < partition->parts; to++) {
        for (int64_t i = 0; i < count; i++)
            if (who_counts(mine[i].text, partition->parts) == to)
                TRY(pack(&p, &mine[i]));
        send[to + 1] = (int64_t)p.used;
    }
    TRY(partition->swap(&came, got, p.bytes, send, 1));
    TRY(unpack(seen, value, came, got[partition->parts]));
done:
    mem_free(send);
    mem_free(p.bytes);
    mem_free(came);
    return st;
}

/* Sends the most frequent values of each process to all: those of the whole are among them. */
static consm_status tell_most(struct names *seen, struct value_count **value,
                              struct value_count *mine, int64_t count,
                              const struct partition *partition)
{
    consm_status st = CONSM_OK;
    int64_t *got = NULL;
    struct packing p = {0};
    void *came = NULL;
    TRY(NEW(got, partition->parts + 1));
    TRY(GROW(p.bytes, 0, p.capacity, 1));
    if (count > 0)
        qsort(mine, (size_t)count, sizeof *mine, by_count);
    for (int64_t i = 0; i < count && i < RECIPE_VALUES; i++)
        TRY(pack(&p, &mine[i]));
    TRY(partition_tell(&came, got, p.bytes, (int64_t)p.used, partition));
    TRY(unpack(seen, value, came, got[partition->parts]));
done:
    mem_free(got);
    mem_free(p.bytes);
    mem_free(came);
    return st;
}

/* seen[0]: the values of the rows here; [1]: those that this process counts; [2]: the candidates of
 * all processes. A single process has everything in [0]. */
consm_status learn_category(struct recipe_column *out, const struct look *l, int32_t column,
                            const struct partition *partition)
{
    consm_status st = CONSM_OK;
    struct names seen[3] = {{0}};
    struct value_count *value[3] = {NULL};
    int64_t sums[2] = {0}; /* different texts, non-missing cells */
    int last = partition ? 2 : 0;
    TRY(count_values(&seen[0], &value[0], &sums[1], l, column));
    if (partition)
        TRY(deal(&seen[1], &value[1], value[0], seen[0].count, partition));
    sums[0] = seen[partition ? 1 : 0].count;
    TRY(partition_sum(sums, 2, partition));
    if (partition)
        TRY(tell_most(&seen[2], &value[2], value[1], seen[1].count, partition));
    TRY(keep_values(out, value[last], seen[last].count, sums[0], sums[1]));
done:
    for (int i = 0; i < 3; i++) {
        names_free(&seen[i]);
        mem_free(value[i]);
    }
    return st;
}
