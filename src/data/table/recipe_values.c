/* Learns a recipe from rows that are divided among processes. Counts are sums; means are sums in
 * row order. A category's values are counted by the process that their hash selects, so that no
 * process has all texts of a column. */
#include "data/table/recipe_inside.h"

#include <stdlib.h>
#include <string.h>

#include "graph/partition.h"

/* ---- kinds --------------------------------------------------------------- */

enum { TALLIES = sizeof(struct tally) / sizeof(int64_t) };

static consm_status share_kinds(struct recipe *r, const struct look *l,
                                const struct partition *partition)
{
    consm_status st = CONSM_OK;
    struct tally *t = NULL;
    const struct cells *c = l->c;
    struct empty_columns empty = {0};
    TRY(NEW(t, c->columns));
    for (int32_t i = 0; i < c->columns; i++)
        t[i] = learn_tally(l, i);
    TRY(partition_sum(&t[0].numbers, (int64_t)c->columns * TALLIES, partition));
    for (int32_t i = 0; i < c->columns; i++) {
        r->column[i].kind = learn_kind(&t[i], CELLS_ANY);
        int64_t blanks = t[i].missing - (r->column[i].kind == RECIPE_CATEGORY ? t[i].nones : 0);
        r->column[i].blanks = blanks > 0 && r->column[i].kind != RECIPE_LEFT_OUT;
        if (r->column[i].kind == RECIPE_LEFT_OUT)
            learn_empty(&empty, r->column[i].name);
    }
    learn_say_empty(&empty, l->file);
done:
    mem_free(t);
    return st;
}

static bool has_mean(const struct recipe_column *c)
{
    return c->kind != RECIPE_CATEGORY && c->kind != RECIPE_LEFT_OUT;
}

/* Processes add their rows in turn: first the numbers of all rows, then the meanings of words. */
static consm_status share_means(struct recipe *r, const struct look *l,
                                const struct partition *partition)
{
    consm_status st = CONSM_OK;
    int32_t columns = l->c->columns;
    double *sum = NULL;
    int64_t *known = NULL, *near = NULL;
    TRY(ZNEW(near, columns));
    TRY(ZNEW(sum, columns));
    TRY(ZNEW(known, columns));
    for (int turn = 0; turn < 2 * partition->parts; turn++) {
        bool words = turn >= partition->parts;
        bool mine = turn % partition->parts == partition->part;
        for (int32_t i = 0; mine && i < columns; i++) {
            struct recipe_column *column = &r->column[i];
            if (has_mean(column) && words)
                TRY(learn_words(&sum[i], &known[i], column, l, i));
            else if (has_mean(column))
                learn_numbers(&sum[i], &known[i], l, i);
        }
        TRY(partition_hand_on(sum, columns, partition, turn % partition->parts));
    }
    TRY(partition_sum(known, columns, partition));
    for (int32_t i = 0; i < columns; i++)
        if (has_mean(&r->column[i]))
            r->column[i].fill = known[i] > 0 ? sum[i] / (double)known[i] : 0;
    for (int32_t i = 0; i < columns; i++)
        near[i] = learn_near(l, i, &r->column[i]);
    TRY(partition_sum(near, columns, partition));
    for (int32_t i = 0; i < columns; i++)
        learn_shift(&r->column[i], near[i], known[i]);
done:
    mem_free(near);
    mem_free(sum);
    mem_free(known);
    return st;
}

/* ---- categories ---------------------------------------------------------- */

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
        qsort(mine, (size_t)count, sizeof *mine, learn_by_count);
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

static consm_status share_category(struct recipe_column *out, const struct look *l, int32_t column,
                                   const struct partition *partition)
{
    consm_status st = CONSM_OK;
    struct names seen[3] = {{0}};
    struct value_count *value[3] = {NULL};
    int64_t sums[2] = {0}; /* different texts, non-missing cells */
    bool blanks;
    TRY(learn_values(&seen[0], &value[0], &sums[1], &blanks, l, column));
    TRY(deal(&seen[1], &value[1], value[0], seen[0].count, partition));
    sums[0] = seen[1].count;
    TRY(partition_sum(sums, 2, partition));
    TRY(tell_most(&seen[2], &value[2], value[1], seen[1].count, partition));
    TRY(learn_keep(out, value[2], seen[2].count, sums[0], sums[1]));
done:
    for (int i = 0; i < 3; i++) {
        names_free(&seen[i]);
        mem_free(value[i]);
    }
    return st;
}

consm_status recipe_learn_in_parts(struct recipe **out, const struct cells *c,
                                   struct faults *faults, const char *file,
                                   const struct partition *partition)
{
    consm_status st = CONSM_OK;
    struct recipe *r = NULL;
    struct look l = {0};
    *out = NULL;
    TRY(look_open(&l, c, faults, file));
    TRY(ZNEW(r, 1));
    TRY(ZNEW(r->column, c->columns));
    for (; r->columns < c->columns; r->columns++)
        if (!(r->column[r->columns].name = mem_strdup(names_at(&c->name, r->columns))))
            TRY(CONSM_ENOMEM);
    TRY(share_kinds(r, &l, partition));
    TRY(share_means(r, &l, partition));
    for (int32_t i = 0; i < c->columns; i++)
        if (r->column[i].kind == RECIPE_CATEGORY)
            TRY(share_category(&r->column[i], &l, i, partition));
    TRY(learn_names(r, file));
    *out = r;
    r = NULL;
done:
    look_close(&l);
    recipe_free(r);
    return st;
}
